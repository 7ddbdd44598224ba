"""Policies: statements that allow or deny actions on resources, as lakeFS words them."""

from collections.abc import Mapping, Sequence
from enum import StrEnum

from msgspec import Struct

# For each operator, for each field, the values of which one must match.
Conditions = Mapping[str, Mapping[str, Sequence[str]]]


class Effect(StrEnum):
    """What a statement does to a request that it matches."""

    ALLOW = "allow"
    DENY = "deny"


class Statement(Struct, frozen=True):
    """Allows or denies actions on resources; both may have wildcards.

    resource: an ARN, `*`, or a JSON list of ARNs in the text.
    """

    effect: Effect
    actions: tuple[str, ...]
    resource: str
    conditions: Conditions = {}


class Policy(Struct, frozen=True):
    """Statements under a name; users and groups have policies attached."""

    name: str
    statements: tuple[Statement, ...]
    creation_date: int  # Unix seconds
