"""What users may do and why: explanations, the list of all actions, checks of policies."""

from collections.abc import Sequence
from functools import cache

from graveler.access.actions import Action
from graveler.access.policy import Effect
from graveler.http.schemas import rights as schemas
from graveler.http.schemas.listings import Listing, listing
from graveler.http.schemas.policies import PolicyDraft
from graveler.operations.accounts import explaining, policies
from graveler_functions.api.authorization import named_resources as named
from graveler_functions.api.authorization.checks import Needs, NeedsOfOthers, On, SignedIn
from graveler_functions.api.authorization.known_actions import (
    KnownAction,
    actions_about,
    known_actions,
)
from graveler_functions.api.contract import PAGE, required_text, text
from graveler_functions.api.request import Request
from graveler_functions.api.routing import Operations, checked
from graveler_functions.http import answers
from graveler_functions.http.answers import ApiAnswer

operations = Operations()

_NEEDS_OF_OTHERS = NeedsOfOthers(
    Needs(On(Action.READ_USER, named.USER), On(Action.LIST_POLICIES, named.EVERYTHING))
)


@operations.add(
    "GET",
    "/auth/users/<user_id>/access",
    "explainAccess",
    parameters=(required_text("action"), required_text("resource"), text("source_ip")),
    answers={200: schemas.AccessRow},
)
@checked(_NEEDS_OF_OTHERS)
def explain(request: Request) -> ApiAnswer:
    user, resource = request.name("user_id"), request.query.required_text("resource")
    found = explaining.explain_access(
        request.services.accounts,
        user,
        request.query.required_text("action"),
        resource,
        request.query.text("source_ip") or request.address,
    )
    return answers.of_json(schemas.access_row(user, resource, found))


@operations.add(
    "GET",
    "/auth/users/<user_id>/access/actions",
    "listAccess",
    parameters=(required_text("resource"), text("source_ip")),
    answers={200: schemas.AccessList},
)
@checked(_NEEDS_OF_OTHERS)
def list_access(request: Request) -> ApiAnswer:
    user, resource = request.name("user_id"), request.query.required_text("resource")
    found = explaining.list_access(
        request.services.accounts,
        user,
        actions_about(resource, _actions()),
        resource,
        request.query.text("source_ip") or request.address,
    )
    rows = list(map(schemas.verdict_row, found))
    return answers.of_json(schemas.AccessList(user, resource, rows))


@operations.add("GET", "/auth/actions", "listAccessActions", answers={200: schemas.ActionList})
@checked(SignedIn())
def list_actions(_: Request) -> ApiAnswer:
    rows = [schemas.ActionRow(each.action, each.resources, each.operations) for each in _actions()]
    return answers.of_json(schemas.ActionList(rows))


# Below /auth/policies, it would hide the policy of its name.
@operations.add(
    "POST",
    "/auth/check_policy",
    "checkPolicy",
    body=PolicyDraft,
    answers={200: schemas.CheckedPolicy},
)
@checked(SignedIn())
def check_policy(request: Request) -> ApiAnswer:
    draft = request.decode(PolicyDraft)
    problems, warnings = policies.check(
        draft.id,
        [each.effect for each in draft.statement],
        [
            each.as_statement(Effect.ALLOW if each.effect == Effect.ALLOW else Effect.DENY)
            for each in draft.statement
        ],
        {each.action: each.resources for each in _actions()},
    )
    return answers.of_json(
        schemas.CheckedPolicy(
            list(map(schemas.problem_row, problems)), list(map(schemas.problem_row, warnings))
        )
    )


@operations.add(
    "GET",
    "/auth/policies/<policy_id>/attachments",
    "listPolicyAttachments",
    parameters=PAGE,
    answers={200: Listing[schemas.AttachmentRow]},
)
@checked(
    Needs(
        On(Action.READ_POLICY, named.POLICY),
        On(Action.LIST_GROUPS, named.EVERYTHING),
        On(Action.LIST_USERS, named.EVERYTHING),
    )
)
def list_attachments(request: Request) -> ApiAnswer:
    page = policies.list_holders(
        request.services.accounts, request.name("policy_id"), **request.query.page()
    )
    rows = [schemas.AttachmentRow(holder.kind, holder.name) for holder in page.results]
    return answers.of_json(listing(rows, page.next_after))


@cache
def _actions() -> Sequence[KnownAction]:
    from graveler_functions.api.all_operations import TEMPLATES  # noqa: PLC0415 - it imports this

    return tuple(known_actions(TEMPLATES))
