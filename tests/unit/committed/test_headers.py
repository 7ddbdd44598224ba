"""A metarange that describes its ranges wrongly is corrupt, though its checksums are good."""

import pytest
from msgspec.structs import replace

from graveler.committed.headers import HeaderTable
from graveler.committed.metarange import MetaRange
from graveler.committed.store import Breaking, Committed
from graveler.entries import range_record
from graveler.errors import CorruptDataError
from graveler.model import MetaRangeID, RangeHeader, RangeID
from graveler.sstable import TableWriter
from tests.support.fakes.memory import MemoryCommittedFiles
from tests.support.worlds.model import NAMESPACE, token_value, write

HEADERS = [
    RangeHeader(RangeID(f"{n:064x}"), b"%04d" % (10 * n), b"%04d" % (10 * n + 5), 6, 100)
    for n in range(300)
]


def table_of(headers, keys=None):
    writer = TableWriter("metaranges")
    for number, header in enumerate(headers):
        key, value = range_record(header)
        writer.add(keys[number] if keys else key, value)
    return HeaderTable.from_bytes("s3://bucket/_lakefs/a", writer.finish())


def test_the_range_of_a_key_is_found_in_any_block():
    table = table_of(HEADERS)
    for number, header in enumerate(HEADERS):
        for key in (header.min_key, header.min_key + b"x", header.max_key):
            min_key, name, found = table.find(key)
            assert (min_key, found) == (header.min_key, header)
            assert name == f"s3://bucket/_lakefs/{header.id}"
        following = table.find(header.max_key + b"x")
        assert following == (table.find(HEADERS[number + 1].max_key) if number < 299 else None)


@pytest.mark.parametrize(
    ("headers", "keys", "reason"),
    [
        ([HEADERS[0], replace(HEADERS[1], min_key=b"0005")], None, "overlap"),
        ([replace(HEADERS[0], min_key=b"0006")], None, "claims"),
        (HEADERS[:1], [b"0006"], "claims"),
    ],
)
def test_ranges_that_cannot_be_are_corrupt(headers, keys, reason):
    with pytest.raises(CorruptDataError, match=rf"_lakefs/a: offset 0: .*{reason}"):
        table_of(headers, keys).find(b"0001")


def test_records_that_describe_no_range_are_corrupt():
    writer = TableWriter("metaranges")
    writer.add(b"key", b"\x7f")
    table = HeaderTable.from_bytes("s3://bucket/_lakefs/a", writer.finish())
    with pytest.raises(CorruptDataError, match="_lakefs/a: offset 0: a stored value"):
        list(table.ranges())


def test_a_file_with_other_keys_than_its_metarange_claims_is_corrupt():
    files = MemoryCommittedFiles()
    content = {b"%03d" % number: token_value(str(number)) for number in range(20)}
    metarange = write(Committed(files, breaking=Breaking(10**9)), content)
    (header,) = metarange.headers()
    for wrong in (replace(header, min_key=b""), replace(header, max_key=b"1")):
        writer = TableWriter("metaranges")
        writer.add(*range_record(wrong))
        files.files[NAMESPACE, "wrong"] = writer.finish()
        looked_up = MetaRange(Committed(files), NAMESPACE, MetaRangeID("wrong"))
        with pytest.raises(CorruptDataError, match=f"{header.id}.* but its metarange claims"):
            looked_up.get(b"001")
        with pytest.raises(CorruptDataError, match=f"{header.id}.* but its metarange claims"):
            list(looked_up.records())
