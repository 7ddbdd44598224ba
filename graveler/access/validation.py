"""Checks the statements of a policy before they are stored: a typing error must not give a right.

Messages begin as lakeFS's. The details name the field, and what it may be.
"""

from collections.abc import Iterator, Sequence

import msgspec

from graveler.access.actions import SERVICES, Action
from graveler.access.conditions import CATALOG_FIELDS, FIELDS, OPERATORS, network_of
from graveler.access.policy import Conditions, Effect, Statement
from graveler.access.resources import ALL, Arn, listed, parsed
from graveler.access.wildcards import compiled, has_wildcard
from graveler.errors import InvalidInputError
from graveler.limits import (
    ARN_BYTES_MAX,
    CONDITION_VALUES_MAX,
    POLICY_BYTES_MAX,
    POLICY_STATEMENTS_MAX,
    STATEMENT_ACTIONS_MAX,
    STATEMENT_RESOURCES_MAX,
)

# What the resources of each service begin with.
_KINDS = {
    "fs": ("repository", "namespace"),
    "auth": ("user", "group", "policy", "externalPrincipal"),
    "catalog": ("namespace", "table", "view"),  # of lakeFS's Iceberg catalog
}
# What a repository's own resources begin with, behind its name.
_KINDS_IN_REPOSITORY = ("object", "branch", "tag")
_FORMS = "use `*`, or an ARN such as arn:lakefs:fs:::repository/<name>, or a JSON list of these"
_ACTIONS = "docs/access.md lists all actions; `fs:*` and `fs:Read*` match several"
_SERVICES = ", ".join(SERVICES)


class Problem(msgspec.Struct, frozen=True):
    """What is wrong with a field of a statement, and the remedy.

    number: the statement's, from 1; 0 if the problem is the whole policy's. Of that, the name is
        the field `id`; the number or size of its statements has no field.
    """

    number: int
    field: str
    problem: str
    remedy: str

    @property
    def error(self) -> InvalidInputError:
        place = f"statement {self.number}, field `{self.field}`: " if self.number else ""
        return InvalidInputError(f"validation error: {self.problem}", f"{place}{self.remedy}")


def effect_of(text: str, number: int) -> Effect:
    """Return the effect with that name; number is the statement's, from 1, for the message.

    Raises:
        InvalidInputError: there is none.
    """
    if problem := problem_of_effect(text, number):
        raise problem.error
    return Effect(text)


def problem_of_effect(text: str, number: int) -> Problem | None:
    """Return what is wrong with the text of an effect; None if nothing is."""
    if text in set(Effect):
        return None
    return Problem(number, "effect", f"effect '{_shown(text)}'", "use `allow` or `deny`")


def check_statements(statements: Sequence[Statement]) -> None:
    """Check that statements can be stored as a policy.

    Raises:
        InvalidInputError: there are none or too many, or a field of one is invalid.
    """
    for problem in problems_of(statements):
        raise problem.error


def problems_of(statements: Sequence[Statement]) -> Iterator[Problem]:
    """Yield all that keeps statements from being stored as a policy."""
    if not 1 <= len(statements) <= POLICY_STATEMENTS_MAX:
        remedy = f"a policy has 1 to {POLICY_STATEMENTS_MAX} statements"
        yield Problem(0, "", f"{len(statements)} statements", remedy)
        return
    # Checked first: the patterns of a large body would take seconds.
    if (size_bytes := len(msgspec.json.encode(statements))) > POLICY_BYTES_MAX:
        remedy = f"the statements of a policy have at most {POLICY_BYTES_MAX} bytes"
        yield Problem(0, "", f"{size_bytes} bytes", remedy)
        return
    for number, statement in enumerate(statements, 1):
        fields = {
            "action": _problems_of_actions(statement.actions),
            "resource": _problems_of_resources(statement.resource),
            "condition": _problems_of_conditions(statement.conditions),
        }
        for field, found in fields.items():
            yield from (Problem(number, field, *each) for each in found)


# A problem and its remedy.
_Found = tuple[str, str]


def _problems_of_actions(actions: Sequence[str]) -> Iterator[_Found]:
    if not 1 <= len(actions) <= STATEMENT_ACTIONS_MAX:
        yield f"{len(actions)} actions", f"list 1 to {STATEMENT_ACTIONS_MAX} actions"
        return
    for action in actions:
        if len(action) <= ARN_BYTES_MAX and any(map(compiled(action), Action)):
            continue
        service, colon, _ = action.partition(":")
        if colon and not has_wildcard(service) and service not in SERVICES:
            yield f"{_shown(action)}: invalid service name", f"the services are {_SERVICES}"
        else:
            yield f"{_shown(action)}: invalid action", _ACTIONS


def _problems_of_resources(resource: str) -> Iterator[_Found]:
    resources = listed(resource)
    if resources is None:
        yield f"ARN '{_shown(resource)}'", "the JSON list is malformed"
    elif not 1 <= len(resources) <= STATEMENT_RESOURCES_MAX:
        yield f"ARN '{_shown(resource)}'", f"list 1 to {STATEMENT_RESOURCES_MAX} resources"
    else:
        for each in resources:
            if problem := problem_of_resource(each):
                yield f"ARN '{_shown(each)}'", problem


def problem_of_resource(resource: str) -> str:
    """Return what is wrong with one resource of a statement; "" if nothing is."""
    if resource == ALL:
        return ""
    arn = parsed(resource)
    if arn is None:
        return _FORMS
    if len(resource.encode(errors="surrogatepass")) > ARN_BYTES_MAX:
        return f"an ARN has at most {ARN_BYTES_MAX} bytes"
    if arn.service not in _KINDS:
        return f"the services of resources are {', '.join(_KINDS)}, without wildcards"
    if arn.account or resource.split(":")[3]:
        return "leave region and account empty, as in arn:lakefs:fs:::repository/<name>"
    return _problem_of_kind(arn)


def _problem_of_kind(arn: Arn) -> str:
    """Return what is wrong with the kind of a resource, such as `branch`; "" if nothing is.

    A wildcard also matches slashes, so nothing can be said of what follows it.
    """
    kind, _, name = arn.resource.partition("/")
    kinds = _KINDS[arn.service]
    if kind not in kinds and not has_wildcard(kind):
        return f"resources of the service {arn.service} begin with {', '.join(kinds)}"
    repository, is_within, resource = name.partition("/")
    if kind != "repository" or not is_within or has_wildcard(repository):
        return ""
    kind, has_name, _ = resource.partition("/")
    if has_wildcard(kind) or (has_name and kind in _KINDS_IN_REPOSITORY):
        return ""
    kinds_in = ", ".join(f"{each}/" for each in _KINDS_IN_REPOSITORY)
    return f"after the repository's name and a slash, resources begin with {kinds_in}"


def _problems_of_conditions(conditions: Conditions) -> Iterator[_Found]:
    values_of_all = 0
    for operator, fields in conditions.items():
        if operator not in OPERATORS:
            problem = f"unsupported condition operator: {_shown(operator)}"
            yield problem, f"use {', '.join(OPERATORS)}"
            continue
        for name, values in fields.items():
            if name not in FIELDS and not name.startswith(CATALOG_FIELDS):
                problem = f"unknown condition field '{_shown(name)}'"
                yield problem, f"use {', '.join(FIELDS)}"
            if not values:
                problem = f"no values for condition field '{_shown(name)}'"
                yield problem, "list one value or more"
            values_of_all += len(values)
            yield from _problems_of_values(operator, name, values)
    if values_of_all > CONDITION_VALUES_MAX:
        yield f"{values_of_all} values in conditions", f"list {CONDITION_VALUES_MAX} at most"


def _problems_of_values(operator: str, name: str, values: Sequence[str]) -> Iterator[_Found]:
    for value in values:
        if len(value.encode(errors="surrogatepass")) > ARN_BYTES_MAX:
            problem = f"a value of condition field '{_shown(name)}' is too long"
            yield problem, f"it has {ARN_BYTES_MAX} bytes at most"
        elif operator.endswith("IpAddress"):
            try:
                network_of(value)
            except ValueError:
                problem = f"invalid IP/CIDR format in {operator} for '{_shown(name)}': "
                remedy = "use an address, or a block such as 10.0.0.0/8 or 2001:db8::/32"
                yield problem + _shown(value), remedy


def _shown(text: str) -> str:
    return text if len(text) <= 80 else f"{text[:77]}..."
