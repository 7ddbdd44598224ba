"""Sends single HTTP requests to the API."""

from base64 import b64encode
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

import urllib3
from urllib3.exceptions import HTTPError, MaxRetryError, NewConnectionError

# API Gateway waits for an answer for 30 s.
_TIMEOUT = urllib3.Timeout(connect=10, read=40)
# Connections that are kept for reuse: one for each thread of the gateway.
_IDLE_MAX = 64


@dataclass(frozen=True, slots=True)
class ApiResponse:
    """The server's answer; the headers have names in lower case."""

    status: int
    headers: Mapping[str, str]
    content: bytes


class ApiUnreachableError(Exception):
    """The server got nothing of the request."""


class ApiNoResponseError(Exception):
    """The server may have got the request, but did not answer."""


class ApiTransport(Protocol):
    """Sends one request, and never repeats it."""

    def send(
        self, method: str, target: str, headers: Mapping[str, str], body: bytes
    ) -> ApiResponse:
        """Return the answer; target is the path below `/api/v1`, percent-encoded, and the query.

        Raises:
            ApiUnreachableError: the server got nothing.
            ApiNoResponseError: the server may have got the request.
        """


class HttpTransport:
    """`ApiTransport` over HTTP, with the key pair of one user; shared by threads."""

    def __init__(self, url: str, access_key_id: str, secret_access_key: str) -> None:
        """Send to the API at the URL, which ends in `/api/v1`."""
        self._url = url.rstrip("/")
        pair = b64encode(f"{access_key_id}:{secret_access_key}".encode()).decode()
        self._pool = urllib3.PoolManager(
            headers={"authorization": f"Basic {pair}", "user-agent": "graveler-gateway"},
            maxsize=_IDLE_MAX,
            timeout=_TIMEOUT,
            retries=False,
        )

    def send(
        self, method: str, target: str, headers: Mapping[str, str], body: bytes
    ) -> ApiResponse:
        sent = {**self._pool.headers, **headers}
        try:
            answer = self._pool.request(
                method, self._url + target, headers=sent, body=body or None, redirect=False
            )
        except (NewConnectionError, MaxRetryError) as error:
            raise ApiUnreachableError(str(error)) from error
        except (HTTPError, OSError) as error:
            raise ApiNoResponseError(str(error)) from error
        found = {name.lower(): value for name, value in answer.headers.items()}
        return ApiResponse(answer.status, found, answer.data)
