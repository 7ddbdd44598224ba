"""Serves the API and the S3 gateway on one port.

Theory of operation. As in lakeFS, the gateway gets requests that are signed for S3, or sent to one
of its hosts. The API gets all others, and those that wait for a task have places of their own. The
whole body is read first, so the application is called only if the body is complete.
"""

from collections.abc import Iterable
from contextlib import nullcontext

from graveler.http.errors import RETRY_AFTER_S
from graveler.http.waiting import is_waiting
from graveler.limits import API_GATEWAY_BODY_BYTES_MAX
from graveler_embedded.api_gateway import ApiRequest, Application, GatewayAnswer, refusal
from graveler_gateway.server.fairness import FairPlaces, user_of
from graveler_gateway.server.http.body import Body, SlowBodyError
from graveler_gateway.server.http.chunks import BrokenBodyError
from graveler_gateway.server.http.exchange import Exchange
from graveler_gateway.server.http.server import Handler
from graveler_gateway.server.routing import is_for_gateway

_BROKEN = refusal(
    400, "the body is incomplete or its chunks are malformed: send the whole request again"
)
_ALL_WAIT = refusal(
    503,
    "too many requests of this user wait: send the request again",
    ("Retry-After", str(RETRY_AFTER_S)),
)
# The maximum of requests whose bodies, if not sent with the heads, are read at a time. Memory holds
# whole bodies.
_LARGE_AT_ONCE = 32
# Of one user, while others send requests, and at most: a slow body takes long.
_LARGE_OF_EACH = 8
_LARGE_OF_ONE = 24
# More of a user's that wait get 503: they would hold the threads of all.
_LARGE_WAITING = 200


def one_port(api: Handler, gateway: Handler, domains: Iterable[str]) -> Handler:
    """Return the handler that passes each request to the API or to the gateway."""
    hosts = tuple(domains)

    def serve(exchange: Exchange) -> None:
        chosen = gateway if is_for_gateway(exchange.head, hosts) else api
        chosen(exchange)

    return serve


def handler(application: Application, working: FairPlaces, waiting: FairPlaces) -> Handler:
    """Return a handler that calls the application, for the requests that have a place.

    waiting: the places of those that wait for a task. Without a place, the answer is 503.
    """
    large = FairPlaces(
        _LARGE_AT_ONCE,
        each_max=_LARGE_OF_EACH,
        user_max=_LARGE_OF_ONE,
        waiting_max=_LARGE_WAITING,
    )

    def answer(exchange: Exchange) -> GatewayAnswer:
        head, address = exchange.head, exchange.address
        user = user_of(head, address)
        arrived = nullcontext(enter_result=True)
        try:
            with arrived if exchange.body.has_arrived else large.place(user, waits=True) as may:
                if not may:
                    return _ALL_WAIT
                body = _body_of(exchange.body)
        except (BrokenBodyError, SlowBodyError):
            return _BROKEN
        waits = is_waiting(head.raw_path)
        places = waiting if waits else working
        with places.place(user, waits=not waits) as has_place:
            if not has_place:
                return _ALL_WAIT
            return application(ApiRequest(head, exchange.version, address, body))

    return lambda exchange: exchange.answer(*answer(exchange))


def _body_of(body: Body) -> bytes:
    """Return the body; for one that the application refuses by its length, nothing or too much.

    Raises:
        BrokenBodyError, SlowBodyError: it did not arrive whole.
    """
    if body.length_bytes is not None and body.length_bytes > API_GATEWAY_BODY_BYTES_MAX:
        return b""
    blocks: list[bytes] = []
    read_bytes = 0
    while piece := body.read():
        blocks.append(piece)
        read_bytes += len(piece)
        if read_bytes > API_GATEWAY_BODY_BYTES_MAX:  # in chunks: the application refuses it
            break
    return blocks[0] if len(blocks) == 1 else b"".join(blocks)
