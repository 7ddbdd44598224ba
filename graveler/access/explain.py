"""Says which statement decided each permission of a need, in words."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from graveler.access.conditions import Facts
from graveler.access.evaluate import Decision, Rights, Verdict
from graveler.access.needs import Need, Permission
from graveler.access.policy import Policy


@dataclass(frozen=True, slots=True)
class Explanation:
    """One permission of a need, and how it was decided."""

    permission: Permission
    decision: Decision

    def __str__(self) -> str:
        verdict, source = self.decision.verdict, self.decision.source
        if verdict is Verdict.NOT_ALLOWED or source is None:
            return f"{self.permission}: no statement allows it"
        place = f"statement {source.number} of policy {source.policy!r}"
        if self.decision.problem:
            problem = self.decision.problem
            return f"{self.permission}: {place} denies it; a condition is undecidable ({problem})"
        verb = "allows" if verdict is Verdict.ALLOWED else "denies"
        return f"{self.permission}: {place} {verb} it"


def explain(
    user: str, policies: Sequence[Policy], need: Need, facts: Facts
) -> tuple[Decision, tuple[Explanation, ...]]:
    """Return how the policies decide a need, and each of its permissions, in order."""
    rights = Rights(user, policies)
    explanations = tuple(
        Explanation(permission, rights.decide(permission, facts))
        for permission in _permissions(need)
    )
    return rights.decide(need, facts), explanations


def _permissions(need: Need) -> Iterator[Permission]:
    if isinstance(need, Permission):
        yield need
    else:
        for each in need.needs:
            yield from _permissions(each)
