"""External principals: identities of AWS IAM that log in as users."""

from graveler.access.actions import Action
from graveler.access.identity_tokens import ServerID, principals_of, signed_request
from graveler.errors import AuthenticationError
from graveler.http.auth import FAILURE_MESSAGE
from graveler.http.schemas import principals as schemas
from graveler.http.schemas.accounts import AuthenticationToken
from graveler.http.schemas.listings import Listing, listing
from graveler.messages import Refusal
from graveler.operations.accounts import users
from graveler.ports import AccountStore, ExternalPrincipal, IdentityService
from graveler_functions.api.authorization import named_resources as named
from graveler_functions.api.authorization.checks import Needs, Public
from graveler_functions.api.contract import PAGE, required_text
from graveler_functions.api.request import Request
from graveler_functions.api.routing import Operations, checked
from graveler_functions.http import answers
from graveler_functions.http.answers import ApiAnswer

operations = Operations()

_PRINCIPALS = "/auth/users/<user_id>/external/principals"
_ID = required_text("principalId")
# Deployments may allow no such log-ins.
_OFF = 501

# lakeFS's defaults of `auth.login_duration` and `auth.login_max_duration`.
SESSION_LIFE_S = 7 * 24 * 60 * 60
SESSION_LIFE_S_MAX = 14 * 24 * 60 * 60


@operations.add(
    "POST",
    _PRINCIPALS,
    "createUserExternalPrincipal",
    parameters=(_ID,),
    body=schemas.PrincipalCreation,
    is_body_optional=True,
    answers={201: None},
    errors=(409, _OFF),
)
@checked(Needs.on(Action.CREATE_USER_EXTERNAL_PRINCIPAL, named.USER))
def create_user_external_principal(request: Request) -> ApiAnswer:
    _require_enabled(request)
    if request.body:
        request.decode(schemas.PrincipalCreation)
    users.create_principal(
        request.services.accounts, request.name("user_id"), request.query.required_text(_ID.name)
    )
    return answers.empty(201)


@operations.add(
    "DELETE",
    _PRINCIPALS,
    "deleteUserExternalPrincipal",
    parameters=(_ID,),
    answers={204: None},
    errors=(_OFF,),
)
@checked(Needs.on(Action.DELETE_USER_EXTERNAL_PRINCIPAL, named.USER))
def delete_user_external_principal(request: Request) -> ApiAnswer:
    _require_enabled(request)
    principal_id = request.query.required_text(_ID.name)
    request.services.accounts.delete_principal(request.name("user_id"), principal_id)
    return answers.empty()


@operations.add(
    "GET",
    f"{_PRINCIPALS}/ls",
    "listUserExternalPrincipals",
    parameters=PAGE,
    answers={200: Listing[schemas.PrincipalRow]},
    errors=(_OFF,),
)
@checked(Needs.on(Action.READ_USER, named.USER))
def list_user_external_principals(request: Request) -> ApiAnswer:
    _require_enabled(request)
    page = users.list_principals(
        request.services.accounts, request.name("user_id"), **request.query.page()
    )
    rows = [schemas.principal_row(principal) for principal in page.results]
    return answers.of_json(listing(rows, page.next_after))


@operations.add(
    "GET",
    "/auth/external/principals",
    "getExternalPrincipal",
    parameters=(_ID,),
    answers={200: schemas.PrincipalRow},
    errors=(404, _OFF),
)
@checked(Needs.on(Action.READ_EXTERNAL_PRINCIPAL, named.PRINCIPAL))
def get_external_principal(request: Request) -> ApiAnswer:
    _require_enabled(request)
    found = users.get_principal(request.services.accounts, request.query.required_text(_ID.name))
    return answers.of_json(schemas.principal_row(found))


@operations.add(
    "POST",
    "/auth/external/principal/login",
    "externalPrincipalLogin",
    body=schemas.ExternalLogin,
    answers={200: AuthenticationToken},
    errors=(401, 404, _OFF),
)
@checked(Public())
def external_principal_login(request: Request) -> ApiAnswer:
    identities, server_id = _require_enabled(request)
    body = request.decode(schemas.ExternalLogin)
    authenticator = request.services.authenticator
    authenticator.check_attempts(request.address)
    signed = signed_request(body.identity_request.identity_token, server_id, request.engine.now_s())
    arn = identities.caller_arn(signed)
    if arn is None:
        authenticator.count_failure(request.address)
        raise AuthenticationError(FAILURE_MESSAGE)
    principal = _principal_of(request.services.accounts, arn)
    if principal is None:
        authenticator.count_failure(request.address)
        raise Refusal.NOT_FOUND.error(f"principal {arn!r}: attach it to a user")
    asked_s = body.token_expiration_duration or 0
    life_s = min(asked_s if asked_s > 0 else SESSION_LIFE_S, SESSION_LIFE_S_MAX)
    session = authenticator.log_in_principal(principal, life_s)
    request.user = session.user
    return answers.of_json(AuthenticationToken(session.token, session.expires_at))


def _require_enabled(request: Request) -> tuple[IdentityService, ServerID]:
    """Return what log-ins need.

    Raises:
        UnsupportedError: the deployment does not allow them.
    """
    services = request.services
    if services.identities is None or not services.settings.iam_login_server_id:
        raise Refusal.NOT_SERVED.error(
            "log-in by AWS IAM is off: set GRAVELER_IAM_LOGIN_SERVER_ID to the API's host name"
        )
    return services.identities, ServerID(services.settings.iam_login_server_id)


def _principal_of(accounts: AccountStore, arn: str) -> ExternalPrincipal | None:
    """Return the principal of the caller, from the most specific of its IDs that is attached."""
    for principal_id in principals_of(arn):
        found = accounts.principal(principal_id)
        if found is not None:
            return found
    return None
