"""Says how policies decide one permission, and by which statement, in words."""

from collections.abc import Iterable, Sequence

from msgspec import Struct

from graveler.access.conditions import Facts
from graveler.access.evaluate import Decision, Rights, Verdict
from graveler.access.needs import Permission
from graveler.access.policy import Policy, Statement


class Explanation(Struct, frozen=True):
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
    user: str, policies: Sequence[Policy], permissions: Iterable[Permission], facts: Facts
) -> list[Explanation]:
    """Return how the user's policies decide each permission of a request with those facts."""
    rights = Rights(user, policies)
    by_name = {policy.name: policy for policy in policies}

    def explained(permission: Permission) -> Explanation:
        decision = rights.decide(permission, facts)
        source, statement = decision.source, None
        if source is not None:
            statement = by_name[source.policy].statements[source.number - 1]
        is_elsewhere = rights.allows_somewhere(permission.action)
        return Explanation(permission, decision, statement, is_elsewhere)

    return list(map(explained, permissions))
