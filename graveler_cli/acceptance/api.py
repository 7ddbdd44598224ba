"""Requests of the acceptance suite, and what it expects of the answers.

`graveler_cli.client` raises an error for most statuses, and repeats requests. The suite needs
refusals, headers and bytes as they are, so it uses the transport directly.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from urllib.parse import quote, urlencode

import urllib3

from graveler_cli.client import LakeClient
from graveler_cli.errors import CommandError
from graveler_cli.transport import KeptConnections, WholeAnswer, reason_of

_SHOWN_CHARACTERS = 300


class CheckFailedError(CommandError):
    """An answer is not what the API promises."""


class SkippedError(CommandError):
    """The deployment does not offer what the step needs."""


@dataclass(frozen=True)
class CheckedAnswer:
    """An answer, and the request that it belongs to."""

    request: str
    status: int
    headers: Mapping[str, str]
    content: bytes

    def expect(self, *statuses: int) -> "CheckedAnswer":
        """Return this answer if it has one of the statuses.

        Raises:
            CheckFailedError: it has another one.
        """
        if self.status not in statuses:
            expected = " or ".join(map(str, statuses))
            text = _shortened(self.content.decode(errors="replace"))
            raise CheckFailedError(f"{self.request} answered {self.status}, not {expected}: {text}")
        return self

    def value(self, *names: str) -> object:
        """Return the value at the path of names in the JSON body; the whole body without names.

        Raises:
            CheckFailedError: the body is not JSON, or has no such value.
        """
        try:
            found = json.loads(self.content)
            for name in names:
                found = found[name]
        except (ValueError, LookupError, TypeError) as error:
            text = _shortened(self.content.decode(errors="replace"))
            wanted = f"no {'.'.join(names)} in" if names else "no JSON:"
            raise CheckFailedError(f"{self.request}: {wanted} the answer {text}") from error
        return found

    def text(self, *names: str) -> str:
        """Return the text at the path of names in the JSON body.

        Raises:
            CheckFailedError: there is no text.
        """
        found = self.value(*names)
        if not isinstance(found, str):
            raise CheckFailedError(f"{self.request}: {'.'.join(names)} is {found!r}, not a text")
        return found

    def number(self, *names: str) -> int:
        """Return the whole number at the path of names in the JSON body.

        Raises:
            CheckFailedError: there is no whole number.
        """
        found = self.value(*names)
        if not isinstance(found, int):
            raise CheckFailedError(f"{self.request}: {'.'.join(names)} is {found!r}, not a number")
        return found

    def each(self, name: str, *path: str) -> list[object]:
        """Return the value of name in each element of the list at the path ("results" by default).

        Raises:
            CheckFailedError: the body has no such list.
        """
        rows = self.value(*(path or ("results",)))
        if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
            raise CheckFailedError(f"{self.request}: the answer has no list of objects")
        return [row.get(name) for row in rows]


class ApiUser:
    """Sends requests as one user."""

    def __init__(
        self, connections: KeptConnections, endpoint: str, credentials: Mapping[str, str]
    ) -> None:
        self._connections = connections
        self._endpoint = endpoint
        self._credentials = credentials

    @classmethod
    def of(cls, server: LakeClient) -> "ApiUser":
        """Return the API as the user of the configuration."""
        credentials = urllib3.make_headers(basic_auth=":".join(server.key_pair))
        return cls(KeptConnections(), server.endpoint, credentials)

    def as_user(self, access_key_id: str, secret_access_key: str) -> "ApiUser":
        """Return the API as the user of a key pair."""
        pair = f"{access_key_id}:{secret_access_key}"
        credentials = urllib3.make_headers(basic_auth=pair)
        return ApiUser(self._connections, self._endpoint, credentials)

    @property
    def endpoint(self) -> str:
        """The URL that paths are relative to."""
        return self._endpoint

    def send(
        self,
        method: str,
        path: str,
        body: object = None,
        /,
        *,
        content: bytes | None = None,
        headers: Mapping[str, str] | None = None,
        query: Mapping[str, str] | None = None,
        **parameters: str,
    ) -> CheckedAnswer:
        """Return the answer of a request, whatever its status.

        Args:
            method: the HTTP method.
            path: relative to /api/v1; its names are already quoted.
            body: sent as JSON, unless there is content.
            content: the bytes of the body.
            headers: more headers.
            query: parameters of the request's query.
            parameters: more of them, by name.

        Raises:
            CheckFailedError: there is no answer.
        """
        sent = {**self._credentials, "Accept": "*/*", **(headers or {})}
        if content is None and body is not None:
            content = json.dumps(body).encode()
            sent.setdefault("Content-Type", "application/json")
        url = self._endpoint + path
        if asked := {**(query or {}), **parameters}:
            url += "?" + urlencode(asked, quote_via=quote)
        return self._exchange(method, url, f"{method} {path}", content, sent)

    def put_presigned(self, url: str, content: bytes, content_type: str = "") -> CheckedAnswer:
        """Return the answer of the object store to an upload to a presigned URL.

        Raises:
            CheckFailedError: there is no answer.
        """
        headers = {"Content-Type": content_type} if content_type else {}
        return self._exchange("PUT", url, "PUT to the presigned URL", content, headers)

    def get_presigned(self, url: str) -> CheckedAnswer:
        """Return the answer of the object store to a read of a presigned URL.

        Raises:
            CheckFailedError: there is no answer.
        """
        return self._exchange("GET", url, "GET of the presigned URL", None, {})

    def _exchange(
        self,
        method: str,
        url: str,
        shown: str,
        content: bytes | None,
        headers: Mapping[str, str],
    ) -> CheckedAnswer:
        try:
            # Sent once: a hidden retry would turn a fault into a slow success.
            answer = WholeAnswer.of(self._connections.open(method, url, content, headers))
        except urllib3.exceptions.HTTPError as error:
            raise CheckFailedError(f"{shown} got no answer: {reason_of(error)}") from error
        lower = {name.lower(): value for name, value in answer.headers.items()}
        return CheckedAnswer(shown, answer.status, lower, answer.content)


def expect_equal(what: str, found: object, expected: object) -> None:
    """Check that what was found is what was expected.

    Raises:
        CheckFailedError: it is not.
    """
    if found != expected:
        raise CheckFailedError(
            f"{what}: {_shortened(repr(found))}, not {_shortened(repr(expected))}"
        )


def expect_among(what: str, wanted: Iterable[object], found: Iterable[object]) -> None:
    """Check that all that is wanted was found.

    Raises:
        CheckFailedError: something is missing.
    """
    present = list(found)
    missing = [each for each in wanted if each not in present]
    if missing:
        raise CheckFailedError(f"{what}: {_shortened(repr(missing))} missing")


def _shortened(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _SHOWN_CHARACTERS else f"{line[:_SHOWN_CHARACTERS]}…"
