"""A small API Gateway (HTTP API): a WSGI application in front of Lambda functions.

Theory of operation. A request becomes an event of payload format 2.0, and the function's answer
becomes a response. Like API Gateway and Lambda, it refuses bodies over 10 MB and events over 6 MB.
Like API Gateway, it passes the path on *decoded*, so `%2F` and `/` are equal in `rawPath`, and the
query string unchanged. `graveler_embedded.serving` refuses bodies that did not arrive whole.
"""

import base64
import binascii
import logging
import time
from collections.abc import Callable, Iterable, Mapping
from http import HTTPStatus
from typing import Any
from urllib.parse import parse_qsl

import msgspec

from graveler.limits import API_GATEWAY_BODY_BYTES_MAX
from graveler_embedded.lambda_runtime import (
    ACCOUNT,
    LocalFunction,
    PayloadTooLargeError,
    new_request_id,
)

logger = logging.getLogger(__name__)

Environ = Mapping[str, Any]
StartResponse = Callable[[str, list[tuple[str, str]]], object]
Application = Callable[[Environ, StartResponse], Iterable[bytes]]

_ANYTHING = "{proxy+}"
_TEXT_TYPES = ("text/", "application/json", "application/javascript", "application/xml")
_TOO_LARGE = (
    "the request is too large for the API: upload objects through a presigned URL, "
    "and split long lists"
)
# `graveler_embedded.serving` replaces a non-ASCII header by an empty one. In these headers, that
# would lose a client's metadata, so the request is refused.
_STORED_HEADERS = ("HTTP_X_LAKEFS_META_", "HTTP_X_LAKEFS_INTERNAL_")
_UNREADABLE = (
    "a header with user metadata is empty or not ASCII: send such metadata with a presigned upload"
)
_NO_LENGTH = "the request has no Content-Length: send it"
_CUT_OFF = "the body is shorter than Content-Length: send all of it"
_STATUS_LINES = {status.value: f"{status.value} {status.phrase}" for status in HTTPStatus}


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
    """Return a WSGI application that passes every request to the function of its route."""

    def answer(environ: Environ, start_response: StartResponse) -> Iterable[bytes]:
        status, headers, body = _respond(routes, environ)
        start_response(_STATUS_LINES.get(status, f"{status} Status"), headers)
        return [body]

    return answer


def _respond(routes: ApiRoutes, environ: Environ) -> tuple[int, list[tuple[str, str]], bytes]:
    try:
        body = _body_of(environ)
    except _RefusedError as error:
        return _message(error.status, str(error))
    if any(name.startswith(_STORED_HEADERS) and not value for name, value in environ.items()):
        return _message(400, _UNREADABLE)
    function = routes.find(environ["REQUEST_METHOD"], path_of(environ))
    try:
        answer = function.call(event_of(environ, body))
        return _response_of(msgspec.convert(answer, _HandlerAnswer, strict=False))
    except PayloadTooLargeError:
        return _message(413, _TOO_LARGE)
    except Exception:  # as on Lambda, a failed handler does not end the process
        logger.exception("%s failed", function.name)
        return _message(502, "Internal Server Error")


def _body_of(environ: Environ) -> bytes:
    """Return the request's body.

    Raises:
        _RefusedError: API Gateway would not accept it, or it is incomplete.
    """
    if "CONTENT_LENGTH" not in environ and _ends_with_the_connection(environ):
        raise _RefusedError(411, _NO_LENGTH)
    length = int(environ.get("CONTENT_LENGTH") or 0)
    if length > API_GATEWAY_BODY_BYTES_MAX:
        raise _RefusedError(413, _TOO_LARGE)
    coding = environ.get("HTTP_TRANSFER_ENCODING", "")
    if coding.lower() not in {"", "chunked"}:
        raise _RefusedError(400, f"Transfer-Encoding {coding!r} is not served: send chunked")
    body: bytes = environ["wsgi.input"].read()
    if len(body) > API_GATEWAY_BODY_BYTES_MAX:
        raise _RefusedError(413, _TOO_LARGE)
    if not coding and len(body) != length:
        raise _RefusedError(400, _CUT_OFF)
    return body


def _ends_with_the_connection(environ: Environ) -> bool:
    """Whether the body may end only with the connection, as in HTTP/1.0."""
    is_old = environ.get("SERVER_PROTOCOL") == "HTTP/1.0"
    return is_old and environ["REQUEST_METHOD"] in {"POST", "PUT", "PATCH"}


def path_of(environ: Environ) -> str:
    """Return the decoded path."""
    path: str = environ["PATH_INFO"]
    return path.encode("latin-1").decode("utf-8", "replace")


def event_of(environ: Environ, body: bytes) -> dict[str, Any]:
    """Return API Gateway's event for the request."""
    now_s = time.time()
    method = environ["REQUEST_METHOD"]
    path = path_of(environ)
    query = environ.get("QUERY_STRING", "")
    headers = _headers_of(environ, len(body))
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
                "method": method,
                "path": path,
                "protocol": environ.get("SERVER_PROTOCOL", "HTTP/1.1"),
                "sourceIp": environ.get("REMOTE_ADDR", ""),
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
    if query:
        event["queryStringParameters"] = _parameters_of(query)
    if body:
        text = _text_of(headers.get("content-type", ""), body)
        event["isBase64Encoded"] = text is None
        event["body"] = base64.b64encode(body).decode() if text is None else text
    return event


def _headers_of(environ: Environ, body_bytes: int) -> dict[str, str]:
    headers = {
        name[5:].replace("_", "-").lower(): value
        for name, value in environ.items()
        if name.startswith("HTTP_")
    }
    # API Gateway reads the whole body first, and always passes on its length.
    headers.pop("transfer-encoding", None)
    if body_bytes or "CONTENT_LENGTH" in environ:
        headers["content-length"] = str(body_bytes)
    if content_type := environ.get("CONTENT_TYPE"):
        headers["content-type"] = content_type
    return headers


def _parameters_of(query: str) -> dict[str, str]:
    """Return the parameters by name; commas join the values of one name."""
    parameters: dict[str, str] = {}
    for name, value in parse_qsl(query, keep_blank_values=True, errors="replace"):
        parameters[name] = f"{parameters[name]},{value}" if name in parameters else value
    return parameters


def _text_of(content_type: str, body: bytes) -> str | None:
    """Return the body as text; None if API Gateway would treat it as binary."""
    if not content_type.lower().startswith(_TEXT_TYPES):
        return None
    try:
        return body.decode()
    except UnicodeDecodeError:
        return None


def _response_of(answer: _HandlerAnswer) -> tuple[int, list[tuple[str, str]], bytes]:
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


def _message(status: int, message: str) -> tuple[int, list[tuple[str, str]], bytes]:
    body = msgspec.json.encode({"message": message})
    return (
        status,
        [("Content-Type", "application/json"), ("Content-Length", str(len(body)))],
        body,
    )
