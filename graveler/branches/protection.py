"""Branch protection: the rules that match a branch, and the operations that they block.

A protected branch changes by merges only. So each operation that stages on an existing branch, or
moves or deletes its head, calls a check first. A rule with required approvals allows only the
merges of pull requests that have them.

A rule's pattern is a glob, as lakeFS matches it.

On every branch, the paths of Iceberg tables change through the catalog only, and by merges, resets
and the like.
"""

from collections.abc import Iterator

from graveler import globs
from graveler.branches.lookup import check_writable, shown
from graveler.errors import ForbiddenError, InvalidInputError
from graveler.layout import TABLES_PREFIX
from graveler.messages import Refusal
from graveler.model import CommitID, ProtectionRule, Repository, pulls
from graveler.model.pulls import PullRequest
from graveler.names import check_path


def check_pattern(pattern: str) -> None:
    """Check that each `[` of the glob begins a set with members: otherwise it protects nothing.

    Raises:
        InvalidInputError: one does not.
    """
    if globs.has_empty_set(pattern):
        raise InvalidInputError(
            f"branch protection pattern {pattern!r} protects nothing: "
            "close each '[' after its members, as in '[a-z]'"
        )


def check_can_stage(repository: Repository, branch: str, *, force: bool) -> None:
    """Check that changes may be staged on the branch.

    Raises:
        ForbiddenError: a rule blocks writes, or the repository is read-only and force is False.
    """
    check_writable(repository, force=force)
    if any(rule.block_staging_write for rule in _rules_of(repository, branch)):
        raise Refusal.PROTECTED_FROM_WRITES.error(repr(branch))


def check_changeable(path: bytes) -> None:
    """Check that writers of objects may change the path.

    Raises:
        InvalidInputError: it is malformed.
        ForbiddenError: it is for Iceberg tables.
    """
    check_path(path)
    if path.startswith(TABLES_PREFIX):
        raise ForbiddenError(
            f"path {shown(path)} is for Iceberg tables: change them through the Iceberg catalog"
        )


def check_can_commit(
    repository: Repository,
    branch: str,
    *,
    force: bool,
    refusal: Refusal = Refusal.PROTECTED_FROM_COMMITS,
) -> None:
    """Check that the branch's head may be moved otherwise than by a merge, or deleted.

    Raises:
        ForbiddenError: a rule blocks commits, with the message of refusal; or the repository is
            read-only and force is False.
    """
    check_writable(repository, force=force)
    if any(rule.block_commit for rule in _rules_of(repository, branch)):
        raise refusal.error(repr(branch))


def check_can_merge(repository: Repository, branch: str, *, force: bool) -> None:
    """Check that the branch's head may be moved by a merge without a pull request.

    Raises:
        ForbiddenError: a rule requires approvals, or the repository is read-only and force is
            False.
    """
    check_writable(repository, force=force)
    if _required_approvals(repository, branch):
        raise ForbiddenError(f"branch {branch!r} requires approvals: merge a pull request")


def check_approved(repository: Repository, pull: PullRequest, commit_id: CommitID) -> None:
    """Check that the pull request has the approvals of the commit that its destination requires.

    Raises:
        ForbiddenError: approvals are missing, or changes are requested.
    """
    pulls.check_approved(pull, commit_id, _required_approvals(repository, pull.destination))


def _required_approvals(repository: Repository, branch: str) -> int:
    return max((rule.required_approvals for rule in _rules_of(repository, branch)), default=0)


def _rules_of(repository: Repository, branch: str) -> Iterator[ProtectionRule]:
    return (
        rule
        for rule in repository.protection_rules
        if globs.of_branches(rule.pattern).fullmatch(branch)
    )
