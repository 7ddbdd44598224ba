"""Merges: commits whose content is the result of a three-way merge of two branches."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache

import msgspec
from msgspec.structs import replace

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
    require_head,
)
from graveler.branches.lookup import current_branch
from graveler.branches.prefetch import Prefetch
from graveler.branches.protection import check_can_merge
from graveler.branches.watching import Watching
from graveler.engine import Engine
from graveler.errors import InvalidInputError, MergeConflictError, PreconditionFailedError
from graveler.limits import RESOLUTIONS_MAX
from graveler.merge import STRATEGIES, check_strategy
from graveler.messages import Refusal, within
from graveler.model import Branch, Commit, CommitID
from graveler.model.hooks import Occurrence
from graveler.model.pulls import PullRequestMerge
from graveler.model.tasks import Task, TaskKind
from graveler.open_repository import OpenRepository
from graveler.operations.hooks.action_files import committed_action_files
from graveler.operations.hooks.after import move_and_announce, start_after
from graveler.operations.hooks.before import HookGate, request_gate, task_gate
from graveler.operations.tables.merging import settled_tables
from graveler.operations.tasks.hold import Hold, ProtectedEnding
from graveler.operations.tasks.requested_work import CommittingWork, WorkLimit, joinable_ahead
from graveler.operations.tasks.requests import start
from graveler.operations.tasks.slices import apply_by_slices
from graveler.operations.tasks.waiting import FIRST_REQUEST, ClientWait, result_in_time
from graveler.refs.base_graph import base_of_merge
from graveler.refs.resolve import resolve_commit

_PRE_MERGE = "pre-merge"


class MergeRequest(msgspec.Struct, frozen=True):
    """The options of a merge, and the fields of the merge commit.

    resolutions: by path, the strategy for its conflict.
    source_commit_id: the commit that the source must be, "" if any.
    if_match: the commits of which one must be the branch's head, None if any may.
    """

    committer: str
    message: str = ""
    metadata: Mapping[str, str] = {}
    strategy: str = ""
    force: bool = False
    allow_empty: bool = False
    squash: bool = False
    resolutions: Mapping[str, str] = {}
    source_commit_id: str = ""
    if_match: tuple[str, ...] | None = None


class MergeOf(msgspec.Struct, frozen=True):
    """The input of a merge; its task covers the source's commit at the time of the request."""

    source_ref: str
    request: MergeRequest


# Reads the pull request of the merge, and checks that it is open. Returns a function from the merge
# commit to the change that marks the pull request as merged.
Closing = Callable[[], Callable[[Commit], PullRequestMerge]]


def merge(
    engine: Engine,
    repository: str,
    source_ref: str,
    branch: str,
    request: MergeRequest,
    wait: ClientWait = FIRST_REQUEST,
) -> Commit:
    """Merge the source's changes since the merge base into the branch; return the merge commit.

    A large merge is left to a task, which this waits for.

    Raises:
        MergeConflictError: both sides changed an object differently, and no strategy is given.
        InvalidInputError: the source changed nothing, the branch has uncommitted changes, the two
            have no common ancestor, a name, the ref or the strategy is malformed, a resolution is
            not about a conflict, or message and metadata are too large.
        NotFoundError: the repository or the branch does not exist, or the ref names no commit.
        ForbiddenError: the repository is read-only, or the branch requires approvals.
        HookFailedError: a hook stops the merge.
        PreconditionFailedError: the source or the head is not as required, or an action file is
            malformed.
        ContentionError: other writers came first in each try.
        StillRunningError: a task makes the merge, and has not ended in time.
    """
    asked = MergeOf(source_ref, request)
    prefetch, identity = Prefetch(engine, repository, branch), msgspec.to_builtins(asked)
    joinable = joinable_ahead(prefetch, TaskKind.MERGE, branch, request.committer, identity)
    resolved = prefetch.of_repository(lambda known: _source_id(known, source_ref, branch))
    is_dirty = prefetch.of_branch(lambda token: has_staged(engine, token))
    repo, current = mergeable(engine, repository, branch, request)
    work = _Merging(
        repo=repo,
        user=request.committer,
        branch=current,
        request=identity,
        joinable=joinable,
        asked=asked,
        source_id=cache(lambda: resolved(repo)),
        is_dirty=is_dirty,
    )
    return result_in_time(work, wait)


@dataclass(kw_only=True)
class _Merging(CommittingWork):
    """A merge by a request.

    source_id: called late. A request that waits for a task needs no source, which may be deleted
        meanwhile.
    is_dirty: as for `require_clean`.
    """

    kind: TaskKind = TaskKind.MERGE
    branch: Branch
    asked: MergeOf
    source_id: Callable[[], CommitID]
    is_dirty: Callable[[Branch], bool]

    def at_once(self, limit: WorkLimit) -> Commit:
        branch = self.branch
        self.covers = source = self.source_id()
        require_source(self.asked, source)
        gate = gate_before_merge(self.repo, source, branch.name, limit)
        apply = apply_at_once(limit.over)
        is_dirty = self.is_dirty
        return merge_commit(gate, branch, self.asked, source, apply, limit.over, is_dirty=is_dirty)

    def is_covered(self, task: Task) -> bool:
        required_id = self.asked.request.source_commit_id
        return task.covers == (self.covers or required_id or self.source_id())


def start_merge(
    engine: Engine, repository: str, source_ref: str, branch: str, request: MergeRequest
) -> Task:
    """Start a task that merges the source's present commit into the branch; return it.

    Raises:
        InvalidInputError: a name, the ref or the strategy is malformed, or message and metadata are
            too large.
        NotFoundError: the repository or the branch does not exist, or the ref names no commit.
        ForbiddenError: the repository is read-only, or the branch requires approvals.
        PreconditionFailedError: the source or the head is not as required.
    """
    repo, current = mergeable(engine, repository, branch, request)
    require_head(current, request.if_match)
    asked = MergeOf(source_ref, request)
    source_id = _source_id(repo, source_ref, branch)
    require_source(asked, source_id)
    return start(
        repo,
        TaskKind.MERGE,
        msgspec.to_builtins(asked),
        user=request.committer,
        branch=current,
        covers=source_id,
        is_covered=lambda task: task.covers == source_id,
    )


def run_merge(hold: Hold) -> None:
    """Do the work of a merge's task, and end it with the merge commit.

    Raises:
        GravelerError: as merge.
        StoppedError: this runner must not continue.
    """
    asked = msgspec.convert(hold.task.request, MergeOf)
    repo, current = hold.current_branch()
    source_id = CommitID(hold.task.covers)
    force = asked.request.force
    check_can_merge(repo.record, current.name, force=force)
    ending = ProtectedEnding(hold, force=force, is_merge=True)
    gate, apply = task_gate(hold, repo), apply_by_slices(hold)
    merge_commit(gate, current, asked, source_id, apply, hold.reporting, ending)


def mergeable(
    engine: Engine, repository: str, branch: str, request: MergeRequest
) -> tuple[OpenRepository, Branch]:
    """Return repository and branch if the merge may be made there.

    Raises:
        InvalidInputError: a name or the strategy is malformed, or message and metadata are too
            large.
        NotFoundError: the repository or the branch does not exist.
        ForbiddenError: the repository is read-only, or the branch requires approvals.
    """
    check_merge(request)
    repo, current = current_branch(engine, repository, branch)
    check_can_merge(repo.record, branch, force=request.force)
    return repo, current


def check_merge(request: MergeRequest) -> None:
    """Check the strategy, the number of resolutions, and the size of the texts.

    Raises:
        InvalidInputError: one is wrong.
    """
    check_strategy(request.strategy)
    if len(request.resolutions) > RESOLUTIONS_MAX:
        raise InvalidInputError(f"a merge takes at most {RESOLUTIONS_MAX} resolutions")
    check_commit_size(request.message, _metadata(request), *request.resolutions)


def _source_id(repo: OpenRepository, source_ref: str, branch: str) -> CommitID:
    with within(f"update branch {branch}: get commit by ref {source_ref}"):
        return resolve_commit(repo.engine.refs, repo.history(), source_ref).id


def require_source(asked: MergeOf, source_id: CommitID) -> None:
    """Check that the merge's source is the required commit, if one is.

    Raises:
        PreconditionFailedError: it is another one.
    """
    if asked.request.source_commit_id not in ("", source_id):
        raise PreconditionFailedError(
            f"{asked.source_ref!r} is now commit {source_id}: look at it, and repeat"
        )


def _metadata(request: MergeRequest) -> Mapping[str, str]:
    return {**request.metadata, ".lakefs.merge.strategy": STRATEGIES[request.strategy]}


def gate_before_merge(
    repo: OpenRepository, source_id: CommitID, branch: str, limit: WorkLimit
) -> HookGate:
    """Return the gate of a merge that a request makes; a due hook leaves the merge to a task.

    Raises:
        TakesLongError: a hook is due.
        PreconditionFailedError: an action file is malformed.
    """
    gate = request_gate(repo, may_wait=limit.until_ns is None)
    content = repo.content(source_id)
    if committed_action_files(repo, content, _PRE_MERGE).due(_PRE_MERGE, branch):
        gate.pace.begin()
    return gate


def merge_commit(
    gate: HookGate,
    branch: Branch,
    asked: MergeOf,
    source_id: CommitID,
    apply: Apply,
    watching: Watching,
    ending: Ending | None = None,
    closing: Closing | None = None,
    is_dirty: Callable[[Branch], bool] | None = None,
) -> Commit:
    """Merge the source's commit into the branch; return the merge commit.

    watching: passes the resolutions on, and may raise to stop.
    ending: the task that the commit ends.
    closing: of the pull request that the commit merges; called in each try.
    is_dirty: as for `require_clean`.

    Raises:
        GravelerError: as merge, or whatever closing raises.
    """
    repo, request, source_ref = gate.repo, asked.request, asked.source_ref

    def plan(now: Branch) -> Move:
        close = None if closing is None else closing()
        require_head(now, request.if_match)
        now = require_clean(repo, now, is_dirty)
        history = repo.history()
        source, head = history.commits([source_id, now.commit_id])
        base = base_of_merge(history, source.id, head.id)
        if source.metarange_id == base and not (request.allow_empty or request.force):
            raise Refusal.NOTHING_TO_MERGE.error(
                f"{source_ref!r} changed nothing since the merge base", branch=branch.name
            )
        onto = repo.metarange(head.metarange_id)
        to_merge = MergedSource(base, source.metarange_id, request.strategy, request.resolutions)
        with _conflicts_of(branch):
            of_tables = settled_tables(repo, to_merge, onto)
            to_merge = replace(to_merge, resolutions={**of_tables, **request.resolutions})
            merged = apply_merge(apply, repo, onto, to_merge)
        to_merge.check(repo, onto, watching)  # at last: what it reads has been read
        made = new_commit(
            repo.engine,
            committer=request.committer,
            message=request.message or f"Merge '{source_ref}' into '{branch.name}'",
            metarange_id=merged.metarange_id,
            metadata=_metadata(request),
            parents=(head,) if request.squash else (head, source),
            generation=1 + max(head.generation, source.generation),
        )
        before = _pass_before(gate, branch.name, source_ref, source, made, head.id)
        event = commit_event(repo, "merge_completed", branch.name, made, source_commit_id=source.id)
        content = repo.metarange(made.metarange_id)
        starts = start_after(
            repo, content, "post-merge", branch.name, made, before=before, merge_source=source_ref
        )
        merges = None if close is None else close(made)
        tokens = now.sealed_tokens
        return Move(now, made.id, tokens, made, event, is_clean=True, merges=merges, starts=starts)

    return made_commit(move_and_announce(repo, branch, plan, ending))


@contextmanager
def _conflicts_of(branch: Branch) -> Iterator[None]:
    """Give a conflict lakeFS's message."""
    try:
        yield
    except MergeConflictError as error:
        raise Refusal.MERGE_CONFLICT.error(error.details, branch=branch.name) from error


def _pass_before(
    gate: HookGate, branch: str, source_ref: str, source: Commit, made: Commit, head: CommitID
) -> str:
    """Run the hooks before a merge, which the source commit names; return the run's ID."""
    content = gate.repo.metarange(source.metarange_id)
    files = committed_action_files(gate.repo, content, _PRE_MERGE)
    about = Occurrence(
        run_id="",
        event=_PRE_MERGE,
        source_ref=source.id,
        branch=branch,
        commit_id=made.id,
        message=made.message,
        committer=made.committer,
        metadata=made.metadata,
        merge_source=source_ref,
    )
    with within(f"update branch {branch}"):
        return gate.pass_through(files, about, head, source.id)
