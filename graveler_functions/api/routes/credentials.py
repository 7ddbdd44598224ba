"""Key pairs of users. A secret is in the answer that creates its pair, and in no other."""

from graveler.access.actions import Action
from graveler.http.schemas import credentials as schemas
from graveler.http.schemas.listings import Listing, listing
from graveler.operations.accounts import users
from graveler.ports import Credential
from graveler_functions.api import key_pairs
from graveler_functions.api.authorization import named_resources as named
from graveler_functions.api.authorization.checks import Needs
from graveler_functions.api.contract import PAGE
from graveler_functions.api.request import Request
from graveler_functions.api.routing import Operations, checked
from graveler_functions.http import answers
from graveler_functions.http.answers import ApiAnswer

operations = Operations()

_CREDENTIALS = "/auth/users/<user_id>/credentials"
_PAIR = f"{_CREDENTIALS}/<access_key_id>"


@operations.add(
    "GET",
    _CREDENTIALS,
    "listUserCredentials",
    parameters=PAGE,
    answers={200: Listing[schemas.KeyRow]},
)
@checked(Needs.on(Action.LIST_CREDENTIALS, named.USER))
def list_user_credentials(request: Request) -> ApiAnswer:
    page = users.list_keys(
        request.services.accounts, request.name("user_id"), **request.query.page()
    )
    rows = [schemas.key_row(key) for key in page.results]
    return answers.of_json(listing(rows, page.next_after))


@operations.add(
    "POST", _CREDENTIALS, "createCredentials", answers={201: schemas.CredentialsWithSecret}
)
@checked(Needs.on(Action.CREATE_CREDENTIALS, named.USER))
def create_credentials(request: Request) -> ApiAnswer:
    pair, now_s = key_pairs.generate(), request.engine.now_s()
    access_key_id, secret = pair.access_key_id, pair.secret_access_key
    credential = Credential(access_key_id, secret, request.name("user_id"), now_s)
    users.create_key(request.services.accounts, credential)
    return answers.of_json(schemas.CredentialsWithSecret(access_key_id, secret, now_s), 201)


@operations.add("GET", _PAIR, "getCredentials", answers={200: schemas.KeyRow})
@checked(Needs.on(Action.READ_CREDENTIALS, named.USER))
def get_credentials(request: Request) -> ApiAnswer:
    found = users.get_key(
        request.services.accounts, request.name("user_id"), request.name("access_key_id")
    )
    return answers.of_json(schemas.key_row(found))


@operations.add("DELETE", _PAIR, "deleteCredentials", answers={204: None})
@checked(Needs.on(Action.DELETE_CREDENTIALS, named.USER))
def delete_credentials(request: Request) -> ApiAnswer:
    access_key_id = request.name("access_key_id")
    request.services.accounts.delete_key(request.name("user_id"), access_key_id)
    request.services.authenticator.forget(access_key_id)
    return answers.empty()
