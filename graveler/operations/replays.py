"""Revert and cherry-pick: merges that replay one commit's changes, backwards or forwards.

operation     base              source             destination
merge         merge base        source ref         branch head
revert        the ref           a parent of it     branch head
cherry-pick   a parent of it    the ref            branch head
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import TypeVar

import msgspec

from graveler.branches.changes import Apply, MergedSource, apply_at_once, apply_merge
from graveler.branches.heads import (
    Ending,
    Move,
    check_commit_size,
    commit_event,
    has_staged,
    made_commit,
    new_commit,
    require_clean,
)
from graveler.branches.lookup import current_branch
from graveler.branches.prefetch import Prefetch
from graveler.branches.protection import check_can_commit
from graveler.engine import Engine
from graveler.messages import Refusal, within
from graveler.model import Branch, Commit, CommitID
from graveler.model.hooks import Occurrence
from graveler.model.tasks import Task, TaskKind
from graveler.open_repository import OpenRepository
from graveler.operations.hooks.action_files import committed_action_files
from graveler.operations.hooks.after import move_and_announce, start_after
from graveler.operations.hooks.before import HookGate, request_gate, task_gate
from graveler.operations.tasks.hold import Hold, ProtectedEnding
from graveler.operations.tasks.requested_work import CommittingWork, WorkLimit, joinable_ahead
from graveler.operations.tasks.slices import apply_by_slices
from graveler.operations.tasks.waiting import FIRST_REQUEST, ClientWait, result_in_time
from graveler.refs.expressions import parse
from graveler.refs.resolve import resolve_commit


class _Replay(msgspec.Struct, frozen=True):
    """The changes from base to source, to be committed on top of a branch."""

    base: CommitID
    source: CommitID
    message: str
    metadata: Mapping[str, str]
    committer: str
    event: str
    subject: str
    force: bool
    allow_empty: bool

    @property
    def covers(self) -> str:
        """What the replay covers; see `Task`."""
        return f"{self.base} {self.source}"


class RevertRequest(msgspec.Struct, frozen=True):
    """The commit to undo; parent_number counts from 1, and may be 0 if there is one parent."""

    ref: str
    committer: str
    parent_number: int = 0
    message: str = ""
    metadata: Mapping[str, str] = {}
    force: bool = False
    allow_empty: bool = False


def revert(
    engine: Engine,
    repository: str,
    branch: str,
    request: RevertRequest,
    wait: ClientWait = FIRST_REQUEST,
) -> Commit:
    """Undo the changes of a commit against its parent; return the new commit.

    A large revert is left to a task, which this waits for.

    Raises:
        MergeConflictError: the branch changed the same objects since.
        ConflictError: it is a merge commit, and no parent is chosen.
        InvalidInputError: nothing is left to undo, the commit has no such parent, the branch has
            uncommitted changes, a name or the ref is malformed, or message and metadata are too
            large.
        NotFoundError: the repository or the branch does not exist, or the ref names no commit.
        ForbiddenError: the branch is protected, or the repository is read-only.
        HookFailedError: a hook stops the revert.
        PreconditionFailedError: an action file is malformed.
        ContentionError: other writers came first in each try.
        StillRunningError: a task does it, and has not ended in time.
    """
    return _in_time(engine, repository, branch, TaskKind.REVERT, request, _undoing, wait)


def _undoing(repo: OpenRepository, request: RevertRequest, undone: Commit) -> _Replay:
    if len(undone.parents) > 1 and request.parent_number <= 0:
        raise Refusal.REVERT_WITHOUT_PARENT.error(f"1 to {len(undone.parents)} of {undone.id}")
    number = request.parent_number or 1
    parent = _parent(repo, undone, number, Refusal.REVERT_BEYOND_PARENTS)
    message = request.message or f"Revert {request.ref}"
    return _Replay(
        base=undone.id,
        source=parent.id,
        message=message,
        metadata=request.metadata,
        committer=request.committer,
        event="revert_completed",
        subject="revert",
        force=request.force,
        allow_empty=request.allow_empty,
    )


def _commit_of(repo: OpenRepository, ref: str) -> Commit:
    with within(f"get commit from ref {ref}"):
        return resolve_commit(repo.engine.refs, repo.history(), ref)


def _parent(repo: OpenRepository, commit: Commit, number: int, refusal: Refusal) -> Commit:
    if not 1 <= number <= len(commit.parents):
        numbers = f"parents of commit {commit.id}: {len(commit.parents)}"
        raise refusal.error(numbers, number=number)
    return repo.history().commit(commit.parents[number - 1])


class CherryPickRequest(msgspec.Struct, frozen=True):
    """The commit to repeat; a commit with several parents needs parent_number, from 1."""

    ref: str
    committer: str
    parent_number: int | None = None
    message: str = ""
    metadata: Mapping[str, str] = {}
    force: bool = False


R = TypeVar("R", bound=RevertRequest | CherryPickRequest)


def cherry_pick(
    engine: Engine,
    repository: str,
    branch: str,
    request: CherryPickRequest,
    wait: ClientWait = FIRST_REQUEST,
) -> Commit:
    """Repeat the changes of a commit against its parent on the branch; return the new commit.

    The new commit may change nothing, if the branch has the changes already. Message and metadata
    default to the picked commit's. A large change is left to a task, which this waits for.

    Raises:
        MergeConflictError: the branch changed the same objects differently.
        InvalidInputError: the picked commit changed nothing, no parent is chosen, or it has no such
            parent; the branch has uncommitted changes; a name or the ref is malformed; or message
            and metadata are too large.
        NotFoundError: the repository or the branch does not exist, or the ref names no commit.
        ForbiddenError: the branch is protected, or the repository is read-only.
        HookFailedError: a hook stops the cherry-pick.
        PreconditionFailedError: an action file is malformed.
        ContentionError: other writers came first in each try.
        StillRunningError: a task does it, and has not ended in time.
    """
    return _in_time(engine, repository, branch, TaskKind.CHERRY_PICK, request, _picking, wait)


def _picking(repo: OpenRepository, request: CherryPickRequest, picked: Commit) -> _Replay:
    if len(picked.parents) > 1 and not request.parent_number:
        raise Refusal.PICK_WITHOUT_PARENT.error(f"1 to {len(picked.parents)} of {picked.id}")
    number = request.parent_number or 1
    parent = _parent(repo, picked, number, Refusal.PICK_BEYOND_PARENTS)
    metadata = {
        **picked.metadata,
        **request.metadata,
        "cherry-pick-origin": picked.id,
        "cherry-pick-committer": picked.committer,
    }
    return _Replay(
        base=parent.id,
        source=picked.id,
        message=request.message or picked.message,
        metadata=metadata,
        committer=request.committer,
        event="cherry_pick_completed",
        subject="cherry-pick",
        force=request.force,
        allow_empty=picked.metarange_id != parent.metarange_id,
    )


def _in_time(
    engine: Engine,
    name: str,
    branch_name: str,
    kind: TaskKind,
    request: R,
    ask: Callable[[OpenRepository, R, Commit], _Replay],
    wait: ClientWait,
) -> Commit:
    """Return the commit of the replay that `ask` makes of the request and the commit it names."""
    prefetch, identity = Prefetch(engine, name, branch_name), msgspec.to_builtins(request)
    joinable = joinable_ahead(prefetch, kind, branch_name, request.committer, identity)
    resolved = prefetch.of_repository(lambda known: _commit_of(known, request.ref))
    is_dirty = prefetch.of_branch(lambda token: has_staged(engine, token))
    repo, branch = current_branch(engine, name, branch_name)
    check_can_commit(repo.record, branch.name, force=request.force)
    work = _Replaying(
        kind=kind,
        repo=repo,
        user=request.committer,
        branch=branch,
        identity=identity,
        joinable=joinable,
        ref=request.ref,
        asked=cache(lambda: ask(repo, request, resolved(repo))),
        is_dirty=is_dirty,
    )
    return result_in_time(work, wait)


@dataclass(kw_only=True)
class _Replaying(CommittingWork):
    """A revert or a cherry-pick by a request.

    asked: called only for a new replay. The branch itself may be the ref: a repetition must not
        replay the replay.
    is_dirty: as for `require_clean`.
    """

    branch: Branch
    ref: str
    asked: Callable[[], _Replay]
    is_dirty: Callable[[Branch], bool]

    def at_once(self, limit: WorkLimit) -> Commit:
        repo, branch = self.repo, self.branch
        replayed = self.asked()
        check_commit_size(replayed.message, replayed.metadata)
        self.request, self.covers = msgspec.to_builtins(replayed), replayed.covers
        gate = request_gate(repo, may_wait=limit.until_ns is None)
        before = f"pre-{replayed.subject}"
        content = repo.content(branch.commit_id)
        if committed_action_files(repo, content, before).due(before, branch.name):
            gate.pace.begin()
        apply = apply_at_once(limit.over)
        return _replay(gate, branch, replayed, apply, is_dirty=self.is_dirty)

    def is_covered(self, task: Task) -> bool:
        if task.is_called_back and self.moves():
            return True  # the ref may name the task's commit by now: revert nothing twice
        return task.covers == (self.covers or self.asked().covers)

    def moves(self) -> bool:
        return parse(self.ref).base == self.branch.name


def run_replay(hold: Hold) -> None:
    """Do the work of a revert's or a cherry-pick's task, and end it with the new commit.

    Raises:
        GravelerError: as revert and cherry_pick.
        StoppedError: this runner must not continue.
    """
    asked = msgspec.convert(hold.task.request, _Replay)
    repo, current = hold.current_branch()
    ending = ProtectedEnding(hold, force=asked.force)
    _replay(task_gate(hold, repo), current, asked, apply_by_slices(hold), ending)


def _replay(
    gate: HookGate,
    branch: Branch,
    asked: _Replay,
    apply: Apply,
    ending: Ending | None = None,
    is_dirty: Callable[[Branch], bool] | None = None,
) -> Commit:
    """Commit the changes from base to source on top of the branch's head.

    is_dirty: as for `require_clean`.
    """
    repo = gate.repo
    history = repo.history()
    base, source = history.commit(asked.base), history.commit(asked.source)

    def plan(now: Branch) -> Move:
        now = require_clean(repo, now, is_dirty)
        head = history.commit(now.commit_id)
        destination = repo.metarange(head.metarange_id)
        merged = apply_merge(
            apply, repo, destination, MergedSource(base.metarange_id, source.metarange_id)
        )
        if merged.metarange_id == destination.id and not asked.allow_empty:
            raise Refusal.NOTHING_TO_REPEAT.error(
                f"branch {branch.name!r} already has that content"
            )
        made = new_commit(
            repo.engine,
            committer=asked.committer,
            message=asked.message,
            metarange_id=merged.metarange_id,
            metadata=asked.metadata,
            parents=(head,),
        )
        about = Occurrence(
            run_id="",
            event=f"pre-{asked.subject}",
            source_ref=branch.name,
            branch=branch.name,
            message=made.message,
            committer=made.committer,
            metadata=made.metadata,
        )
        files = committed_action_files(repo, destination, about.event)
        with within("update branch"):
            before = gate.pass_through(files, about, head.id)
        event = commit_event(repo, asked.event, branch.name, made)
        content = repo.metarange(made.metarange_id)
        after = f"post-{asked.subject}"
        starts = start_after(repo, content, after, branch.name, made, before=before)
        return Move(now, made.id, now.sealed_tokens, made, event, is_clean=True, starts=starts)

    return made_commit(move_and_announce(repo, branch, plan, ending))
