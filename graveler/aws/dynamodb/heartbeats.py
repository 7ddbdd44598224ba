"""Signs of life in the refs table: of the stream, and of scheduled collections.

An alarm on missing data needs data while everything works. Events may be rare, so each sweep
rewrites one item, and the table's stream carries the change to the events function. Collections may
be weeks apart, and alarms cannot look back so far. So each successful one stores its time, and each
sweep reports its age.
"""

from collections.abc import Iterable
from contextlib import suppress

from graveler.aws.dynamodb.models import (
    COLLECTION,
    HEARTBEATS,
    STREAM_BEAT,
    BeatItem,
    RefsItem,
)
from graveler.aws.dynamodb.records import RefsRecords
from graveler.aws.errors import ConditionFailedError


class HeartbeatStore(RefsRecords):
    """The partition of signs of life."""

    __slots__ = ()

    def beat(self, now_ns: int) -> None:
        """Make a change that the table's stream carries."""
        item = BeatItem(HEARTBEATS, STREAM_BEAT, at_ns=now_ns)
        self.tables.dynamodb.call("PutItem", self.tables.put(item))

    def note_collection(self, series: str, now_ns: int) -> None:
        """Store that a collection of the series succeeded."""
        item = BeatItem(HEARTBEATS, COLLECTION + series, at_ns=now_ns)
        self.tables.dynamodb.call("PutItem", self.tables.put(item))

    def collected_ns(self, watched: Iterable[str], now_ns: int) -> int:
        """Return the oldest of the times of the series' last successes.

        A series without a success counts from the first time that it is watched. watched must not
        be empty.
        """
        request = self.tables.query(HEARTBEATS, COLLECTION)
        found = {
            raw["sort"]["S"].removeprefix(COLLECTION): int(raw["at_ns"]["N"])
            for raws in self.tables.pages(request)
            for raw in raws
        }
        times: list[int] = []
        for series in watched:
            if series not in found:
                self._begin(series, now_ns)
            times.append(found.get(series, now_ns))
        return min(times)

    def _begin(self, series: str, now_ns: int) -> None:
        """Start to watch the series, unless a collection has just stored its success."""
        item = BeatItem(HEARTBEATS, COLLECTION + series, at_ns=now_ns)
        put = self.tables.put(item, RefsItem.sort.does_not_exist())
        with suppress(ConditionFailedError):
            self.tables.dynamodb.call("PutItem", put)
