"""Policies, and the users and groups that have them attached."""

from collections.abc import Sequence

import msgspec

from graveler.access.policy import Policy, Statement
from graveler.access.validation import check_statements
from graveler.errors import InvalidInputError, NotFoundError
from graveler.limits import POLICY_BYTES_MAX
from graveler.messages import Refusal
from graveler.model import Page
from graveler.operations.accounts import groups, users
from graveler.operations.accounts.users import check_name
from graveler.ports import AccountStore


def create(
    accounts: AccountStore, name: str, statements: Sequence[Statement], now_s: int
) -> Policy:
    """Create a policy that is not attached yet.

    Raises:
        InvalidInputError: the name or a statement is invalid.
        AlreadyExistsError: a policy has the name.
    """
    check_name("Policy", name)
    policy = _checked(Policy(name, tuple(statements), now_s))
    accounts.create_policy(policy)
    return policy


def update(
    accounts: AccountStore,
    name: str,
    new_name: str,
    statements: Sequence[Statement],
    now_s: int,
    if_match: str | None = None,
) -> Policy:
    """Replace the policy's statements if its checksum is still if_match (None: any).

    The policy stays attached, and keeps its date.

    Raises:
        InvalidInputError: the new name is another one, or a statement is invalid.
        NotFoundError: the policy does not exist.
        PreconditionFailedError: it has another checksum.
    """
    if name != new_name:
        raise Refusal.POLICY_RENAMED.error(f"{name!r} to {new_name!r}")
    policy = _checked(Policy(name, tuple(statements), now_s))
    accounts.update_policy(policy, if_match)
    return accounts.policy(name) or policy


def _checked(policy: Policy) -> Policy:
    check_statements(policy.statements)
    if len(msgspec.json.encode(policy.statements)) > POLICY_BYTES_MAX:
        raise InvalidInputError(f"the statements of a policy have at most {POLICY_BYTES_MAX} bytes")
    return policy


def get(accounts: AccountStore, name: str) -> Policy:
    """Return the policy.

    Raises:
        NotFoundError: no policy has the name.
    """
    policy = accounts.policy(name)
    if policy is None:
        raise Refusal.POLICY_NOT_FOUND.error(repr(name))
    return policy


def delete(accounts: AccountStore, name: str, if_match: str | None = None) -> None:
    """Delete the policy if its checksum is still if_match (None: any); users and groups lose it.

    Raises:
        NotFoundError: no policy has the name.
        PreconditionFailedError: it has another checksum.
    """
    try:
        accounts.delete_policy(name, if_match)
    except NotFoundError as error:
        raise Refusal.POLICY_NOT_FOUND.error(repr(name)) from error


def list_of_group(
    accounts: AccountStore, group: str, *, prefix: str, after: str, amount: int
) -> Page[Policy]:
    """Return a page of the policies attached to the group, by name.

    Raises:
        NotFoundError: the group does not exist.
    """
    groups.get(accounts, group)
    return accounts.policies_of_group(group, prefix, after, amount)


def list_of_user(
    accounts: AccountStore, user: str, *, prefix: str, after: str, amount: int
) -> Page[Policy]:
    """Return a page of the policies attached to the user itself, by name.

    Raises:
        NotFoundError: the user does not exist.
    """
    users.get(accounts, user)
    return accounts.policies_of_user(user, prefix, after, amount)


def list_effective(
    accounts: AccountStore, user: str, *, prefix: str, after: str, amount: int
) -> Page[Policy]:
    """Return a page of the policies of the user and of the user's groups, by name.

    Raises:
        NotFoundError: the user does not exist.
    """
    users.get(accounts, user)
    found = [
        policy
        for policy in accounts.effective_policies(user)
        if policy.name.startswith(prefix) and (not after or policy.name > after)
    ]
    page = tuple(found[:amount])
    return Page(page, page[-1].name if len(found) > amount else "")
