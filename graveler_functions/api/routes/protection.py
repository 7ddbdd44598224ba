"""Branch protection rules, and lakeFS's deprecated operations on single rules."""

from graveler.access.actions import Action
from graveler.errors import NotFoundError
from graveler.http.schemas import protection as schemas
from graveler.http.write_conditions import required_checksum
from graveler.model import ProtectionRule
from graveler.operations import repositories
from graveler_functions.api.authorization import named_resources as named
from graveler_functions.api.authorization.checks import Needs
from graveler_functions.api.contract import IF_MATCH
from graveler_functions.api.request import Request
from graveler_functions.api.routing import Operations, checked
from graveler_functions.http import answers
from graveler_functions.http.answers import ApiAnswer

operations = Operations()

_RULES = "/repositories/<repository>/settings/branch_protection"
_SINGLE_RULES = "/repositories/<repository>/branch_protection"


@operations.add(
    "GET", _RULES, "getBranchProtectionRules", answers={200: list[schemas.ProtectionRuleRow]}
)
@checked(Needs.on(Action.GET_PROTECTION_RULES, named.REPOSITORY))
def get_rules(request: Request) -> ApiAnswer:
    rules, checksum = repositories.protection_rules(request.engine, request.repository)
    return answers.of_json(schemas.rule_rows(rules), headers=answers.etag(checksum))


@operations.add(
    "PUT",
    _RULES,
    "setBranchProtectionRules",
    parameters=(IF_MATCH,),
    body=list[schemas.ProtectionRuleBody],
    answers={204: None},
    errors=(403, 412),
)
@checked(Needs.on(Action.SET_PROTECTION_RULES, named.REPOSITORY))
def set_rules(request: Request) -> ApiAnswer:
    numbers = schemas.numbers_of(request.decode(list[schemas.ProtectionRuleBody]))
    repositories.set_protection_rules(
        request.engine,
        request.repository,
        [ProtectionRule(pattern, required_approvals=n or 0) for pattern, n in numbers.items()],
        required_checksum(request.headers),
        # lakeFS's clients read the rules and write back the patterns alone.
        keeping={pattern for pattern, n in numbers.items() if n is None},
    )
    return answers.empty()


@operations.add(
    "GET",
    f"{_SINGLE_RULES}/set_allowed",
    "createBranchProtectionRulePreflight",
    answers={204: None},
)
@checked(Needs.on(Action.SET_PROTECTION_RULES, named.REPOSITORY))
def set_rules_preflight(request: Request) -> ApiAnswer:
    repositories.get(request.engine, request.repository)
    return answers.empty()


@operations.add(
    "GET",
    _SINGLE_RULES,
    "internalGetBranchProtectionRules",
    answers={200: list[schemas.ProtectionRuleRow]},
)
@checked(Needs.on(Action.GET_PROTECTION_RULES, named.REPOSITORY))
def get_single_rules(request: Request) -> ApiAnswer:
    rules, _ = repositories.protection_rules(request.engine, request.repository)
    return answers.of_json(schemas.rule_rows(rules))


@operations.add(
    "POST",
    _SINGLE_RULES,
    "internalCreateBranchProtectionRule",
    body=schemas.ProtectionRulePattern,
    answers={204: None},
    errors=(403, 412),
)
@checked(Needs.on(Action.SET_PROTECTION_RULES, named.REPOSITORY))
def create_single_rule(request: Request) -> ApiAnswer:
    pattern = request.decode(schemas.ProtectionRulePattern).pattern
    rules, checksum = repositories.protection_rules(request.engine, request.repository)
    if all(rule.pattern != pattern for rule in rules):
        repositories.set_protection_rules(
            request.engine, request.repository, [*rules, ProtectionRule(pattern)], checksum
        )
    return answers.empty()


@operations.add(
    "DELETE",
    _SINGLE_RULES,
    "internalDeleteBranchProtectionRule",
    body=schemas.ProtectionRulePattern,
    answers={204: None},
    errors=(403, 412),
)
@checked(Needs.on(Action.SET_PROTECTION_RULES, named.REPOSITORY))
def delete_single_rule(request: Request) -> ApiAnswer:
    pattern = request.decode(schemas.ProtectionRulePattern).pattern
    rules, checksum = repositories.protection_rules(request.engine, request.repository)
    kept = [rule for rule in rules if rule.pattern != pattern]
    if len(kept) == len(rules):
        raise NotFoundError(f"no branch protection rule has the pattern {pattern!r}")
    repositories.set_protection_rules(request.engine, request.repository, kept, checksum)
    return answers.empty()
