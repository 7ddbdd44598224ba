"""Merge, revert and cherry-pick: a commit whose content a three-way merge makes.

operation     base              source             destination
merge         merge base        source ref         branch head
revert        the ref           a parent of it     branch head
cherry-pick   a parent of it    the ref            branch head
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from graveler.merge import STRATEGIES, check_strategy
from graveler.merge import merge as merge_metaranges
from graveler.messages import Refusal, within
from graveler.model import Branch, Commit, Repository
from graveler.operations.actions import refuse_guarded
from graveler.operations.engine import Engine
from graveler.operations.protocol.heads import (
    Move,
    commit_event,
    move_head,
    new_commit,
    require_clean,
)
from graveler.operations.protocol.lookup import check_writable, current_branch, in_repository
from graveler.refs import merge_base as refs_merge_base
from graveler.refs.resolve import resolve_commit


@dataclass(frozen=True, slots=True)
class MergeRequest:
    """How to merge, and what the merge commit shall say of itself."""

    committer: str
    message: str = ""
    metadata: Mapping[str, str] = field(default_factory=dict)
    strategy: str = ""
    force: bool = False
    allow_empty: bool = False
    squash: bool = False


def merge(
    engine: Engine, repository: str, source_ref: str, branch: str, request: MergeRequest
) -> Commit:
    """Make what the source changed since the merge base part of the branch; the merge commit.

    Raises:
        MergeConflictError: both sides changed an object differently, and no strategy settles it.
        InvalidInputError: the source changed nothing, or the branch has uncommitted changes.
    """
    check_strategy(request.strategy)
    found, current = current_branch(engine, repository, branch)
    check_writable(found, force=request.force)
    with within(f"update branch {branch}: get commit by ref {source_ref}"):
        source = resolve_commit(engine.refs, engine.history(found), source_ref)
    message = request.message or f"Merge '{source_ref}' into '{branch}'"
    metadata = {**request.metadata, ".lakefs.merge.strategy": STRATEGIES[request.strategy]}

    def plan(now: Branch) -> Move:
        now = require_clean(engine, found, now)
        history = engine.history(found)
        head = history.commit(now.commit_id)
        base = refs_merge_base.merge_base(history, source.id, head.id)
        if source.metarange_id == base.metarange_id and not (request.allow_empty or request.force):
            raise Refusal.NOTHING_TO_MERGE.error(
                f"{source_ref!r} changed nothing since the merge base", branch=branch
            )
        merged = merge_metaranges(
            engine.committed,
            engine.metarange(found, base.metarange_id),
            engine.metarange(found, source.metarange_id),
            engine.metarange(found, head.metarange_id),
            request.strategy,
        )
        content = engine.metarange(found, source.metarange_id)
        refuse_guarded(engine, found, content, branch, "pre-merge")
        made = new_commit(
            engine,
            committer=request.committer,
            message=message,
            metarange_id=merged.metarange_id,
            metadata=metadata,
            parents=(head,) if request.squash else (head, source),
            generation=1 + max(head.generation, source.generation),
        )
        event = commit_event(
            engine, "merge_completed", found, branch, made, source_commit_id=source.id
        )
        return Move(now, made.id, now.sealed_tokens, made, event, is_clean=True)

    return _made(move_head(engine, found, current, plan))


def _made(move: Move) -> Commit:
    assert move.commit is not None
    return move.commit


def merge_base(
    engine: Engine, repository: str, source_ref: str, destination_ref: str
) -> tuple[str, str, str]:
    """The commit IDs of source, destination and their best common ancestor."""

    def read(found: Repository) -> tuple[str, str, str]:
        history = engine.history(found)
        with within(f"get commit by branch {source_ref}"):
            source = resolve_commit(engine.refs, history, source_ref)
        with within(f"get commit by ref {destination_ref}"):
            destination = resolve_commit(engine.refs, history, destination_ref)
        base = refs_merge_base.merge_base(history, source.id, destination.id)
        return source.id, destination.id, base.id

    return in_repository(engine, repository, read)


@dataclass(frozen=True, slots=True)
class RevertRequest:
    """Which commit to undo; parent_number is 1-based, 0 where the commit has only one."""

    ref: str
    committer: str
    parent_number: int = 0
    message: str = ""
    metadata: Mapping[str, str] = field(default_factory=dict)
    force: bool = False
    allow_empty: bool = False


def revert(engine: Engine, repository: str, branch: str, request: RevertRequest) -> Commit:
    """Undo what a commit changed against its parent, as a new commit.

    Raises:
        MergeConflictError: the branch has changed the same objects since.
        ConflictError: it is a merge commit, and no parent is chosen.
        InvalidInputError: there is nothing to undo, or no such parent.
    """
    found, current = current_branch(engine, repository, branch)
    check_writable(found, force=request.force)
    undone = _commit_of(engine, found, request.ref)
    if len(undone.parents) > 1 and request.parent_number <= 0:
        raise Refusal.REVERT_WITHOUT_PARENT.error(f"1 to {len(undone.parents)} of {undone.id}")
    number = request.parent_number or 1
    parent = _parent(engine, found, undone, number, Refusal.REVERT_BEYOND_PARENTS)
    message = request.message or f"Revert {request.ref}"
    return _commit_merge(
        engine,
        found,
        current,
        base=undone,
        source=parent,
        message=message,
        metadata=request.metadata,
        committer=request.committer,
        kind="revert_completed",
        guarded_by="pre-revert",
        allow_empty=request.allow_empty,
    )


def _commit_of(engine: Engine, repository: Repository, ref: str) -> Commit:
    with within(f"get commit from ref {ref}"):
        return resolve_commit(engine.refs, engine.history(repository), ref)


def _parent(
    engine: Engine, repository: Repository, commit: Commit, number: int, refusal: Refusal
) -> Commit:
    if not 1 <= number <= len(commit.parents):
        numbers = f"parents of commit {commit.id}: {len(commit.parents)}"
        raise refusal.error(numbers, number=number)
    return engine.history(repository).commit(commit.parents[number - 1])


@dataclass(frozen=True, slots=True)
class CherryPickRequest:
    """Which commit to repeat; parent_number is needed where it has several parents."""

    ref: str
    committer: str
    parent_number: int | None = None
    message: str = ""
    metadata: Mapping[str, str] = field(default_factory=dict)
    force: bool = False


def cherry_pick(engine: Engine, repository: str, branch: str, request: CherryPickRequest) -> Commit:
    """Repeat on the branch what a commit changed against its parent, even if it is there already.

    Message and metadata are the commit's own where the request gives none.

    Raises:
        MergeConflictError: the branch has changed the same objects differently.
        InvalidInputError: its parent is not settled, or it changed nothing.
    """
    found, current = current_branch(engine, repository, branch)
    check_writable(found, force=request.force)
    picked = _commit_of(engine, found, request.ref)
    if len(picked.parents) > 1 and not request.parent_number:
        raise Refusal.PICK_WITHOUT_PARENT.error(f"1 to {len(picked.parents)} of {picked.id}")
    number = request.parent_number or 1
    parent = _parent(engine, found, picked, number, Refusal.PICK_BEYOND_PARENTS)
    metadata = {
        **picked.metadata,
        **request.metadata,
        "cherry-pick-origin": picked.id,
        "cherry-pick-committer": picked.committer,
    }
    return _commit_merge(
        engine,
        found,
        current,
        base=parent,
        source=picked,
        message=request.message or picked.message,
        metadata=metadata,
        committer=request.committer,
        kind="cherry_pick_completed",
        guarded_by="pre-cherry-pick",
        allow_empty=picked.metarange_id != parent.metarange_id,
    )


def _commit_merge(
    engine: Engine,
    repository: Repository,
    branch: Branch,
    *,
    base: Commit,
    source: Commit,
    message: str,
    metadata: Mapping[str, str],
    committer: str,
    kind: str,
    guarded_by: str,
    allow_empty: bool,
) -> Commit:
    """Commit, on top of the branch's head, what changed from base to source."""

    def plan(now: Branch) -> Move:
        now = require_clean(engine, repository, now)
        head = engine.history(repository).commit(now.commit_id)
        destination = engine.metarange(repository, head.metarange_id)
        merged = merge_metaranges(
            engine.committed,
            engine.metarange(repository, base.metarange_id),
            engine.metarange(repository, source.metarange_id),
            destination,
        )
        if merged.metarange_id == destination.id and not allow_empty:
            raise Refusal.NOTHING_TO_REPEAT.error(
                f"branch {branch.name!r} has that content already"
            )
        refuse_guarded(engine, repository, destination, branch.name, guarded_by)
        made = new_commit(
            engine,
            committer=committer,
            message=message,
            metarange_id=merged.metarange_id,
            metadata=metadata,
            parents=(head,),
        )
        event = commit_event(engine, kind, repository, branch.name, made)
        return Move(now, made.id, now.sealed_tokens, made, event, is_clean=True)

    return _made(move_head(engine, repository, branch, plan))
