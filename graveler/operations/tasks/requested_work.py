"""The work of a request, which the request does itself or leaves to a task."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from msgspec import Struct

from graveler.branches.prefetch import Prefetch
from graveler.engine import Engine
from graveler.model import Branch, Commit, CommitID
from graveler.model.tasks import Task, TaskKind
from graveler.open_repository import OpenRepository
from graveler.operations.tasks.requests import digest_of, name_of

T = TypeVar("T")


class TakesLongError(Exception):
    """The work takes longer than a request may work by itself."""


class WorkLimit(Struct, frozen=True):
    """Stops the work of a request when it takes too long."""

    engine: Engine
    until_ns: int | None

    def over(self, things: Iterable[T], /) -> Iterator[T]:
        """Pass the things on.

        Raises:
            TakesLongError: the time is up.
        """
        now_ns, until_ns = self.engine.clock.now_ns, self.until_ns
        for thing in things:
            if until_ns is not None and now_ns() > until_ns:
                raise TakesLongError
            yield thing


@dataclass(kw_only=True)
class RequestedWork(ABC, Generic[T]):
    """The work of a request, and the two ways to do it: at once, or by a task.

    branch: as the request saw it when it began; None if the work is on none.
    request: the input of a task.
    covers: see `Task`; at_once may set it, and `request`, before it takes long.
    identity: the fields that equal requests share, if not `request`.
    joinable: returns the last task of an equal request, if its read has begun.
    """

    kind: TaskKind
    repo: OpenRepository
    user: str
    branch: Branch | None = None
    request: Mapping[str, Any] = field(default_factory=dict)
    covers: str = ""
    identity: Mapping[str, Any] | None = None
    joinable: Callable[[OpenRepository], Task | None] | None = None

    @abstractmethod
    def at_once(self, limit: WorkLimit) -> T:
        """Do the work in this request.

        Raises:
            TakesLongError: it takes longer than the limit.
        """

    @abstractmethod
    def result_of(self, task: Task) -> T:
        """Return the result of a completed task."""

    def is_covered(self, _task: Task, /) -> bool:
        """Return whether the effect of a task covers the request."""
        return True

    def moves(self) -> bool:
        """Return whether the request means something else when the branch has moved."""
        return False

    @property
    def digest(self) -> str:
        """What the tasks of equal requests share."""
        return digest_of(self.kind, name_of(self.branch), self.user, self.identity or self.request)


class CommittingWork(RequestedWork[Commit]):
    """Work whose result is a commit."""

    def result_of(self, task: Task) -> Commit:
        return commit_of(self.repo, task)


class ReadingWork(RequestedWork[T]):
    """Work on data that may have changed since a task read them.

    So a task covers only the repetition that its client was asked for.
    """

    def is_covered(self, task: Task, /) -> bool:
        return task.is_called_back


def joinable_ahead(
    prefetch: Prefetch, kind: TaskKind, branch: str, user: str, identity: Mapping[str, Any]
) -> Callable[[OpenRepository], Task | None] | None:
    """Begin to read the last task of an equal request; None if this process starts no tasks."""
    engine = prefetch.engine
    if engine.task_settings.request_work_s is None:
        return None
    digest = digest_of(kind, branch, user, identity)
    return prefetch.of_repository(lambda repo: engine.refs.joinable_task(repo.record, digest))


def commit_of(repo: OpenRepository, task: Task) -> Commit:
    """Return the commit that a completed task made."""
    return repo.history().commit(CommitID(task.result["commit_id"]))
