"""The way between a client's process and DynamoDB: each request is a step, and may go wrong.

The real client retries over it. Its pauses pass by the simulated clock, and so do the ages of its
signatures: the service refuses a request that was signed five minutes ago.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from itertools import count
from random import Random
from typing import TYPE_CHECKING, Any
from unittest.mock import patch
from zlib import crc32

import msgspec

from graveler.aws.dynamodb import client, gates
from graveler.aws.dynamodb.client import ANYTHING, DynamoDB, binary
from graveler.aws.dynamodb.http_client import DynamoDBHttpClient
from graveler.aws.dynamodb.tables import Tables
from graveler.aws.exchanges.buffered import (
    BufferedResponse,
    Pending,
    RequestNotSentError,
    ResponseLostError,
)
from graveler.aws.retries import RetryPolicy
from graveler.model import StagingToken
from graveler.model.tokens import spread_of
from tests.simulation.database import drawn_ids
from tests.simulation.schedule import Fault, Place
from tests.support.fakes.dynamodb.choices import Choices
from tests.support.fakes.dynamodb.transport import operation_of, response_of
from tests.support.fakes.memory_objects import FixedClock
from tests.support.faults.faults import Crash

if TYPE_CHECKING:
    from tests.simulation.process import Process

_SIGNATURE_S = 5 * 60
# How long the parts of a transaction may be apart, mostly.
_HELD_STEPS = (0, 0, 5, 30)
_TORN_ONE_IN = (1, 4, 4, 8)
EXPIRED = "InvalidSignatureException"


def _refusal(code: str) -> BufferedResponse:
    return BufferedResponse(400, {}, msgspec.json.encode({"__type": f"simulated#{code}"}))


class SeededChoices(Choices):
    """What the service chooses for a request: by the seed and the request's place.

    Without a request of a client, the service has no weakness.
    """

    def __init__(self, seed: int, page_amount: int, pause: Callable[[int], None]) -> None:
        self._seed = seed
        self._page_amount = page_amount
        self._pause = pause
        self._torn_one_in = Random(f"torn {seed}").choice(_TORN_ONE_IN)
        self._chance = 0
        self._is_torn = False  # whether others see parts of the request at hand
        self.place: Place | None = None  # of the request at hand
        self.frees_checked_early = False
        self.has_ended: Callable[[Place], None] = lambda _place: None
        self.torn: set[int] = set()  # operations of which others saw parts of a request

    def answer(self, place: Place, send: Callable[[], BufferedResponse]) -> BufferedResponse:
        """Return the answer to a request of a client."""
        self.place, self._chance = place, crc32(f"{self._seed} {place}".encode())
        self._is_torn = not self._draw(self._torn_one_in)
        try:
            return send()
        finally:
            self.place = None
            self.has_ended(place)

    def is_late(self, place: Place) -> bool:
        """Whether a request is sent late, or not at all if its sender dies."""
        return bool(crc32(f"{place} {self._seed}".encode()) & 1)

    def _draw(self, below: int) -> int:
        """Return a number for the request at hand; 0 for the judge's."""
        if self.place is None:
            return 0
        self._chance = (self._chance * 1103515245 + 12345) & 0x7FFFFFFF
        return (self._chance >> 8) % below

    def stale_by(self, earlier: int, /) -> int:
        return min(self._draw(3), earlier)

    def index_stale_by(self, earlier: int, /) -> int:
        return min(self._draw(2), earlier)

    def page_items(self, items: int, /) -> int:
        return items if self.place is None else min(items, self._page_amount)

    def promises_more(self) -> bool:
        return self._draw(4) == 1

    def left_out(self, parts: int, /) -> range:
        return range(1, parts, 2) if self._draw(8) == 1 else range(0)

    def frees_checked(self) -> bool:
        return self.frees_checked_early

    def write_order(self, writes: int, /) -> range:
        return range(writes)[::-1] if self._draw(2) else range(writes)

    def between(self) -> None:
        if self.place is not None and self._is_torn and self._draw(2):
            hold_steps = _HELD_STEPS[self._draw(len(_HELD_STEPS))]
            place, chance = self.place, self._chance
            self.torn.add(place[0])
            self._pause(hold_steps)
            self.place, self._chance, self._is_torn = place, chance, True


class _Request(Pending):
    """A request that is served when it begins, or only when its answer is asked for."""

    def __init__(self, serve: Callable[[], BufferedResponse], *, is_late: bool) -> None:
        self._serve = serve
        self._served: BufferedResponse | None = None if is_late else serve()

    def finish(self, **_: bool) -> BufferedResponse:
        return self._serve() if self._served is None else self._served

    def abandon(self) -> None:
        """Do nothing: a request that nobody waits for is not sent."""


class Transport(DynamoDBHttpClient):
    """One process's way to DynamoDB. It also stands for the signer of the requests."""

    def __init__(self, process: "Process") -> None:
        self.host = "dynamodb.simulated"
        self._process = process
        self._clock = process.simulation.world.clock
        self._cut_off_until_ns = 0
        self._was_lost = False
        self._signed: tuple[Place, Fault | None] = ((0, 0), None)

    def close(self) -> None:
        """Do nothing: there are no connections."""

    def signed(self, headers: Mapping[str, str], body: bytes) -> Mapping[str, str]:
        """Return the headers with the time. Before, the process may be frozen for long."""
        process = self._process
        process.require_life()
        place, fault = process.request(operation_of(headers), body, is_again=self._was_lost)
        self._was_lost = False
        if fault is not None and fault.kind == "crash before":
            process.crash()
        if fault is not None and fault.kind == "pause":
            process.freeze()
            self._clock.tick(fault.s)
        self._signed = place, fault
        return {**headers, "x-amz-date": str(self._clock.peek_ns)}

    def begin(self, headers: Mapping[str, str], body: bytes) -> Pending:
        process = self._process
        operation, signed_ns = operation_of(headers), int(headers["x-amz-date"])
        place, fault = self._signed  # just now, by this thread

        def arrive() -> BufferedResponse:
            if self._clock.peek_ns - signed_ns >= _SIGNATURE_S * 10**9:
                return _refusal(EXPIRED)
            simulation = process.simulation
            service = simulation.world.service
            return simulation.choices.answer(place, lambda: response_of(service, operation, body))

        # Of two requests that are sent together, either may be served first.
        return _Request(
            lambda: self._exchange(place, fault, arrive),
            is_late=process.simulation.choices.is_late(place),
        )

    def _exchange(
        self, place: Place, fault: Fault | None, arrive: Callable[[], BufferedResponse]
    ) -> BufferedResponse:
        process = self._process
        process.pause()
        if process.is_dead:  # the request may be on its way
            if process.simulation.choices.is_late(place):
                arrive()
            raise Crash
        if self._clock.peek_ns < self._cut_off_until_ns:
            raise RequestNotSentError("simulated: no connection")
        if fault is None or fault.kind == "pause":
            return arrive()
        if fault.kind == "throttled":
            return _refusal("ThrottlingException")
        return self._lost(fault, arrive)

    def _lost(self, fault: Fault, arrive: Callable[[], BufferedResponse]) -> BufferedResponse:
        """Do what the fault says; no answer comes back."""
        process, kind = self._process, fault.kind
        if kind == "slow":
            self._clock.tick(fault.s)
            process.freeze()
            return arrive()
        self._cut_off_until_ns = self._clock.peek_ns + fault.s * 10**9
        if kind == "cut off":
            raise RequestNotSentError("simulated: no connection")
        if kind.endswith("late"):
            process.later(arrive)
        elif not kind.endswith("not done"):
            arrive()
        if kind.startswith("crash"):
            process.crash()
        self._was_lost = True
        raise ResponseLostError("simulated: no answer")


@contextmanager
def simulated_dynamodb(seed: int, clock: FixedClock) -> Iterator[None]:
    """Let the adapters go by the simulated clock.

    Any gate is right for a write, because writes that share a request check one gate. So each write
    checks another one than the one before: the first, the last, or any other one.
    """
    numbers = count(seed)

    def gate_of(token: StagingToken, _path: bytes) -> int:
        number, amount = next(numbers), spread_of(token).gates
        return (0, amount - 1, 7 * number % amount)[number % 3]

    with (
        drawn_ids(seed),
        patch.object(client, "moment", clock.moment),
        patch.object(gates, "gate_of", gate_of),
    ):
        yield


def described(body: bytes) -> str:
    """Return the kinds and keys of a request's parts."""
    request = ANYTHING.decode(body)
    parts: list[Any] = request.get("TransactItems") or [{"": request}]
    for table, asked in request.get("RequestItems", {}).items():
        parts = [{table: {"Key": each}} for each in asked["Keys"]] if "Keys" in asked else asked
    return ", ".join(
        f"{kind} {_named(part.get('Item') or part.get('Key') or part)}".strip()
        for each in parts
        for kind, part in each.items()
    )


def _named(item: Mapping[str, Any]) -> str:
    """Return the sort key of an item, or the path of a staged one with the end of its token."""
    if "sort" in item:
        return str(item["sort"]["S"])
    if "token" in item:
        path = binary(item["path"]).decode(errors="replace")
        return f"{path} of {item['token']['S'].partition(':00000000-')[2][-7:]}"
    values = item.get("ExpressionAttributeValues", {}).values()
    return " ".join(str(text) for value in values for text in value.values())


def tables_of_process(process: "Process") -> Tables:
    """Return the tables, by a client of the process's own."""
    transport = Transport(process)
    clock = process.simulation.world.clock
    retries = RetryPolicy(
        sleep=clock.tick,
        monotonic_s=lambda: clock.peek_ns / 10**9,
        uniform=lambda _low, high: high,
    )
    signer: Any = transport
    return Tables("refs", "staging", DynamoDB(transport, signer, retries))
