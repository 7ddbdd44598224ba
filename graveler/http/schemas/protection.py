"""Branch protection rules."""

from collections.abc import Sequence
from typing import Annotated

from msgspec import Meta, Struct

from graveler.http.schemas.fields import NonEmpty
from graveler.limits import REQUIRED_APPROVALS_MAX
from graveler.model import ProtectionRule


class ProtectionRuleBody(Struct, frozen=True):
    """A rule; without a number, a pattern that is stored keeps its own."""

    pattern: NonEmpty
    required_approvals: Annotated[int, Meta(ge=0, le=REQUIRED_APPROVALS_MAX)] | None = None


class ProtectionRulePattern(Struct, frozen=True):
    pattern: NonEmpty


class ProtectionRuleRow(Struct, frozen=True, omit_defaults=True):
    pattern: str
    required_approvals: int = 0


def rule_rows(rules: Sequence[ProtectionRule]) -> list[ProtectionRuleRow]:
    return [ProtectionRuleRow(rule.pattern, rule.required_approvals) for rule in rules]


def numbers_of(rules: Sequence[ProtectionRuleBody]) -> dict[str, int | None]:
    """Return each pattern once, with the last number that the body gives it; None if none.

    Patterns may repeat: `lakectl branch-protect add` sends the whole list and the new pattern.
    """
    found: dict[str, int | None] = {}
    for rule in rules:
        number = rule.required_approvals
        found[rule.pattern] = found.get(rule.pattern) if number is None else number
    return found
