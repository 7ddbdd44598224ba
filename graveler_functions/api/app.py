"""Answers API Gateway events: routing, authentication, errors, and the log line.

Theory of operation. `build_app` binds the tables of the route modules to one engine and returns a
callable for events. A `RouteTable` finds the route: that of the frequent operations, then that of
all others. A process imports the modules of the others at the first request for one of them.
Authentication comes first, then access control, so a request without a credential or a right
learns nothing. Then the route runs. One map turns errors into answers.

Lambda gives a process one event at a time, but the threads of other servers may share an app. So
an app holds nothing of a request.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache, partial
from urllib.parse import unquote

from msgspec import Struct

from graveler.engine import Engine
from graveler.errors import (
    CorruptDataError,
    GravelerError,
    StillRunningError,
)
from graveler.http import cross_site, s3_requests, waiting
from graveler.http.auth import Authenticator, has_session
from graveler.http.errors import ErrorBody
from graveler.http.rights import Authorizer
from graveler.messages import Refusal
from graveler.ports import AccountStore, IdentityService
from graveler_functions.api.frequent_operations import FREQUENT
from graveler_functions.api.request import ApiServices, Request
from graveler_functions.api.routing import ApiOperation, Route, Template
from graveler_functions.api.settings import ApiSettings
from graveler_functions.api.unserved import UNSERVED, refusal_of
from graveler_functions.http import answers
from graveler_functions.http.answers import ApiAnswer
from graveler_functions.http.events import (
    Event,
    cookies_of,
    encoded_path_of,
    method_of,
    request_id_of,
    sent_path_of,
    source_address_of,
)
from graveler_functions.http.route_table import RouteTable
from graveler_functions.http.serving import App, as_answered, serve
from graveler_functions.telemetry import Telemetry, TelemetryRecord

API_PREFIX = "/api/v1"

SERVICE = "graveler-api"

# Path parameters and the log fields they become. The others hold names of users and of keys.
_LOGGED_PARAMETERS = {
    "repository": "repository",
    "branch": "ref",
    "ref": "ref",
    "tag": "ref",
    "commit_id": "ref",
    "left_ref": "ref",
    "source_ref": "ref",
    "right_ref": "other_ref",
    "destination_branch": "other_ref",
}

# A bound route: it takes the event, the record of its log line, and the path's parameters.
_Call = Callable[[Event, TelemetryRecord, Mapping[str, str]], ApiAnswer]


def build_app(
    engine: Engine,
    accounts_store: AccountStore,
    settings: ApiSettings,
    telemetry: Telemetry | None = None,
    identities: IdentityService | None = None,
    secret_of: Callable[[str], str] | None = None,
) -> App:
    """Return the whole API over one engine: a function from an event to API Gateway's answer.

    Args:
        engine: the engine.
        accounts_store: the store of users.
        settings: the settings of this function alone.
        telemetry: of each request's line in the log; by default, the process's own.
        identities: finds the signer of a log-in by AWS IAM; without it, they are refused.
        secret_of: returns the text of a secret by its ARN, which only settings with an ARN need.
    """
    logged = telemetry or Telemetry(SERVICE)
    authenticator = Authenticator(accounts_store, engine.clock)
    authorizer = Authorizer(accounts_store, engine.clock)
    services = ApiServices(
        engine, accounts_store, authenticator, authorizer, settings, identities, secret_of
    )
    frequent = RouteTable[_Call]()
    _add(frequent, _served(FREQUENT), services)
    for method in ("GET", "HEAD"):
        frequent.add(method, "/_health", _health)
    others = cache(partial(_others, services))

    def respond(event: Event, record: TelemetryRecord) -> ApiAnswer:
        try:
            method, path = method_of(event), encoded_path_of(event)
            found = frequent.find(method, path) or others().routes.find(method, path)
            if found is None:
                return _without_route(event, record, others().templates, services)
            call, parameters = found
            return call(event, record, parameters)
        except StillRunningError as error:
            return _of_waiting(event, record, error)
        except Exception as error:  # noqa: BLE001 - every failure has an answer
            if isinstance(error, CorruptDataError):
                engine.committed.forget()  # a corrupt file may have been repaired since
            record.error = as_answered(event, error)
            return _of_error(event, record.error)

    return serve(logged, respond, answers.of_error)


class _Others(Struct, frozen=True):
    """The routes that are not frequent, and the templates of all."""

    routes: RouteTable[_Call]
    templates: Sequence[Template]


def _others(services: ApiServices) -> _Others:
    """Return the routes that a start does not need: they are a third of the API's own modules."""
    from graveler_functions.api import all_operations, openapi  # noqa: PLC0415

    def document(_: Event, record: TelemetryRecord, __: Mapping[str, str]) -> ApiAnswer:
        record.operation = "openapi"
        return answers.of_json_text(all_operations.document(API_PREFIX))

    routes = RouteTable[_Call]()
    unserved = ((template, refusal_of(template)) for template in UNSERVED)
    _add(routes, (*_served(all_operations.OTHERS), *unserved), services)
    for method in ("GET", "HEAD"):
        routes.add(method, openapi.PATH, document)
    log_out = all_operations.LOG_OUT
    routes.add("GET", log_out.path, _bound(all_operations.log_out, log_out, services))
    return _Others(routes, all_operations.TEMPLATES)


def _add(
    routes: RouteTable[_Call], served: Iterable[tuple[Template, Route]], services: ApiServices
) -> None:
    for template, route in served:
        path = API_PREFIX + template.path
        routes.add(template.method, path, _bound(route, template, services))


def _served(operations: Iterable[ApiOperation]) -> Iterator[tuple[Template, Route]]:
    for operation in operations:
        yield operation.template, operation.route


def _bound(route: Route, template: Template, services: ApiServices) -> _Call:
    """Return the route behind its checks: it logs facts, authenticates, and checks rights first."""
    is_change = template.method != "GET" and not template.public
    changes_rights = is_change and template.path.startswith("/auth/")
    audits = template.is_audited

    def call(
        event: Event, record: TelemetryRecord, path_parameters: Mapping[str, str]
    ) -> ApiAnswer:
        record.operation = template.name
        for parameter, name in path_parameters.items():
            if parameter in _LOGGED_PARAMETERS:
                record.add(**{_LOGGED_PARAMETERS[parameter]: unquote(name)})
        user = "" if template.public else _user_of(event, services)
        record.add(user=user)
        request = Request(event, services, path_parameters, user)

        def act() -> ApiAnswer:
            template.needs.check(request)
            return route(request)

        if audits:
            from graveler_functions.api import audit  # noqa: PLC0415 - few requests are recorded

            path, request_id = encoded_path_of(event), request_id_of(event)
            answer = audit.recorded(request, template, path, request_id, act)
        else:
            answer = act()
        if changes_rights:
            services.authorizer.forget()  # at once here, after RIGHTS_AGE_MAX_S elsewhere
        return answer

    return call


def _user_of(event: Event, services: ApiServices) -> str:
    headers, cookies = event.get("headers") or {}, cookies_of(event)
    authorization = headers.get("authorization")
    is_read = method_of(event) in {"GET", "HEAD"}
    if not (authorization or is_read) and has_session(cookies):
        cross_site.check_change_by_cookie(headers)
    return services.authenticator.user_of(authorization, cookies, source_address_of(event))


def _health(_: Event, record: TelemetryRecord, __: Mapping[str, str]) -> ApiAnswer:
    record.operation = "health"
    return answers.of_text("alive!")


def _without_route(
    event: Event, record: TelemetryRecord, templates: Iterable[Template], services: ApiServices
) -> ApiAnswer:
    """Return the answer where no route matches: the most specific of 501, 405, 400 and 404.

    Raises:
        GravelerError: an operation lacks a parameter, or the request has no valid credential.
    """
    method, path = method_of(event), encoded_path_of(event)
    if s3_requests.is_s3_request(event.get("headers") or {}, event.get("rawQueryString") or ""):
        return _of_no_gateway(path, request_id_of(event))
    if not f"{path}/".startswith(f"{API_PREFIX}/"):
        return _outside_the_api(path, method)
    segments = path[len(API_PREFIX) :].split("/")
    if not segments[-1]:
        return _of_no_endpoint()
    known = [template for template in templates if template.matches(segments)]
    for template in known:
        if template.method == method:
            record.operation = template.name
            if not template.public:
                _user_of(event, services)
            if missing := template.missing_parameter(segments):
                problem = "value is required but missing"
                raise Refusal.BAD_PATH_PARAMETER.error(name=missing, problem=problem)
            return _of_no_endpoint()
    if known:
        allowed = sorted({template.method for template in known})
        message = f"{method} is not allowed on {path}, only {', '.join(allowed)}"
        return answers.of_json(ErrorBody(message), 405, {"Allow": ", ".join(allowed)})
    return _of_no_endpoint()


def _of_no_endpoint() -> ApiAnswer:
    return answers.of_json(ErrorBody("invalid API endpoint"), 404)


def _outside_the_api(path: str, method: str) -> ApiAnswer:
    """Answer in plain text: `lakectl doctor` would take JSON for an answer of the API."""
    if path == "/" and method in {"GET", "HEAD"}:
        return answers.of_text(f"Graveler serves lakeFS's API at {API_PREFIX}\n")
    return answers.of_text(f"not found: the API is at {API_PREFIX}\n", status=404)


def _of_no_gateway(path: str, request_id: str) -> ApiAnswer:
    document = s3_requests.error_document(
        "NotImplemented",
        f"the S3 gateway is not served: use lakeFS's API at {API_PREFIX}, with lakectl or an SDK",
        resource=path,
        request_id=request_id,
    )
    return answers.of_text(
        document, s3_requests.CONTENT_TYPE, 501, {"x-amz-request-id": request_id}
    )


def _of_error(event: Event, error: BaseException) -> ApiAnswer:
    """Return the answer to a request that failed."""
    if isinstance(error, GravelerError):
        return answers.of_error(error)
    # A bug: the log explains it, and the client gets the request's ID only.
    return answers.of_json(ErrorBody(f"internal error, request {request_id_of(event)}"), 500)


def _of_waiting(event: Event, record: TelemetryRecord, error: StillRunningError) -> ApiAnswer:
    """Ask the client to wait again for a task that outlasts its request."""
    query = event.get("rawQueryString") or ""
    location = waiting.location_of(error, sent_path_of(event), query)
    if location is None:
        record.error = error
        return answers.of_error(error)
    return answers.of_json(ErrorBody(error.message), 307, {"Location": location})
