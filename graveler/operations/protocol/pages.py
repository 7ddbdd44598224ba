"""Listings to their end, page after page: every repository, branch and tag, and whole histories."""

from collections.abc import Callable, Iterator
from typing import TypeVar

from graveler.errors import CorruptDataError
from graveler.limits import PAGE_AMOUNT_MAX
from graveler.model import Branch, Commit, Page, Repository, Tag
from graveler.operations.engine import Engine
from graveler.refs.closure import CommitSet

T = TypeVar("T")


def every_repository(engine: Engine) -> Iterator[Repository]:
    """Every live repository, by name."""
    return _every(lambda after: engine.refs.repositories("", after, PAGE_AMOUNT_MAX))


def every_branch(engine: Engine, repository: Repository, after: str = "") -> Iterator[Branch]:
    """Every branch behind that name, hidden ones too, by name."""
    return _every(
        lambda last: engine.refs.branches(repository, "", last, PAGE_AMOUNT_MAX, show_hidden=True),
        after,
    )


def every_tag(engine: Engine, repository: Repository) -> Iterator[Tag]:
    """Every tag, by name."""
    return _every(lambda after: engine.refs.tags(repository, "", after, PAGE_AMOUNT_MAX))


def closed_commits(engine: Engine, repository: Repository) -> Iterator[Commit]:
    """Return every commit, and all of its ancestors, once and in no order.

    Every commit that exists when the iteration begins is among them, and so is every commit that a
    branch or a tag named before. A later commit may be, but never without its ancestors.

    Raises:
        CorruptDataError: a parent does not exist.
    """
    known = CommitSet()
    yield from known.watch(engine.refs.every_commit(repository))
    yield from missing_ancestors(engine, repository, known)


def missing_ancestors(engine: Engine, repository: Repository, known: CommitSet) -> Iterator[Commit]:
    """Return the ancestors that the set lacks, and put them into it.

    Raises:
        CorruptDataError: one does not exist.
    """
    while missing := known.missing:
        found = engine.refs.commits(repository, list(missing))
        for parent_id, child_id in missing.items():
            if parent_id not in found:
                raise CorruptDataError(f"commit {parent_id} is missing, the parent of {child_id}")
        yield from known.watch(found.values())


def _every(page: Callable[[str], Page[T]], after: str = "") -> Iterator[T]:
    while True:
        found = page(after)
        yield from found.results
        if not found.has_more:
            return
        after = found.next_after
