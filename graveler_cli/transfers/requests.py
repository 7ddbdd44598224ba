"""Requests of transfers. All are repeated, because each stores or reads the same bytes again."""

from collections.abc import Callable, Mapping
from typing import TypeVar
from urllib.parse import urlsplit

import urllib3

from graveler_cli.configuration import RequestRetries
from graveler_cli.errors import CommandError
from graveler_cli.transport import (
    LATER,
    Body,
    KeptConnections,
    RedirectTargetError,
    WholeAnswer,
    reason_of,
    retry_after_s,
    waits_s,
)

T = TypeVar("T")

# Object stores slow clients down for longer than an API does.
_MORE_ATTEMPTS = 4


class BrokenError(Exception):
    """The connection failed, or the body was cut off: send the request again."""


class LaterError(Exception):
    """The server is busy: send the request again later."""

    def __init__(self, text: str, wait_s: float | None) -> None:
        super().__init__(text)
        self.wait_s = wait_s


class RepeatedRequests:
    """Sends requests, and repeats those that fail; shared by threads."""

    def __init__(self, retries: RequestRetries, connections: int = 1) -> None:
        """Keep up to `connections` idle connections for each host."""
        self._retries = retries
        self._connections = KeptConnections(connections, sends_again=True)
        self.close = self._connections.close
        self.stop = self._connections.stop
        self.check = self._connections.check

    def repeat(self, attempt: Callable[[], T]) -> T:
        """Return the result of an attempt, which is repeated after growing waits.

        Raises:
            CommandError: the last attempt failed as well.
            CommandStoppedError: the command was interrupted.
        """
        attempts = self._retries.attempts_max and self._retries.attempts_max + _MORE_ATTEMPTS
        for wait_s in waits_s(self._retries, attempts):
            self.check()
            asked_s = None
            try:
                return attempt()
            except (BrokenError, LaterError) as error:
                if wait_s is None:
                    raise CommandError(str(error)) from error
                asked_s = error.wait_s if isinstance(error, LaterError) else None
            self._connections.pause(wait_s if asked_s is None else asked_s)
        raise AssertionError("the last attempt returns or raises")

    def ask(
        self, method: str, url: str, headers: Mapping[str, str] | None = None, body: Body = None
    ) -> WholeAnswer:
        """Return the whole answer of a request; raises as `repeat`.

        Args:
            method: the HTTP method.
            url: the whole URL.
            headers: the headers, with Content-Length if the body is not bytes.
            body: bytes, or a function that yields them from the beginning.
        """
        return self.repeat(lambda: self.once(method, url, headers, body))

    def once(
        self, method: str, url: str, headers: Mapping[str, str] | None = None, body: Body = None
    ) -> WholeAnswer:
        """Return the whole answer of one attempt.

        Raises:
            BrokenError: the connection failed.
            LaterError: the server asked for a pause.
        """
        return read_all(self.open(method, url, headers, body))

    def open(
        self, method: str, url: str, headers: Mapping[str, str] | None = None, body: Body = None
    ) -> urllib3.BaseHTTPResponse:
        """Return an answer whose content is still to be read, after redirects; as `once`.

        Raises:
            CommandError: redirects without end.
        """
        try:
            answer = self._connections.open(method, url, body, headers)
        except urllib3.exceptions.ResponseError as error:
            raise CommandError(f"{_host(url)} answers with {error}") from error
        except urllib3.exceptions.HTTPError as error:
            failed = error.url if isinstance(error, RedirectTargetError) else url
            raise BrokenError(f"cannot reach {_host(failed)}: {reason_of(error)}") from error
        if answer.status in LATER:
            whole = read_all(answer)
            line = " ".join(whole.content.decode(errors="replace").split())[:200]
            text = (
                f"{_host(answer.url or url)} answered {whole.status} {whole.reason}: {line}".rstrip(
                    ": "
                )
            )
            raise LaterError(text, retry_after_s(whole.headers))
        return answer


def read_all(answer: urllib3.BaseHTTPResponse) -> WholeAnswer:
    """Return the whole answer.

    Raises:
        BrokenError: it was cut off.
    """
    try:
        return WholeAnswer.of(answer)
    except urllib3.exceptions.HTTPError as error:
        raise BrokenError(f"the answer was cut off: {reason_of(error)}") from error


def read_block(answer: urllib3.BaseHTTPResponse, size_bytes: int) -> bytes:
    """Return the next bytes of an answer as they are sent, b"" at its end.

    Raises:
        BrokenError: the connection failed.
    """
    try:
        return answer.read(size_bytes, decode_content=False)
    except urllib3.exceptions.HTTPError as error:
        raise BrokenError(f"the answer was cut off: {reason_of(error)}") from error


def _host(url: str) -> str:
    return urlsplit(url).netloc
