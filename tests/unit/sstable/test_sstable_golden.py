"""Files that lakeFS wrote: read record for record, and written again byte for byte."""

import json
from hashlib import sha256
from pathlib import Path

import pytest

from graveler.entries import record_range, value_entry
from graveler.sstable import Table, TableWriter
from graveler.sstable.properties import readable_properties
from tests.support.checks.cases import for_each

VECTORS = Path(__file__).parents[2] / "golden" / "vectors"
SETS = json.loads((VECTORS / "ranges.json").read_text())
REFS_DUMP = json.loads((VECTORS / "refs_dump.json").read_text())
OWN_PROPERTIES = {"type", "min_key", "max_key", "count", "estimated_size_bytes"}
ALL_FILES = sorted((VECTORS / "ranges").glob("*/*"))

WITH_METARANGE = [each for each in SETS if "metarange_id" in each]


def open_file(path):
    return Table.from_bytes(path.name, path.read_bytes())


def described_files():
    for golden in SETS:
        for file in [*golden["ranges"], golden.get("metarange_file")]:
            if file is not None:
                yield VECTORS / golden["dir"] / file["id"], file
    for dump in (REFS_DUMP[entity] for entity in ("branch", "commit", "tag")):
        for file in dump["ranges"]:
            yield VECTORS / "ranges" / "refs-dump" / file["id"], file


@for_each("folder", sorted({path.parent for path in ALL_FILES}), ids=lambda f: f.name)
def test_the_same_records_make_the_file_that_lakefs_wrote(folder):
    for path in folder.iterdir():
        table = open_file(path)
        user_properties = {
            name: value.decode()
            for name, value in table.properties.items()
            if not name.startswith("rocksdb.") and name not in OWN_PROPERTIES
        }
        writer = TableWriter(table.properties["type"].decode(), user_properties)
        for keys, values in table.blocks():
            writer.add_many(keys, values)
        estimated_size_bytes = writer.estimated_size_bytes
        assert str(estimated_size_bytes).encode() == table.properties["estimated_size_bytes"]
        assert writer.finish() == path.read_bytes(), path


def test_records_added_one_by_one_make_the_same_file():
    for path in (VECTORS / "ranges" / "n1000-default").iterdir():
        table = open_file(path)
        writer = TableWriter(table.properties["type"].decode())
        for key, value in table.scan():
            writer.add(key, value)
        assert writer.finish() == path.read_bytes()


def test_every_file_has_the_properties_that_lakefs_reports():
    checked = 0
    for path, file in described_files():
        properties = readable_properties(open_file(path).properties)
        for name, value in file["user_properties"].items():
            assert properties[name] == value, (path, name)
        table_properties = file["table_properties"]
        assert properties["rocksdb.comparator"] == table_properties["comparer"]
        assert properties["rocksdb.compression"] == table_properties["compression"]
        assert properties["rocksdb.data.size"] == table_properties["data_size"]
        assert properties["rocksdb.index.size"] == table_properties["index_size"]
        assert properties["rocksdb.num.entries"] == table_properties["num_entries"]
        assert properties["rocksdb.raw.key.size"] == table_properties["raw_key_size"]
        index_type = properties["rocksdb.block.based.table.index.type"]
        assert index_type == table_properties["index_type"]
        checked += 1
    assert checked > 200


@for_each("golden", WITH_METARANGE, ids=lambda golden: golden["dir"])
def test_a_metarange_lists_the_ranges_and_each_range_its_records(golden):
    folder = VECTORS / golden["dir"]
    listed = [record_range(value) for _, value in open_file(folder / golden["metarange_id"]).scan()]
    assert [header.id for header in listed] == [file["id"] for file in golden["ranges"]]
    for header, file in zip(listed, golden["ranges"], strict=True):
        keys = [key for key, _ in open_file(folder / header.id).scan()]
        assert len(keys) == header.count == file["count"]
        assert (keys[0], keys[-1]) == (header.min_key, header.max_key)
        assert keys[0].decode() == file["min_key"]
        assert keys[-1].decode() == file["max_key"]
        assert keys == sorted(set(keys))


@pytest.mark.parametrize("name", ["n10", "n1000-default", "n1000-rag10"])
def test_values_are_those_that_the_rule_of_the_set_makes(name):
    golden = next(each for each in SETS if each["spec"]["name"] == name)
    seen = set()
    for file in golden["ranges"]:
        for _, value in open_file(VECTORS / golden["dir"] / file["id"]).scan():
            entry = value_entry(value)
            number = (entry.last_modified_ns // 10**9 - 1_700_000_000) // 37
            digest = sha256(f"{golden['spec']['seed']}:{number}".encode()).hexdigest()
            assert entry.address == f"data/{digest[:20]}/{digest[20:40]}"
            assert entry.checksum == digest[32:64]
            assert entry.size_bytes == int(digest[:6], 16)
            seen.add(number)
    assert seen == set(range(golden["spec"]["n"]))


@for_each("golden", SETS, ids=lambda golden: golden["dir"])
def test_every_record_is_found_by_its_key_and_nothing_between(golden):
    for file in golden["ranges"]:
        table = open_file(VECTORS / golden["dir"] / file["id"])
        records = list(table.scan())
        step = max(1, len(records) // 40)
        for index in range(0, len(records), step):
            key, value = records[index]
            assert table.get(key) == value
            assert table.get(key + b"\x00") is None
            following = records[index + 1] if index + 1 < len(records) else None
            assert next(table.scan(key)) == records[index]
            assert next(table.scan(key + b"\x00"), None) == following
