"""The end of all sessions of a user. lakeFS has no such operations."""

from graveler.access.actions import Action
from graveler.operations.accounts import users
from graveler_functions.api import session_cookie
from graveler_functions.api.authorization import named_resources as named
from graveler_functions.api.authorization.checks import Needs, SignedIn
from graveler_functions.api.request import Request
from graveler_functions.api.routing import Operations, checked
from graveler_functions.http import answers
from graveler_functions.http.answers import ApiAnswer

operations = Operations()


@operations.add("DELETE", "/user/sessions", "endSessions", answers={204: None}, errors=(404,))
@checked(SignedIn())
def end_sessions(request: Request) -> ApiAnswer:
    answer = _end(request, request.user)
    answer.cookies.append(session_cookie.without_session(request))
    return answer


@operations.add("DELETE", "/auth/users/<user_id>/sessions", "endUserSessions", answers={204: None})
# The deletion of a key pair ends its sessions. This ends them and keeps the key pairs.
@checked(Needs.on(Action.DELETE_CREDENTIALS, named.USER))
def end_user_sessions(request: Request) -> ApiAnswer:
    return _end(request, request.name("user_id"))


def _end(request: Request, user: str) -> ApiAnswer:
    users.end_sessions(request.services.accounts, user, request.engine.now_s())
    request.services.authenticator.forget_sessions()  # at once here, within MEMORY_S elsewhere
    return answers.empty()
