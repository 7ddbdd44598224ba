"""Policies: statements that allow or deny actions on resources, as lakeFS words them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

# For each operator, for each field, the values of which one must match.
Conditions = Mapping[str, Mapping[str, Sequence[str]]]


class Effect(StrEnum):
    """What a statement does to a request that it matches."""

    ALLOW = "allow"
    DENY = "deny"


@dataclass(frozen=True, slots=True)
class Statement:
    """Allows or denies actions on resources; both may have wildcards.

    resource: an ARN, `*`, or a JSON list of ARNs in the text.
    """

    effect: Effect
    actions: tuple[str, ...]
    resource: str
    conditions: Conditions = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Policy:
    """Statements under a name; users and groups have policies attached."""

    name: str
    statements: tuple[Statement, ...]
    creation_date: int  # Unix seconds
