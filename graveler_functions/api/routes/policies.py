"""Policies, and the users and groups that have them."""

from graveler.access.actions import Action
from graveler.access.policy import Policy
from graveler.http.schemas import policies as schemas
from graveler.http.schemas.listings import Listing, listing
from graveler.http.write_conditions import required_checksum
from graveler.model import Page
from graveler.model.settings import checksum_of
from graveler.operations.accounts import policies
from graveler_functions.api.authorization import named_resources as named
from graveler_functions.api.authorization.checks import Needs
from graveler_functions.api.contract import IF_MATCH, PAGE, flag
from graveler_functions.api.request import Request
from graveler_functions.api.routing import Operations, checked
from graveler_functions.http import answers
from graveler_functions.http.answers import ApiAnswer

operations = Operations()

_POLICIES = "/auth/policies"
_POLICY = f"{_POLICIES}/<policy_id>"
_OF_USER = "/auth/users/<user_id>/policies"
_OF_GROUP = "/auth/groups/<group_id>/policies"


@operations.add(
    "GET",
    _POLICIES,
    "listPolicies",
    parameters=PAGE,
    answers={200: Listing[schemas.PolicyRow]},
)
@checked(Needs.on(Action.LIST_POLICIES, named.EVERYTHING))
def list_policies(request: Request) -> ApiAnswer:
    return _page(request.services.accounts.policies(**request.query.page()))


@operations.add(
    "POST",
    _POLICIES,
    "createPolicy",
    body=schemas.PolicyBody,
    answers={201: schemas.PolicyRow},
    errors=(409,),
)
@checked(Needs.on(Action.CREATE_POLICY, named.NEW_POLICY))
def create_policy(request: Request) -> ApiAnswer:
    body = request.decode(schemas.PolicyBody)
    policy = policies.create(
        request.services.accounts, body.id, body.statements(), request.engine.now_s()
    )
    return answers.of_json(schemas.policy_row(policy), 201)


@operations.add("GET", _POLICY, "getPolicy", answers={200: schemas.PolicyRow})
@checked(Needs.on(Action.READ_POLICY, named.POLICY))
def get_policy(request: Request) -> ApiAnswer:
    policy = policies.get(request.services.accounts, request.name("policy_id"))
    return answers.of_json(schemas.policy_row(policy), headers=answers.etag(checksum_of(policy)))


@operations.add(
    "PUT",
    _POLICY,
    "updatePolicy",
    parameters=(IF_MATCH,),
    body=schemas.PolicyBody,
    answers={200: schemas.PolicyRow},
    errors=(412,),
)
@checked(Needs.on(Action.UPDATE_POLICY, named.POLICY))
def update_policy(request: Request) -> ApiAnswer:
    body = request.decode(schemas.PolicyBody)
    policy = policies.update(
        request.services.accounts,
        request.name("policy_id"),
        body.id,
        body.statements(),
        request.engine.now_s(),
        required_checksum(request.headers),
    )
    return answers.of_json(schemas.policy_row(policy))


@operations.add(
    "DELETE",
    _POLICY,
    "deletePolicy",
    parameters=(IF_MATCH,),
    answers={204: None},
    errors=(412,),
)
@checked(Needs.on(Action.DELETE_POLICY, named.POLICY))
def delete_policy(request: Request) -> ApiAnswer:
    policies.delete(
        request.services.accounts, request.name("policy_id"), required_checksum(request.headers)
    )
    return answers.empty()


@operations.add(
    "GET",
    _OF_USER,
    "listUserPolicies",
    parameters=(*PAGE, flag("effective")),
    answers={200: Listing[schemas.PolicyRow]},
)
@checked(Needs.on(Action.READ_USER, named.USER))
def list_user_policies(request: Request) -> ApiAnswer:
    list_of_user = (
        policies.list_effective if request.query.flag("effective") else policies.list_of_user
    )
    return _page(
        list_of_user(request.services.accounts, request.name("user_id"), **request.query.page())
    )


@operations.add(
    "PUT", f"{_OF_USER}/<policy_id>", "attachPolicyToUser", answers={201: None}, errors=(409,)
)
@checked(Needs.on(Action.ATTACH_POLICY, named.USER))
def attach_policy_to_user(request: Request) -> ApiAnswer:
    request.services.accounts.attach_to_user(request.name("policy_id"), request.name("user_id"))
    return answers.empty(201)


@operations.add("DELETE", f"{_OF_USER}/<policy_id>", "detachPolicyFromUser", answers={204: None})
@checked(Needs.on(Action.DETACH_POLICY, named.USER))
def detach_policy_from_user(request: Request) -> ApiAnswer:
    request.services.accounts.detach_from_user(request.name("policy_id"), request.name("user_id"))
    return answers.empty()


@operations.add(
    "GET",
    _OF_GROUP,
    "listGroupPolicies",
    parameters=PAGE,
    answers={200: Listing[schemas.PolicyRow]},
)
@checked(Needs.on(Action.READ_GROUP, named.GROUP))
def list_group_policies(request: Request) -> ApiAnswer:
    return _page(
        policies.list_of_group(
            request.services.accounts, request.name("group_id"), **request.query.page()
        )
    )


@operations.add(
    "PUT", f"{_OF_GROUP}/<policy_id>", "attachPolicyToGroup", answers={201: None}, errors=(409,)
)
@checked(Needs.on(Action.ATTACH_POLICY, named.GROUP))
def attach_policy_to_group(request: Request) -> ApiAnswer:
    request.services.accounts.attach_to_group(request.name("policy_id"), request.name("group_id"))
    return answers.empty(201)


@operations.add("DELETE", f"{_OF_GROUP}/<policy_id>", "detachPolicyFromGroup", answers={204: None})
@checked(Needs.on(Action.DETACH_POLICY, named.GROUP))
def detach_policy_from_group(request: Request) -> ApiAnswer:
    request.services.accounts.detach_from_group(request.name("policy_id"), request.name("group_id"))
    return answers.empty()


def _page(page: Page[Policy]) -> ApiAnswer:
    rows = [schemas.policy_row(policy) for policy in page.results]
    return answers.of_json(listing(rows, page.next_after))
