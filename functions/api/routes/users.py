"""Users, and their groups."""

from functions.api import answers
from functions.api.answers import Answer
from functions.api.contract import PAGE
from functions.api.request import Request
from functions.api.routing import Operations
from graveler.http import accounts as bodies
from graveler.http import responses
from graveler.messages import Refusal
from graveler.operations.accounts import groups, users

operations = Operations()

_USERS = "/auth/users"
_USER = f"{_USERS}/<user_id>"


@operations.add(
    "GET",
    _USERS,
    "listUsers",
    parameters=PAGE,
    answers={200: responses.Listing[responses.UserRow]},
)
def list_users(request: Request) -> Answer:
    page = request.services.accounts.users(**request.query.page())
    rows = [bodies.user_row(user) for user in page.results]
    return answers.of_json(responses.listing(rows, page.next_after))


@operations.add(
    "POST",
    _USERS,
    "createUser",
    body=bodies.UserCreation,
    answers={201: responses.UserRow},
    errors=(409, 501),
)
def create_user(request: Request) -> Answer:
    body = request.decode(bodies.UserCreation)
    if body.invite_user:
        raise Refusal.NOT_SERVED.error("users are not invited by e-mail: create them")
    user = users.create(request.services.accounts, body.id, request.engine.now_s())
    return answers.of_json(bodies.user_row(user), 201)


@operations.add("GET", _USER, "getUser", answers={200: responses.UserRow})
def get_user(request: Request) -> Answer:
    user = users.get(request.services.accounts, request.name("user_id"))
    return answers.of_json(bodies.user_row(user))


@operations.add("DELETE", _USER, "deleteUser", answers={204: None})
def delete_user(request: Request) -> Answer:
    users.delete(request.services.accounts, request.name("user_id"))
    return answers.empty()


@operations.add(
    "GET",
    f"{_USER}/groups",
    "listUserGroups",
    parameters=PAGE,
    answers={200: responses.Listing[bodies.GroupRow]},
)
def list_user_groups(request: Request) -> Answer:
    page = groups.list_of_user(
        request.services.accounts, request.name("user_id"), **request.query.page()
    )
    rows = [bodies.group_row(group) for group in page.results]
    return answers.of_json(responses.listing(rows, page.next_after))
