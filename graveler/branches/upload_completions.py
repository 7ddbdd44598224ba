"""Completing a recorded upload: its entry is staged once, in the transaction that completes it.

The rules of `branches.staging` hold. The record of the upload is one more condition: it is open. So
of several completions and aborts, exactly one succeeds. A repeated one finds the record of the
first.
"""

from msgspec.structs import replace

from graveler.branches.confirming import confirm, confirm_conditional, may_be_written
from graveler.branches.lookup import reread_branch, shown
from graveler.branches.retries import retry_stale
from graveler.branches.staging import after_seal, check_requirement
from graveler.branches.views import View
from graveler.entries import entry_value
from graveler.errors import StaleVersionError
from graveler.limits import BRANCH_WRITE_TRIES_MAX
from graveler.model import NO_COMMIT, NO_REQUIREMENT, Branch, Requirement
from graveler.model.recorded_uploads import Completion, Upload
from graveler.model.tokens import token_of_json
from graveler.open_repository import OpenRepository
from graveler.ports import UNCONDITIONAL, Staged, Unconditional


def stage_upload(
    repo: OpenRepository,
    branch: Branch,
    upload: Upload,
    completion: Completion,
    requirement: Requirement,
) -> Upload:
    """Stage the object of an open upload, and return the upload as completed.

    Raises:
        UploadNotFoundError: the upload was aborted or completed meanwhile.
        PreconditionFailedError: the path does not meet the requirement.
        NotFoundError: the branch was deleted.
        ContentionError: commits or other writers came first in each try.
        UnknownOutcomeError: the upload may have been completed.
    """
    current = branch
    value = entry_value(upload.entry(completion))

    def attempt() -> Upload:
        nonlocal current
        seen = None if requirement == NO_REQUIREMENT else current.clean_moves
        completed = upload.completed_by(
            replace(completion, clean_moves=seen), current.staging_token
        )
        try:
            expected = _expected(repo, current, upload.path, requirement)
            repo.engine.staging.stage_upload(repo.record, current, value, expected, completed)
        except StaleVersionError:
            current = _newer(repo, current, requirement)
            raise
        return completed

    subject = f"path {shown(upload.path)} or branch {branch.name!r}"
    completed = retry_stale(attempt, subject, tries_max=BRANCH_WRITE_TRIES_MAX)
    if requirement == NO_REQUIREMENT:
        confirm(repo, current, [(upload.path, value)])
    elif confirm_conditional(repo, current, [(upload.path, value)]):
        raise may_be_written(upload.path)
    return completed


def _expected(
    repo: OpenRepository, branch: Branch, path: bytes, requirement: Requirement
) -> Staged | Unconditional | None:
    """Return the staged change with which the path meets the requirement.

    Raises:
        PreconditionFailedError: the path does not meet it.
    """
    if requirement == NO_REQUIREMENT:
        return UNCONDITIONAL
    content = repo.content(branch.commit_id)
    staged = repo.engine.staging.get(branch.staging_token, path)
    below = View(repo, branch.sealed_tokens, content)
    seen = below.get(path) if staged is None else staged.value
    check_requirement(path, seen, requirement)
    return staged


def _newer(repo: OpenRepository, branch: Branch, requirement: Requirement) -> Branch:
    """Return the branch as it is after an attempt failed, with an open token if that matters."""
    now = reread_branch(repo, branch)
    if requirement == NO_REQUIREMENT and now.staging_token == branch.staging_token:
        return after_seal(repo, branch)
    return now


def confirm_again(repo: OpenRepository, completed: Upload, completion: Completion) -> None:
    """Ensure that no commit misses the entry of a completed upload, whose writer may have stopped.

    Raises:
        UnknownOutcomeError: a commit or a merge may have missed it, or it was replaced or deleted
            since.
    """
    token = token_of_json(completion.token)
    branch = Branch(
        completed.branch,
        NO_COMMIT,
        token,
        clean_moves=completion.clean_moves or 0,
        uid=completed.branch_uid or "",
    )
    change = (completed.path, entry_value(completed.entry(completion)))
    # The record may be visible before a scan sees the entry. A read of the item waits for both.
    repo.engine.staging.get(token, completed.path)
    has_moved = confirm_conditional(repo, branch, [change])
    if has_moved and completion.clean_moves is not None:
        raise may_be_written(completed.path)
