"""Complete listings, fetched page by page: repositories, branches, tags and whole histories."""

from collections.abc import Callable, Iterator
from typing import TypeVar

from graveler.errors import CorruptDataError
from graveler.limits import EVENTS_MARGIN_S, PAGE_AMOUNT_MAX
from graveler.model import Branch, Commit, Event, Page, Repository, Tag
from graveler.operations.engine import Engine
from graveler.refs.closure import CommitSet
from graveler.tasks import Task
from graveler.times import NS_PER_S

T = TypeVar("T")


def every_repository(engine: Engine) -> Iterator[Repository]:
    """Yield all live repositories, by name."""
    return _pages(lambda after: engine.refs.repositories("", after, PAGE_AMOUNT_MAX))


def every_branch(engine: Engine, repository: Repository, after: str = "") -> Iterator[Branch]:
    """Yield all branches after that name, hidden ones too, by name."""
    return _pages(
        lambda last: engine.refs.branches(repository, "", last, PAGE_AMOUNT_MAX, show_hidden=True),
        after,
    )


def every_tag(engine: Engine, repository: Repository) -> Iterator[Tag]:
    """Yield all tags, by name."""
    return _pages(lambda after: engine.refs.tags(repository, "", after, PAGE_AMOUNT_MAX))


def every_task(engine: Engine, repository: Repository) -> Iterator[Task]:
    """Yield all tasks of the last week, newest first."""
    return _pages(lambda after: engine.refs.tasks(repository, after, PAGE_AMOUNT_MAX))


def events_since(engine: Engine, repository: Repository, since_ns: int) -> Iterator[Event]:
    """Yield the events of all changes since that time in Unix ns, and some earlier ones."""
    since_s = max(0, since_ns // NS_PER_S - EVENTS_MARGIN_S)
    return engine.refs.events_since(repository, since_s)


def closed_commits(engine: Engine, repository: Repository) -> Iterator[Commit]:
    """Yield each commit once, in no order, and never without its ancestors.

    All commits that exist when the iteration begins are included, so also all that a branch or a
    tag named before. A later commit may be included.

    Raises:
        CorruptDataError: a parent does not exist.
    """
    known = CommitSet()
    yield from known.watch(engine.refs.every_commit(repository))
    yield from missing_ancestors(engine, repository, known)


def missing_ancestors(engine: Engine, repository: Repository, known: CommitSet) -> Iterator[Commit]:
    """Yield the ancestors that the set lacks, and add them to it.

    Raises:
        CorruptDataError: a parent does not exist.
    """
    while missing := known.missing:
        found = engine.refs.commits(repository, list(missing))
        for parent_id, child_id in missing.items():
            if parent_id not in found:
                raise CorruptDataError(f"commit {parent_id} is missing, the parent of {child_id}")
        yield from known.watch(found.values())


def _pages(page: Callable[[str], Page[T]], after: str = "") -> Iterator[T]:
    while True:
        found = page(after)
        yield from found.results
        if not found.has_more:
            return
        after = found.next_after
