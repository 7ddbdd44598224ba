"""http.client's connection, from which urllib3's derives; it sends and receives in time."""

import socket
from http.client import HTTPConnection, HTTPResponse, RemoteDisconnected
from io import BufferedReader, RawIOBase
from typing import Any

from graveler.aws.exchanges.channels import send_in_time
from graveler.aws.exchanges.patience import Patience, of_answer
from graveler.aws.retries import READ_TIMEOUT_S


class _Incoming(RawIOBase):
    """What a socket receives in time; a reader of http.client's answers."""

    def __init__(self, connected: socket.socket, patience: Patience) -> None:
        self._socket = connected
        # It keeps the socket open while the answer is read, if the server closes the connection.
        self._raw = connected.makefile("rb", buffering=0)
        self._patience = patience
        self.has_ended = False

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int | None:  # noqa: ANN401 - any buffer
        self._socket.settimeout(self._patience.left_s())
        received = self._raw.readinto(buffer)
        self._patience.passed(received or 0)
        self.has_ended = not received
        return received

    def close(self) -> None:
        super().close()
        self._raw.close()

    def makefile(self, _: str) -> BufferedReader:
        """Return a reader, as the socket's method of that name, which HTTPResponse calls."""
        return BufferedReader(self)


class _Answer(HTTPResponse):
    """An answer whose headers are whole; http.client takes the end of a connection for theirs."""

    def __init__(self, incoming: _Incoming, **settings: Any) -> None:  # noqa: ANN401 - http.client's
        self._incoming = incoming
        source: Any = incoming
        super().__init__(source, **settings)

    def begin(self) -> None:
        super().begin()
        if self._incoming.has_ended:  # nothing is read behind whole headers
            raise RemoteDisconnected("the connection ended before the headers did")


class Connection(HTTPConnection):
    """A connection that sends and receives in time. Subclasses derive from urllib3's as well.

    A request has READ_TIMEOUT_S. Its answer has the socket's time-out, or the silence of the block.
    """

    def send(self, data: Any) -> None:  # noqa: ANN401 - as the base class
        if not isinstance(data, bytes | bytearray | memoryview):
            super().send(data)
            return
        if self.sock is None:
            self.connect()
        send_in_time(self.sock, data, Patience(READ_TIMEOUT_S))

    def response_class(  # type: ignore[override] # there it is a class, called like this
        self,
        connected: socket.socket,
        **settings: Any,  # noqa: ANN401 - http.client's
    ) -> HTTPResponse:
        patience = of_answer(connected.gettimeout() or READ_TIMEOUT_S)
        return _Answer(_Incoming(connected, patience), **settings)
