"""What of committed data keeps which objects alive; and files that are not what they should be."""

from collections.abc import Mapping

import pytest
from msgspec.structs import replace

from graveler.entries import entry_value, join_value
from graveler.errors import CorruptDataError, InvalidInputError
from graveler.model import AddressType, Entry, MetaRangeID, RangeHeader
from graveler.retention.liveness import live_addresses
from graveler.retention.ranges import MetarangeReader, RangeReader
from graveler.sstable import TableWriter
from tests.support.checks.cases import for_each
from tests.support.worlds.lake import NAMESPACE, commit, new_lake, upload

RELATIVE, FULL, BY_PREFIX = (
    AddressType.RELATIVE,
    AddressType.FULL,
    AddressType.BY_PREFIX_DEPRECATED,
)


def value(address: str, kind: AddressType = RELATIVE) -> bytes:
    return entry_value(Entry(address, kind, 1, "checksum", 1))


@for_each(
    ("address", "kind", "expected"),
    [
        ("data/p/x", RELATIVE, ["data/p/x"]),
        ("data/p/x", BY_PREFIX, ["data/p/x"]),
        (f"{NAMESPACE}/data/p/x", FULL, ["data/p/x"]),
        (f"{NAMESPACE}/data/p/x", BY_PREFIX, ["data/p/x"]),
        ("imported/x", RELATIVE, []),
        (f"{NAMESPACE}2/data/p/x", FULL, []),
        ("s3://elsewhere/data/p/x", FULL, []),
        ("data/p/x", FULL, []),
    ],
)
def test_addresses_in_the_namespaces_own_data(
    address: str, kind: AddressType, expected: list[str]
) -> None:
    assert list(live_addresses(NAMESPACE, [value(address, kind)])) == expected


def test_a_value_that_is_no_entry() -> None:
    with pytest.raises(CorruptDataError):
        list(live_addresses(NAMESPACE, [join_value(b"i" * 32, b"\xff")]))


class Files:
    """The metarange and the range of a repository's head, as they are stored."""

    def __init__(self) -> None:
        world = new_lake()
        engine = world.engine()
        self.addresses = {
            upload(engine, path, path).entry.address for path in (b"a", b"b", b"c", b"d")
        }
        self.metarange_id = commit(engine).metarange_id
        self.stored: Mapping[tuple[str, str], bytes] = world.files.files
        (self.header,) = MetarangeReader(self.read, NAMESPACE).headers(self.metarange_id)

    def read(self, namespace: str, file_id: str) -> bytes:
        if (namespace, file_id) not in self.stored:
            raise CorruptDataError("gone")
        return self.stored[namespace, file_id]

    def damaged(self, file_id: str, at: int) -> None:
        content = bytearray(self.stored[NAMESPACE, file_id])
        content[at] ^= 1
        self.stored = {**self.stored, (NAMESPACE, file_id): bytes(content)}

    def addresses_of(self, header: RangeHeader) -> set[str]:
        return set(RangeReader(self.read, NAMESPACE).addresses(header))


@pytest.fixture
def files() -> Files:
    return Files()


def test_a_range_keeps_what_its_entries_name(files: Files) -> None:
    assert files.addresses_of(files.header) == files.addresses


@pytest.mark.parametrize("kind", ["metarange", "range"])
def test_every_damaged_byte_of_data_is_seen_and_its_file_named(files: Files, kind: str) -> None:
    file_id = files.metarange_id if kind == "metarange" else files.header.id
    whole = files.stored
    errors = []
    for at in range(0, len(whole[NAMESPACE, file_id]), 7):
        files.stored = whole
        files.damaged(file_id, at)
        try:
            (header,) = MetarangeReader(files.read, NAMESPACE).headers(files.metarange_id)
            # What is not seen is nobody's content, such as a checksum that nobody reads.
            assert files.addresses_of(header) == files.addresses
        except CorruptDataError as error:
            errors.append(error.message)
    assert errors
    assert all(file_id in message for message in errors)


def test_a_missing_file_is_named(files: Files) -> None:
    files.stored = {}
    with pytest.raises(CorruptDataError, match=files.header.id):
        files.addresses_of(files.header)
    with pytest.raises(CorruptDataError, match=files.metarange_id):
        MetarangeReader(files.read, NAMESPACE).headers(files.metarange_id)


def test_a_file_that_is_refused_is_named(files: Files) -> None:
    def refuse(_namespace: str, _file_id: str) -> bytes:
        raise InvalidInputError("bucket refuses us")

    with pytest.raises(InvalidInputError, match=f"{files.metarange_id}: bucket refuses us"):
        MetarangeReader(refuse, NAMESPACE).headers(files.metarange_id)


def test_another_range_in_its_place(files: Files) -> None:
    for other in (
        replace(files.header, count=3),
        replace(files.header, min_key=b"0"),
        replace(files.header, max_key=b"z"),
    ):
        with pytest.raises(CorruptDataError, match=files.header.id):
            files.addresses_of(other)


def test_a_metarange_of_no_ranges() -> None:
    content = TableWriter("metaranges").finish()
    reader = MetarangeReader(lambda _namespace, _id: content, NAMESPACE)
    assert reader.headers(MetaRangeID("empty")) == []
