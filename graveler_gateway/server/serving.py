"""Serves the gateway's requests: each in a thread, with blocking sockets to client and store.

A request takes one of a few places while it is served, and another one while it sends an object.
A small body arrives before its request is served, so a slow sender of one holds no place.
"""

from threading import BoundedSemaphore

from graveler.errors import GravelerError
from graveler_gateway.operations.responses import S3Response
from graveler_gateway.protocol.errors import Code, S3ResponseError
from graveler_gateway.server.application import Application, Served
from graveler_gateway.server.fairness import FairPlaces, user_of
from graveler_gateway.server.http.body import Body, SlowBodyError
from graveler_gateway.server.http.chunks import BrokenBodyError
from graveler_gateway.server.http.exchange import ClientGoneError, Exchange
from graveler_gateway.transfer.store import DataMissingError, Reading
from graveler_gateway.transfer.store_exchange import StoreNoResponseError

# Requests that wait for a place, for each place. More get 503: clients send them again, later, and
# the threads that are left answer the load balancer.
_WAITING = 5
# While others send requests as well, a user has this part of the places, and another one is spared
# for others. Most requests with objects wait for their clients.
_EACH_PART = 4
# Threads of the server, for each place.
THREADS_A_PLACE = 8

# No repository can have this name.
HEALTH_PATH = "/_health"


class _ArrivingBody:
    """The body of a request, whose errors are S3's."""

    def __init__(self, body: Body) -> None:
        self._body = body

    def read(self) -> bytes:
        """Return the bytes that have arrived, b"" at the end.

        Raises:
            S3ResponseError: the client stopped sending, or the framing is broken.
        """
        try:
            return self._body.read()
        except SlowBodyError as error:
            raise S3ResponseError(Code.REQUEST_TIMEOUT) from error
        except BrokenBodyError as error:
            raise S3ResponseError(Code.INCOMPLETE_BODY) from error


class GatewayHandler:
    """The handler of the gateway's requests in one process."""

    def __init__(self, application: Application, threads: int) -> None:
        self._application = application
        admitted = threads * (1 + _WAITING)
        user_max = admitted * 2 // 3
        self._admitted = FairPlaces(admitted, each_max=user_max, user_max=user_max)
        part = max(1, threads // _EACH_PART)
        self._requests = FairPlaces(threads, each_max=part, spare=part)
        # Slow readers delay only each other.
        self._readers = BoundedSemaphore(threads)

    def __call__(self, exchange: Exchange) -> None:
        """Serve one request."""
        head = exchange.head
        if head.raw_path == HEALTH_PATH and head.method in {"GET", "HEAD"}:
            exchange.answer(200, [("Content-Type", "text/plain")], b"alive!")
            return
        user = user_of(head, exchange.address)
        with self._admitted.place(user, waits=False) as is_admitted:
            if not is_admitted:
                refusal = S3ResponseError(Code.SLOW_DOWN)
                self._answer(exchange, self._application.refuse(head, refusal))
                return
            with self._requests.place(user, waits=True):
                served = self._application.serve(
                    head, _ArrivingBody(exchange.body), exchange.address
                )
            self._answer(exchange, served)

    def _answer(self, exchange: Exchange, served: Served) -> None:
        """Send the answer, and log the request.

        Raises:
            ClientGoneError: the client does not take it.
        """
        try:
            if exchange.body.is_waiting:
                # botocore up to 1.43.62 misreads the next answer if it got no 100 Continue.
                exchange.end_connection()
            self._send(exchange, served)
        except ClientGoneError:
            served.entry.code = "ClientGone"
            raise
        finally:
            if served.response.reading is not None:
                served.response.reading.close()
            served.entry.write()

    def _send(self, exchange: Exchange, served: Served) -> None:
        """Send the answer.

        Raises:
            ClientGoneError: the client does not take it.
        """
        response = served.response
        headers = _headers_of(response)
        if response.reading is None or exchange.head.method == "HEAD":
            exchange.answer(response.status, headers, response.content)
            if exchange.head.method != "HEAD":
                served.entry.bytes_out = len(response.content)
            return
        assert response.length_bytes is not None
        exchange.begin(response.status, headers, response.length_bytes)
        with self._readers:
            self._send_pieces(exchange, served, response.reading)

    def _send_pieces(self, exchange: Exchange, served: Served, reading: Reading) -> None:
        try:
            for piece in reading.pieces():
                exchange.send(piece)
                served.entry.bytes_out += len(piece)
        except (S3ResponseError, DataMissingError, StoreNoResponseError, GravelerError) as error:
            # The answer has begun: only its early end can report an error.
            served.entry.code, served.entry.message = "CutOff", str(error)


def _headers_of(response: S3Response) -> list[tuple[str, str]]:
    headers = dict(response.headers)
    if response.length_bytes is not None and response.reading is None:
        headers["Content-Length"] = str(response.length_bytes)
    if "Server" not in headers:
        headers["Server"] = "Graveler"
    return list(headers.items())
