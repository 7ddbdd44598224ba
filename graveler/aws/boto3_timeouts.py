"""boto3's clients, whose exchanges end in time.

boto3 fixes a client's time-outs when the client is made, and they bound the silence between bytes
only. Below boto3, urllib3 makes connections of the classes that botocore names: here these are
ours. Proxies, certificates and pools stay botocore's.
"""

import socket
from http.client import HTTPConnection as PlainHTTPConnection
from http.client import HTTPResponse, RemoteDisconnected
from io import BufferedReader, RawIOBase
from typing import TYPE_CHECKING, Any, TypeVar

from botocore.awsrequest import (
    AWSConnection,
    AWSHTTPConnectionPool,
    AWSHTTPSConnectionPool,
)
from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.exceptions import ConnectTimeoutError, NewConnectionError

from graveler.aws.exchanges.sockets import connected, send_in_time
from graveler.aws.exchanges.time_budget import TimeBudget, response_budget
from graveler.aws.retries import READ_TIMEOUT_S

if TYPE_CHECKING:
    from botocore.client import BaseClient

Client = TypeVar("Client", bound="BaseClient")


class _Incoming(RawIOBase):
    """The bytes that a socket receives in time; http.client reads answers from it."""

    def __init__(self, connected: socket.socket, budget: TimeBudget) -> None:
        self._socket = connected
        # Keeps the socket open while the answer is read, even if http.client closes the connection.
        self._raw = connected.makefile("rb", buffering=0)
        self._budget = budget
        self.has_ended = False

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int | None:  # noqa: ANN401 - any buffer
        self._socket.settimeout(self._budget.left_s())
        received = self._raw.readinto(buffer)
        self._budget.passed(received or 0)
        self.has_ended = not received
        return received

    def close(self) -> None:
        super().close()
        self._raw.close()

    def makefile(self, _: str) -> BufferedReader:
        """Return a reader, as the socket's method of that name, which HTTPResponse calls."""
        return BufferedReader(self)


class _Response(HTTPResponse):
    """An answer with complete headers; http.client takes the end of a connection for their end."""

    def __init__(self, incoming: _Incoming, **settings: Any) -> None:  # noqa: ANN401 - http.client's
        self._incoming = incoming
        source: Any = incoming
        super().__init__(source, **settings)

    def begin(self) -> None:
        super().begin()
        if self._incoming.has_ended:  # http.client reads nothing behind complete headers
            raise RemoteDisconnected("the connection ended before the headers did")


class TimedConnection(PlainHTTPConnection):
    """A connection that sends and receives in time. Subclasses derive from urllib3's as well.

    A request has READ_TIMEOUT_S. Its answer has the socket's time-out, or that of `silence_of`.
    """

    def send(self, data: Any) -> None:  # noqa: ANN401 - as the base class
        if not isinstance(data, bytes | bytearray | memoryview):
            super().send(data)
            return
        if self.sock is None:
            self.connect()
        send_in_time(self.sock, data, TimeBudget(READ_TIMEOUT_S))

    def response_class(  # type: ignore[override] # there it is a class, called like this
        self,
        connected: socket.socket,
        **settings: Any,  # noqa: ANN401 - http.client's
    ) -> HTTPResponse:
        budget = response_budget(connected.gettimeout() or READ_TIMEOUT_S)
        return _Response(_Incoming(connected, budget), **settings)


class _ToAddress:
    """Connects in time. urllib3's own method gives each address of a host the whole time-out."""

    def _new_conn(self: Any) -> socket.socket:
        try:
            return connected(self._dns_host, self.port, self.socket_options or ())
        except TimeoutError as error:
            raise ConnectTimeoutError(self, f"cannot connect to {self.host} in time") from error
        except OSError as error:
            raise NewConnectionError(self, f"cannot connect to {self.host}: {error}") from error


class _Plain(AWSConnection, _ToAddress, TimedConnection, HTTPConnection):  # type: ignore[misc] # as botocore's own
    """botocore's connection without TLS, in time."""


class _Tls(AWSConnection, _ToAddress, TimedConnection, HTTPSConnection):  # type: ignore[misc]
    """botocore's connection over TLS, in time."""


class _PlainPool(AWSHTTPConnectionPool):
    ConnectionCls = _Plain  # type: ignore[assignment] # not of a subclass of botocore's


class _TlsPool(AWSHTTPSConnectionPool):
    ConnectionCls = _Tls  # type: ignore[assignment]


def bounded(client: Client) -> Client:
    """Return the client, whose exchanges now end in time."""
    endpoint: Any = client._endpoint  # type: ignore[attr-defined] # noqa: SLF001 - there is no setting
    # The session makes its pools later, those of proxies as well.
    classes: dict[str, type] = endpoint.http_session._pool_classes_by_scheme  # noqa: SLF001
    classes.update(http=_PlainPool, https=_TlsPool)
    return client
