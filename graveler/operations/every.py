"""Listings to their end, page after page: every repository, branch and tag."""

from collections.abc import Callable, Iterator
from typing import TypeVar

from graveler.limits import PAGE_AMOUNT_MAX
from graveler.model import Branch, Page, Repository, Tag
from graveler.operations.engine import Engine

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


def _every(page: Callable[[str], Page[T]], after: str = "") -> Iterator[T]:
    while True:
        found = page(after)
        yield from found.results
        if not found.has_more:
            return
        after = found.next_after
