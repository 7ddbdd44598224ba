"""Schemas of the API's answers about groups, policies and credentials."""

from collections.abc import Iterator
from typing import Any

from msgspec import Struct

from graveler_cli.output import local_time


class Group(Struct, frozen=True, omit_defaults=True):
    """A group of users."""

    id: str
    creation_date: int
    name: str | None = None
    description: str | None = None


class Statement(Struct, frozen=True, omit_defaults=True):
    """A statement of a policy: it allows or denies actions."""

    effect: str
    resource: str
    action: list[str]
    condition: dict[str, dict[str, list[str]]] | None = None


class Policy(Struct, frozen=True, omit_defaults=True):
    """A policy."""

    id: str
    statement: list[Statement]
    creation_date: int | None = None
    name: str | None = None
    acl: Any = None


class PolicyProblem(Struct, frozen=True, omit_defaults=True):
    """What is wrong with a policy, or never applies."""

    problem: str
    remedy: str
    statement_number: int | None = None
    field: str | None = None

    def __str__(self) -> str:
        place = (
            f"statement {self.statement_number}, {self.field}: " if self.statement_number else ""
        )
        return f"{place}{self.problem}; {self.remedy}"


class PolicyCheck(Struct, frozen=True):
    """All that would refuse a policy, and all that never applies."""

    problems: list[PolicyProblem]
    warnings: list[PolicyProblem]


class Attachment(Struct, frozen=True):
    """A group or a user that has a policy."""

    kind: str
    id: str


class ActionAccess(Struct, frozen=True, omit_defaults=True):
    """Whether a user may do an action, and why."""

    action: str
    verdict: str
    reason: str
    policy: str | None = None
    statement_number: int | None = None


class UserAccess(Struct, frozen=True):
    """Whether a user may do each action to a resource."""

    results: list[ActionAccess]


class Credentials(Struct, frozen=True):
    """A key pair, without its secret."""

    access_key_id: str
    creation_date: int


class NewCredentials(Struct, frozen=True):
    """A new key pair, with its secret."""

    access_key_id: str
    secret_access_key: str
    creation_date: int


class ExternalPrincipal(Struct, frozen=True):
    """An identity of another system that may log in as a user."""

    id: str
    user_id: str


class AccessControlList(Struct, frozen=True):
    """The permission of a group's members, on servers with access control lists."""

    permission: str


STATEMENT_HEADS = ("Policy ID", "Creation Date", "Statement #", "Resource", "Effect", "Actions")


def statement_rows(policy: Policy) -> Iterator[tuple[object, ...]]:
    """Yield a row for each statement of the policy."""
    created = local_time(policy.creation_date or 0)
    for number, each in enumerate(policy.statement):
        yield policy.id, created, number, each.resource, each.effect, ", ".join(each.action)
