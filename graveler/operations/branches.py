"""Branches: create, read, delete, reset, hard-reset."""

from collections.abc import Container, Iterator, Mapping
from itertools import islice

from graveler.branches.confirming import confirm
from graveler.branches.heads import (
    Move,
    close,
    move_head,
    require_clean,
    require_head,
)
from graveler.branches.lookup import (
    check_writable,
    current_branch,
    current_commit_id,
    read_repository,
    reread_branch,
    same_branch,
)
from graveler.branches.protection import check_can_commit, check_can_stage
from graveler.branches.retries import retry_stale
from graveler.branches.staging import restore_changes
from graveler.branches.views import View, view_of_branch
from graveler.engine import Engine
from graveler.errors import AlreadyExistsError, InvalidInputError, StaleVersionError
from graveler.identity import ID_LENGTH
from graveler.limits import BRANCH_WRITE_TRIES_MAX, RESTORED_BYTES_MAX, RESTORED_MAX
from graveler.messages import Refusal, within
from graveler.model import Branch, Change, Commit, CommitID, Page, StagingToken
from graveler.model.hooks import Occurrence
from graveler.model.tasks import TaskStart
from graveler.names import check_branch_name, check_path
from graveler.open_repository import OpenRepository
from graveler.operations.exports import requests
from graveler.operations.hooks.after import announce
from graveler.operations.hooks.refs import DeletionHooks, pass_before_creation
from graveler.refs.resolve import resolve_commit_id
from graveler.staging.listing import prefix_end
from graveler.staging.overlay import effective_changes

RESET_KINDS = ("reset", "common_prefix", "object")

# Changes of one transaction. If a commit comes first, the batches before it stay done.
_RESET_BATCH = 99


def create(
    engine: Engine,
    repository: str,
    *,
    name: str,
    source: str,
    hidden: bool = False,
    force: bool = False,
    user: str = "",
) -> Branch:
    """Create a branch whose head is the commit that source names.

    Raises:
        InvalidInputError: a name or source is malformed.
        AlreadyExistsError: a branch or tag has the name, or a commit has it as its ID.
        NotFoundError: the repository does not exist, or source names no commit.
        ForbiddenError: the repository is read-only.
        HookFailedError: a hook stops the creation.
        PreconditionFailedError: an action file in the commit is malformed.
    """
    check_branch_name(name, Refusal.BAD_NAME_OF_NEW_BRANCH)
    step = f"source reference {source!r}"
    repo, commit_id = current_commit_id(engine, repository, source, step)
    check_writable(repo.record, force=force)
    refuse_commit_id(repo, name)
    content = repo.content(commit_id)
    branch = repo.new_branch(name, commit_id, hidden=hidden)
    event = repo.event("branch_created", branch=name, commit_id=commit_id)
    try:
        about = Occurrence(
            run_id="", event="create-branch", source_ref=source, branch=name, commit_id=commit_id
        )
        starts = pass_before_creation(repo, content, about, user)
        engine.refs.create_branch(repo.record, branch, event, starts)
    except AlreadyExistsError as error:
        if engine.refs.tag(repo.record, name) is not None:
            raise Refusal.NAME_OF_TAG.error("choose another", name=name) from error
        raise Refusal.BRANCH_EXISTS.error(repr(name)) from error
    announce(repo, starts)
    return branch


def refuse_commit_id(repo: OpenRepository, name: str) -> None:
    """Check that no commit has the name as its ID: refs resolve to the commit first.

    Raises:
        AlreadyExistsError: a commit has it.
    """
    if len(name) == ID_LENGTH and repo.history().find([CommitID(name)]):
        raise Refusal.NAME_OF_COMMIT.error("choose another", name=name)


def get(engine: Engine, repository: str, name: str) -> Branch:
    """Return the branch at its current version.

    Raises:
        InvalidInputError: a name is malformed.
        NotFoundError: the repository or the branch does not exist.
    """
    return current_branch(engine, repository, name)[1]


def list_page(
    engine: Engine,
    repository: str,
    *,
    prefix: str,
    after: str,
    amount: int,
    show_hidden: bool = False,
) -> Page[Branch]:
    """Return a page of branches by name.

    Raises:
        InvalidInputError: the repository's name is malformed.
        NotFoundError: the repository does not exist.
    """
    repo = read_repository(engine, repository)
    return engine.refs.branches(repo.record, prefix, after, amount, show_hidden=show_hidden)


def list_with_commits(
    engine: Engine,
    repository: str,
    *,
    prefix: str,
    after: str,
    amount: int,
    show_hidden: bool = False,
) -> tuple[Page[Branch], Mapping[CommitID, Commit]]:
    """Return a page of branches by name, and the commits that are their heads, by ID.

    Raises:
        CorruptDataError: a head does not exist.
        InvalidInputError, NotFoundError: as list_page.
    """
    repo = read_repository(engine, repository)
    page = engine.refs.branches(repo.record, prefix, after, amount, show_hidden=show_hidden)
    ids = dict.fromkeys(branch.commit_id for branch in page.results)
    return page, {commit.id: commit for commit in repo.history().commits(list(ids))}


def delete(
    engine: Engine, repository: str, name: str, *, force: bool = False, user: str = ""
) -> None:
    """Delete the branch with its uncommitted changes and its export; commits stay.

    Raises:
        InvalidInputError: a name is malformed.
        NotFoundError: the repository or the branch does not exist.
        ForbiddenError: it is the default branch or protected, or the repository is read-only.
        HookFailedError: a hook stops the deletion.
        PreconditionFailedError: an action file in the branch's head is malformed.
        ContentionError: the branch or its export changed in each try.
    """
    deletion = DeletionHooks(user)
    may_be_exported = False
    uid: str | None = None

    def attempt() -> tuple[OpenRepository, TaskStart | None]:
        nonlocal may_be_exported, uid
        repo, branch = current_branch(engine, repository, name)
        uid = same_branch(name, branch, uid).uid
        check_writable(repo.record, force=force)
        if name == repo.record.default_branch:
            raise Refusal.DEFAULT_BRANCH.error(repr(name))
        check_can_commit(repo.record, name, force=force, refusal=Refusal.PROTECTED_FROM_DELETION)
        content = repo.content(branch.commit_id)
        head = branch.commit_id
        about = Occurrence(run_id="", event="delete-branch", source_ref=head, branch=name)
        starts = deletion.passed(repo, content, about, head)
        event = repo.event("branch_deleted", branch=name, commit_id=branch.commit_id)
        # Delete the export in the same transaction: a new branch may get the name at once. Few
        # branches have one, so the first try only requires that there is none.
        export = engine.exports.branch_export(repo.record, name) if may_be_exported else None
        may_be_exported = True
        requests.delete_branch(repo, branch, export, event, engine.drop_after_ns(), starts)
        return repo, starts

    repo, starts = retry_stale(attempt, f"branch {name!r}")
    announce(repo, starts)
    engine.branches.forget((repo.record.uid, name))


def reset(
    engine: Engine,
    repository: str,
    name: str,
    *,
    kind: str,
    path: bytes = b"",
    force: bool = False,
) -> None:
    """Reset uncommitted changes: all ("reset"), those under a prefix, or those of one object.

    Raises:
        InvalidInputError: kind is not one of RESET_KINDS, or a name or the object's path is
            malformed.
        NotFoundError: the repository or the branch does not exist.
        ForbiddenError: the branch is protected, or the repository is read-only.
        ContentionError: other writers came first in each try; part of a prefix may be reset.
        UnknownOutcomeError: changes under the path may have been reset.
    """
    if kind not in RESET_KINDS:
        raise InvalidInputError(f"reset type {kind!r} is not one of {', '.join(RESET_KINDS)}")
    if kind == "object":
        check_path(path)
    repo, branch = current_branch(engine, repository, name)
    check_can_stage(repo.record, name, force=force)
    if kind == "reset":
        move_head(repo, branch, lambda now: _without_tokens(repo, now))
        engine.branches.forget((repo.record.uid, name))
        return
    end = path + b"\0" if kind == "object" else prefix_end(path)
    _restore_committed(repo, branch, path, end)


def _without_tokens(repo: OpenRepository, branch: Branch) -> Move:
    # Close first: writes that the token accepted take effect before the reset, all others after it.
    token = close(repo, branch)
    return Move(branch, branch.commit_id, branch.sealed_tokens, new_staging_token=token)


def _restore_committed(
    repo: OpenRepository, branch: Branch, start: bytes, end: bytes | None
) -> None:
    """Stage the head's values, or tombstones, over staged changes with start <= path < end.

    Changes without effect are covered too: over another head they could have one.
    """
    current = branch
    done: dict[bytes, tuple[bytes | None, StagingToken]] = {}

    def pending() -> Iterator[Change]:
        view = view_of_branch(repo, current)
        for path, value in view.changes(start, end):
            committed = view.committed.get(path)
            # What others have staged since stays. What was restored may be another head's.
            if path not in done or committed != value == done[path][0]:
                yield path, committed

    restored = pending()

    def restore_batch() -> bool:
        nonlocal current, restored
        batch = list(islice(restored, _RESET_BATCH))
        if not batch:
            return False
        before, token = current, current.staging_token
        again = {path for path, (_, under) in done.items() if under == token}
        try:
            current = restore_changes(repo, before, batch, again)
        except StaleVersionError:  # the head moved, or a commit sealed the staging token
            current = reread_branch(repo, before)
            restored = pending()
            raise
        done.update((path, (value, token)) for path, value in batch)
        if current.commit_id != before.commit_id:
            restored = pending()
        return True

    # Tries count for one batch, so that a large reset ends beside many commits.
    while retry_stale(restore_batch, f"branch {branch.name!r}", tries_max=BRANCH_WRITE_TRIES_MAX):
        pass


def hard_reset(
    engine: Engine,
    repository: str,
    name: str,
    *,
    ref: str,
    force: bool = False,
    if_match: Container[str] | None = None,
) -> None:
    """Make the commit that ref names the branch's head; uncommitted changes stay.

    if_match: the commits of which one must be the head, None if any may.

    Raises:
        PreconditionFailedError: another commit is the head.
        InvalidInputError: a name or ref is malformed, a crashed commit left uncommitted changes,
            or too many changes were reset one by one.
        NotFoundError: the repository or the branch does not exist, or ref names no commit.
        ForbiddenError: the branch is protected, or the repository is read-only.
        ContentionError: other writers moved the head in each try.
        UnknownOutcomeError: a commit at the same time may have undone a part of it.
    """
    repo, branch = current_branch(engine, repository, name)
    check_can_commit(repo.record, name, force=force, refusal=Refusal.PROTECTED_FROM_RESETS)
    with within(f"hard-reset {name} to {ref}"):
        commit_id = resolve_commit_id(engine.refs, repo.history(), ref)

    def plan(now: Branch) -> Move:
        require_head(now, if_match)
        committed = repo.content(now.commit_id)
        sealed = View(repo, now.sealed_tokens, committed)
        if now.sealed_tokens and any(effective_changes(sealed.changes(), committed)):
            now = require_clean(repo, now)
        event = repo.event(
            "branch_reset", branch=name, commit_id=commit_id, old_commit_id=now.commit_id
        )
        restored = _restored_to(repo, now, commit_id)
        return Move(now, commit_id, now.sealed_tokens, event=event, restored=restored)

    made = move_head(repo, branch, plan)
    if made.restored:
        confirm(repo, made.branch, made.restored)


def _restored_to(repo: OpenRepository, branch: Branch, commit_id: CommitID) -> list[Change]:
    """Return the commit's values at the paths of restored entries.

    Those entries hold the old head's values, and would hide the new head's.
    """
    if not branch.has_restored:
        return []
    target = repo.content(commit_id)
    paths = islice(repo.engine.staging.restored_paths(branch.staging_token), RESTORED_MAX + 1)
    restored = [(path, target.get(path)) for path in paths]
    size_bytes = sum(len(path) + len(value or b"") for path, value in restored)
    if len(restored) > RESTORED_MAX or size_bytes > RESTORED_BYTES_MAX:
        raise InvalidInputError(
            f"too many changes were reset one by one on branch {branch.name!r} since its last "
            f"commit (at most {RESTORED_MAX}): commit or reset all uncommitted changes first"
        )
    return restored
