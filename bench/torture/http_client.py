"""A plain HTTP client, without retries, whose answers distinguish known from unknown effects."""

import base64
import json
import xml.etree.ElementTree as ET
from collections.abc import Mapping
from dataclasses import dataclass, field
from http.client import HTTPConnection, HTTPException
from typing import Any
from urllib.parse import urlencode, urlsplit

from graveler_embedded.tcp_ports import HOST


class UnsentError(Exception):
    """The server could not be reached: the request has no effect."""


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer; status 0 means none, or an incomplete one."""

    status: int
    body: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict)  # by names in lower case

    @property
    def is_unknown(self) -> bool:
        """Return whether the request may have taken effect, or may do so later; 307: by a task."""
        return self.status in (0, 307, 408, 429) or self.status >= 500

    @property
    def json(self) -> Any:  # noqa: ANN401 - whatever it holds
        return json.loads(self.body) if self.body else {}

    @property
    def message(self) -> str:
        """An error's message with its details; for S3's errors, the code and the message."""
        if self.body.startswith(b"<?xml"):
            document = ET.fromstring(self.body)
            return ": ".join(document.findtext(name) or "" for name in ("Code", "Message"))
        try:
            body = self.json
        except ValueError:
            return self.body[:100].decode(errors="replace")
        return ": ".join(body[name] for name in ("message", "details") if name in body)


class Http:
    """One connection to the API and the S3 gateway, for one thread, without retries."""

    def __init__(self, port: int, access_key_id: str, secret_access_key: str) -> None:
        self._port = port
        self.address = f"{HOST}:{port}"
        pair = base64.b64encode(f"{access_key_id}:{secret_access_key}".encode()).decode()
        self._headers = {"Authorization": f"Basic {pair}"}
        self._connection: HTTPConnection | None = None

    def request(
        self,
        method: str,
        path: str,
        query: dict[str, Any] | None = None,
        body: object = None,
        headers: dict[str, str] | None = None,
        timeout_s: float = 12.0,
    ) -> Reply:
        """Send one request to the API.

        Raises:
            UnsentError: the port is closed.
        """
        sent = {**self._headers, **(headers or {})}
        if body is None or isinstance(body, bytes):
            data = body
        else:
            data, sent["Content-Type"] = json.dumps(body).encode(), "application/json"
        url = f"/api/v1{path}" + (f"?{urlencode(query)}" if query else "")
        return self.send(method, url, data, sent, timeout_s)

    def send(
        self,
        method: str,
        url: str,
        data: bytes | None,
        headers: Mapping[str, str],
        timeout_s: float,
    ) -> Reply:
        """Send one request as it is.

        Raises:
            UnsentError: the port is closed.
        """
        connection = self._connected(timeout_s)
        try:
            connection.request(method, url, data, headers)
            answer = connection.getresponse()
            found = {name.lower(): value for name, value in answer.getheaders()}
            return Reply(answer.status, answer.read(), found)
        except (OSError, HTTPException):
            self.close()
            return Reply(0)

    def close(self) -> None:
        """Drop the connection; the next request opens another one."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _connected(self, timeout_s: float) -> HTTPConnection:
        if self._connection is None:
            connection = HTTPConnection(HOST, self._port, timeout=timeout_s)
            try:
                connection.connect()
            except OSError as error:
                raise UnsentError from error
            self._connection = connection
        if self._connection.sock is None:  # the last answer closed it
            self._connection = None
            return self._connected(timeout_s)
        self._connection.sock.settimeout(timeout_s)
        return self._connection


def put_presigned(url: str, data: bytes) -> bool:
    """Put data at a presigned URL; return whether it is stored."""
    return _presigned("PUT", url, data).status == 200


def get_presigned(url: str) -> bytes | None:
    """Return the data at a presigned URL; None if they were not read."""
    reply = _presigned("GET", url)
    return reply.body if reply.status == 200 else None


def _presigned(method: str, url: str, data: bytes | None = None) -> Reply:
    parts = urlsplit(url)
    connection = HTTPConnection(parts.hostname or HOST, parts.port, timeout=12)
    try:
        connection.request(method, f"{parts.path}?{parts.query}", data)
        answer = connection.getresponse()
        return Reply(answer.status, answer.read())
    except (OSError, HTTPException):
        return Reply(0)
    finally:
        connection.close()
