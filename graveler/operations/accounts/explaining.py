"""Explain whether a user may do actions: the deciding statement, and how the user has it."""

from collections.abc import Iterable, Iterator
from difflib import get_close_matches
from ipaddress import ip_address

from msgspec import Struct

from graveler.access.actions import Action
from graveler.access.conditions import SOURCE_IP
from graveler.access.explain import Explanation, explain
from graveler.access.needs import Permission
from graveler.access.resources import ALL, Below
from graveler.access.validation import problem_of_resource
from graveler.errors import InvalidInputError
from graveler.limits import PAGE_AMOUNT_MAX
from graveler.operations.accounts import users
from graveler.ports import AccountStore


class ExplainedAccess(Struct, frozen=True):
    """An explanation, and how the user has the policy that decides.

    is_own: the policy is attached to the user itself.
    groups: the groups of the user that have the policy, by name.
    """

    explanation: Explanation
    is_own: bool = False
    groups: tuple[str, ...] = ()

    @property
    def reason(self) -> str:
        """The explanation as a sentence."""
        ways = ["of the user"] if self.is_own else []
        if self.groups:
            names = ", ".join(map(repr, self.groups))
            ways.append(f"of the {'group' if len(self.groups) == 1 else 'groups'} {names}")
        if not ways:
            return str(self.explanation)
        return f"{self.explanation}; it is a policy {' and '.join(ways)}"


def explain_access(
    accounts: AccountStore, user: str, action: str, resource: str, address: str
) -> ExplainedAccess:
    """Return whether and why the user may do the action to the resource, from the address.

    A resource that ends with a star means all resources with that prefix.

    Raises:
        InvalidInputError: the action, the resource or the address is not valid.
        NotFoundError: the user does not exist.
    """
    [explanation] = list_access(accounts, user, [_known_action(action)], resource, address)
    source = explanation.decision.source
    if source is None:
        return ExplainedAccess(explanation)
    policy = source.policy
    # A page of one by the policy's name holds the policy itself, if it is attached.
    own = accounts.policies_of_user(user, policy, "", 1).results
    groups = (
        group
        for group in _groups_of(accounts, user)
        if any(
            each.name == policy for each in accounts.policies_of_group(group, policy, "", 1).results
        )
    )
    return ExplainedAccess(explanation, any(each.name == policy for each in own), tuple(groups))


def list_access(
    accounts: AccountStore, user: str, actions: Iterable[Action], resource: str, address: str
) -> list[Explanation]:
    """Return whether and why the user may do each action to the resource, by one read of policies.

    Resource, address and errors are those of `explain_access`.
    """
    needed, facts = _checked_resource(resource), {SOURCE_IP: _checked_address(address)}
    users.get(accounts, user)
    permissions = [Permission(action, needed) for action in actions]
    return explain(user, accounts.effective_policies(user), permissions, facts)


def _groups_of(accounts: AccountStore, user: str) -> Iterator[str]:
    """Yield the names of the user's groups; a user has less than a page of them."""
    for group in accounts.groups_of(user, "", "", PAGE_AMOUNT_MAX).results:
        yield group.name


def _known_action(action: str) -> Action:
    try:
        return Action(action)
    except ValueError as error:
        near = get_close_matches(action, list(Action), n=1)
        remedy = f"did you mean {near[0]}?" if near else "write one action, such as fs:ReadObject"
        raise InvalidInputError(f"unknown action {action!r}", remedy) from error


def _checked_resource(resource: str) -> str | Below:
    if problem := problem_of_resource(resource):
        raise InvalidInputError(f"invalid resource {resource!r}", problem)
    if resource != ALL and resource.endswith("*"):
        return Below(resource.removesuffix("*"))
    return resource


def _checked_address(address: str) -> str:
    try:
        return str(ip_address(address)) if address else ""
    except ValueError as error:
        remedy = "write an IPv4 or IPv6 address, such as 203.0.113.7"
        raise InvalidInputError(f"invalid address {address!r}", remedy) from error
