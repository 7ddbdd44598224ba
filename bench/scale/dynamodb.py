"""The model of DynamoDB: the fake of its API, with partitions, latency, throttling and conflicts.

A request travels for half of its duration, and takes effect. A transaction holds its items for the
other half, so one that meets it is cancelled. README.md has the assumptions and their sources.
"""

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from functools import partial
from random import Random
from typing import Any

import msgspec

from bench.scale.partitions import Demand, Partitions
from bench.scale.units import demands, read_units
from bench.scale.virtual_time import VirtualTime
from graveler.aws.dynamodb.client import ANYTHING, DynamoDB
from graveler.aws.dynamodb.http_client import DynamoDBHttpClient
from graveler.aws.dynamodb.tables import Tables
from graveler.aws.exchanges.buffered import BufferedResponse, Pending
from graveler.aws.retries import RetryPolicy
from tests.support.fakes.dynamodb.choices import Choices
from tests.support.fakes.dynamodb.errors import ServiceError
from tests.support.fakes.dynamodb.service import Answer, Service
from tests.support.fakes.dynamodb.transport import operation_of

REFS, STAGING = "refs", "staging"
# Medians in seconds, as ADR 12 and docs/requests.md have them; not measured on AWS.
LATENCY_S = {"TransactWriteItems": 0.009, "BatchWriteItem": 0.008}
WRITE_S = 0.005
READ_S = 0.004
# The logarithm's deviation: the 99th percentile is 2.5 times the median.
LATENCY_SIGMA = 0.4
# A page of a query takes longer by this for each byte: 10 ms a megabyte.
READ_BYTE_S = 0.010 / 1024**2
# A transaction that conflicts or fails a condition has prepared its items, and commits none.
CANCELLED_SHARE = 0.5
_WRITES = ("PutItem", "UpdateItem", "DeleteItem")


class _ModelChoices(Choices):
    """What the service chooses for the request at hand: nothing else runs until `between`."""

    def __init__(self, time: VirtualTime) -> None:
        self._time = time
        self.hold_s = 0.0
        self.is_refused = False
        self.unprocessed: Sequence[int] = ()
        self.page_bytes = 0

    def prepare(
        self, hold_s: float = 0.0, *, is_refused: bool = False, unprocessed: Sequence[int] = ()
    ) -> None:
        """Choose for the next request; without arguments, choose nothing."""
        self.hold_s, self.is_refused, self.unprocessed = hold_s, is_refused, unprocessed

    def throttles(self, _operation: str, /) -> bool:
        return self.is_refused

    def left_out(self, _parts: int, /) -> Sequence[int]:
        return self.unprocessed

    def has_read(self, size_bytes: int, /) -> None:
        self.page_bytes = size_bytes

    def between(self) -> None:
        hold_s, self.hold_s = self.hold_s, 0.0
        if hold_s:
            self._time.sleep(hold_s)


class ModelOfDynamoDB:
    """One endpoint; see the module. counts: requests by what became of them.

    is_limited: False lets partitions take everything, which leaves conflicts and latency.
    """

    def __init__(
        self,
        time: VirtualTime,
        seed: int,
        new_partitions: Callable[[], Partitions] = Partitions,
        *,
        is_limited: bool = True,
    ) -> None:
        self.time = time
        self._choices = _ModelChoices(time)
        self.service = Service(self._choices, time.monotonic)
        self.partitions = {name: new_partitions() for name in (REFS, STAGING)}
        self.counts: Counter[str] = Counter()
        self._random = Random(seed)
        self._is_limited = is_limited

    def tables(self) -> Tables:
        """Return the tables by a client of a new process."""
        retries = RetryPolicy(
            sleep=self.time.sleep, monotonic_s=self.time.monotonic, uniform=self._random.uniform
        )
        signer: Any = _Unsigned()
        return Tables(REFS, STAGING, DynamoDB(_Way(self), signer, retries))

    def serve(self, operation: str, body: bytes) -> BufferedResponse:
        """Return the answer to a request after its time."""
        request = ANYTHING.decode(body)
        duration_s = self._duration_s(operation)
        end_s = self.time.now_s + duration_s
        self.time.sleep(duration_s / 2)
        try:
            status, document = 200, self._answer(operation, request, duration_s / 2)
        except ServiceError as error:
            status, document = error.status, error.document()
            reasons = document.get("CancellationReasons", ())
            codes = [reason["Code"] for reason in reasons] or [error.code]
            self.counts.update(set(codes) - {"None"})
        end_s += READ_BYTE_S * self._choices.page_bytes if operation == "Query" else 0.0
        self.time.sleep(max(0.0, end_s - self.time.now_s))
        return BufferedResponse(status, {}, msgspec.json.encode(document))

    def _duration_s(self, operation: str) -> float:
        usual_s = WRITE_S if operation in _WRITES else READ_S
        median_s = LATENCY_S.get(operation, usual_s)
        return median_s * math.exp(LATENCY_SIGMA * self._random.gauss(0.0, 1.0))

    def _answer(self, operation: str, request: dict[str, Any], hold_s: float) -> Answer:
        self.counts["requests"] += 1
        parts = demands(self.service, operation, request) if self._is_limited else []
        refused = [number for number, part in enumerate(parts) if not self._admits(part)]
        is_batch = operation.startswith("Batch")
        is_refused = bool(refused) and (not is_batch or len(refused) == len(parts))
        taken = [] if is_refused else [p for n, p in enumerate(parts) if n not in refused]
        self.counts["throttled"] += bool(refused)
        is_transaction = operation == "TransactWriteItems"
        self._choices.prepare(
            hold_s if is_transaction else 0.0,
            is_refused=is_refused,
            unprocessed=() if is_refused else refused,
        )
        self._take(taken)
        try:
            answer = self.service.answer(operation, request)
        except ServiceError:
            if is_transaction:
                self._take(taken, CANCELLED_SHARE - 1)
            raise
        finally:
            self._choices.prepare()  # a cancelled transaction holds nothing
        if operation == "Query":
            is_consistent = request.get("ConsistentRead", False)
            units = read_units(self._choices.page_bytes, is_consistent=is_consistent)
            self._take([part._replace(units=units) for part in taken])
        return answer

    def _admits(self, part: Demand) -> bool:
        return self.partitions[part.table].admits(part, self.time.now_s)

    def _take(self, parts: Sequence[Demand], share: float = 1.0) -> None:
        for part in parts:
            self.partitions[part.table].take(part, share)


class _Unsigned:
    """The model asks nobody who sent a request."""

    def signed(self, headers: Mapping[str, str], _body: bytes) -> Mapping[str, str]:
        return headers


class _Request(Pending):
    """A request on its way."""

    def __init__(self, time: VirtualTime, serve: Callable[[], BufferedResponse]) -> None:
        self._time = time
        self._answer: Future[BufferedResponse] = Future()
        time.spawn(lambda: self._answer.set_result(serve()))

    def finish(self, **_: bool) -> BufferedResponse:
        return self._time.result(self._answer)

    def abandon(self) -> None:
        """Do nothing: the service goes on."""


class _Way(DynamoDBHttpClient):
    """One process's way to the model."""

    def __init__(self, model: ModelOfDynamoDB) -> None:
        self.host = "dynamodb.model"
        self._model = model

    def begin(self, headers: Mapping[str, str], body: bytes) -> Pending:
        return _Request(self._model.time, partial(self._model.serve, operation_of(headers), body))

    def close(self) -> None:
        """Do nothing: there are no connections."""
