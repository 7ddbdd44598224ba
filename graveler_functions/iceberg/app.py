"""Answers API Gateway events: routing, authentication, errors, and the log line."""

from collections.abc import Mapping
from urllib.parse import unquote

from graveler.access.actions import Action
from graveler.engine import Engine
from graveler.errors import AuthenticationError, CorruptDataError, GravelerError, UnsupportedError
from graveler.http.auth import FAILURE_MESSAGE, Authenticator
from graveler.http.rights import Authorizer
from graveler.operations.tables.namespaces import check_exists
from graveler.ports import AccountStore
from graveler_functions.http import answers
from graveler_functions.http.answers import ApiAnswer
from graveler_functions.http.events import (
    Event,
    method_of,
    request_id_of,
    sent_path_of,
    source_address_of,
)
from graveler_functions.http.route_table import RouteTable
from graveler_functions.http.serving import App, as_answered, serve
from graveler_functions.iceberg.catalog import parsed
from graveler_functions.iceberg.errors import of_error, of_fault
from graveler_functions.iceberg.operations import OPERATIONS, Operation
from graveler_functions.iceberg.request import NOBODY, IcebergRequest, IcebergServices, Vend
from graveler_functions.iceberg.routes import tokens
from graveler_functions.iceberg.settings import IcebergSettings
from graveler_functions.telemetry import Telemetry, TelemetryRecord

SERVICE = "graveler-iceberg"

_TOKENS = "oauth/tokens"


def build_app(
    engine: Engine,
    accounts: AccountStore,
    settings: IcebergSettings,
    telemetry: Telemetry | None = None,
    vend: Vend | None = None,
) -> App:
    """Return the catalogue over one engine: a function from an event to API Gateway's answer."""
    services = IcebergServices(
        engine,
        Authenticator(accounts, engine.clock),
        Authorizer(accounts, engine.clock),
        settings,
        vend,
    )
    routes = RouteTable[Operation]()
    for operation in OPERATIONS:
        routes.add(operation.method, operation.path, operation)
    routes.add("GET", "config", Operation("GET", "config", "getCatalogConfig", _configuration))

    def respond(event: Event, record: TelemetryRecord) -> ApiAnswer:
        try:
            return _answer(event, record, services, routes)
        except Exception as error:  # noqa: BLE001 - every failure has an answer
            if isinstance(error, CorruptDataError):
                engine.committed.forget()  # a corrupt file may have been repaired since
            record.error = as_answered(event, error)
            if isinstance(record.error, GravelerError):
                return of_error(record.error)
            # A bug: the log explains it, and the client gets the request's ID only.
            message = f"internal error, request {request_id_of(event)}"
            return of_fault(500, "InternalServerError", message)

    remedy = "expire snapshots of the table"
    return serve(telemetry or Telemetry(SERVICE), respond, of_error, remedy)


def _answer(
    event: Event,
    record: TelemetryRecord,
    services: IcebergServices,
    routes: RouteTable[Operation],
) -> ApiAnswer:
    method, found = method_of(event), parsed(sent_path_of(event))
    if found is None:
        remedy = "/iceberg/api, or in /iceberg/relative_to/<repository>.<ref>/api"
        raise _not_served(event, f"the catalog's address ends in {remedy}")
    catalog, path = found
    if path == _TOKENS and method == "POST":
        record.operation = "getToken"
        return tokens.create_token(IcebergRequest(event, services, catalog, {}, NOBODY))
    routed = routes.find(method, path)
    if routed is None:
        raise _not_served(event, "GET config names the operations")
    authenticated = services.authenticator.authenticate(
        (event.get("headers") or {}).get("authorization"),
        (),  # a browser's cookie would let another page act in its user's name
        source_address_of(event),
    )
    if authenticated is None:
        raise AuthenticationError(FAILURE_MESSAGE)
    record.add(user=authenticated.user)
    operation, parameters = routed
    record.operation = operation.name
    decoded: Mapping[str, str] = {name: unquote(value) for name, value in parameters.items()}
    return operation.route(IcebergRequest(event, services, catalog, decoded, authenticated))


def _configuration(request: IcebergRequest) -> ApiAnswer:
    place = request.catalog.place(())
    # Whoever may not list anything there learns nothing of it.
    if place.is_in_ref and request.may_on_namespace(Action.LIST_NAMESPACES, place):
        check_exists(request.engine, place.repository, place.ref, ())
    endpoints = [operation.endpoint for operation in OPERATIONS]
    return answers.of_json({"defaults": {}, "overrides": {}, "endpoints": endpoints})


def _not_served(event: Event, remedy: str) -> GravelerError:
    return UnsupportedError(
        f"{method_of(event)} {sent_path_of(event)[:200]} is not served: {remedy}"
    )
