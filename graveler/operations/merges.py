"""Merge, revert and cherry-pick: commits whose content is the result of a three-way merge.

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
from graveler.model import Branch, Commit, CommitID, Repository
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
    """The options of a merge, and the fields of the merge commit."""

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
    """Merge what the source changed since the merge base into the branch; return the merge commit.

    Raises:
        MergeConflictError: both sides changed an object differently, and no strategy is given.
        InvalidInputError: the source changed nothing, the branch has uncommitted changes, the two
            have no common ancestor, a name, the ref or the strategy is malformed, or message and
            metadata are too large.
        NotFoundError: the repository or the branch does not exist, or the ref names no commit.
        ForbiddenError: the repository is read-only.
        PreconditionFailedError: an action file guards merges into the branch.
        ContentionError: other writers came first in each try.
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
) -> tuple[CommitID, CommitID, CommitID]:
    """Return the commit IDs of source, destination and merge base.

    Raises:
        InvalidInputError: a name or a ref is malformed, or the two have no common ancestor.
        NotFoundError: the repository does not exist, or a ref names no commit.
    """

    def read(found: Repository) -> tuple[CommitID, CommitID, CommitID]:
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
    """Which commit to undo; parent_number counts from 1, and may be 0 if there is one parent."""

    ref: str
    committer: str
    parent_number: int = 0
    message: str = ""
    metadata: Mapping[str, str] = field(default_factory=dict)
    force: bool = False
    allow_empty: bool = False


def revert(engine: Engine, repository: str, branch: str, request: RevertRequest) -> Commit:
    """Undo what a commit changed against its parent; return the new commit.

    Raises:
        MergeConflictError: the branch changed the same objects since.
        ConflictError: it is a merge commit, and no parent is chosen.
        InvalidInputError: nothing is left to undo, the commit has no such parent, the branch has
            uncommitted changes, a name or the ref is malformed, or message and metadata are too
            large.
        NotFoundError: the repository or the branch does not exist, or the ref names no commit.
        ForbiddenError: the repository is read-only.
        PreconditionFailedError: an action file guards reverts on the branch.
        ContentionError: other writers came first in each try.
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
    """Which commit to repeat; a commit with several parents needs parent_number, from 1."""

    ref: str
    committer: str
    parent_number: int | None = None
    message: str = ""
    metadata: Mapping[str, str] = field(default_factory=dict)
    force: bool = False


def cherry_pick(engine: Engine, repository: str, branch: str, request: CherryPickRequest) -> Commit:
    """Repeat what a commit changed against its parent, on the branch; return the new commit.

    The new commit may change nothing, if the branch has the changes already. Message and metadata
    default to the picked commit's.

    Raises:
        MergeConflictError: the branch changed the same objects differently.
        InvalidInputError: the picked commit changed nothing, no parent is chosen, or it has no such
            parent; the branch has uncommitted changes; a name or the ref is malformed; or message
            and metadata are too large.
        NotFoundError: the repository or the branch does not exist, or the ref names no commit.
        ForbiddenError: the repository is read-only.
        PreconditionFailedError: an action file guards cherry-picks on the branch.
        ContentionError: other writers came first in each try.
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
    """Commit what changed from base to source on top of the branch's head."""

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
                f"branch {branch.name!r} already has that content"
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
