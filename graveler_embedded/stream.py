"""Lambda's event source mapping of a table's stream, on DynamoDB Local.

Theory of operation. A stream is a chain of shards. DynamoDB Local closes the open shard every few
hours, and continues in a child of it. It deletes records after a day. Records are delivered in
their order, and a shard's records after those of its parent.

The position in a shard is stored when a batch is done, before the next one is read. After a
restart, delivery continues behind the position. A batch whose position was not stored is delivered
again, so delivery is at least once. A failed record blocks all records behind it until it succeeds.
Lambda does the same, and gives up only when the stream deletes the record.
"""

import json
import logging
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

import msgspec
from botocore.exceptions import ClientError

from graveler.limits import LAMBDA_PAYLOAD_BYTES_MAX
from graveler_embedded.event_patterns import Pattern, matches
from graveler_embedded.files import write_private
from graveler_embedded.lambda_runtime import LocalFunction

logger = logging.getLogger(__name__)

RECORDS_PER_BATCH_MAX = 100
POLL_INTERVAL_S = 0.2
PAUSES_S = (0.5, 1, 2, 5, 10, 30)

# The size of an event without its records.
_ENVELOPE_BYTES = 1024

# A record as Lambda passes it to a function.
StreamRecord = dict[str, Any]


class StreamClient(Protocol):
    """The methods of boto3's client `dynamodbstreams` that are used."""

    def describe_stream(self, **request: str) -> Mapping[str, Any]: ...
    def get_shard_iterator(self, **request: str) -> Mapping[str, str]: ...
    def get_records(self, **request: str | int) -> Mapping[str, Any]: ...


class NotDoneError(Exception):
    """The function did not process a record."""


class ShardPosition(msgspec.Struct, frozen=True):
    """The end of a shard's delivered part: a sequence number ("" at the start), or all of it."""

    sequence_number: str = ""
    is_done: bool = False


class ShardPositions:
    """The positions in all shards, in a file."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._positions: dict[str, ShardPosition] = {}
        if path.exists():
            self._positions = msgspec.json.decode(path.read_bytes(), type=dict[str, ShardPosition])

    def get(self, shard_id: str) -> ShardPosition:
        """Return the position in the shard."""
        return self._positions.get(shard_id, ShardPosition())

    def put(self, shard_id: str, position: ShardPosition) -> None:
        """Store the position in the shard."""
        self._store(self._positions | {shard_id: position})

    def keep(self, shard_ids: Sequence[str]) -> None:
        """Remove the positions of all other shards."""
        kept = {name: self._positions[name] for name in shard_ids if name in self._positions}
        if kept != self._positions:
            self._store(kept)

    def _store(self, positions: dict[str, ShardPosition]) -> None:
        write_private(self._path, msgspec.json.encode(positions))
        self._positions = positions


class StreamDelivery:
    """Delivers the records of one stream that match a pattern to a function."""

    def __init__(
        self,
        client: StreamClient,
        stream_arn: str,
        positions: ShardPositions,
        function: LocalFunction,
        pattern: Pattern,
    ) -> None:
        self._client = client
        self._stream_arn = stream_arn
        self._positions = positions
        self._function = function
        self._pattern = pattern
        # Parents by shard, as far as they are known; None if the stream must be asked.
        self._parents: Mapping[str, str | None] | None = None
        self._iterators: dict[str, str] = {}

    def deliver_forever(self) -> None:
        """Deliver records as they arrive; after each failure, pause for longer."""
        failures = 0
        while True:
            try:
                is_behind = self.deliver_next()
                failures = 0
            except NotDoneError as error:
                failures += 1
                logger.warning("%s: retrying", error)
            except Exception:
                failures += 1
                logger.exception("the stream could not be read: retrying")
            if failures:
                time.sleep(PAUSES_S[min(failures, len(PAUSES_S)) - 1])
            elif not is_behind:
                time.sleep(POLL_INTERVAL_S)

    def deliver_next(self) -> bool:
        """Deliver the next batch of each shard; return True if more records are probably there.

        Raises:
            NotDoneError: the function failed; the records it did not process are delivered again.
        """
        try:
            if self._parents is None:
                self._parents = self._describe()
            are_behind = [self._deliver_shard(shard_id) for shard_id in self._readable()]
        except BaseException:
            # Iterators expire, and one of them may be ahead of its stored position.
            self._iterators.clear()
            self._parents = None
            raise
        return any(are_behind)

    def _describe(self) -> dict[str, str | None]:
        parents: dict[str, str | None] = {}
        request = {"StreamArn": self._stream_arn}
        while True:
            stream = self._client.describe_stream(**request)["StreamDescription"]
            for shard in stream["Shards"]:
                parents[shard["ShardId"]] = shard.get("ParentShardId")
            if "LastEvaluatedShardId" not in stream:
                self._positions.keep(list(parents))
                return parents
            request["ExclusiveStartShardId"] = stream["LastEvaluatedShardId"]

    def _readable(self) -> list[str]:
        """Return the shards that are not done and whose parent is done."""
        parents = self._parents or {}
        return [
            shard_id
            for shard_id, parent in parents.items()
            if not self._positions.get(shard_id).is_done
            and (parent is None or parent not in parents or self._positions.get(parent).is_done)
        ]

    def _deliver_shard(self, shard_id: str) -> bool:
        iterator = self._iterators.get(shard_id) or self._iterator(shard_id)
        answer = self._client.get_records(ShardIterator=iterator, Limit=RECORDS_PER_BATCH_MAX)
        records = [self._as_lambda_passes(record) for record in answer["Records"]]
        self._deliver(shard_id, records)
        if next_iterator := answer.get("NextShardIterator"):
            self._iterators[shard_id] = next_iterator
            return len(records) == RECORDS_PER_BATCH_MAX
        self._positions.put(shard_id, ShardPosition(is_done=True))
        self._iterators.pop(shard_id, None)
        self._parents = None  # the shard may have a child by now
        return True

    def _iterator(self, shard_id: str) -> str:
        shard = {"StreamArn": self._stream_arn, "ShardId": shard_id}
        if after := self._positions.get(shard_id).sequence_number:
            try:
                return self._client.get_shard_iterator(
                    **shard, ShardIteratorType="AFTER_SEQUENCE_NUMBER", SequenceNumber=after
                )["ShardIterator"]
            except ClientError as error:
                # The stream deleted the record, or restarted its numbers after deleting all.
                logger.warning("shard %s is read from its beginning: %s", shard_id, error)
        return self._client.get_shard_iterator(**shard, ShardIteratorType="TRIM_HORIZON")[
            "ShardIterator"
        ]

    def _as_lambda_passes(self, record: Mapping[str, Any]) -> StreamRecord:
        created = record["dynamodb"]["ApproximateCreationDateTime"].timestamp()
        change = {**record["dynamodb"], "ApproximateCreationDateTime": created}
        return {**record, "dynamodb": change, "eventSourceARN": self._stream_arn}

    def _deliver(self, shard_id: str, records: Sequence[StreamRecord]) -> None:
        """Have the function process the records, and store the position behind those done.

        Raises:
            NotDoneError: the function did not process all.
        """
        wanted = [record for record in records if matches(self._pattern, record)]
        for batch in _batches(wanted):
            done = self._count_done(batch)
            if done < len(batch):
                failed = _sequence_number(batch[done])
                before = [r for r in records if _sequence_number(r) < failed]
                self._store(shard_id, before)
                raise NotDoneError(f"{self._function.name} did not process record {failed}")
        self._store(shard_id, records)

    def _store(self, shard_id: str, done: Sequence[StreamRecord]) -> None:
        if done:
            number = done[-1]["dynamodb"]["SequenceNumber"]
            self._positions.put(shard_id, ShardPosition(number))

    def _count_done(self, batch: Sequence[StreamRecord]) -> int:
        """Return how many records the function processed, counted from the first."""
        try:
            answer = json.loads(self._function.invoke({"Records": batch}))
            failures = (answer or {}).get("batchItemFailures") or []
            failed = {failure["itemIdentifier"] for failure in failures}
        except Exception:
            logger.exception("%s failed", self._function.name)
            return 0
        if not failed:
            return len(batch)
        numbers = [record["dynamodb"]["SequenceNumber"] for record in batch]
        # As with Lambda, an unknown record means that the whole batch failed.
        return min(numbers.index(number) if number in numbers else 0 for number in failed)


def _sequence_number(record: StreamRecord) -> int:
    return int(record["dynamodb"]["SequenceNumber"])


def _batches(records: Sequence[StreamRecord]) -> Iterator[Sequence[StreamRecord]]:
    """Yield the records in their order, in batches that Lambda can carry."""
    batch: list[StreamRecord] = []
    left_bytes = LAMBDA_PAYLOAD_BYTES_MAX - _ENVELOPE_BYTES
    for record in records:
        size_bytes = len(msgspec.json.encode(record)) + 1
        if batch and size_bytes > left_bytes:
            yield batch
            batch, left_bytes = [], LAMBDA_PAYLOAD_BYTES_MAX - _ENVELOPE_BYTES
        batch.append(record)
        left_bytes -= size_bytes
    if batch:
        yield batch
