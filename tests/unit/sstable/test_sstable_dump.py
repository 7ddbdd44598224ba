"""`python -m graveler.sstable`: what people see of a file."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from graveler.entries import record_range, split_value, value_entry
from graveler.sstable import Table, TableWriter
from graveler.sstable.__main__ import main

GOLDEN = Path(__file__).parents[2] / "golden" / "vectors" / "ranges"


def run(capsys, *arguments):
    status = main([str(argument) for argument in arguments])
    captured = capsys.readouterr()
    return status, [json.loads(line) for line in captured.out.splitlines()], captured.err


def golden_file(folder, kind):
    for path in sorted((GOLDEN / folder).iterdir()):
        table = Table.from_bytes(path.name, path.read_bytes())
        if table.properties["type"] == kind:
            return path, list(table.scan())
    raise AssertionError(f"{folder} has no {kind}")


def test_a_range_is_shown_record_by_record(capsys):
    path, records = golden_file("n10", b"ranges")
    status, shown, errors = run(capsys, "dump", path)
    assert (status, errors, len(shown)) == (0, "", len(records))
    for line, (key, stored) in zip(shown, records, strict=True):
        identity, data = split_value(stored)
        entry = value_entry(stored)
        assert bytes.fromhex(line["key"]) == key
        assert bytes.fromhex(line["identity"]) == identity
        assert bytes.fromhex(line["value"]) == data
        decoded = line["decoded"]
        assert decoded["key"] == key.decode()
        assert decoded["address"] == entry.address
        assert decoded["e_tag"] == entry.checksum
        assert decoded["size"] == entry.size_bytes
        assert decoded["metadata"] == entry.metadata
        assert decoded["content_type"] == entry.content_type
        assert decoded["address_type"] == "RELATIVE"
    assert shown[1]["decoded"]["last_modified"] == "2023-11-14T22:18:53.009000027Z"


def test_a_metarange_is_shown_range_by_range(capsys):
    path, records = golden_file("n1000-deep", b"metaranges")
    status, shown, _ = run(capsys, "dump", path)
    assert status == 0
    headers = [record_range(stored) for _, stored in records]
    assert [line["decoded"] for line in shown] == [
        {
            "id": header.id,
            "min_key": header.min_key.decode(),
            "max_key": header.max_key.decode(),
            "estimated_size": header.size_bytes,
            "count": header.count,
        }
        for header in headers
    ]


def test_a_refs_dump_is_shown_with_the_commit_of_each_ref(capsys):
    path = next(
        path
        for path in sorted((GOLDEN / "refs-dump").iterdir())
        if Table.from_bytes("", path.read_bytes()).properties["type"] == b"ranges"
    )
    status, shown, _ = run(capsys, "dump", path)
    assert status == 0
    assert shown
    assert all(len(line["decoded"]["commit_id"]) == 64 for line in shown)


def test_an_empty_metarange_shows_nothing(capsys):
    path, _ = golden_file("n0", b"metaranges")
    assert run(capsys, "dump", path) == (0, [], "")


def test_keys_of_any_bytes_are_shown(capsys, tmp_path):
    _, records = golden_file("n1", b"ranges")
    writer = TableWriter("ranges")
    writer.add(b"\xff\x00", records[0][1])
    file = tmp_path / "odd"
    file.write_bytes(writer.finish())
    _, (line,), _ = run(capsys, "dump", file)
    assert line["key"] == "ff00"
    assert line["decoded"]["key"] == "\\xff\x00"


def test_properties_are_shown_as_text_and_numbers(capsys):
    path, records = golden_file("n10", b"ranges")
    status, (shown,), _ = run(capsys, "properties", path)
    assert status == 0
    assert shown["type"] == "ranges"
    assert shown["count"] == "10"
    assert shown["min_key"] == records[0][0].decode()
    assert shown["max_key"] == records[-1][0].decode()
    assert shown["rocksdb.num.entries"] == 10
    assert shown["rocksdb.compression"] == "Snappy"


@pytest.mark.parametrize("command", ["dump", "properties"])
def test_a_missing_or_damaged_file_is_one_line_that_names_it(capsys, tmp_path, command):
    damaged = tmp_path / "damaged"
    damaged.write_bytes(golden_file("n10", b"ranges")[0].read_bytes()[:-1])
    for path in (tmp_path / "missing", tmp_path, damaged):
        status, shown, errors = run(capsys, command, path)
        assert (status, shown) == (1, [])
        assert errors.startswith(f"{path}: ")
        assert errors.count("\n") == 1


def test_values_that_are_no_stored_values_are_reported_with_their_file(capsys, tmp_path):
    writer = TableWriter("ranges")
    writer.add(b"key", b"\x7f")
    file = tmp_path / "foreign"
    file.write_bytes(writer.finish())
    status, shown, errors = run(capsys, "dump", file)
    assert (status, shown) == (1, [])
    assert errors.startswith(f"{file}: key b'key': ")


@pytest.mark.parametrize("arguments", [[], ["dump"], ["frob", "x"], ["dump", "a", "b"]])
def test_wrong_usage_ends_with_status_2(capsys, arguments):
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    assert ended.value.code == 2
    assert "usage:" in capsys.readouterr().err


def test_a_reader_that_stops_early_causes_no_complaint():
    path, _ = golden_file("n50000-default", b"ranges")
    command = [sys.executable, "-m", "graveler.sstable", "dump", str(path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout.readline().startswith(b'{"key"')
        process.stdout.close()
        assert process.stderr.read() == b""
