"""Commits: make one, read one, read the log."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from graveler.committed.apply import apply_changes
from graveler.diff.two_way import diff
from graveler.entries import same_content
from graveler.errors import CorruptDataError, GravelerError, NotFoundError
from graveler.identity import ID_LENGTH, is_id
from graveler.messages import Refusal, within
from graveler.model import EMPTY_METARANGE, Branch, Commit, CommitID, MetaRangeID, Page, Repository
from graveler.operations.actions import refuse_guarded
from graveler.operations.engine import Engine
from graveler.operations.protocol.heads import (
    Move,
    commit_event,
    move_head,
    new_commit,
    require_clean,
    seal,
    seal_restored,
)
from graveler.operations.protocol.lookup import current_branch, in_repository
from graveler.operations.protocol.protection import check_can_commit
from graveler.operations.protocol.views import View
from graveler.refs import log as refs_log
from graveler.refs.resolve import resolve_commit, resolve_commit_id
from graveler.staging.listing import prefix_end

_EVENTS = ("prepare-commit", "pre-commit")


@dataclass(frozen=True, slots=True)
class CommitRequest:
    """The fields and options of a commit to make; date_s is in Unix seconds."""

    message: str
    committer: str
    metadata: Mapping[str, str] = field(default_factory=dict)
    date_s: int | None = None
    allow_empty: bool = False
    force: bool = False
    source_metarange: MetaRangeID | None = None


def commit(engine: Engine, repository: str, branch: str, request: CommitRequest) -> Commit:
    """Commit what is staged on the branch, or the metarange that the request names.

    Raises:
        InvalidInputError: there are no changes, and the request does not allow that; a name is
            malformed; message and metadata are too large; or, with a metarange, the branch has
            uncommitted changes.
        NotFoundError: the repository, the branch or the metarange does not exist.
        ForbiddenError: the branch is protected, or the repository is read-only.
        PreconditionFailedError: an action file guards commits to the branch.
        ContentionError: other writers came first in each try.
    """
    found, current = current_branch(engine, repository, branch)
    check_can_commit(found, branch, force=request.force)
    if request.source_metarange is not None:
        return _commit_metarange(engine, found, current, request)
    current = seal(engine, found, current)

    def plan(now: Branch) -> Move:
        now = seal_restored(engine, found, now)
        head = engine.history(found).commit(now.commit_id)
        base = engine.metarange(found, head.metarange_id)
        changes = View(engine, found, now.sealed_tokens, base).changes()
        applied = apply_changes(engine.committed, base, changes)
        if not applied.total and not request.allow_empty:
            if not now.sealed_tokens:
                raise _no_changes(branch)
            # The tokens change nothing: take them off, so that they do not slow readers down.
            return Move(now, now.commit_id, now.sealed_tokens)
        content = engine.metarange(found, applied.metarange_id)
        refuse_guarded(engine, found, content, branch, *_EVENTS)
        return _move_to(engine, found, now, head, applied.metarange_id, request)

    move = move_head(engine, found, current, plan)
    if move.commit is None:
        raise _no_changes(branch)
    return move.commit


def _move_to(
    engine: Engine,
    repository: Repository,
    branch: Branch,
    head: Commit,
    metarange_id: MetaRangeID,
    request: CommitRequest,
) -> Move:
    made = new_commit(
        engine,
        committer=request.committer,
        message=request.message,
        metarange_id=metarange_id,
        metadata=request.metadata,
        parents=(head,),
        date_s=request.date_s,
    )
    event = commit_event(engine, "commit_created", repository, branch.name, made)
    return Move(branch, made.id, branch.sealed_tokens, made, event)


def _no_changes(branch: str) -> GravelerError:
    return Refusal.NOTHING_TO_COMMIT.error(f"the commit would not change branch {branch!r}")


def _commit_metarange(
    engine: Engine, repository: Repository, branch: Branch, request: CommitRequest
) -> Commit:
    """Commit a metarange that exists in the repository's namespace, on a clean branch."""
    metarange_id = request.source_metarange or EMPTY_METARANGE
    require_metarange(engine, repository, metarange_id)

    def plan(now: Branch) -> Move:
        clean = require_clean(engine, repository, now)
        head = engine.history(repository).commit(clean.commit_id)
        if head.metarange_id == metarange_id and not request.allow_empty:
            raise _no_changes(branch.name)
        # The action files of the branch, not those of the metarange: as in lakeFS.
        content = engine.metarange(repository, head.metarange_id)
        refuse_guarded(engine, repository, content, branch.name, *_EVENTS)
        move = _move_to(engine, repository, clean, head, metarange_id, request)
        return replace(move, is_clean=True)

    move = move_head(engine, repository, branch, plan)
    assert move.commit is not None
    return move.commit


def require_metarange(engine: Engine, repository: Repository, metarange_id: MetaRangeID) -> None:
    """Check that the metarange exists in the repository's namespace; "" is the empty one.

    Raises:
        NotFoundError: it does not exist, or cannot be read.
    """
    not_found = NotFoundError(f"metarange not found: {metarange_id[:ID_LENGTH]!r}")
    # The ID becomes part of a file's name.
    if metarange_id and not is_id(metarange_id):
        raise not_found
    try:
        next(engine.metarange(repository, metarange_id).headers(), None)
    except CorruptDataError as error:
        raise not_found from error


def get(engine: Engine, repository: str, ref: str) -> Commit:
    """Return the commit that the ref expression names.

    Raises:
        InvalidInputError: the repository's name or the ref is malformed.
        NotFoundError: the repository does not exist, or the ref names no commit.
    """

    def read(found: Repository) -> Commit:
        try:
            return resolve_commit(engine.refs, engine.history(found), ref)
        except NotFoundError as error:
            raise Refusal.COMMIT_NOT_FOUND.error(repr(ref)) from error

    return in_repository(engine, repository, read)


@dataclass(frozen=True, slots=True)
class LogQuery:
    """Which commits of a log to list; `graveler.refs.log` explains the fields.

    objects and prefixes leave out commits that changed none of them.
    """

    amount: int
    after: str = ""
    objects: tuple[bytes, ...] = ()
    prefixes: tuple[bytes, ...] = ()
    limit: bool = False
    first_parent: bool = False
    since_s: int | None = None
    stop_at: str = ""


def log(engine: Engine, repository: str, ref: str, query: LogQuery) -> Page[Commit]:
    """Return a page of the commits that lead to the ref, newest first.

    Raises:
        InvalidInputError: the repository's name or a ref is malformed.
        NotFoundError: the repository does not exist, or a ref names no commit.
        CorruptDataError: a commit is missing.
    """

    def read(found: Repository) -> Page[Commit]:
        history = engine.history(found)

        def commit_id(role: str, text: str) -> CommitID:
            with within(role):
                return resolve_commit_id(engine.refs, history, text)

        start_id = commit_id("ref", ref)
        after = commit_id("from ref", query.after) if query.after else None
        stop_at = commit_id("stop_at", query.stop_at) if query.stop_at else None
        filtered = query.objects or query.prefixes
        return refs_log.log(
            history,
            start_id,
            amount=query.amount,
            after=after,
            limit=query.limit,
            first_parent=query.first_parent,
            since_s=query.since_s,
            stop_at=stop_at,
            matches=(lambda commit: _touches(engine, found, commit, query)) if filtered else None,
        )

    return in_repository(engine, repository, read)


def _touches(engine: Engine, repository: Repository, commit: Commit, query: LogQuery) -> bool:
    """Whether the commit changed one of the query's objects, or an object under its prefixes."""
    parent = engine.content(repository, commit.parents[0])
    content = engine.metarange(repository, commit.metarange_id)
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
