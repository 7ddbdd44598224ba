"""Copies and moves of prefixes: the requests of users, and their source objects."""

from enum import StrEnum
from itertools import islice

import msgspec

from graveler.branches.lookup import current_branch, read_branch
from graveler.branches.protection import check_can_stage
from graveler.branches.views import View, view_of_branch
from graveler.engine import Engine
from graveler.errors import InvalidInputError
from graveler.limits import PATH_BYTES_MAX
from graveler.messages import Refusal
from graveler.model import Branch, CommitID, Record
from graveler.model.tasks import Task, TaskKind
from graveler.open_repository import OpenRepository
from graveler.operations.tasks.requests import start
from graveler.refs.resolve import Staging, resolve
from graveler.staging.listing import PageQuery


class IfExists(StrEnum):
    """The action at a path where the destination has an object already."""

    FAIL = "fail"
    SKIP = "skip"
    OVERWRITE = "overwrite"


class PrefixRequest(msgspec.Struct, frozen=True):
    """The request of a user.

    source_ref: of a copy; "" means the destination's branch. A move is inside one branch.
    """

    source_prefix: str
    destination_prefix: str
    source_ref: str = ""
    if_exists: IfExists = IfExists.FAIL
    force: bool = False


class ResolvedRequest(msgspec.Struct, frozen=True):
    """The input of the task: the request, and its source as it was resolved.

    source: a branch, with its staged changes, or a commit's ID.
    source_uid: the branch's; None of a commit, or if an earlier version stored the task.
    """

    request: PrefixRequest
    source: str
    is_branch: bool
    source_uid: str | None = None


class PrefixObjects:
    """The objects to copy, by path."""

    def __init__(self, repo: OpenRepository, asked: ResolvedRequest) -> None:
        self._repo = repo
        self._asked = asked
        self._prefix = asked.request.source_prefix.encode()

    def page(self, destination: Branch, after: bytes, amount: int) -> list[Record]:
        """Return the records behind the path `after`, b"" at the beginning.

        destination: the branch that the task works on, at its current version.

        Raises:
            NotFoundError: the source's branch was deleted.
        """
        query = PageQuery(amount, prefix=self._prefix, after=after)
        view = self._view(destination)
        staged = view.staged(query.end)
        return list(islice(view.records(staged, query.start, query.end), amount))

    def _view(self, destination: Branch) -> View:
        repo, source = self._repo, self._asked.source
        if not self._asked.is_branch:
            return View(repo, (), repo.content(CommitID(source)))
        if source == destination.name:
            return view_of_branch(repo, destination)
        branch = read_branch(repo, source, self._asked.source_uid)
        return view_of_branch(repo, branch)


def start_copy(
    engine: Engine, repository: str, branch: str, request: PrefixRequest, user: str
) -> Task:
    """Start a task that copies the objects with the prefix to the branch; return it.

    Raises:
        InvalidInputError: a name, a prefix or the ref is malformed, or the prefixes overlap.
        NotFoundError: the repository, the branch or the ref does not exist, or has no such object.
        ForbiddenError: the branch is protected, or the repository is read-only.
    """
    return _start(engine, repository, branch, TaskKind.COPY_PREFIX, request, user)


def start_move(
    engine: Engine, repository: str, branch: str, request: PrefixRequest, user: str
) -> Task:
    """Start a task that moves the objects with the prefix inside the branch; return it.

    Raises:
        GravelerError: as start_copy.
    """
    assert not request.source_ref
    return _start(engine, repository, branch, TaskKind.MOVE_PREFIX, request, user)


def _start(
    engine: Engine,
    repository: str,
    branch: str,
    kind: TaskKind,
    request: PrefixRequest,
    user: str,
) -> Task:
    check_prefix(request.source_prefix)
    check_prefix(request.destination_prefix)
    repo, current = current_branch(engine, repository, branch)
    check_can_stage(repo.record, branch, force=request.force)
    resolved = resolve(engine.refs, repo.history(), request.source_ref or branch)
    if resolved.staging is Staging.ONLY:
        raise Refusal.STAGING_IS_NO_COMMIT.error(ref=request.source_ref)
    if resolved.branch is not None and resolved.staging is Staging.WITH:
        source = resolved.branch
        asked = ResolvedRequest(request, source.name, is_branch=True, source_uid=source.uid)
    else:
        asked = ResolvedRequest(request, resolved.commit_id, is_branch=False)
    _refuse_overlap(asked, branch)
    walk = PrefixObjects(repo, asked)
    if not walk.page(current, b"", 1):
        raise Refusal.NOT_FOUND.error(
            f"no object begins with {request.source_prefix!r} at {request.source_ref or branch!r}"
        )
    # No collection deletes what an open task covers.
    covers = "" if asked.is_branch else asked.source
    return start(repo, kind, msgspec.to_builtins(asked), user=user, branch=current, covers=covers)


def check_prefix(prefix: str) -> None:
    """Check the length of a prefix.

    Raises:
        InvalidInputError: it is longer than a path.
    """
    if len(prefix.encode()) > PATH_BYTES_MAX:
        raise InvalidInputError(f"a prefix has at most {PATH_BYTES_MAX} bytes")


def _refuse_overlap(asked: ResolvedRequest, branch: str) -> None:
    source, destination = asked.request.source_prefix, asked.request.destination_prefix
    is_inside = source.startswith(destination) or destination.startswith(source)
    if asked.is_branch and asked.source == branch and is_inside:
        raise InvalidInputError(
            f"source prefix {source!r} and destination prefix {destination!r} overlap: "
            "choose prefixes of which none begins with the other"
        )
