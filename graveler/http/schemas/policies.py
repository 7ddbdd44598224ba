"""Policies, and their statements."""

from collections.abc import Iterable
from typing import Annotated

from msgspec import Meta, Struct

from graveler.access.policy import Effect, Policy, Statement
from graveler.access.validation import effect_of


class StatementBody(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """A statement. An unknown field is refused: a misspelled condition must not be dropped."""

    effect: str
    resource: str
    action: Annotated[list[str], Meta(min_length=1)]
    condition: dict[str, dict[str, list[str]]] = {}

    def as_statement(self, effect: Effect) -> Statement:
        """Return the statement with that effect; the operation checks the rest."""
        return Statement(effect, tuple(self.action), self.resource, self.condition)


class StatementList(Struct, frozen=True):
    statement: Annotated[list[StatementBody], Meta(min_length=1)]


class PolicyDraft(StatementList, frozen=True):
    """Statements to be checked, and the policy's name if it has one yet."""

    id: str | None = None


class PolicyBody(StatementList, frozen=True):
    id: str

    def statements(self) -> tuple[Statement, ...]:
        """Return the statements; the operation checks them.

        Raises:
            InvalidInputError: an effect is neither `allow` nor `deny`.
        """
        return tuple(
            each.as_statement(effect_of(each.effect, number))
            for number, each in enumerate(self.statement, 1)
        )


class PolicyRow(Struct, frozen=True):
    id: str
    creation_date: int
    statement: list[StatementBody]


def policy_row(policy: Policy) -> PolicyRow:
    """Return the answer's form of a policy."""
    return PolicyRow(policy.name, policy.creation_date, list(statement_bodies(policy.statements)))


def statement_bodies(statements: Iterable[Statement]) -> Iterable[StatementBody]:
    for each in statements:
        condition = {
            operator: {field: list(values) for field, values in fields.items()}
            for operator, fields in each.conditions.items()
        }
        yield StatementBody(str(each.effect), each.resource, list(each.actions), condition)
