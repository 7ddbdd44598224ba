"""Policies, and the users and groups that have them attached."""

from collections.abc import Sequence

from graveler.access.coverage import Forms, warnings_about
from graveler.access.policy import Policy, Statement
from graveler.access.validation import Problem, check_statements, problem_of_effect, problems_of
from graveler.errors import InvalidInputError, NotFoundError
from graveler.messages import Refusal
from graveler.model import Page
from graveler.operations.accounts import groups, users
from graveler.operations.accounts.users import check_name
from graveler.ports import AccountStore, PolicyHolder


def create(
    accounts: AccountStore, name: str, statements: Sequence[Statement], now_s: int
) -> Policy:
    """Create a policy that is not attached yet.

    Raises:
        InvalidInputError: the name or a statement is invalid.
        AlreadyExistsError: a policy has the name.
    """
    check_name("Policy", name)
    check_statements(statements)
    policy = Policy(name, tuple(statements), now_s)
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
    check_statements(statements)
    policy = Policy(name, tuple(statements), now_s)
    accounts.update_policy(policy, if_match)
    return accounts.policy(name) or policy


def check(
    name: str | None, effects: Sequence[str], statements: Sequence[Statement], forms: Forms
) -> tuple[list[Problem], list[Problem]]:
    """Return what keeps the statements from being stored as a policy, and warnings of the others.

    name: that of the policy; None if it has none yet.
    effects: those of the statements, as they were sent; a statement has another one if that is
        none.
    """
    found = [problem_of_effect(text, number) for number, text in enumerate(effects, 1)]
    problems = [*filter(None, found), *problems_of(statements)]
    wrong = {problem.number for problem in problems}
    warnings = [
        warning
        for number, statement in enumerate(statements, 1)
        if number not in wrong and 0 not in wrong
        for warning in warnings_about(number, statement, forms)
    ]
    if name is not None and (problem := _problem_of_name(name)):
        problems.append(problem)
    return sorted(problems, key=lambda problem: problem.number), warnings


def _problem_of_name(name: str) -> Problem | None:
    try:
        check_name("Policy", name)
    except InvalidInputError as error:
        return Problem(0, "id", "the policy's name", str(error))
    return None


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


def list_holders(
    accounts: AccountStore, name: str, *, prefix: str, after: str, amount: int
) -> Page[PolicyHolder]:
    """Return a page of the groups and users that have the policy themselves.

    Raises:
        InvalidInputError: after is not the place of a group or a user.
        NotFoundError: no policy has the name.
    """
    if after and not after.startswith(("group/", "user/")):
        remedy = "continue after group/<name> or user/<name>, as next_offset has it"
        raise Refusal.BAD_PARAMETER.error(remedy, name="after", problem=f"{after!r} is no place")
    get(accounts, name)
    return accounts.holders_of(name, prefix, after, amount)
