"""Answers API Gateway events: routing, authentication, errors, and the log line.

Theory of operation. `build_app` binds the tables of the route modules to one engine and returns a
callable for events. Powertools finds the route. Authentication comes first, then access control, so
that a request without a credential, or without the right, learns nothing. Then the route runs. One
map turns errors into answers.

Lambda gives a process one event at a time, but other servers run several threads. A request's state
is therefore in context variables, never in the resolver, and threads may share an app.
"""

from collections.abc import Callable, Iterator
from contextvars import ContextVar
from functools import cache, partial
from typing import Any
from urllib.parse import unquote

from aws_lambda_powertools.event_handler import APIGatewayHttpResolver
from aws_lambda_powertools.utilities.data_classes import APIGatewayProxyEventV2
from aws_lambda_powertools.utilities.typing import LambdaContext

from functions.api import answers, openapi
from functions.api.access.rows import Public, Row
from functions.api.access.table import NEEDS
from functions.api.answers import Answer
from functions.api.request import (
    Event,
    Request,
    Services,
    cookies_of,
    encoded_path_of,
    request_id_of,
    source_address_of,
)
from functions.api.routes import (
    accounts,
    actions,
    branches,
    commits,
    configuration,
    content,
    credentials,
    dumps,
    exports,
    groups,
    imports,
    metadata,
    objects,
    policies,
    prefixes,
    principals,
    protection,
    pulls,
    recorded_uploads,
    refs,
    repositories,
    retention,
    staging,
    tags,
    tasks,
    uploads,
    users,
)
from functions.api.routing import Operation, Route, Template
from functions.api.settings import Settings
from functions.api.unserved import UNSERVED, refusal_of
from functions.telemetry import Record, Telemetry
from graveler.aws import deadlines
from graveler.errors import (
    CorruptDataError,
    GravelerError,
    StillRunningError,
    ThrottledError,
    TooLargeError,
    UnknownOutcomeError,
)
from graveler.http import s3, waiting
from graveler.http.access import Authorizer
from graveler.http.auth import Authenticator
from graveler.http.errors import ErrorBody
from graveler.http.responses import encode
from graveler.limits import LAMBDA_PAYLOAD_BYTES_MAX, REQUEST_S_MAX
from graveler.messages import Refusal
from graveler.operations.engine import Engine
from graveler.ports import AccountStore, IdentityService

App = Callable[[Event, Any], dict[str, Any]]

API_PREFIX = "/api/v1"

# The resolver tries routes in order, so the most frequent resources come first.
_RESOURCES = (
    objects,
    content,
    staging,
    commits,
    branches,
    repositories,
    refs,
    tags,
    uploads,
    recorded_uploads,
    configuration,
    accounts,
    protection,
    retention,
    metadata,
    exports,
    dumps,
    imports,
    tasks,
    users,
    groups,
    policies,
    credentials,
    principals,
    pulls,
    prefixes,
    actions,
)
OPERATIONS: tuple[Operation, ...] = tuple(
    operation for resource in _RESOURCES for operation in resource.operations.table
)

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

_event: ContextVar[APIGatewayProxyEventV2] = ContextVar("event")
_context: ContextVar[dict[str, Any]] = ContextVar("context")
_record: ContextVar[Record] = ContextVar("record")


class _Resolver(APIGatewayHttpResolver):
    """A resolver that keeps its per-request state in context variables, safe for threads."""

    @property
    def current_event(  # type: ignore[override] # the base class has one variable for all threads
        self,
    ) -> APIGatewayProxyEventV2:
        return _event.get()

    @property
    def context(self) -> dict[str, Any]:
        return _context.get({})

    @context.setter
    def context(self, value: dict[str, Any]) -> None:
        _context.set(value)

    def finish_routes(self) -> None:
        """Build the routes' middleware now, which Powertools does at a route's first request.

        Two first requests at the same time would build it twice and break the route for good.
        """
        for route in (*self._static_routes, *self._dynamic_routes):
            route._build_middleware_stack(self._router_middlewares, self)  # noqa: SLF001

    def resolve(self, event: Event, context: LambdaContext) -> dict[str, Any]:
        _event.set(APIGatewayProxyEventV2({**event, "rawPath": encoded_path_of(event)}))
        _context.set({})
        return super().resolve(event, context)


def build_app(
    engine: Engine,
    accounts_store: AccountStore,
    settings: Settings,
    telemetry: Telemetry | None = None,
    identities: IdentityService | None = None,
) -> App:
    """Return the whole API over one engine: a function from an event to API Gateway's answer."""
    logged = telemetry or Telemetry(SERVICE)
    authenticator = Authenticator(accounts_store, engine.clock)
    authorizer = Authorizer(accounts_store, engine.clock)
    services = Services(engine, accounts_store, authenticator, authorizer, settings, identities)
    resolver = _Resolver()
    for template, route in _routes():
        resolver.route(API_PREFIX + template.path, template.method)(
            _bound(route, template, NEEDS[template.name], services)
        )
    resolver.route("/_health", ["GET", "HEAD"])(_health)
    resolver.route(openapi.PATH, ["GET", "HEAD"])(_document)
    log_out = Template("GET", "/logout", "logout", public=True)
    resolver.get(log_out.path)(_bound(accounts.log_out, log_out, Public(), services))
    resolver.exception_handler(GravelerError)(_of_error)
    resolver.exception_handler(ThrottledError)(_of_throttling)
    resolver.exception_handler(StillRunningError)(_of_waiting)
    resolver.exception_handler(CorruptDataError)(partial(_of_corruption, engine))
    resolver.exception_handler(Exception)(_of_bug)
    resolver.not_found(lambda _: _without_route(services))
    resolver.finish_routes()

    def app(event: Event, context: Any) -> dict[str, Any]:  # noqa: ANN401 - Lambda's own, unused
        with (
            logged.record("request", context, **_facts_of(event)) as record,
            deadlines.within(REQUEST_S_MAX),
        ):
            _record.set(record)
            answer = resolver.resolve(event, context)
            if not answers.fits_payload(answer):
                answer = _too_large()
            answer["headers"]["X-Request-ID"] = request_id_of(event)
            if event["requestContext"]["http"]["method"] == "HEAD":
                _drop_body(answer)
            record.status = answer["statusCode"]
        return answer

    return app


def _bound(
    route: Route, template: Template, needs: Row, services: Services
) -> Callable[..., Answer]:
    """Return the route as the resolver calls it: with the path's parameters by name."""
    is_change = template.method != "GET" and not template.public
    changes_rights = is_change and template.path.startswith("/auth/")

    def call(**path_parameters: str) -> Answer:
        event, record = _event.get().raw_event, _record.get()
        record.operation = template.name
        for parameter, name in path_parameters.items():
            if parameter in _LOGGED_PARAMETERS:
                record.add(**{_LOGGED_PARAMETERS[parameter]: unquote(name)})
        user = "" if template.public else _user_of(event, services)
        record.add(user=user)
        request = Request(event, services, path_parameters, user)
        needs.check(request)
        answer = route(request)
        if changes_rights:
            services.authorizer.forget()  # at once here, after RIGHTS_AGE_MAX_S elsewhere
        return answer

    call.__name__ = template.name
    return call


def _facts_of(event: Event) -> dict[str, str]:
    """Return the facts to log about any request.

    They leave out the path, which may hold an access key's ID, and the query, which may hold
    anything.
    """
    about = event["requestContext"]
    return {
        "request_id": request_id_of(event),
        "gateway_request_id": about.get("requestId", ""),
        "method": about["http"]["method"],
        "user_agent": (event.get("headers") or {}).get("user-agent", ""),
    }


def _user_of(event: Event, services: Services) -> str:
    authorization = (event.get("headers") or {}).get("authorization")
    address = source_address_of(event)
    return services.authenticator.user_of(authorization, cookies_of(event), address)


def _health() -> Answer:
    _record.get().operation = "health"
    return answers.of_text("alive!")


def _document() -> Answer:
    _record.get().operation = "openapi"
    return answers.of_json_text(_document_text())


@cache
def _document_text() -> str:
    """Return the OpenAPI document, made at the first request: a cold start does not need it."""
    return encode(openapi.document(OPERATIONS, API_PREFIX, configuration.VERSION))


def _without_route(services: Services) -> Answer:
    """Return the answer where no route matches: the most specific of 501, 405, 400 and 404.

    Raises:
        GravelerError: an operation lacks a parameter, or the request has no valid credential.
    """
    event = _event.get()
    path = event.path
    if s3.is_s3_request(event.headers, event.raw_event.get("rawQueryString") or ""):
        return _of_no_gateway(path)
    if not f"{path}/".startswith(f"{API_PREFIX}/"):
        return _outside_the_api(path, event.http_method)
    segments = path[len(API_PREFIX) :].split("/")
    if not segments[-1]:
        return _of_no_endpoint()
    known = [template for template, _ in _routes() if template.matches(segments)]
    for template in known:
        if template.method == event.http_method:
            _record.get().operation = template.name
            if not template.public:
                _user_of(event.raw_event, services)
            if missing := template.missing_parameter(segments):
                problem = "value is required but missing"
                raise Refusal.BAD_PATH_PARAMETER.error(name=missing, problem=problem)
            return _of_no_endpoint()
    if known:
        allowed = sorted({template.method for template in known})
        message = f"{event.http_method} is not allowed on {path}, only {', '.join(allowed)}"
        return answers.of_json(ErrorBody(message), 405, {"Allow": ", ".join(allowed)})
    return _of_no_endpoint()


def _routes() -> Iterator[tuple[Template, Route]]:
    for operation in OPERATIONS:
        yield operation.template, operation.route
    for template in UNSERVED:
        yield template, refusal_of(template)


def _of_no_endpoint() -> Answer:
    return answers.of_json(ErrorBody("invalid API endpoint"), 404)


def _outside_the_api(path: str, method: str) -> Answer:
    """Answer in plain text: `lakectl doctor` would take JSON for an answer of the API."""
    if path == "/" and method in {"GET", "HEAD"}:
        return answers.of_text(f"Graveler serves lakeFS's API at {API_PREFIX}\n")
    return answers.of_text(f"not found: the API is at {API_PREFIX}\n", status=404)


def _of_no_gateway(path: str) -> Answer:
    request_id = request_id_of(_event.get().raw_event)
    document = s3.error_document(
        "NotImplemented",
        f"the S3 gateway is not served: use lakeFS's API at {API_PREFIX}, with lakectl or an SDK",
        resource=path,
        request_id=request_id,
    )
    return answers.of_text(document, s3.CONTENT_TYPE, 501, {"x-amz-request-id": request_id})


def _drop_body(answer: dict[str, Any]) -> None:
    """Make it an answer to HEAD. An error loses its type, too: the web UI would parse the body."""
    answer["body"] = ""
    if answer["statusCode"] >= 400:
        answer["headers"].pop("Content-Type", None)


def _too_large() -> dict[str, Any]:
    remedy = "request a smaller amount or fewer parts, or accept gzip"
    message = f"the answer exceeds {LAMBDA_PAYLOAD_BYTES_MAX} bytes: {remedy}"
    answer = _of_error(TooLargeError(message))
    return {
        "statusCode": answer.status_code,
        "headers": dict(answer.headers),
        "cookies": [],
        "body": answer.body,
        "isBase64Encoded": False,
    }


def _of_error(error: GravelerError) -> Answer:
    _record.get().error = error
    return answers.of_error(error)


def _of_throttling(error: ThrottledError) -> Answer:
    """Tell the client to repeat the request; or to look first, if a change may have been made."""
    is_change = _event.get().http_method not in {"GET", "HEAD"}
    if is_change and deadlines.may_have_written():
        return _of_error(UnknownOutcomeError(error.message))
    return _of_error(error)


def _of_waiting(error: StillRunningError) -> Answer:
    """Ask the client to wait again for a task that outlasts its request."""
    location = waiting.location_of(error, _event.get().raw_event.get("rawQueryString") or "")
    if location is None:
        return _of_error(error)
    body = ErrorBody(error.message)
    return answers.of_json(body, 307, {"Location": location})


def _of_corruption(engine: Engine, error: CorruptDataError) -> Answer:
    """Drop cached files and answer with the error: a corrupt file may have been repaired since."""
    engine.committed.forget()
    return _of_error(error)


def _of_bug(error: Exception) -> Answer:
    """Log an unexpected error in full, and give the client only the request's ID."""
    _record.get().error = error
    body = ErrorBody(f"internal error, request {request_id_of(_event.get().raw_event)}")
    return answers.of_json(body, 500)
