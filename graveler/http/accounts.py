"""The bodies and answers of the operations on users, groups, policies and log-ins."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated, Any, Literal

from msgspec import Meta, Struct

from graveler.access.evaluate import Verdict
from graveler.access.policy import Policy, Statement
from graveler.access.validation import effect_of
from graveler.http.responses import UserRow
from graveler.operations.accounts.explaining import ExplainedAccess
from graveler.ports import ExternalPrincipal, Group, ListedKey, User

# The verdicts, as answers name them.
_VERDICTS: Mapping[Verdict, Literal["allowed", "not_allowed", "denied"]] = {
    Verdict.ALLOWED: "allowed",
    Verdict.NOT_ALLOWED: "not_allowed",
    Verdict.DENIED: "denied",
}

# Bodies


class UserCreation(Struct, frozen=True):
    id: str
    invite_user: bool = False


class GroupCreation(Struct, frozen=True):
    id: str
    description: str = ""


class StatementBody(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """A statement. An unknown field is refused: a misspelled condition must not be dropped."""

    effect: str
    resource: str
    action: Annotated[list[str], Meta(min_length=1)]
    condition: dict[str, dict[str, list[str]]] = {}


class PolicyBody(Struct, frozen=True):
    id: str
    statement: Annotated[list[StatementBody], Meta(min_length=1)]

    def statements(self) -> tuple[Statement, ...]:
        """Return the statements; the operation checks them.

        Raises:
            InvalidInputError: an effect is neither `allow` nor `deny`.
        """
        return tuple(
            Statement(
                effect_of(each.effect, number), tuple(each.action), each.resource, each.condition
            )
            for number, each in enumerate(self.statement, 1)
        )


class PrincipalCreation(Struct, frozen=True):
    """lakeFS passes the settings to another server; here there is none that reads them."""

    settings: dict[str, Any] | list[Any] | None = None


class IdentityRequest(Struct, frozen=True):
    identity_token: str

    __repr__ = object.__repr__  # shows no signature


class ExternalLogin(Struct, frozen=True, rename={"identity_request": "identityRequest"}):
    identity_request: IdentityRequest
    token_expiration_duration: int | None = None


# Answers


class GroupRow(Struct, frozen=True):
    id: str
    name: str
    creation_date: int
    description: str


class PolicyRow(Struct, frozen=True):
    id: str
    creation_date: int
    statement: list[StatementBody]


class KeyRow(Struct, frozen=True):
    access_key_id: str
    creation_date: int


class PrincipalRow(Struct, frozen=True):
    id: str
    user_id: str


class AccessRow(Struct, frozen=True, omit_defaults=True):
    """Whether a user may do an action, and why; `policy` is absent if no statement decides."""

    user: str
    action: str
    resource: str
    allowed: bool
    verdict: Literal["allowed", "not_allowed", "denied"]
    reason: str
    attached_to_user: bool
    groups: list[str]
    policy: str | None = None
    statement_number: int | None = None
    statement: StatementBody | None = None


class ActionRow(Struct, frozen=True):
    """An action, the forms of its resources, and the operations that need it first."""

    action: str
    resources: Sequence[str]
    operations: Sequence[str]


class ActionList(Struct, frozen=True):
    results: list[ActionRow]


def user_row(user: User) -> UserRow:
    """Return the answer's form of a user."""
    return UserRow(user.name, user.creation_date)


def group_row(group: Group) -> GroupRow:
    """Return the answer's form of a group."""
    return GroupRow(group.name, group.name, group.creation_date, group.description)


def policy_row(policy: Policy) -> PolicyRow:
    """Return the answer's form of a policy."""
    return PolicyRow(policy.name, policy.creation_date, list(_bodies(policy.statements)))


def _bodies(statements: Iterable[Statement]) -> Iterable[StatementBody]:
    for each in statements:
        condition = {
            operator: {field: list(values) for field, values in fields.items()}
            for operator, fields in each.conditions.items()
        }
        yield StatementBody(str(each.effect), each.resource, list(each.actions), condition)


def access_row(user: str, resource: str, found: ExplainedAccess) -> AccessRow:
    """Return the answer's form of an explanation."""
    decision, statement = found.explanation.decision, found.explanation.statement
    source = decision.source
    return AccessRow(
        user=user,
        action=found.explanation.permission.action,
        resource=resource,
        allowed=decision.is_allowed,
        verdict=_VERDICTS[decision.verdict],
        reason=found.reason,
        attached_to_user=found.is_own,
        groups=list(found.groups),
        policy=None if source is None else source.policy,
        statement_number=None if source is None else source.number,
        statement=None if statement is None else next(iter(_bodies([statement]))),
    )


def key_row(key: ListedKey) -> KeyRow:
    """Return the answer's form of a key pair, without its secret."""
    return KeyRow(key.access_key_id, key.creation_date)


def principal_row(principal: ExternalPrincipal) -> PrincipalRow:
    """Return the answer's form of an external principal."""
    return PrincipalRow(principal.id, principal.user)
