"""What users may do: an explanation of one action of a user, and the list of all actions."""

from graveler.access.actions import Action
from graveler.http.schemas import rights as schemas
from graveler.operations.accounts.explaining import explain_access
from graveler_functions.api import answers
from graveler_functions.api.answers import ApiAnswer
from graveler_functions.api.authorization import named_resources as named
from graveler_functions.api.authorization.checks import Needs, NeedsOfOthers, On, SignedIn
from graveler_functions.api.authorization.known_actions import known_actions
from graveler_functions.api.contract import required_text, text
from graveler_functions.api.request import Request
from graveler_functions.api.routing import Operations, checked

operations = Operations()


@operations.add(
    "GET",
    "/auth/users/<user_id>/access",
    "explainAccess",
    parameters=(required_text("action"), required_text("resource"), text("source_ip")),
    answers={200: schemas.AccessRow},
)
@checked(
    NeedsOfOthers(
        Needs(On(Action.READ_USER, named.USER), On(Action.LIST_POLICIES, named.EVERYTHING))
    )
)
def explain(request: Request) -> ApiAnswer:
    user, resource = request.name("user_id"), request.query.required_text("resource")
    found = explain_access(
        request.services.accounts,
        user,
        request.query.required_text("action"),
        resource,
        request.query.text("source_ip") or request.address,
    )
    return answers.of_json(schemas.access_row(user, resource, found))


@operations.add("GET", "/auth/actions", "listAccessActions", answers={200: schemas.ActionList})
@checked(SignedIn())
def list_actions(_: Request) -> ApiAnswer:
    from graveler_functions.api.all_operations import TEMPLATES  # noqa: PLC0415 - it imports this

    rows = [
        schemas.ActionRow(each.action, each.resources, each.operations)
        for each in known_actions(TEMPLATES)
    ]
    return answers.of_json(schemas.ActionList(rows))
