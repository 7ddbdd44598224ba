"""Setup, login, and the current user."""

import hmac

from graveler.errors import AlreadyExistsError, AuthenticationError, PreconditionFailedError
from graveler.http import cross_site
from graveler.http.auth import FAILURE_MESSAGE, SESSION_COOKIE
from graveler.http.schemas import accounts as schemas
from graveler.http.schemas.credentials import CredentialsWithSecret
from graveler.http.schemas.users import UserRow
from graveler.operations.accounts import installation
from graveler.operations.accounts.users import check_name
from graveler.ports import Credential, User
from graveler_functions.api import key_pairs, session_cookie
from graveler_functions.api.authorization.checks import Public
from graveler_functions.api.contract import header
from graveler_functions.api.request import Request
from graveler_functions.api.routing import Operations, checked
from graveler_functions.http import answers
from graveler_functions.http.answers import ApiAnswer

operations = Operations()

_SETUP_TOKEN_HEADER = "x-graveler-setup-token"  # noqa: S105 - the name of a header

_LOGIN_CONFIG = schemas.LoginConfig(
    # With "none", the web UI hides users and groups; with "simplified", policies.
    rbac="internal",
    username_ui_placeholder="Access Key ID",
    password_ui_placeholder="Secret Access Key",  # noqa: S106 - a label
    login_url="",
    login_url_method="none",
    login_failed_message="The credentials don't match.",
    login_cookie_names=[SESSION_COOKIE],
    logout_url="/logout",
)


@operations.add(
    "GET",
    "/user",
    "getCurrentUser",
    answers={200: schemas.CurrentUser},
    errors=(401,),
)
@checked(Public())
def get_current_user(request: Request) -> ApiAnswer:
    authenticator = request.services.authenticator
    authenticated = authenticator.authenticate(
        request.header("authorization"), request.cookies, request.address
    )
    if authenticated is None:
        # Clients call this to learn whether they are logged in.
        return answers.of_json(schemas.CurrentUser(UserRow("", 0)))
    user = request.services.accounts.user(authenticated.user)
    if user is None:  # deleted since its credential was last looked up
        raise AuthenticationError(FAILURE_MESSAGE)
    row = UserRow(user.name, user.creation_date, user.name)
    return answers.of_json(schemas.CurrentUser(row, authenticated.access_key_id))


@operations.add("GET", "/setup_lakefs", "getSetupState", answers={200: schemas.SetupState})
@checked(Public())
def get_setup_state(request: Request) -> ApiAnswer:
    state = "initialized" if request.services.accounts.is_set_up() else "not_initialized"
    return answers.of_json(
        schemas.SetupState(state, comm_prefs_missing=False, login_config=_LOGIN_CONFIG)
    )


@operations.add(
    "POST",
    "/setup_lakefs",
    "setup",
    parameters=(header("X-Graveler-Setup-Token"),),
    body=schemas.Setup,
    answers={200: CredentialsWithSecret},
    errors=(401, 409),
)
@checked(Public())
def set_up(request: Request) -> ApiAnswer:
    given = request.header(_SETUP_TOKEN_HEADER) or ""
    sent = given.encode("utf-8", "surrogatepass")
    body = request.decode(schemas.Setup)
    if request.services.accounts.is_set_up():
        raise AlreadyExistsError("lakeFS already initialized")
    # The token is read where it is kept, and only for a request that has one.
    token = request.services.setup_token() if sent else ""
    if sent and not token:
        raise AuthenticationError(
            "this deployment has no setup token: deploy it with setup_token=secret first"
        )
    if not token or not hmac.compare_digest(sent, token.encode()):
        raise AuthenticationError(
            f"the header {_SETUP_TOKEN_HEADER} must carry the setup token of this deployment"
        )
    now_s = request.engine.now_s()
    pair = body.key or key_pairs.generate()
    credential = Credential(pair.access_key_id, pair.secret_access_key, body.username, now_s)
    check_name("User", body.username)
    try:
        installation.set_up(request.services.accounts, User(body.username, now_s), credential)
    except AlreadyExistsError as error:
        raise AlreadyExistsError("lakeFS already initialized") from error
    request.user = body.username
    return answers.of_json(CredentialsWithSecret(pair.access_key_id, pair.secret_access_key, now_s))


@operations.add(
    "POST",
    "/setup_comm_prefs",
    "setupCommPrefs",
    body=schemas.CommunicationPreferences,
    answers={},
    errors=(409, 412),
)
@checked(Public())
def set_communication_preferences(request: Request) -> ApiAnswer:
    # As lakeFS with `email_subscription.enabled: false`: e-mail addresses are not stored.
    request.decode(schemas.CommunicationPreferences)
    if not request.services.accounts.is_set_up():
        raise PreconditionFailedError("lakeFS is not initialized")
    raise AlreadyExistsError("communication preferences already set")


@operations.add(
    "POST",
    "/auth/login",
    "login",
    body=schemas.Login,
    answers={200: schemas.AuthenticationToken},
    errors=(401, 403),
)
@checked(Public())
def log_in(request: Request) -> ApiAnswer:
    cross_site.check_not_cross_site(request.headers)  # it could log a visitor in as another user
    body = request.decode(schemas.Login)
    session = request.services.authenticator.log_in(
        body.access_key_id, body.secret_access_key, request.address
    )
    request.user = session.user
    answer = answers.of_json(schemas.AuthenticationToken(session.token, session.expires_at))
    answer.cookies.append(session_cookie.with_session(request, session.token))
    return answer


@operations.add(
    "GET",
    "/auth/capabilities",
    "getAuthCapabilities",
    answers={200: schemas.AuthCapabilities},
)
@checked(Public())
def get_auth_capabilities(request: Request) -> ApiAnswer:  # noqa: ARG001 - every route takes it
    return answers.of_json(schemas.AuthCapabilities())


def log_out(request: Request) -> ApiAnswer:
    """Delete the browser's session cookie, and redirect to the page that logs in."""
    cross_site.check_not_cross_site(request.headers)
    cross_site.check_not_embedded(request.headers)
    answer = answers.empty(307, {"Location": "/auth/login"})
    answer.cookies.append(session_cookie.without_session(request))
    return answer
