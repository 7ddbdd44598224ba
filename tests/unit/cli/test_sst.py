"""`graveler sst`: what is in range and metarange files, and whether they are whole."""

import io
import json
import subprocess
import sys
from pathlib import Path

import pytest
from botocore.response import StreamingBody
from botocore.stub import Stubber

from graveler.entries import split_value, value_entry
from graveler.sstable import Table, TableWriter

GOLDEN = Path(__file__).parents[2] / "golden" / "vectors" / "ranges"


def golden_file(folder, kind):
    for path in sorted((GOLDEN / folder).iterdir()):
        if Table.from_bytes("", path.read_bytes()).properties["type"] == kind:
            return path
    raise AssertionError(f"{folder} has no {kind}")


RANGE = golden_file("n10", b"ranges")
METARANGE = golden_file("n10", b"metaranges")


@pytest.mark.parametrize("command", [("sst", "cat"), ("cat-sst", "-f")])
def test_the_objects_of_a_range_are_shown_as_lakectl_does(graveler, server, command):
    first, *others = graveler.prints(*command, str(RANGE)).splitlines()
    assert first == (
        "op-n10/part-00000000/obj-00000000\t"
        "49387c8eb269763f6559dbc98b573094b9b164d80d249f4cb83beb78ced16492\t11122832\t"
        "bca534249fae8840b39f28185fe8e680\t2023-11-14 22:13:20 +0000 UTC\t"
        "data/a9b8903bfd6ca9311c9f/ecb09eee76fdbca53424\tmap[m:v0]"
    )
    assert len(others) == 9
    assert server.asked == []


def test_the_ranges_of_a_metarange_are_shown(graveler):
    assert graveler.prints("sst", "cat", str(METARANGE)) == (
        f"{RANGE.name}\top-n10/part-00000000/obj-00000000\top-n10/part-00000000/obj-00000009\t"
        "10\t1726\n"
    )


def test_the_refs_of_a_dump_are_shown(graveler):
    shown = {}
    for file in sorted((GOLDEN / "refs-dump").iterdir()):
        properties = Table.from_bytes("", file.read_bytes()).properties
        if properties["type"] == b"ranges":
            lines = graveler.prints("sst", "cat", str(file)).splitlines()
            shown[properties["entity"]] = lines[0].split("\t")
            assert json.loads(graveler.prints("sst", "cat", "--json", str(file)).splitlines()[0])
    assert len(shown[b"commit"]) == 9
    assert all(len(cells) == 2 for kind, cells in shown.items() if kind != b"commit")


def test_metadata_is_readable_on_a_terminal(graveler):
    words = ("sst", "cat", str(RANGE), "--amount", "1")
    terminal = {"LAKECTL_INTERACTIVE": "true", "TERM": "xterm", "COLUMNS": "400"}
    assert "| m=v0 " in graveler.prints(*words, **terminal)


def test_an_amount_of_records_is_shown_as_json(graveler):
    shown = graveler.prints("sst", "cat", str(RANGE), "--amount", "1", "--json")
    [record] = [json.loads(line) for line in shown.splitlines()]
    assert record["key"] == "op-n10/part-00000000/obj-00000000"
    assert record["size"] == 11122832
    assert graveler.prints("cat-sst", "-f", str(RANGE), "--amount", "0") == ""


def test_records_are_shown_with_all_fields_as_json(graveler):
    shown = graveler.prints("sst", "cat", str(RANGE), "--json")
    stored = list(Table.from_bytes("", RANGE.read_bytes()).scan())
    found = [json.loads(line) for line in shown.splitlines()]
    assert len(found) == len(stored)
    for record, (key, value) in zip(found, stored, strict=True):
        entry = value_entry(value)
        assert record == {
            "key": key.decode(),
            "identity": split_value(value)[0].hex(),
            "address": entry.address,
            "address_type": "RELATIVE",
            "last_modified": record["last_modified"],
            "size": entry.size_bytes,
            "e_tag": entry.checksum,
            "metadata": entry.metadata,
            "content_type": entry.content_type,
        }
    assert found[1]["last_modified"] == "2023-11-14T22:18:53.009000027Z"


def test_records_are_shown_as_bytes_in_hex(graveler, tmp_path):
    _, stored = next(Table.from_bytes("", RANGE.read_bytes()).scan())
    writer = TableWriter("ranges")
    writer.add(b"\xff\x00", stored)
    file = tmp_path / "odd"
    file.write_bytes(writer.finish())
    identity, value = split_value(stored)
    cells = graveler.prints("sst", "cat", "--raw", str(file)).split()
    assert cells == ["ff00", identity.hex(), value.hex()]
    [record] = graveler.prints("sst", "cat", "--raw", "--json", str(file)).splitlines()
    assert json.loads(record) == dict(zip(("key", "identity", "value"), cells, strict=True))
    [record] = graveler.prints("sst", "cat", "--json", str(file)).splitlines()
    assert json.loads(record)["key"] == "\\xff\x00"


def test_an_empty_metarange_shows_nothing(graveler):
    assert graveler.prints("sst", "cat", str(golden_file("n0", b"metaranges"))) == ""


def test_a_value_of_a_foreign_form_is_named_with_its_file(graveler, tmp_path):
    writer = TableWriter("ranges")
    writer.add(b"key", b"\x7f")
    file = tmp_path / "foreign"
    file.write_bytes(writer.finish())
    assert graveler.fails("sst", "cat", str(file)).startswith(f"{file}: key b'key': ")


def test_a_reader_that_stops_early_causes_no_complaint():
    command = [
        sys.executable,
        "-m",
        "graveler_cli",
        "sst",
        "cat",
        str(golden_file("n1000-num", b"ranges")),
    ]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout.readline()
        process.stdout.close()
        assert process.stderr.read() == b""


def test_properties_are_shown_as_texts_and_numbers(graveler):
    shown = graveler.prints("sst", "properties", str(RANGE))
    assert "count: 10\n" in shown
    assert "type: ranges\n" in shown
    found = json.loads(graveler.prints("sst", "properties", "--json", str(RANGE)))
    assert (found["type"], found["count"]) == ("ranges", "10")
    assert found["min_key"] == "op-n10/part-00000000/obj-00000000"
    assert found["rocksdb.num.entries"] == 10
    assert found["rocksdb.compression"] == "Snappy"


@pytest.mark.parametrize("folder", ["n0", "n1", "n10", "n1000-num", "refs-dump"])
def test_files_of_both_systems_are_whole(graveler, folder):
    files = [str(file) for file in sorted((GOLDEN / folder).iterdir())]
    shown = graveler.prints("sst", "verify", *files)
    assert shown == "".join(f"{file}: whole\n" for file in files)


def test_a_name_that_is_not_the_content_s_id_is_a_fault(graveler, tmp_path):
    file = tmp_path / ("0" * 64)
    file.write_bytes(RANGE.read_bytes())
    result = graveler.run("sst", "verify", str(file))
    assert result.exit_code == 1
    assert f", or {RANGE.name} in lakeFS\n" in result.stdout


def test_a_damaged_block_is_a_fault(graveler, tmp_path):
    content = bytearray(golden_file("n1000-num", b"ranges").read_bytes())
    content[10] ^= 1
    file = tmp_path / "damaged"
    file.write_bytes(content)
    result = graveler.run("sst", "verify", "--json", str(file), str(RANGE))
    assert result.exit_code == 1
    damaged, whole = map(json.loads, result.stdout.splitlines())
    assert (damaged["is_whole"], whole["is_whole"]) == (False, True)
    assert damaged["faults"][0].startswith("offset 0: ")
    assert graveler.fails("sst", "cat", str(file)).startswith(f"{file}: offset 0: ")
    assert graveler.fails("sst", "stats", str(file)).startswith(f"{file}: offset 0: ")


def test_records_that_cannot_be_are_faults(graveler, tmp_path):
    table = Table.from_bytes("", RANGE.read_bytes())
    (key, value), (other_key, _), *_ = table.scan()
    writer = TableWriter("ranges")
    writer.add(key, value[:1] + bytes(32) + value[33:])
    writer.add(other_key, b"\x02")
    file = tmp_path / "records"
    file.write_bytes(writer.finish())
    lines = graveler.run("sst", "verify", str(file)).stdout.splitlines()
    assert [line.partition(f"{file}: ")[2] for line in lines] == [
        f"key {key!r}: the identity is not that of its entry",
        f"key {other_key!r}: a stored value of 1 bytes claims a part of 1",
    ]


def test_the_numbers_of_a_file_are_shown(graveler):
    shown = graveler.prints("sst", "stats", str(RANGE))
    assert "Kind: ranges\n" in shown
    assert "Records: 10\nFirst key: op-n10/part-00000000/obj-00000000\n" in shown
    assert "Compression: Snappy\n" in shown
    found = json.loads(graveler.prints("sst", "stats", "--json", str(RANGE)))
    assert (found["records"], found["data_blocks"]) == (10, 1)
    assert found["size_bytes"] == RANGE.stat().st_size
    empty = golden_file("n0", b"metaranges")
    assert "Records: 0\nFirst key:\n" in graveler.prints("sst", "stats", str(empty))


@pytest.mark.parametrize("command", ["cat", "verify", "stats", "properties"])
@pytest.mark.parametrize("end", [0, 1, 52, 53, 400, -1])
def test_a_truncated_file_is_one_line(graveler, tmp_path, command, end):
    file = tmp_path / "cut"
    file.write_bytes(RANGE.read_bytes()[:end])
    result = graveler.run("sst", command, str(file))
    assert result.exit_code == 1
    assert len((result.stdout + result.stderr).splitlines()) == 1
    assert str(file) in result.output


def test_any_damage_is_told(tmp_path):
    from graveler.sstable.inspection import faults  # noqa: PLC0415

    content = RANGE.read_bytes()
    for at in range(0, len(content), 7):
        damaged = bytearray(content)
        damaged[at] ^= 0x41
        list(faults("x", bytes(damaged), RANGE.name))  # no other error than faults


@pytest.mark.parametrize("command", ["cat", "verify", "stats", "properties"])
def test_a_wrong_file_is_named(graveler, tmp_path, command):
    told = graveler.fails("sst", command, str(tmp_path / "none"))
    assert told == f"cannot read {tmp_path}/none: no such file or directory"
    assert "missing argument" in graveler.fails("sst", command)
    told = graveler.fails("sst", command, "s3://b")
    assert "does not name an object: write s3://BUCKET/KEY" in told


def test_cat_sst_needs_its_file(graveler):
    assert "missing option '--file'" in graveler.fails("cat-sst")


@pytest.fixture
def s3(monkeypatch):
    import boto3  # noqa: PLC0415 - as the program does

    client = boto3.client(
        "s3", region_name="eu-west-1", aws_access_key_id="x", aws_secret_access_key="x"
    )
    monkeypatch.setattr("boto3.client", lambda _name: client)
    with Stubber(client) as stubber:
        yield stubber


def test_an_s3_object_is_read(graveler, s3):
    content = RANGE.read_bytes()
    body = StreamingBody(io.BytesIO(content), len(content))
    key = f"a#b/_lakefs/{RANGE.name}"
    s3.add_response("get_object", {"Body": body}, {"Bucket": "bucket", "Key": key})
    uri = f"s3://bucket/{key}"
    assert graveler.prints("sst", "verify", uri) == f"{uri}: whole\n"


def test_an_s3_object_that_cannot_be_read_is_one_line(graveler, s3):
    s3.add_client_error("get_object", "NoSuchKey", "The key does not exist", 404)
    told = graveler.fails("sst", "stats", "s3://bucket/key")
    assert told.startswith("cannot read s3://bucket/key: ")
    assert "NoSuchKey" in told


def test_without_the_server_s_packages_the_remedy_is_named():
    program = (
        "import sys; sys.modules['graveler.sstable'] = None; sys.argv = sys.argv[:1] + "
        f"['sst', 'stats', {str(RANGE)!r}]; from graveler_cli.__main__ import main; main()"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False, timeout=60
    )
    assert done.returncode == 1
    assert "install the extra 'server' (docs/cli.md, Installation)" in done.stderr
