"""Says how policies decide one permission, and by which statement, in words."""

from collections.abc import Sequence
from dataclasses import dataclass

from graveler.access.conditions import Facts
from graveler.access.evaluate import Decision, Rights, Verdict
from graveler.access.needs import Permission
from graveler.access.policy import Policy, Statement


@dataclass(frozen=True, slots=True)
class Explanation:
    """How one permission is decided.

    statement: the one that decided, if one did; the decision's source is its place.
    is_allowed_elsewhere: the action is allowed on another resource, or under a condition.
    """

    permission: Permission
    decision: Decision
    statement: Statement | None
    is_allowed_elsewhere: bool

    def __str__(self) -> str:
        verdict, source = self.decision.verdict, self.decision.source
        if verdict is Verdict.NOT_ALLOWED or source is None:
            if self.is_allowed_elsewhere:
                return "no statement allows it on this resource, only elsewhere or conditionally"
            return f"no statement allows {self.permission.action} on any resource"
        place = f"statement {source.number} of policy {source.policy!r}"
        if self.decision.problem:
            return f"{place} denies it: a condition is undecidable ({self.decision.problem})"
        verb = "allows" if verdict is Verdict.ALLOWED else "denies"
        return f"{place} {verb} it"


def explain(
    user: str, policies: Sequence[Policy], permission: Permission, facts: Facts
) -> Explanation:
    """Return how the user's policies decide the permission of a request with those facts."""
    rights = Rights(user, policies)
    decision = rights.decide(permission, facts)
    statement = None
    if decision.source is not None:
        policy = next(each for each in policies if each.name == decision.source.policy)
        statement = policy.statements[decision.source.number - 1]
    return Explanation(permission, decision, statement, rights.allows_somewhere(permission.action))
