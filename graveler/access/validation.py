"""Checks the statements of a policy before they are stored: a typing error must not give a right.

Messages begin as lakeFS's. The details name the field, and what it may be.
"""

import re
from collections.abc import Sequence

from graveler.access.actions import SERVICES, Action
from graveler.access.conditions import CATALOG_FIELDS, FIELDS, OPERATORS, network_of
from graveler.access.policy import Conditions, Effect, Statement
from graveler.access.resources import ALL, Arn, listed, parsed
from graveler.access.wildcards import compiled
from graveler.errors import InvalidInputError
from graveler.limits import (
    ARN_BYTES_MAX,
    CONDITION_VALUES_MAX,
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
_WILDCARD = re.compile(r"[*?]")


def effect_of(text: str, number: int) -> Effect:
    """Return the effect with that name; number is the statement's, from 1, for the message.

    Raises:
        InvalidInputError: there is none.
    """
    try:
        return Effect(text)
    except ValueError as error:
        raise _error(f"effect '{text}'", number, "effect", "use `allow` or `deny`") from error


def check_statements(statements: Sequence[Statement]) -> None:
    """Check that statements can be stored as a policy.

    Raises:
        InvalidInputError: there are none or too many, or a field of one is invalid.
    """
    if not 1 <= len(statements) <= POLICY_STATEMENTS_MAX:
        raise InvalidInputError(
            f"validation error: {len(statements)} statements",
            f"a policy has 1 to {POLICY_STATEMENTS_MAX} statements",
        )
    for number, statement in enumerate(statements, 1):
        _check_actions(statement.actions, number)
        _check_resource(statement.resource, number)
        _check_conditions(statement.conditions, number)


def _check_actions(actions: Sequence[str], number: int) -> None:
    if not 1 <= len(actions) <= STATEMENT_ACTIONS_MAX:
        remedy = f"list 1 to {STATEMENT_ACTIONS_MAX} actions"
        raise _error(f"{len(actions)} actions", number, "action", remedy)
    for action in actions:
        if len(action) <= ARN_BYTES_MAX and any(map(compiled(action), Action)):
            continue
        service, colon, _ = action.partition(":")
        if colon and not _WILDCARD.search(service) and service not in SERVICES:
            problem = f"{_shown(action)}: invalid service name"
            remedy = f"the services are {', '.join(SERVICES)}"
        else:
            problem = f"{_shown(action)}: invalid action"
            remedy = "docs/access.md lists all actions; `fs:*` and `fs:Read*` match several"
        raise _error(problem, number, "action", remedy)


def _check_resource(resource: str, number: int) -> None:
    resources = listed(resource)
    if resources is None:
        raise _error(f"ARN '{_shown(resource)}'", number, "resource", "the JSON list is malformed")
    if not 1 <= len(resources) <= STATEMENT_RESOURCES_MAX:
        remedy = f"list 1 to {STATEMENT_RESOURCES_MAX} resources"
        raise _error(f"ARN '{_shown(resource)}'", number, "resource", remedy)
    for each in resources:
        problem = problem_of_resource(each)
        if problem:
            raise _error(f"ARN '{_shown(each)}'", number, "resource", problem)


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
    if kind not in kinds and not _WILDCARD.search(kind):
        return f"resources of the service {arn.service} begin with {', '.join(kinds)}"
    repository, is_within, resource = name.partition("/")
    if kind != "repository" or not is_within or _WILDCARD.search(repository):
        return ""
    kind, has_name, _ = resource.partition("/")
    if _WILDCARD.search(kind) or (has_name and kind in _KINDS_IN_REPOSITORY):
        return ""
    kinds_in = ", ".join(f"{each}/" for each in _KINDS_IN_REPOSITORY)
    return f"after the repository's name and a slash, resources begin with {kinds_in}"


def _check_conditions(conditions: Conditions, number: int) -> None:
    values_of_all = 0
    for operator, fields in conditions.items():
        if operator not in OPERATORS:
            problem = f"unsupported condition operator: {_shown(operator)}"
            raise _error(problem, number, "condition", f"use {', '.join(OPERATORS)}")
        for name, values in fields.items():
            if name not in FIELDS and not name.startswith(CATALOG_FIELDS):
                problem = f"unknown condition field '{_shown(name)}'"
                raise _error(problem, number, "condition", f"use {', '.join(FIELDS)}")
            if not values:
                problem = f"no values for condition field '{_shown(name)}'"
                raise _error(problem, number, "condition", "list one value or more")
            values_of_all += len(values)
            _check_values(operator, name, values, number)
    if values_of_all > CONDITION_VALUES_MAX:
        problem = f"{values_of_all} values in conditions"
        raise _error(problem, number, "condition", f"list {CONDITION_VALUES_MAX} at most")


def _check_values(operator: str, name: str, values: Sequence[str], number: int) -> None:
    for value in values:
        if len(value.encode(errors="surrogatepass")) > ARN_BYTES_MAX:
            problem = f"a value of condition field '{_shown(name)}' is too long"
            raise _error(problem, number, "condition", f"it has {ARN_BYTES_MAX} bytes at most")
        if not operator.endswith("IpAddress"):
            continue
        try:
            network_of(value)
        except ValueError as error:
            problem = f"invalid IP/CIDR format in {operator} for '{_shown(name)}': {_shown(value)}"
            remedy = "use an address, or a block such as 10.0.0.0/8 or 2001:db8::/32"
            raise _error(problem, number, "condition", remedy) from error


def _error(problem: str, number: int, field: str, remedy: str) -> InvalidInputError:
    details = f"statement {number}, field `{field}`: {remedy}"
    return InvalidInputError(f"validation error: {problem}", details)


def _shown(text: str) -> str:
    return text if len(text) <= 80 else f"{text[:77]}..."
