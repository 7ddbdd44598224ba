"""RocksDB itself as the judge: it reads what we write, and we read what it writes."""

from random import Random

import pytest
from rocksdict import (
    BlockBasedIndexType,
    BlockBasedOptions,
    ChecksumType,
    DBCompressionType,
    Options,
    Rdict,
    SstFileWriter,
)

from graveler.sstable import Table, TableWriter


def make_records(count):
    random = Random(count)
    return [
        (b"table/year=%04d/part-%06d" % (i // 700, i), random.randbytes(i % 50) + b"=" * (i % 200))
        for i in range(count)
    ]


@pytest.mark.parametrize("compress", [True, False])
@pytest.mark.parametrize("count", [1, 15, 16, 17, 500, 20_000])
def test_rocksdb_reads_what_we_write(tmp_path, count, compress):
    records = make_records(count)
    writer = TableWriter("ranges", compress=compress)
    for key, value in records:
        writer.add(key, value)
    file = tmp_path / "ours.sst"
    file.write_bytes(writer.finish())
    database = Rdict(str(tmp_path / "database"), Options(raw_mode=True))
    try:
        database.ingest_external_file([str(file)])
        assert list(database.items()) == records
        for key, value in records[:: max(1, count // 100)]:
            assert database[key] == value
            assert key + b"\x00" not in database
    finally:
        database.close()


@pytest.mark.parametrize("compression", ["none", "snappy"])
@pytest.mark.parametrize("index", ["binary_search", "two_level_index_search"])
@pytest.mark.parametrize("count", [1, 17, 5_000])
def test_we_read_what_rocksdb_writes(tmp_path, count, index, compression):
    records = make_records(count)
    table_options = BlockBasedOptions()
    table_options.set_format_version(2)
    table_options.set_checksum_type(ChecksumType.crc32c())
    table_options.set_index_type(getattr(BlockBasedIndexType, index)())
    table_options.set_metadata_block_size(512)
    options = Options(raw_mode=True)
    options.set_block_based_table_factory(table_options)
    options.set_compression_type(getattr(DBCompressionType, compression)())
    file = tmp_path / "theirs.sst"
    writer = SstFileWriter(options)
    writer.open(str(file))
    for key, value in records:
        writer[key] = value
    writer.finish()

    table = Table.from_bytes("theirs", file.read_bytes())
    assert list(table.scan()) == records
    for number in range(0, count, max(1, count // 100)):
        key, value = records[number]
        assert table.get(key) == value
        assert table.get(key + b"\x00") is None
        assert next(table.scan(key)) == (key, value)
