"""What users may do."""

from collections.abc import Mapping, Sequence
from typing import Literal

from msgspec import Struct

from graveler.access.evaluate import Verdict
from graveler.http.schemas.policies import StatementBody, statement_bodies
from graveler.operations.accounts.explaining import ExplainedAccess

# The verdicts, as answers name them.
_VERDICTS: Mapping[Verdict, Literal["allowed", "not_allowed", "denied"]] = {
    Verdict.ALLOWED: "allowed",
    Verdict.NOT_ALLOWED: "not_allowed",
    Verdict.DENIED: "denied",
}


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
        statement=None if statement is None else next(iter(statement_bodies([statement]))),
    )
