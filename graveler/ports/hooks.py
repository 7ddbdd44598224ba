"""The ports to what hooks reach: web servers, functions, buses and secrets.

A target that fails, refuses or does not answer in time raises HookFailedError, whose message says
why without any secret.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

from msgspec import Struct


@dataclass(frozen=True, slots=True)
class HttpRequest:
    """A request to a web server; the headers and the URL may hold secrets."""

    method: str
    url: str = field(repr=False)
    headers: Sequence[tuple[str, str]] = field(default=(), repr=False)
    body: bytes = field(default=b"", repr=False)


class HttpAnswer(Struct, frozen=True):
    """A server's answer; its body is cut to HOOK_ANSWER_BYTES_MAX."""

    status: int
    reason: str
    headers: Sequence[tuple[str, str]]
    body: bytes


class HttpClient(Protocol):
    """Sends requests to servers that users name."""

    def send(self, request: HttpRequest, timeout_s: float) -> HttpAnswer:
        """Return the answer, whatever its status; redirects are not followed.

        Raises:
            HookFailedError: the URL may not be asked, or there is no answer in time.
        """


class HookFunctions(Protocol):
    """Invokes functions that users name."""

    def invoke(self, function: str, payload: bytes, timeout_s: float) -> bytes:
        """Return the function's answer, JSON.

        Raises:
            HookFailedError: it failed, or did not end in time.
        """


class HookBuses(Protocol):
    """Puts events on buses that users name."""

    def put(self, bus: str, source: str, detail_type: str, detail: str) -> None:
        """Put an event on the bus; detail is JSON.

        Raises:
            HookFailedError: the bus refuses it.
        """


class SecretStore(Protocol):
    """Secrets by name, for hooks."""

    def secret(self, name: str) -> str | None:
        """Return the secret; None if there is none of that name, "" if hooks may not have it.

        Raises:
            HookFailedError: the store fails.
        """


class HookTargets(Struct, frozen=True):
    """All that hooks reach."""

    http: HttpClient
    functions: HookFunctions
    buses: HookBuses
    secrets: SecretStore
