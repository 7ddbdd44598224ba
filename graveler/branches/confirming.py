"""Confirming: no commit and no merge misses a change that a staging token has accepted.

Theory of operation. DynamoDB commits a transaction item by item. In theory, a token's gate can be
free again before the new entry can be read. A commit that seals at that moment can miss the entry.
So the writer reads the branch once more after staging:

- The token is still the staging token: no commit has missed the entry.
- The token is sealed: raise the branch's version, so a commit in progress scans the token again.
- The token is gone, applied or merged (`compaction`): read the path. Raise UnknownOutcomeError if
  it does not hold the change.

A merge that must find nothing staged can miss a conditional change in the same way. So its writer
counts one more of `edits` instead of reading the branch, and the merge starts again. If it has
moved the head already (`clean_moves`), the writer decides again under the new head, and replaces
its own change.
"""

from collections.abc import Collection, Iterable, Sequence

from graveler.branches.lookup import shown
from graveler.branches.views import view_of_branch
from graveler.errors import GravelerError, UnknownOutcomeError
from graveler.model import Branch, Change
from graveler.open_repository import OpenRepository


def confirm(repo: OpenRepository, branch: Branch, staged: Sequence[Change]) -> Branch | None:
    """Ensure that no commit misses a change that the branch's token accepted.

    Returns:
        The branch at its current version, None if it was deleted.

    Raises:
        UnknownOutcomeError: the token is gone, and a path does not hold its change.
    """
    after, missed = confirmed(repo, branch, staged)
    for path in missed:
        raise may_be_written(path)
    return after


def confirmed(
    repo: OpenRepository, branch: Branch, staged: Sequence[Change]
) -> tuple[Branch | None, Collection[bytes]]:
    """Return the branch as `confirm` does, and the paths for which that raises."""
    token = branch.staging_token
    after = _if_exists(repo, branch)
    if after is None:
        return None, ()
    repo.remember(after)
    if not staged or after.staging_token == token:
        return after, ()
    if token in after.sealed_tokens and repo.engine.refs.bump_version(
        repo.record, after.name, token
    ):
        return after, ()
    after = _if_exists(repo, branch)
    if after is None:
        return None, ()
    held = view_of_branch(repo, after).get_each([path for path, _ in staged])
    return after, [path for path, value in staged if held[path] != value]


def confirm_conditional(repo: OpenRepository, branch: Branch, staged: Sequence[Change]) -> bool:
    """Ensure that no commit and no merge misses conditional changes that the token accepted.

    Returns:
        Whether a merge moved the head meanwhile. The changes may hide what it brought.

    Raises:
        UnknownOutcomeError: as `confirm`; or another writer has made an equal change since.
    """
    now = repo.engine.refs.count_edit(repo.record, branch.name, branch.staging_token)
    if now is None:
        after = confirm(repo, branch, staged)
        if after is None or branch.staging_token in after.tokens:
            return False
        for path, _ in staged:
            if repo.engine.staging.newest(after.tokens, path) is not None:
                raise may_be_written(path)
        return False
    repo.remember(now)
    return now.clean_moves != branch.clean_moves


def may_be_written(path: bytes) -> UnknownOutcomeError:
    """Return the error of a change that a commit or a merge may have missed."""
    return UnknownOutcomeError(
        f"path {shown(path)} may have been written: read it before you write again"
    )


def may_all_be_written(
    paths: Iterable[bytes], cause: GravelerError | None = None
) -> dict[bytes, GravelerError]:
    """Return the error of each of the paths, which nobody could confirm because of the cause."""
    errors: dict[bytes, GravelerError] = {path: may_be_written(path) for path in paths}
    for error in errors.values():
        error.__cause__ = cause
    return errors


def _if_exists(repo: OpenRepository, branch: Branch) -> Branch | None:
    """Return the branch at its current version, None if it was deleted."""
    now = repo.engine.refs.branch(repo.record, branch.name)
    if now is None:
        return None
    # No other branch ever has its token, and records of earlier versions know no identity.
    return now if branch.staging_token in now.tokens or now.uid == branch.uid else None
