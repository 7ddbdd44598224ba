"""Requests to S3 byte by byte, where a client's library would repair or hide what happens."""

import hashlib
import hmac
import http.client
import socket
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Self
from unittest.mock import patch
from urllib.parse import urlsplit

from botocore.auth import S3SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials

UNSIGNED = "UNSIGNED-PAYLOAD"
SIGNED_CHUNKS = "STREAMING-AWS4-HMAC-SHA256-PAYLOAD"
SIGNED_CHUNKS_AND_TRAILER = "STREAMING-AWS4-HMAC-SHA256-PAYLOAD-TRAILER"
UNSIGNED_CHUNKS_AND_TRAILER = "STREAMING-UNSIGNED-PAYLOAD-TRAILER"

_REGION = "us-east-1"
_OF_NOTHING = hashlib.sha256(b"").hexdigest()


@dataclass(frozen=True)
class Signed:
    """The head of a signed request, and what signs the chunks of its body."""

    head: bytes
    key: bytes
    time: str
    scope: str
    signature: str

    def chunks(self, pieces: Iterable[bytes], *, trailer: bytes = b"", ends: bool = True) -> bytes:
        """Return the pieces as signed chunks, then the last one unless ends is False."""
        previous, body = self.signature, b""
        for piece in [*pieces, b""] if ends else pieces:
            previous = self._sign("PAYLOAD", previous, _OF_NOTHING, _sha256(piece))
            line = f"{len(piece):x};chunk-signature={previous}\r\n".encode()
            body += line + piece + (b"\r\n" if piece or not trailer else b"")
        if trailer:
            # The canonical form of a trailer ends in a line feed only.
            last = self._sign("TRAILER", previous, _sha256(trailer + b"\n"))
            body += trailer + b"\r\nx-amz-trailer-signature:" + last.encode() + b"\r\n\r\n"
        return body

    def _sign(self, kind: str, *parts: str) -> str:
        text = "\n".join([f"AWS4-HMAC-SHA256-{kind}", self.time, self.scope, *parts])
        return hmac.new(self.key, text.encode(), hashlib.sha256).hexdigest()


def unsigned_chunks(pieces: Iterable[bytes], trailer: bytes) -> bytes:
    """Return the pieces as chunks without signatures, with a trailer."""
    body = b"".join(f"{len(piece):x}\r\n".encode() + piece + b"\r\n" for piece in pieces)
    return body + b"0\r\n" + trailer + b"\r\n\r\n"


def http_chunks(body: bytes, size_bytes: int) -> bytes:
    """Return the body in HTTP's own chunks."""
    pieces = [body[at : at + size_bytes] for at in range(0, len(body), size_bytes)]
    framed = (f"{len(piece):X}\r\n".encode() + piece + b"\r\n" for piece in pieces)
    return b"".join(framed) + b"0\r\n\r\n"


class Signer:
    """Signs requests to an endpoint with a key pair."""

    def __init__(self, endpoint: str, access_key_id: str, secret_access_key: str) -> None:
        self.endpoint = endpoint
        self._credentials = Credentials(access_key_id, secret_access_key)

    def signed(
        self,
        method: str,
        target: str,
        headers: Mapping[str, str] | None = None,
        *,
        payload: str = UNSIGNED,
        later: timedelta = timedelta(0),
    ) -> Signed:
        """Return a request signed now, or later; the target is encoded already."""
        request = AWSRequest(method, self.endpoint + target, headers=dict(headers or {}))
        signer = _Auth(self._credentials, payload)
        now = datetime.now(UTC) + later
        with patch("botocore.auth.get_current_datetime", return_value=now.replace(tzinfo=None)):
            signer.add_auth(request)
        authorization = str(request.headers["Authorization"])
        scope = authorization.partition("Credential=")[2].partition(",")[0].partition("/")[2]
        lines = [f"{method} {target} HTTP/1.1", f"Host: {urlsplit(self.endpoint).netloc}"]
        lines += [f"{name}: {value}" for name, value in request.headers.items()]
        return Signed(
            head="\r\n".join([*lines, "", ""]).encode(),
            key=self._key(scope),
            time=str(request.headers["X-Amz-Date"]),
            scope=scope,
            signature=authorization.partition("Signature=")[2],
        )

    def _key(self, scope: str) -> bytes:
        key = b"AWS4" + str(self._credentials.secret_key).encode()
        for part in scope.split("/"):
            key = hmac.new(key, part.encode(), hashlib.sha256).digest()
        return key


@dataclass(frozen=True)
class RawAnswer:
    """An answer as it came."""

    status: int
    headers: Mapping[str, str]
    content: bytes

    @property
    def code(self) -> str:
        """The code of an error's document; "" if there is none."""
        return self.content.partition(b"<Code>")[2].partition(b"</Code>")[0].decode()


class RawConnection:
    """A connection that sends exactly what it is given."""

    def __init__(self, endpoint: str, *, timeout_s: float = 30.0, receives_bytes: int = 0) -> None:
        """receives_bytes limits the buffer of a client that is to read slowly."""
        address = urlsplit(endpoint)
        self.socket = socket.socket()
        if receives_bytes:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receives_bytes)
        self.socket.settimeout(timeout_s)
        try:
            self.socket.connect((str(address.hostname), int(address.port or 80)))
        except OSError:
            self.socket.close()
            raise

    def send(self, data: bytes) -> None:
        self.socket.sendall(data)

    def answer(self, method: str = "GET") -> RawAnswer:
        """Return the next answer whole; an interim one only if nothing else follows it."""
        response = http.client.HTTPResponse(self.socket, method=method)
        response.begin()
        headers = {name.lower(): value for name, value in response.getheaders()}
        return RawAnswer(response.status, headers, response.read())

    def line(self) -> bytes:
        """Return the next line that the server sends, with its line feed; b"" at the end."""
        read = b""
        while not read.endswith(b"\n"):
            byte = self.socket.recv(1)
            if not byte:
                break
            read += byte
        return read

    def close(self) -> None:
        self.socket.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class _Auth(S3SigV4Auth):
    """botocore's signatures, for a payload that the caller describes."""

    def __init__(self, credentials: Credentials, payload: str) -> None:
        super().__init__(credentials, "s3", _REGION)
        self._payload = payload

    def payload(self, request: AWSRequest) -> str:  # noqa: ARG002 - botocore's
        return self._payload


def _sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
