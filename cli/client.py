"""Requests to the server, with lakectl's configuration and lakectl's way to repeat them.

The official SDK is not used: to import it takes three times as long as a whole command may take
(ADR 27). Every failure becomes a CommandError with one line for the user.
"""

import random
import re
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TypeVar
from urllib.parse import quote, urlencode

import msgspec
import urllib3

from cli.configuration import KEY_VARIABLES, Configuration, RetryPolicy
from cli.errors import CommandError
from cli.schemas import ResultPage
from cli.transport import Transport

T = TypeVar("T")

Query = Mapping[str, object]  # texts, numbers, flags, lists of texts; None is left out

# To connect, and to wait for an answer; API Gateway's timeout is 30 s.
CONNECT_S = 10.0
ANSWER_S = 60.0

# What lakectl asks for when it wants all.
PAGE_SIZE = 1000

# Statuses that say "later". Of a write, only those say it that mean that nothing was done: 429, and
# 503 of a server that says so, since API Gateway's 503 is also that of a function which takes long.
_LATER = frozenset({429, 500, 502, 503, 504})
_KIND_HEADER = "X-Graveler-Error"
_UNKNOWN_OUTCOME = "unknown_outcome"
# The message of status 410 for objects, in lakeFS as well.
_NO_DATA = "No data"
_REPEATABLE = frozenset({"GET", "HEAD", "PUT", "DELETE"})

_CLIENT = "graveler"


class _ErrorBody(msgspec.Struct, frozen=True):
    """The server's error: lakeFS's message, and Graveler's details."""

    message: str = ""
    details: str = ""


class RefusedError(CommandError):
    """The server answered with an error."""

    def __init__(self, line: str, status: int, message: str, request_id: str) -> None:
        super().__init__(line)
        self.status = status
        self.text = message
        self.request_id = request_id


class NoDataError(RefusedError):
    """The object's data do not exist any more: no other attempt will find them."""

    def __init__(self, uri: str = "", request_id: str = "") -> None:
        line = "garbage collection has deleted its data, or the owner of imported data has"
        super().__init__(f"{uri}: {line}" if uri else line, 410, _NO_DATA, request_id)


@contextmanager
def named(uri: str) -> Iterator[None]:
    """Name the object in the message of a NoDataError."""
    try:
        yield
    except NoDataError as error:
        raise NoDataError(uri, error.request_id) from error


@dataclass(frozen=True)
class Answer:
    """A whole answer."""

    status: int
    headers: Mapping[str, str]
    content: bytes


class Server:
    """A lakeFS server."""

    def __init__(
        self,
        endpoint: str,
        key_pair: tuple[str, str],
        retries: RetryPolicy,
        *,
        connections: int = 16,
    ) -> None:
        self.endpoint = endpoint
        self.key_pair = key_pair
        self.retries = retries
        self._pool = Transport(
            {
                **urllib3.make_headers(basic_auth=":".join(key_pair)),
                "Accept": "application/json",
                "User-Agent": _CLIENT,
                "X-Lakefs-Client": _CLIENT,
            },
            urllib3.Timeout(connect=CONNECT_S, read=ANSWER_S),
            connections=connections,
        )

    @classmethod
    def of(cls, configuration: Configuration) -> "Server":
        """Return the server in the configuration.

        Raises:
            CommandError: the configuration has no endpoint or credentials.
        """
        key_pair = configuration.key_pair
        return cls(configuration.endpoint, key_pair, configuration.retries)

    @property
    def headers(self) -> dict[str, str]:
        """The headers of every request, with the credentials."""
        return dict(self._pool.headers)

    def url(self, template: str, names: Mapping[str, str], query: Query | None = None) -> str:
        """Return the URL of an operation; the arguments are those of `ask`."""
        return f"{self.endpoint}{_path(template, names)}{_encoded(query or {})}"

    def ask(
        self,
        method: str,
        template: str,
        names: Mapping[str, str],
        shape: type[T],
        body: object = None,
        query: Query | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> T:
        """Return the answer of an operation; an empty one is "".

        Args:
            method: the HTTP method.
            template: a path relative to /api/v1, with `{name}` for each of the names.
            names: the values of the template's names.
            shape: the type of the answer.
            body: the request's body, which becomes JSON.
            query: the parameters of the request's query; None is left out.
            headers: more headers, such as If-Match.

        Raises:
            RefusedError: the server refused the request.
            CommandError: the server could not be reached, or its answer has another shape.
        """
        answer = self.request(method, template, names, body, query, headers)
        return self.decode(answer.content, shape)

    def request(
        self,
        method: str,
        template: str,
        names: Mapping[str, str],
        body: object = None,
        query: Query | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Answer:
        """Return the whole answer of an operation, with its headers; as `ask` otherwise.

        Bytes are sent as they are; every other body as JSON.
        """
        with self.opened(method, template, names, body, query, headers) as response:
            try:
                content = response.read()
            except urllib3.exceptions.HTTPError as error:
                raise self._unreachable(error) from error
            return Answer(response.status, response.headers, content)

    def opened(
        self,
        method: str,
        template: str,
        names: Mapping[str, str],
        body: object = None,
        query: Query | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> urllib3.BaseHTTPResponse:
        """Return an answer whose content is still to be read; close it. As `request` otherwise."""
        url = self.url(template, names, query)
        sent = self.headers | dict(headers or {})
        if body is not None and not isinstance(body, bytes):
            body = msgspec.json.encode(body)
            sent["Content-Type"] = "application/json"
        for wait_s in self._waits_s():
            try:
                response = self._pool.urlopen(method, url, body, sent)
            except urllib3.exceptions.HTTPError as error:
                if wait_s is None or not _may_repeat(method, error):
                    raise self._unreachable(error) from error
                time.sleep(wait_s)
                continue
            if response.status < 300:
                return response
            content = response.read()
            response.release_conn()
            if wait_s is None or not _is_later(method, response.status, response.headers):
                raise self.refusal(
                    response.status, response.reason or "", response.headers, content
                )
            time.sleep(_retry_after_s(response.headers) or wait_s)
        raise AssertionError("the last wait is None")

    def page(
        self, template: str, names: Mapping[str, str], of: type[T], query: Query | None = None
    ) -> ResultPage[T]:
        """Return one page of a listing; raises as `ask`."""
        return self.ask("GET", template, names, ResultPage[of], query=query)  # type: ignore[valid-type]

    def each(
        self,
        template: str,
        names: Mapping[str, str],
        of: type[T],
        query: Query | None = None,
    ) -> Iterator[T]:
        """Yield the whole of a listing, page after page, from the `after` of the query on.

        Raises:
            RefusedError: the server refused a page.
            CommandError: the server could not be reached.
        """
        asked: dict[str, object] = {"amount": PAGE_SIZE}
        asked |= query or {}
        while True:
            found = self.page(template, names, of, asked)
            yield from found.results
            if not found.pagination.has_more:
                return
            asked["after"] = found.pagination.next_offset

    def decode(self, content: bytes, shape: type[T]) -> T:
        """Return the value of a JSON answer; an empty one is "".

        Raises:
            CommandError: the content has another shape.
        """
        try:
            return msgspec.json.decode(content or b'""', type=shape)
        except msgspec.DecodeError as error:
            raise CommandError(
                f"{self.endpoint} does not answer like lakeFS: {error}; check the endpoint"
            ) from error

    def _waits_s(self) -> Iterator[float | None]:
        """Yield the wait after each attempt, which doubles and varies; None after the last."""
        wait_s = self.retries.wait_min_s
        for _ in range(self.retries.attempts_max):
            yield wait_s * random.uniform(0.5, 1)  # noqa: S311 - so that clients spread
            wait_s = min(wait_s * 2, self.retries.wait_max_s)
        yield None

    def refusal(
        self, status: int, reason: str, headers: Mapping[str, str], content: bytes
    ) -> RefusedError:
        """Return the server's message in an answer that is an error, and what to do."""
        body = _decode_error(content)
        request_id = headers.get("X-Request-ID", "")
        if status == 410 and body == _ErrorBody(_NO_DATA):
            return NoDataError(request_id=request_id)
        line = f"{body.message}: {body.details}" if body.details else body.message
        # lakeFS says 401 of a user who may not do something, too.
        if status == 401 and not body.message.startswith("insufficient permissions"):
            message = body.message or "error authenticating request"
            line = f"{message}: check {KEY_VARIABLES}, or credentials in the configuration file"
        elif body.message == "invalid API endpoint":
            line = f"{self.endpoint} does not have this operation: check that it is a Graveler"
        elif not line:
            line = f"{self.endpoint} answered {f'{status} {reason}'.strip()}: check the endpoint"
        return RefusedError(line, status, body.message, request_id)

    def _unreachable(self, error: urllib3.exceptions.HTTPError) -> CommandError:
        by_proxy = isinstance(error, urllib3.exceptions.ProxyError)
        through = " through the proxy of the environment" if by_proxy else ""
        reason = reason_of(error)
        endpoint = "(LAKECTL_SERVER_ENDPOINT_URL, server.endpoint_url)"
        remedy = f"check that the server is running and the endpoint is right {endpoint}"
        if "wrong_version_number" in reason.lower():
            remedy = f"the server has no TLS there: write http:// in the endpoint {endpoint}"
        elif "certificate_verify_failed" in reason.lower():
            remedy = "name the file of the authority that you trust in SSL_CERT_FILE"
        return CommandError(f"cannot reach {self.endpoint}{through}: {reason}; {remedy}")


def _path(template: str, names: Mapping[str, str]) -> str:
    encoded = {name: _segment(value) for name, value in names.items()}
    return re.sub(r"\{(\w+)\}", lambda found: encoded[found[1]], template)


def _segment(name: str) -> str:
    encoded = quote(name, safe="")
    # Servers decode twice, which can change a name with `%` that was encoded once.
    return quote(encoded) if "%" in name else encoded


def _encoded(query: Query) -> str:
    pairs: list[tuple[str, str]] = []
    for name, value in query.items():
        for each in value if isinstance(value, list) else [value]:
            if isinstance(each, bool):
                pairs.append((name, "true" if each else "false"))
            elif each is not None:
                pairs.append((name, str(each)))
    return f"?{urlencode(pairs, quote_via=quote)}" if pairs else ""


def _may_repeat(method: str, error: urllib3.exceptions.HTTPError) -> bool:
    """Return whether a request that failed may be sent again without doing its work twice."""
    cause: object = error
    if isinstance(error, urllib3.exceptions.ProxyError):
        cause = error.original_error
    if isinstance(cause, (urllib3.exceptions.SSLError, urllib3.exceptions.ResponseError)):
        return False
    never_sent = isinstance(
        cause, (urllib3.exceptions.NewConnectionError, urllib3.exceptions.ConnectTimeoutError)
    )
    return never_sent or method in _REPEATABLE


def _is_later(method: str, status: int, headers: Mapping[str, str]) -> bool:
    if status == 429 or method in _REPEATABLE:
        return status in _LATER
    is_said = "Retry-After" in headers or _KIND_HEADER in headers
    return status == 503 and is_said and headers.get(_KIND_HEADER) != _UNKNOWN_OUTCOME


def _retry_after_s(headers: Mapping[str, str]) -> float | None:
    text = headers.get("Retry-After", "")
    return float(text) if text.isdecimal() and len(text) < 4 else None


def _decode_error(content: bytes) -> _ErrorBody:
    """Return the server's error body; one without a message if the body has another form."""
    try:
        return msgspec.json.decode(content, type=_ErrorBody)
    except msgspec.DecodeError:
        return _ErrorBody()


def reason_of(error: BaseException) -> str:
    """Return the operating system's message among the error's causes, else the error's own."""
    found: BaseException | None = getattr(error, "reason", None) or error
    text = str(found)
    while found is not None:
        if isinstance(found, OSError) and found.strerror:
            return found.strerror.lower()
        found = found.__cause__ or found.__context__
    return text
