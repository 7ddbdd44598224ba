"""Users, and their groups."""

from graveler.access.actions import Action
from graveler.http.schemas import users as schemas
from graveler.http.schemas.groups import GroupRow, group_row
from graveler.http.schemas.listings import Listing, listing
from graveler.messages import Refusal
from graveler.operations.accounts import groups, users
from graveler_functions.api.authorization import named_resources as named
from graveler_functions.api.authorization.checks import Needs
from graveler_functions.api.contract import PAGE
from graveler_functions.api.request import Request
from graveler_functions.api.routing import Operations, checked
from graveler_functions.http import answers
from graveler_functions.http.answers import ApiAnswer

operations = Operations()

_USERS = "/auth/users"
_USER = f"{_USERS}/<user_id>"


@operations.add(
    "GET",
    _USERS,
    "listUsers",
    parameters=PAGE,
    answers={200: Listing[schemas.UserRow]},
)
@checked(Needs.on(Action.LIST_USERS, named.EVERYTHING))
def list_users(request: Request) -> ApiAnswer:
    page = request.services.accounts.users(**request.query.page())
    rows = [schemas.user_row(user) for user in page.results]
    return answers.of_json(listing(rows, page.next_after))


@operations.add(
    "POST",
    _USERS,
    "createUser",
    body=schemas.UserCreation,
    answers={201: schemas.UserRow},
    errors=(409, 501),
)
@checked(Needs.on(Action.CREATE_USER, named.NEW_USER))
def create_user(request: Request) -> ApiAnswer:
    body = request.decode(schemas.UserCreation)
    if body.invite_user:
        raise Refusal.NOT_SERVED.error("users are not invited by e-mail: create them")
    user = users.create(request.services.accounts, body.id, request.engine.now_s())
    return answers.of_json(schemas.user_row(user), 201)


@operations.add("GET", _USER, "getUser", answers={200: schemas.UserRow})
@checked(Needs.on(Action.READ_USER, named.USER))
def get_user(request: Request) -> ApiAnswer:
    user = users.get(request.services.accounts, request.name("user_id"))
    return answers.of_json(schemas.user_row(user))


@operations.add("DELETE", _USER, "deleteUser", answers={204: None})
@checked(Needs.on(Action.DELETE_USER, named.USER))
def delete_user(request: Request) -> ApiAnswer:
    users.delete(request.services.accounts, request.name("user_id"))
    return answers.empty()


@operations.add(
    "GET",
    f"{_USER}/groups",
    "listUserGroups",
    parameters=PAGE,
    answers={200: Listing[GroupRow]},
)
@checked(Needs.on(Action.READ_USER, named.USER))
def list_user_groups(request: Request) -> ApiAnswer:
    page = groups.list_of_user(
        request.services.accounts, request.name("user_id"), **request.query.page()
    )
    rows = [group_row(group) for group in page.results]
    return answers.of_json(listing(rows, page.next_after))
