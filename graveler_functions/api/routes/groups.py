"""Groups, and their members."""

from graveler.access.actions import Action
from graveler.http.schemas import groups as schemas
from graveler.http.schemas.listings import Listing, listing
from graveler.http.schemas.users import UserRow, user_row
from graveler.operations.accounts import groups
from graveler_functions.api.authorization import named_resources as named
from graveler_functions.api.authorization.checks import Needs
from graveler_functions.api.contract import PAGE
from graveler_functions.api.request import Request
from graveler_functions.api.routing import Operations, checked
from graveler_functions.http import answers
from graveler_functions.http.answers import ApiAnswer

operations = Operations()

_GROUPS = "/auth/groups"
_GROUP = f"{_GROUPS}/<group_id>"
_MEMBERS = f"{_GROUP}/members"
_MEMBER = f"{_MEMBERS}/<user_id>"


@operations.add(
    "GET",
    _GROUPS,
    "listGroups",
    parameters=PAGE,
    answers={200: Listing[schemas.GroupRow]},
)
@checked(Needs.on(Action.LIST_GROUPS, named.EVERYTHING))
def list_groups(request: Request) -> ApiAnswer:
    page = request.services.accounts.groups(**request.query.page())
    rows = [schemas.group_row(group) for group in page.results]
    return answers.of_json(listing(rows, page.next_after))


@operations.add(
    "POST",
    _GROUPS,
    "createGroup",
    body=schemas.GroupCreation,
    answers={201: schemas.GroupRow},
    errors=(409,),
)
@checked(Needs.on(Action.CREATE_GROUP, named.NEW_GROUP))
def create_group(request: Request) -> ApiAnswer:
    body = request.decode(schemas.GroupCreation)
    group = groups.create(
        request.services.accounts, body.id, body.description, request.engine.now_s()
    )
    return answers.of_json(schemas.group_row(group), 201)


@operations.add("GET", _GROUP, "getGroup", answers={200: schemas.GroupRow})
@checked(Needs.on(Action.READ_GROUP, named.GROUP))
def get_group(request: Request) -> ApiAnswer:
    group = groups.get(request.services.accounts, request.name("group_id"))
    return answers.of_json(schemas.group_row(group))


@operations.add("DELETE", _GROUP, "deleteGroup", answers={204: None})
@checked(Needs.on(Action.DELETE_GROUP, named.GROUP))
def delete_group(request: Request) -> ApiAnswer:
    groups.delete(request.services.accounts, request.name("group_id"))
    return answers.empty()


@operations.add(
    "GET",
    _MEMBERS,
    "listGroupMembers",
    parameters=PAGE,
    answers={200: Listing[UserRow]},
)
@checked(Needs.on(Action.READ_GROUP, named.GROUP))
def list_group_members(request: Request) -> ApiAnswer:
    page = groups.list_members(
        request.services.accounts, request.name("group_id"), **request.query.page()
    )
    rows = [user_row(user) for user in page.results]
    return answers.of_json(listing(rows, page.next_after))


@operations.add("PUT", _MEMBER, "addGroupMembership", answers={201: None}, errors=(409,))
@checked(Needs.on(Action.ADD_GROUP_MEMBER, named.GROUP))
def add_group_membership(request: Request) -> ApiAnswer:
    request.services.accounts.add_member(request.name("group_id"), request.name("user_id"))
    return answers.empty(201)


@operations.add("DELETE", _MEMBER, "deleteGroupMembership", answers={204: None})
@checked(Needs.on(Action.REMOVE_GROUP_MEMBER, named.GROUP))
def delete_group_membership(request: Request) -> ApiAnswer:
    request.services.accounts.remove_member(request.name("group_id"), request.name("user_id"))
    return answers.empty()
