"""Requests to the server, with lakectl's configuration and lakectl's way to repeat them.

The official SDK is not used: its import takes three times as long as a whole command may take
(ADR 27). Every failure becomes a CommandError with one line for the user.
"""

import re
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import TypeVar
from urllib.parse import quote, urlencode

import msgspec
import urllib3

from graveler_cli.configuration import KEY_VARIABLES, Configuration, RequestRetries
from graveler_cli.errors import CommandError
from graveler_cli.schemas import ResultPage
from graveler_cli.transport import (
    LATER,
    KeptConnections,
    RedirectTargetError,
    WholeAnswer,
    reason_of,
    retry_after_s,
    waits_s,
)

T = TypeVar("T")

Query = Mapping[str, object]  # texts, numbers, flags, lists of texts; None is left out

# lakectl's page size for whole listings.
PAGE_SIZE = 1000

# A POST is repeated after 429, and after a 503 whose headers say that nothing was done. The 503 of
# API Gateway itself may mean that a function takes long.
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


class _CatalogErrorBody(msgspec.Struct, frozen=True):
    """The error of Iceberg's catalog."""

    error: _ErrorBody


class ApiRefusedError(CommandError):
    """The server answered with an error."""

    def __init__(
        self, line: str, status: int, message: str, request_id: str, details: str = ""
    ) -> None:
        super().__init__(line)
        self.status = status
        self.text = message
        self.details = details
        self.request_id = request_id

    def in_words(self, line: str) -> "ApiRefusedError":
        """Return the refusal with another line for the user."""
        return ApiRefusedError(line, self.status, self.text, self.request_id)


class NoDataError(ApiRefusedError):
    """The object's data do not exist: no other attempt will find them."""

    def __init__(self, uri: str = "", request_id: str = "") -> None:
        line = (
            "its data are missing: garbage collection or their owner has deleted them, "
            "or they were never stored"
        )
        super().__init__(f"{uri}: {line}" if uri else line, 410, _NO_DATA, request_id)


@contextmanager
def named(uri: str) -> Iterator[None]:
    """Name the object in the message of a NoDataError."""
    try:
        yield
    except NoDataError as error:
        raise NoDataError(uri, error.request_id) from error


class LakeClient:
    """A lakeFS server."""

    def __init__(self, endpoint: str, key_pair: tuple[str, str], retries: RequestRetries) -> None:
        self.endpoint = endpoint
        self.key_pair = key_pair
        self.retries = retries
        # Of every request; they have the credentials.
        self.headers = {
            **urllib3.make_headers(basic_auth=":".join(key_pair)),
            "Accept": "application/json",
            "User-Agent": _CLIENT,
            "X-Lakefs-Client": _CLIENT,
        }
        self._connections = KeptConnections()

    @classmethod
    def of(cls, configuration: Configuration) -> "LakeClient":
        """Return the server in the configuration.

        Raises:
            CommandError: the configuration has no endpoint or credentials.
        """
        key_pair = configuration.key_pair
        return cls(configuration.endpoint, key_pair, configuration.retries)

    def url(self, template: str, names: Mapping[str, str], query: Query | None = None) -> str:
        """Return the URL of an operation; the arguments are those of `ask`."""
        is_api = not template.startswith("/iceberg/")
        base = self.endpoint if is_api else self.endpoint.removesuffix("/api/v1")
        return f"{base}{_path(template, names)}{_encoded(query or {})}"

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
            template: a path relative to /api/v1, with `{name}` for each of the names. Those of
                Iceberg's catalog, /iceberg/..., are beside it.
            names: the values of the template's names.
            shape: the type of the answer.
            body: the request's body, which becomes JSON.
            query: the parameters of the request's query; None is left out.
            headers: more headers, such as If-Match.

        Raises:
            ApiRefusedError: the server refused the request.
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
    ) -> WholeAnswer:
        """Return the whole answer of an operation, with its headers; otherwise like `ask`.

        Bytes are sent as they are; every other body as JSON.
        """
        headers = {"Accept-Encoding": "gzip", **(headers or {})}
        with self.opened(method, template, names, body, query, headers) as response:
            try:
                return WholeAnswer.of(response)
            except urllib3.exceptions.HTTPError as error:
                raise self._unreachable(error) from error

    def opened(
        self,
        method: str,
        template: str,
        names: Mapping[str, str],
        body: object = None,
        query: Query | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> urllib3.BaseHTTPResponse:
        """Return an answer whose content is unread; close it. Otherwise like `request`."""
        url = self.url(template, names, query)
        sent = self.headers | dict(headers or {})
        if body is not None and not isinstance(body, bytes):
            body = msgspec.json.encode(body)
            sent["Content-Type"] = "application/json"
        for wait_s in waits_s(self.retries, self.retries.attempts_max):
            try:
                response = self._connections.open(method, url, body, sent)
            except urllib3.exceptions.HTTPError as error:
                if wait_s is None or not _may_repeat(method, error):
                    raise self._unreachable(error) from error
                time.sleep(wait_s)
                continue
            if response.status < 300:
                return response
            answer = WholeAnswer.of(response)
            response.release_conn()
            if wait_s is None or not _is_later(method, answer):
                raise self._refusal(answer, names)
            time.sleep(retry_after_s(answer.headers) or wait_s)
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
        """Yield all rows of a listing, from the `after` of the query on.

        Raises:
            ApiRefusedError: the server refused a page.
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

    def refusal(self, answer: WholeAnswer) -> ApiRefusedError:
        """Return the server's message in an answer that is an error, and what to do."""
        body, status = _decode_error(answer.content), answer.status
        request_id = answer.headers.get("X-Request-ID", "")
        if status == 410 and body == _ErrorBody(_NO_DATA):
            return NoDataError(request_id=request_id)
        line = ": ".join(filter(None, (body.message, body.details)))
        # lakeFS also answers 401 if the user lacks a right.
        if status == 401 and not body.message.startswith("insufficient permissions"):
            message = body.message or "error authenticating request"
            line = f"{message}: check {KEY_VARIABLES}, or credentials in the configuration file"
        elif body.message == "invalid API endpoint":
            line = f"{self.endpoint} does not have this operation: check that it is a Graveler"
        elif not line:
            said = f"{status} {answer.reason}".strip()
            line = f"{self.endpoint} answered {said}: check the endpoint"
        return ApiRefusedError(line, status, body.message, request_id, body.details)

    def _refusal(self, answer: WholeAnswer, names: Mapping[str, str]) -> ApiRefusedError:
        """Return the server's message; that of a hook in a line of its own."""
        refused = self.refusal(answer)
        if refused.status != 412 or "repository" not in names:
            return refused
        # Imported late, because few requests are refused by a hook.
        from graveler_cli.hook_refusals import in_one_line  # noqa: PLC0415

        line = in_one_line(refused.text, self.request, names["repository"])
        if line == refused.text:
            return refused
        explained = refused.in_words(line)
        explained.__cause__ = refused  # --debug shows it, with the ID of the run
        return explained

    def _unreachable(self, error: urllib3.exceptions.HTTPError) -> CommandError:
        cause = error.cause if isinstance(error, RedirectTargetError) else error
        by_proxy = isinstance(cause, urllib3.exceptions.ProxyError)
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
    """Return whether a failed request may be sent again without a second effect."""
    is_redirected = isinstance(error, RedirectTargetError)
    cause: object = error.cause if isinstance(error, RedirectTargetError) else error
    if isinstance(cause, urllib3.exceptions.ProxyError):
        cause = cause.original_error
    if isinstance(cause, (urllib3.exceptions.SSLError, urllib3.exceptions.ResponseError)):
        return False
    never_sent = isinstance(
        cause, (urllib3.exceptions.NewConnectionError, urllib3.exceptions.ConnectTimeoutError)
    )
    return (never_sent and not is_redirected) or method in _REPEATABLE


def _is_later(method: str, answer: WholeAnswer) -> bool:
    if answer.status == 429 or method in _REPEATABLE:
        return answer.status in LATER
    kind = answer.headers.get(_KIND_HEADER)
    is_said = "Retry-After" in answer.headers or kind is not None
    return answer.status == 503 and is_said and kind != _UNKNOWN_OUTCOME


def _decode_error(content: bytes) -> _ErrorBody:
    """Return the server's error body; one without a message if the body has another form."""
    with suppress(msgspec.DecodeError):
        return msgspec.json.decode(content, type=_CatalogErrorBody).error
    with suppress(msgspec.DecodeError):
        return msgspec.json.decode(content, type=_ErrorBody)
    return _ErrorBody()
