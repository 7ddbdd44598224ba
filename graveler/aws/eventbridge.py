"""Publishes events on a bus of EventBridge."""

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from botocore.exceptions import BotoCoreError, ClientError
from msgspec import Struct

from graveler.model import Event
from graveler.model.events import SOURCE, detail_of, detail_type, time_of

if TYPE_CHECKING:
    from mypy_boto3_events import EventBridgeClient
    from mypy_boto3_events.type_defs import PutEventsRequestEntryTypeDef

# The limits of one request: https://docs.aws.amazon.com/eventbridge/latest/userguide/eb-putevents.html
_ENTRIES_MAX = 10
_REQUEST_BYTES_MAX = 256 * 1024
_TIME_BYTES = 14


class Published(Struct, frozen=True):
    """The number of published events from the first on, and the problem at the next ("" if none).

    Some of the later events may be published as well.
    """

    count: int
    problem: str = ""


class EventBridgeBus:
    """A bus of EventBridge."""

    def __init__(self, client: "EventBridgeClient", name: str) -> None:
        self._client = client
        self._name = name

    def publish(self, events: Iterable[Event]) -> Published:
        """Publish the events in their order until one is refused."""
        count = 0
        for batch in _batches(self._entry(event) for event in events):
            try:
                answer = self._client.put_events(Entries=batch)
            except (BotoCoreError, ClientError) as error:
                return Published(count, str(error))
            for result in answer["Entries"]:
                if "ErrorCode" in result:
                    problem = f"{result['ErrorCode']}: {result.get('ErrorMessage', '')}"
                    return Published(count, problem)
                count += 1
        return Published(count)

    def _entry(self, event: Event) -> "PutEventsRequestEntryTypeDef":
        return {
            "EventBusName": self._name,
            "Source": SOURCE,
            "DetailType": detail_type(event.kind),
            "Detail": detail_of(event),
            "Time": time_of(event),
        }


def _batches(
    entries: Iterable["PutEventsRequestEntryTypeDef"],
) -> Iterator[Sequence["PutEventsRequestEntryTypeDef"]]:
    """Yield the entries in their order, in batches that fit a request."""
    batch: list[PutEventsRequestEntryTypeDef] = []
    total_bytes = 0
    for entry in entries:
        entry_bytes = _TIME_BYTES + sum(
            len(entry[part].encode()) for part in ("Source", "DetailType", "Detail")
        )
        if len(batch) == _ENTRIES_MAX or total_bytes + entry_bytes > _REQUEST_BYTES_MAX:
            yield batch
            batch, total_bytes = [], 0
        batch.append(entry)
        total_bytes += entry_bytes
    if batch:
        yield batch
