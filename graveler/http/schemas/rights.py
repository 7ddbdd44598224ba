"""What users may do."""

from collections.abc import Mapping, Sequence
from typing import Literal

from msgspec import Struct

from graveler.access.evaluate import Verdict
from graveler.access.explain import Explanation
from graveler.access.validation import Problem
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


class ActionVerdict(Struct, frozen=True, omit_defaults=True):
    """Whether a user may do one action; `policy` is absent if no statement decides."""

    action: str
    verdict: Literal["allowed", "not_allowed", "denied"]
    reason: str
    policy: str | None = None
    statement_number: int | None = None


class AccessList(Struct, frozen=True):
    """Whether a user may do each action that can be done to the resource."""

    user: str
    resource: str
    results: list[ActionVerdict]


class StatementProblem(Struct, frozen=True, omit_defaults=True):
    """A problem or a warning; that of the whole policy has no statement, and no field but `id`."""

    problem: str
    remedy: str
    statement_number: int | None = None
    field: str | None = None


class CheckedPolicy(Struct, frozen=True):
    """What createPolicy would refuse, and what never applies."""

    problems: list[StatementProblem]
    warnings: list[StatementProblem]


class AttachmentRow(Struct, frozen=True):
    """A group or a user that has a policy attached."""

    kind: Literal["group", "user"]
    id: str


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


def verdict_row(found: Explanation) -> ActionVerdict:
    """Return the answer's form of an explanation in a list."""
    source = found.decision.source
    return ActionVerdict(
        action=found.permission.action,
        verdict=_VERDICTS[found.decision.verdict],
        reason=str(found),
        policy=None if source is None else source.policy,
        statement_number=None if source is None else source.number,
    )


def problem_row(found: Problem) -> StatementProblem:
    """Return the answer's form of a problem."""
    return StatementProblem(found.problem, found.remedy, found.number or None, found.field or None)
