"""Complete listings, page by page: repositories; a repository's refs, tasks, commits and events."""

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import TypeVar

from graveler.engine import Engine
from graveler.errors import CorruptDataError
from graveler.limits import EVENTS_MARGIN_S, PAGE_AMOUNT_MAX
from graveler.model import Branch, Commit, CommitID, Event, Page, Repository, Tag
from graveler.model.tasks import Task
from graveler.open_repository import OpenRepository
from graveler.refs.closure import CommitSet

T = TypeVar("T")


def every_repository(engine: Engine) -> Iterator[Repository]:
    """Yield all live repositories, by name."""
    return _pages(lambda after: engine.refs.repositories("", after, PAGE_AMOUNT_MAX))


def every_branch(repo: OpenRepository, after: str = "") -> Iterator[Branch]:
    """Yield all branches after that name, hidden ones too, by name."""
    return _pages(
        lambda last: repo.engine.refs.branches(
            repo.record, "", last, PAGE_AMOUNT_MAX, show_hidden=True
        ),
        after,
    )


def every_tag(repo: OpenRepository) -> Iterator[Tag]:
    """Yield all tags, by name."""
    return _pages(lambda after: repo.engine.refs.tags(repo.record, "", after, PAGE_AMOUNT_MAX))


def every_task(repo: OpenRepository) -> Iterator[Task]:
    """Yield all tasks of the last week, newest first."""
    return _pages(lambda after: repo.engine.refs.tasks(repo.record, after, PAGE_AMOUNT_MAX))


class NewEvents:
    """The events of a repository since this was made; no clock decides which are new."""

    def __init__(self, repo: OpenRepository) -> None:
        since_s = repo.engine.now_s() - EVENTS_MARGIN_S
        self._stored = partial(repo.engine.refs.events_since, repo.record, since_s)
        self._seen = {event.id for event in self._stored()}

    def more(self) -> Iterator[Event]:
        """Yield the new events that were not yielded yet."""
        for event in self._stored():
            if event.id not in self._seen:
                self._seen.add(event.id)
                yield event


def closed_commits(repo: OpenRepository, heads: Iterable[CommitID] = ()) -> Iterator[Commit]:
    """Yield each commit once, in no order, and never without its ancestors.

    The iteration includes the heads and all commits that exist when it begins. It may include later
    ones. A head that does not exist is left out.

    Raises:
        CorruptDataError: a parent does not exist.
    """
    known = CommitSet()
    yield from known.watch(repo.engine.refs.every_commit(repo.record))
    yield from missing_commits(repo, known, heads)


def missing_commits(
    repo: OpenRepository, known: CommitSet, heads: Iterable[CommitID]
) -> Iterator[Commit]:
    """Yield the heads and all ancestors that the set lacks, and add them to it.

    A head that does not exist is left out.

    Raises:
        CorruptDataError: a parent does not exist.
    """
    # One transaction stores a head and its commit, but listings may see the head first.
    unlisted = [head for head in heads if head not in known]
    if unlisted:
        yield from known.watch(repo.engine.refs.commits(repo.record, unlisted).values())
    while missing := known.missing:
        found = repo.engine.refs.commits(repo.record, list(missing))
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
