"""The request that routes get: an API Gateway v2 event, decoded and checked."""

import base64
import binascii
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeVar
from urllib.parse import quote, unquote_to_bytes

from graveler.access.conditions import SOURCE_IP
from graveler.engine import Engine
from graveler.errors import InvalidInputError, TooLargeError
from graveler.http import waiting
from graveler.http.auth import Authenticator
from graveler.http.json_bodies import decode
from graveler.http.query import Query
from graveler.http.rights import Authorizer, RequestRights
from graveler.limits import LAMBDA_PAYLOAD_BYTES_MAX
from graveler.names import decoded_again
from graveler.operations.tasks.waiting import ClientWait
from graveler.ports import AccountStore, IdentityService
from graveler_functions.api.settings import ApiSettings

T = TypeVar("T")

# The stage whose name is not in paths.
_NO_STAGE = "$default"

# Path parameters that can name a tag. Names of other kinds have no `%`.
_REFS = frozenset({"tag", "ref", "commit_id", "left_ref", "right_ref", "source_ref"})

# API Gateway's event for a function (payload format 2.0).
Event = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ApiServices:
    """The services that routes use; built once per process."""

    engine: Engine
    accounts: AccountStore
    authenticator: Authenticator
    authorizer: Authorizer
    settings: ApiSettings
    identities: IdentityService | None = None
    secret_of: Callable[[str], str] | None = None

    def setup_token(self) -> str:
        """Return the secret with which a client creates the first administrator; "" for none."""
        if self.settings.setup_token_arn and self.secret_of:
            return self.secret_of(self.settings.setup_token_arn)
        return self.settings.setup_token


class Request:
    """A request of an authenticated user; user is "" on public operations, until one knows it."""

    def __init__(
        self, event: Event, services: ApiServices, path_parameters: Mapping[str, str], user: str
    ) -> None:
        self._event = event
        self._path_parameters = path_parameters
        self.services = services
        self.engine = services.engine
        self.user = user
        self.query = Query(event.get("rawQueryString") or "")

    @property
    def headers(self) -> Mapping[str, str]:
        """The headers; API Gateway delivers their names in lower case."""
        headers: Mapping[str, str] = self._event.get("headers") or {}
        return headers

    def header(self, name: str) -> str | None:
        """Return a header by its lower-case name; None if it is absent."""
        return self.headers.get(name)

    @property
    def cookies(self) -> Sequence[str]:
        """The cookies, each as `name=value`."""
        return cookies_of(self._event)

    @property
    def address(self) -> str:
        """The network address that the request came from; "" if it is not known."""
        return source_address_of(self._event)

    def name(self, parameter: str) -> str:
        """Return a path parameter, percent-decoded twice: lakectl encodes it twice.

        lakeFS decodes twice as well, and so cannot find the tag `%41` for clients that encode once.

        Raises:
            InvalidInputError: the parameter is not UTF-8.
        """
        name = self._path_parameters[parameter]
        if "%" not in name:
            return name
        try:
            name = unquote_to_bytes(name).decode()
            if parameter in _REFS:
                return decoded_again(name)
            return unquote_to_bytes(name).decode()
        except UnicodeDecodeError as error:
            raise InvalidInputError(f"path parameter `{parameter}` is not valid UTF-8") from error

    @cached_property
    def rights(self) -> RequestRights:
        """What the user may do in this request."""
        return self.services.authorizer.of_request(
            self.user, {SOURCE_IP: source_address_of(self._event)}
        )

    @cached_property
    def repository(self) -> str:
        return self.name("repository")

    @cached_property
    def branch(self) -> str:
        return self.name("branch")

    @cached_property
    def client_wait(self) -> ClientWait:
        """How the client waits for an outcome: the redirect that it follows says so."""
        return waiting.client_wait_of(self.query)

    @property
    def body_bytes_max(self) -> int:
        """The bytes of the body as it arrived, perhaps in base64."""
        body: str = self._event.get("body") or ""
        return len(body) if body.isascii() else len(body.encode("utf-8", "surrogatepass"))

    @cached_property
    def body(self) -> bytes:
        """The body's bytes.

        Raises:
            TooLargeError: the body exceeds Lambda's limit. Such a body did not come through API
                Gateway, or is cut off.
            InvalidInputError: the body is not base64, although the event says so.
        """
        body = self._event.get("body") or ""
        if len(body) > LAMBDA_PAYLOAD_BYTES_MAX:
            raise TooLargeError(
                f"the request exceeds {LAMBDA_PAYLOAD_BYTES_MAX} bytes, base64 included: "
                "write larger objects with a presigned URL (presign=true)"
            )
        if not self._event.get("isBase64Encoded"):
            return str(body).encode("utf-8", "surrogatepass")
        try:
            return base64.b64decode(body, validate=True)
        except (binascii.Error, ValueError) as error:
            raise InvalidInputError("the body is not valid base64") from error

    def decode(self, shape: type[T]) -> T:
        """Return the JSON body as the shape; see `graveler.http.json_bodies`.

        Raises:
            InvalidInputError: the body does not have the shape.
            TooLargeError: the body exceeds Lambda's limit.
        """
        return decode(self.body, shape)


def encoded_path_of(event: Event) -> str:
    """Return the path percent-encoded, so that any name passes through routing.

    Of a request that waits, it is the path of the request before it.
    """
    return waiting.asked_path(sent_path_of(event))


def sent_path_of(event: Event) -> str:
    """Return the whole path percent-encoded.

    An HTTP API decodes the path; a function URL leaves it as it was sent.
    """
    path: str = event["rawPath"]
    stage: str = event["requestContext"].get("stage") or _NO_STAGE
    if stage != _NO_STAGE:
        path = path[len("/" + stage) :]
    if ".lambda-url." in event["requestContext"].get("domainName", ""):
        return path
    return quote(path, errors="surrogatepass")


def method_of(event: Event) -> str:
    """Return the request's method."""
    method: str = event["requestContext"]["http"]["method"]
    return method


def request_id_of(event: Event) -> str:
    """Return the client's ID of the request if it is printable and short, else API Gateway's."""
    given: str = (event.get("headers") or {}).get("x-request-id", "")
    if given and len(given) <= 128 and given.isascii() and given.isprintable():
        return given
    return str((event.get("requestContext") or {}).get("requestId", ""))


def source_address_of(event: Event) -> str:
    """Return the address from which the request reached API Gateway; "" if it is not known.

    Headers that proxies set are not read: any client can send them.
    """
    return str(event["requestContext"]["http"].get("sourceIp") or "")


def cookies_of(event: Event) -> Sequence[str]:
    """Return the event's cookies, each as `name=value`."""
    cookies: Sequence[str] = event.get("cookies") or ()
    return cookies
