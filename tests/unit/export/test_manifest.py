"""A manifest lists every object of a commit, with its ETag at the destination."""

import json

from hypothesis import given
from hypothesis import strategies as st

from graveler.entries import entry_value
from graveler.export.manifest import etags_in, lines_in, lines_of, merged, piece_of
from graveler.model import AddressType, Entry


def record(key: bytes, size_bytes: int = 1) -> tuple[bytes, bytes]:
    entry = Entry("address", AddressType.RELATIVE, size_bytes, "checksum", 0)
    return key, entry_value(entry)


def test_an_objects_etag_is_of_its_copy_or_the_manifest_before_or_its_checksum():
    records = [record(b"a", 1), record(b"b", 2), record("ü".encode(), 3)]
    lines = lines_of(records, iter([(b"a", "copied")]), iter([(b"a", "old"), (b"b", "before")]))
    assert [json.loads(line) for line in lines] == [
        {"key": "a", "etag": "copied", "size": 1},
        {"key": "b", "etag": "before", "size": 2},
        {"key": "ü", "etag": "checksum", "size": 3},
    ]


def test_each_object_has_one_line_whatever_its_key():
    key = 'a"\n\\\u2028\x00'
    (line,) = lines_of([record(key.encode())], iter([]), iter([]))
    assert line.count(b"\n") == 1
    assert json.loads(line)["key"] == key


def test_copies_of_objects_that_the_commit_does_not_have_are_skipped():
    lines = lines_of([record(b"b")], iter([(b"a", "x"), (b"c", "x")]), iter([(b"a", "y")]))
    assert [json.loads(line)["etag"] for line in lines] == ["checksum"]


keys = st.text(max_size=3).map(str.encode)
pieces = st.lists(st.lists(st.tuples(keys, st.text(max_size=3)), min_size=1, max_size=5))


@given(pieces, st.integers(1, 7))
def test_pieces_are_merged_by_key_with_the_latest_copy_first(pieces, chunk_bytes):
    expected = {key: etag for piece in pieces for key, etag in piece}
    stored = []
    for piece in pieces:
        text = piece_of(piece)
        chunks = [text[at : at + chunk_bytes] for at in range(0, len(text), chunk_bytes)]
        stored.append((min(key for key, _ in piece), etags_in(lines_in(chunks))))
    found: dict[bytes, str] = {}
    order = []
    for key, etag in merged(stored):
        order.append(key)
        found.setdefault(key, etag)
    assert order == sorted(order)
    assert found == expected


def test_only_pieces_that_overlap_are_open_at_a_time():
    opened: list[int] = []

    def lines(number: int):
        opened.append(number)
        yield from [(b"%d" % number, "x"), (b"%d+" % number, "x")]

    found = merged([(b"%d" % number, lines(number)) for number in range(9)])
    assert [next(found)[0] for _ in range(3)] == [b"0", b"0+", b"1"]
    assert opened == [0, 1]
