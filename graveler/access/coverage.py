"""Warns of parts of valid statements that never apply to a request."""

from collections.abc import Collection, Iterator, Mapping, Sequence

from graveler.access.actions import Action
from graveler.access.conditions import CATALOG_FIELDS
from graveler.access.policy import Statement
from graveler.access.resources import can_match, listed
from graveler.access.validation import Problem
from graveler.access.wildcards import compiled

# For each action, the forms of the resources on which operations need it.
Forms = Mapping[Action, Collection[str]]


def warnings_about(number: int, statement: Statement, forms: Forms) -> Iterator[Problem]:
    """Yield the warnings about a valid statement; number is its place in the policy, from 1."""
    resources = listed(statement.resource) or []
    reached = {
        form
        for form in {form for each in forms.values() for form in each}
        if any(can_match(resource, form) for resource in resources)
    }
    for pattern in dict.fromkeys(statement.actions):
        matches = compiled(pattern)
        needed = {form for action, each in forms.items() if matches(action) for form in each}
        if not needed:
            yield Problem(number, "action", f"no operation needs {pattern}", "leave it out")
        elif not needed & reached:
            problem = f"{pattern} has no effect on these resources"
            yield Problem(number, "resource", problem, f"it is about {', '.join(sorted(needed))}")
    yield from _warnings_about_conditions(number, statement)


def _warnings_about_conditions(number: int, statement: Statement) -> Iterator[Problem]:
    names: Sequence[str] = [name for fields in statement.conditions.values() for name in fields]
    for name in dict.fromkeys(names):
        if name.startswith(CATALOG_FIELDS):
            problem = f"a condition on {name} is never true, so the statement never applies"
            yield Problem(number, "condition", problem, "leave out the condition")
