"""A small API Gateway (HTTP API) in front of Lambda functions.

Theory of operation. A request becomes an event of payload format 2.0, and the function's answer
becomes a response. Like API Gateway and Lambda, it refuses bodies over 10 MB and events over 6 MB.
Like API Gateway, it passes the path on *decoded*, so `%2F` and `/` are equal in `rawPath`, and the
query string unchanged. It leaves out `queryStringParameters`, which no function reads.
`graveler_embedded.serving` refuses bodies that did not arrive whole.
"""

import base64
import binascii
import logging
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote_to_bytes

import msgspec

from graveler.limits import API_GATEWAY_BODY_BYTES_MAX
from graveler_embedded.lambda_runtime import (
    ACCOUNT,
    LocalFunction,
    PayloadTooLargeError,
    new_request_id,
)
from graveler_gateway.protocol.head import RequestHead

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class ApiRequest:
    """A request with its body; version: of HTTP, such as "1.1"; address: the client's."""

    head: RequestHead
    version: str
    address: str
    body: bytes


# A status, headers and content.
GatewayAnswer = tuple[int, list[tuple[str, str]], bytes]
Application = Callable[[ApiRequest], GatewayAnswer]

_ANYTHING = "{proxy+}"
_TEXT_TYPES = ("text/", "application/json", "application/javascript", "application/xml")
_TOO_LARGE = (
    "the request is too large for the API: upload objects through a presigned URL, "
    "and split long lists"
)
# A non-ASCII header reaches the function as an empty one. In these headers, that would lose a
# client's metadata, so the request is refused.
_STORED_HEADERS = ("x-lakefs-meta-", "x-lakefs-internal-")
_UNREADABLE = (
    "a header with user metadata is empty or not ASCII: send such metadata with a presigned upload"
)
_NO_LENGTH = "the request has no Content-Length: send it"
_CUT_OFF = "the body is shorter than Content-Length: send all of it"


class _RefusedError(Exception):
    """API Gateway refuses the request without calling the function."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


class _HandlerAnswer(msgspec.Struct):
    """A handler's answer, with API Gateway's defaults."""

    statusCode: int = 200  # noqa: N815 - API Gateway's name
    headers: dict[str, str] = {}
    multiValueHeaders: dict[str, list[str]] = {}  # noqa: N815
    cookies: list[str] = []
    body: str | None = None
    isBase64Encoded: bool = False  # noqa: N815


class ApiRoutes:
    """The routes of an HTTP API, as keys such as `GET /assets/{proxy+}`, and the default one."""

    def __init__(self, default: LocalFunction, others: Mapping[str, LocalFunction]) -> None:
        self._default = default
        self._exact = {key: each for key, each in others.items() if not key.endswith(_ANYTHING)}
        # The longest first: it is the most specific.
        self._beginnings = sorted(
            (
                (key.removesuffix(_ANYTHING), each)
                for key, each in others.items()
                if key.endswith(_ANYTHING)
            ),
            key=lambda found: -len(found[0]),
        )

    def find(self, method: str, path: str) -> LocalFunction:
        """Return the function of the most specific route."""
        key = f"{method} {path}"
        if key in self._exact:
            return self._exact[key]
        fitting = (each for beginning, each in self._beginnings if key.startswith(beginning))
        return next(fitting, self._default)


def application(routes: ApiRoutes) -> Application:
    """Return an application that passes every request to the function of its route."""

    def answer(request: ApiRequest) -> GatewayAnswer:
        headers = _headers_of(request)
        try:
            _check(request, headers)
        except _RefusedError as error:
            return refusal(error.status, str(error))
        event = event_of(request, headers)
        function = routes.find(request.head.method, event["rawPath"])
        try:
            return _response_of(msgspec.convert(function.call(event), _HandlerAnswer, strict=False))
        except PayloadTooLargeError:
            return refusal(413, _TOO_LARGE)
        except Exception:  # as on Lambda, a failed handler does not end the process
            logger.exception("%s failed", function.name)
            return refusal(502, "Internal Server Error")

    return answer


def _check(request: ApiRequest, headers: Mapping[str, str]) -> None:
    """Check that API Gateway would accept the request, and that body and metadata are whole.

    Raises:
        _RefusedError: it would not, or they are not.
    """
    if "content-length" not in headers and _ends_with_the_connection(request):
        raise _RefusedError(411, _NO_LENGTH)
    length_bytes = int(headers.get("content-length") or 0)
    if max(length_bytes, len(request.body)) > API_GATEWAY_BODY_BYTES_MAX:
        raise _RefusedError(413, _TOO_LARGE)
    coding = headers.get("transfer-encoding", "")
    if coding.lower() not in {"", "chunked"}:
        raise _RefusedError(400, f"Transfer-Encoding {coding!r} is not served: send chunked")
    if not coding and len(request.body) != length_bytes:
        raise _RefusedError(400, _CUT_OFF)
    for name, value in request.head.headers:  # each one: joined, an empty one has a comma
        if name.startswith(_STORED_HEADERS) and not (value and value.isascii()):
            raise _RefusedError(400, _UNREADABLE)


def _ends_with_the_connection(request: ApiRequest) -> bool:
    """Whether the body may end only with the connection, as in HTTP/1.0."""
    return request.version == "1.0" and request.head.method in {"POST", "PUT", "PATCH"}


def event_of(request: ApiRequest, headers: dict[str, str]) -> dict[str, Any]:
    """Return API Gateway's event for the request; the headers become those of the event."""
    now_s = time.time()
    head, body = request.head, request.body
    path = unquote_to_bytes(head.raw_path.encode("latin-1")).decode("utf-8", "replace")
    query = head.raw_query
    # API Gateway reads the whole body first, and always passes on its length.
    headers.pop("transfer-encoding", None)
    if body or "content-length" in headers:
        headers["content-length"] = str(len(body))
    cookies = headers.pop("cookie", None)
    event: dict[str, Any] = {
        "version": "2.0",
        "routeKey": "$default",
        "rawPath": path,
        "rawQueryString": query,
        "headers": headers,
        "requestContext": {
            "accountId": ACCOUNT,
            "apiId": "local",
            "domainName": headers.get("host", ""),
            "domainPrefix": "local",
            "http": {
                "method": head.method,
                "path": path,
                "protocol": f"HTTP/{request.version}",
                "sourceIp": request.address,
                "userAgent": headers.get("user-agent", ""),
            },
            "requestId": new_request_id(),
            "routeKey": "$default",
            "stage": "$default",
            "time": time.strftime("%d/%b/%Y:%H:%M:%S +0000", time.gmtime(now_s)),
            "timeEpoch": int(now_s * 1000),
        },
        "isBase64Encoded": False,
    }
    if cookies is not None:
        event["cookies"] = [cookie.strip() for cookie in cookies.split(";")]
    if body:
        text = _text_of(headers.get("content-type", ""), body)
        event["isBase64Encoded"] = text is None
        event["body"] = base64.b64encode(body).decode() if text is None else text
    return event


def _headers_of(request: ApiRequest) -> dict[str, str]:
    """Return the headers by name; commas join the values of one name."""
    headers: dict[str, str] = {}
    for name, value in request.head.headers:
        text = value if value.isascii() else ""
        headers[name] = f"{headers[name]},{text}" if name in headers else text
    return headers


def _text_of(content_type: str, body: bytes) -> str | None:
    """Return the body as text; None if API Gateway would treat it as binary."""
    if not content_type.lower().startswith(_TEXT_TYPES):
        return None
    try:
        return body.decode()
    except UnicodeDecodeError:
        return None


def _response_of(answer: _HandlerAnswer) -> GatewayAnswer:
    body = (answer.body or "").encode()
    if answer.isBase64Encoded:
        body = binascii.a2b_base64(body, strict_mode=True)
    headers = list(answer.headers.items())
    headers += [(name, value) for name, all_ in answer.multiValueHeaders.items() for value in all_]
    headers += [("Set-Cookie", cookie) for cookie in answer.cookies]
    names = {name.lower() for name, _ in headers}
    if "content-type" not in names and body:
        headers.append(("Content-Type", "application/json"))
    # The answer to HEAD has the length of the body that it omits.
    if "content-length" not in names:
        headers.append(("Content-Length", str(len(body))))
    return answer.statusCode, headers, body


def refusal(status: int, message: str, *headers: tuple[str, str]) -> GatewayAnswer:
    """Return an answer that is not a function's: a message, as JSON."""
    body = msgspec.json.encode({"message": message})
    return status, [("Content-Type", "application/json"), *headers], body
