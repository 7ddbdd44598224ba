"""Commits: make and read them, and read the log."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import msgspec
from msgspec import structs

from graveler.branches.changes import Apply, StagedSource, apply_at_once
from graveler.branches.heads import (
    Ending,
    Move,
    check_commit_size,
    commit_event,
    has_room,
    has_staged,
    made_commit,
    new_commit,
    newest_sealed,
    require_clean,
    seal,
    seal_restored,
)
from graveler.branches.lookup import current_branch, in_repository
from graveler.branches.prefetch import Prefetch
from graveler.branches.protection import check_can_commit
from graveler.branches.request_time import TimeLimit
from graveler.branches.watching import Watching
from graveler.diff.two_way import diff
from graveler.engine import Engine
from graveler.entries import same_content
from graveler.errors import GravelerError, NotFoundError
from graveler.limits import SEALED_REPLACED_MAX
from graveler.messages import Refusal, within
from graveler.model import EMPTY_METARANGE, Branch, Commit, CommitID, MetaRangeID, Page
from graveler.model.tasks import Task, TaskKind, TaskState
from graveler.open_repository import OpenRepository
from graveler.operations.committed_files import require_metarange
from graveler.operations.hooks.action_files import StagedActionFiles, staged_action_files
from graveler.operations.hooks.after import move_and_announce, start_after
from graveler.operations.hooks.before import HookGate, request_gate, task_gate
from graveler.operations.hooks.commits import (
    SEALING,
    UNSEALED,
    about_commit,
    is_guarded,
    pass_before_commit,
    pass_before_sealing,
)
from graveler.operations.tasks.hold import Hold, ProtectedEnding
from graveler.operations.tasks.requested_work import (
    CommittingWork,
    WorkLimit,
    commit_of,
    joinable_ahead,
)
from graveler.operations.tasks.requests import start, status
from graveler.operations.tasks.slices import apply_by_slices
from graveler.operations.tasks.waiting import FIRST_REQUEST, ClientWait, result_in_time
from graveler.refs import log as refs_log
from graveler.refs.merge_base import commits_ahead
from graveler.refs.resolve import resolve_commit, resolve_commit_id
from graveler.staging.listing import prefix_end


class CommitRequest(msgspec.Struct, frozen=True):
    """The fields and options of a commit to make; date_s is in Unix seconds."""

    message: str
    committer: str
    metadata: Mapping[str, str] = {}
    date_s: int | None = None
    allow_empty: bool = False
    force: bool = False
    source_metarange: MetaRangeID | None = None


def commit(
    engine: Engine,
    repository: str,
    branch: str,
    request: CommitRequest,
    wait: ClientWait = FIRST_REQUEST,
) -> Commit:
    """Commit the staged changes of the branch, or the metarange that the request names.

    A large commit is left to a task, which this waits for.

    Raises:
        InvalidInputError: there are no changes, and the request does not allow that; a name is
            malformed; message and metadata are too large; or, with a metarange, the branch has
            uncommitted changes.
        NotFoundError: the repository, the branch or the metarange does not exist.
        ForbiddenError: the branch is protected, or the repository is read-only.
        HookFailedError: a hook stops the commit.
        PreconditionFailedError: an action file is malformed.
        ContentionError: other writers came first in each try.
        StillRunningError: a task makes the commit, and has not ended in time.
    """
    prefetch, identity = Prefetch(engine, repository, branch), msgspec.to_builtins(request)
    joinable = joinable_ahead(prefetch, TaskKind.COMMIT, branch, request.committer, identity)
    staged = prefetch.of_branch(lambda token: staged_action_files(engine, token))
    repo, current = _committable(engine, repository, branch, request)
    work = _Committing(
        repo=repo,
        user=request.committer,
        branch=current,
        request=identity,
        joinable=joinable,
        asked=request,
        staged=staged,
    )
    return result_in_time(work, wait)


@dataclass(kw_only=True)
class _Committing(CommittingWork):
    kind: TaskKind = TaskKind.COMMIT
    branch: Branch
    asked: CommitRequest
    staged: StagedActionFiles

    def at_once(self, limit: WorkLimit) -> Commit:
        repo, branch, asked = self.repo, self.branch, self.asked
        gate = request_gate(repo, may_wait=limit.until_ns is None)
        if asked.source_metarange is not None:
            return _commit_metarange(gate, branch, asked)
        self.covers = UNSEALED
        about = about_commit(branch.name, asked.message, asked.committer, asked.metadata)
        pass_before_sealing(gate, branch, about, self.staged)
        sealed = seal(repo, branch, limit.over)
        self.covers = newest_sealed(sealed)
        apply = apply_at_once(limit.over)
        return _commit_sealed(gate, sealed, asked, apply, limit.over)

    def is_covered(self, task: Task) -> bool:
        if task.covers == UNSEALED:  # it will seal all, unless it failed before
            return task.state is not TaskState.FAILED
        if self.covers not in ("", UNSEALED):
            return task.covers == self.covers
        is_sealed = newest_sealed(self.branch) in ("", task.covers)
        return is_sealed and not has_staged(self.repo.engine, self.branch.staging_token)


def start_commit(engine: Engine, repository: str, branch: str, request: CommitRequest) -> Task:
    """Start a task that commits the changes that are staged on the branch now; return it.

    Raises:
        InvalidInputError, NotFoundError, ForbiddenError: as commit, but for missing changes, which
            the task reports.
    """
    repo, current = _committable(engine, repository, branch, request)
    # Without room, sealing may take long.
    seals = has_room(current, engine.sealed_tokens_max) and not is_guarded(repo, current)
    covers = newest_sealed(seal(repo, current)) if seals else UNSEALED
    return start(
        repo,
        TaskKind.COMMIT,
        msgspec.to_builtins(request),
        user=request.committer,
        branch=current,
        covers=covers,
        is_covered=lambda task: task.covers == covers,
    )


def task_status(
    engine: Engine, repository: str, task_id: str, kind: TaskKind
) -> tuple[Task, Commit | None]:
    """Return the current state of a task of that kind, and the commit that it made, if any.

    Raises:
        InvalidInputError: the repository's name is malformed.
        NotFoundError: the repository does not exist, or has no such task.
    """
    task = status(engine, repository, task_id, kind)
    if not task.result:
        return task, None
    return task, in_repository(engine, repository, lambda found: commit_of(found, task))


def run_commit(hold: Hold) -> None:
    """Do the work of a commit's task, and end it with the commit.

    Raises:
        GravelerError: as commit.
        StoppedError: this runner must not continue.
    """
    if hold.task.takes > 1:  # the runner before may have had too little time to merge tokens
        engine = replace(hold.repo.engine, sealed_tokens_max=SEALED_REPLACED_MAX)
        hold.repo = structs.replace(hold.repo, engine=engine)
    request = msgspec.convert(hold.task.request, CommitRequest)
    repo, current = hold.current_branch()
    check_can_commit(repo.record, current.name, force=request.force)
    gate, ending = task_gate(hold, repo), ProtectedEnding(hold, force=request.force)
    if request.source_metarange is not None:
        _commit_metarange(gate, current, request, ending)
        return
    if hold.task.covers in (UNSEALED, SEALING):
        about = about_commit(current.name, request.message, request.committer, request.metadata)
        pass_before_sealing(gate, current, about)
        # From here on, equal requests cannot know whether this commit covers them.
        hold.cover(SEALING)
        current = seal(*hold.current_branch(), hold.reporting)
        hold.cover(newest_sealed(current))
    apply = apply_by_slices(hold)
    _commit_sealed(gate, current, request, apply, hold.reporting, ending)


def _committable(
    engine: Engine, repository: str, branch: str, request: CommitRequest
) -> tuple[OpenRepository, Branch]:
    repo, current = current_branch(engine, repository, branch)
    check_can_commit(repo.record, branch, force=request.force)
    check_commit_size(request.message, request.metadata)
    return repo, current


def _commit_sealed(
    gate: HookGate,
    branch: Branch,
    request: CommitRequest,
    apply: Apply,
    watching: Watching,
    ending: Ending | None = None,
) -> Commit:
    """Commit the branch's sealed tokens."""
    repo = gate.repo

    def plan(now: Branch) -> Move:
        now = seal_restored(repo, now, watching)
        head = repo.history().commit(now.commit_id)
        base = repo.metarange(head.metarange_id)
        applied = apply(repo, base, StagedSource.of(now))
        if not applied.total and not request.allow_empty:
            if not now.sealed_tokens:
                raise _no_changes(branch.name)
            # The tokens change nothing: take them off, so that they do not slow down readers.
            return Move(now, now.commit_id, now.sealed_tokens)
        return _move_to(gate, now, head, applied.metarange_id, request)

    move = move_and_announce(repo, branch, plan, ending)
    if move.commit is None:
        raise _no_changes(branch.name)
    return move.commit


def _move_to(
    gate: HookGate,
    branch: Branch,
    head: Commit,
    metarange_id: MetaRangeID,
    request: CommitRequest,
    guarded_by: MetaRangeID | None = None,
) -> Move:
    """Return the move to a new commit, after its hooks; guarded_by has the action files."""
    repo = gate.repo
    content = repo.metarange(metarange_id)
    guard = content if guarded_by is None else repo.metarange(guarded_by)
    about = about_commit(branch.name, request.message, request.committer, request.metadata)
    before = pass_before_commit(gate, guard, about, head.id, metarange_id)
    made = new_commit(
        repo.engine,
        committer=request.committer,
        message=request.message,
        metarange_id=metarange_id,
        metadata=request.metadata,
        parents=(head,),
        date_s=request.date_s,
    )
    event = commit_event(repo, "commit_created", branch.name, made)
    starts = start_after(repo, content, "post-commit", branch.name, made, before=before)
    return Move(branch, made.id, branch.sealed_tokens, made, event, starts=starts)


def _no_changes(branch: str) -> GravelerError:
    return Refusal.NOTHING_TO_COMMIT.error(f"the commit would not change branch {branch!r}")


def _commit_metarange(
    gate: HookGate, branch: Branch, request: CommitRequest, ending: Ending | None = None
) -> Commit:
    """Commit a metarange that exists in the repository's namespace, on a clean branch."""
    repo = gate.repo
    metarange_id = request.source_metarange or EMPTY_METARANGE
    require_metarange(repo, metarange_id)

    def plan(now: Branch) -> Move:
        clean = require_clean(repo, now, refusal=Refusal.METARANGE_OVER_CHANGES)
        head = repo.history().commit(clean.commit_id)
        if head.metarange_id == metarange_id and not request.allow_empty:
            raise _no_changes(branch.name)
        about = about_commit(branch.name, request.message, request.committer, request.metadata)
        pass_before_sealing(gate, clean, about)
        # The action files of the branch, not those of the metarange: as in lakeFS.
        move = _move_to(gate, clean, head, metarange_id, request, head.metarange_id)
        return structs.replace(move, is_clean=True)

    return made_commit(move_and_announce(repo, branch, plan, ending))


def get(engine: Engine, repository: str, ref: str) -> Commit:
    """Return the commit that the ref expression names.

    Raises:
        InvalidInputError: the repository's name or the ref is malformed.
        NotFoundError: the repository does not exist, or the ref names no commit.
    """

    def read(repo: OpenRepository) -> Commit:
        try:
            return resolve_commit(engine.refs, repo.history(), ref)
        except NotFoundError as error:
            raise Refusal.COMMIT_NOT_FOUND.error(repr(ref)) from error

    return in_repository(engine, repository, read)


class LogQuery(msgspec.Struct, frozen=True):
    """The commits of a log to list; `graveler.refs.log` explains the fields.

    objects and prefixes leave out commits that changed none of them. not_in is a ref, and leaves
    out all commits that lead to it.
    """

    amount: int
    after: str = ""
    objects: tuple[bytes, ...] = ()
    prefixes: tuple[bytes, ...] = ()
    limit: bool = False
    first_parent: bool = False
    since_s: int | None = None
    stop_at: str = ""
    not_in: str = ""


def log(engine: Engine, repository: str, ref: str, query: LogQuery) -> Page[Commit]:
    """Return a page of the commits that lead to the ref, newest first.

    Raises:
        InvalidInputError: the repository's name or a ref is malformed.
        NotFoundError: the repository does not exist, or a ref names no commit.
        CorruptDataError: a commit is missing.
    """

    def read(repo: OpenRepository) -> Page[Commit]:
        history = repo.history()

        def commit_id(role: str, text: str) -> CommitID:
            with within(role):
                return resolve_commit_id(engine.refs, history, text)

        start_id = commit_id("ref", ref)
        after = commit_id("from ref", query.after) if query.after else None
        stop_at = commit_id("stop_at", query.stop_at) if query.stop_at else None
        not_in = commit_id("not_in", query.not_in) if query.not_in else None
        filtered = query.objects or query.prefixes
        time_limit = TimeLimit(engine)
        return refs_log.log(
            history,
            start_id,
            amount=query.amount,
            after=after,
            limit=query.limit,
            first_parent=query.first_parent,
            since_s=query.since_s,
            stop_at=stop_at,
            within=commits_ahead(history, start_id, not_in) if not_in else None,
            matches=(lambda commit: _touches(repo, commit, query)) if filtered else None,
            is_over=(lambda: time_limit.is_over) if filtered else None,
        )

    return in_repository(engine, repository, read)


def _touches(repo: OpenRepository, commit: Commit, query: LogQuery) -> bool:
    """Whether the commit changed one of the query's objects, or an object under its prefixes."""
    parent = repo.content(commit.parents[0])
    content = repo.metarange(commit.metarange_id)
    if parent.id == content.id:
        return False
    for path in query.objects:
        before, after = parent.get(path), content.get(path)
        if before is None or after is None:
            if before is not after:
                return True
        elif not same_content(before, after):
            return True
    return any(
        next(diff(parent, content, prefix, prefix_end(prefix)), None) is not None
        for prefix in query.prefixes
    )
