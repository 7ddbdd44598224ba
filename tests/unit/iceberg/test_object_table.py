"""Readers can read each row of the table of a commit's objects, whatever its objects are called."""

from collections.abc import Mapping
from datetime import UTC, datetime
from io import BytesIO

import pyarrow.parquet as pq
import pytest

from graveler.entries import entry_value
from graveler.iceberg import object_table
from graveler.iceberg.object_table import ObjectTable
from graveler.model import AddressType, Entry, MetaRangeID, RangeHeader, RangeID
from graveler.times import NS_PER_S

TABLE = ObjectTable("s3://bucket/lake", MetaRangeID("ab" * 32))
FIRST, LAST = datetime(1, 1, 1, tzinfo=UTC), datetime.max.replace(tzinfo=UTC)
LAST_SECOND = LAST.replace(microsecond=0)


def entry(*, time_ns: int = 0, metadata: Mapping[str, str] | None = None) -> Entry:
    return Entry("data/a", AddressType.RELATIVE, 1, "c", time_ns, "text/plain", metadata or {})


@pytest.mark.parametrize(
    ("time_s", "shown"),
    [
        (-(2**63), FIRST),
        (int(FIRST.timestamp()), FIRST),
        (-1, datetime(1969, 12, 31, 23, 59, 59, tzinfo=UTC)),
        (int(LAST_SECOND.timestamp()), LAST_SECOND),
        (int(LAST_SECOND.timestamp()) + 1, LAST),
        (2**63 - 1, LAST),
    ],
)
def test_a_time_that_readers_do_not_know_is_the_next_one(time_s: int, shown: datetime) -> None:
    made = TABLE.data([(b"a", entry_value(entry(time_ns=time_s * NS_PER_S)))])
    assert pq.read_table(BytesIO(made))["last_modified"].to_pylist() == [shown]


def test_the_file_of_a_range_does_not_depend_on_the_order_of_labels(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Processes read the labels of an entry in different orders."""

    def made(*labels: str) -> bytes:
        read = entry(metadata=dict.fromkeys(labels, "x"))
        monkeypatch.setattr(object_table, "value_entry", lambda _value: read)
        return TABLE.data([(b"a", b"")])

    assert made("a", "b", "c") == made("c", "a", "b")


@pytest.mark.parametrize(
    ("path", "bound"),
    [(b"a", b"a"), ("é\0".encode(), "é\0".encode()), (b"\x80", None), (b"a\xff", None)],
)
def test_no_reader_gets_a_bound_that_is_not_utf_8(path: bytes, bound: bytes | None) -> None:
    file = TABLE.data_file(RangeHeader(RangeID("cd" * 32), path, path, 1, 1), 1)
    wanted = {} if bound is None else {1: bound}
    assert (file.lower, file.upper) == (wanted, wanted)
