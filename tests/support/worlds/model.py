"""A reference model of the engine in plain dictionaries: slow, obvious, written from the docs."""

from collections.abc import Callable, Collection, Iterable, Mapping
from hashlib import md5, sha256

from graveler.committed.apply import apply_changes
from graveler.committed.level import METARANGES
from graveler.committed.metarange import MetaRange
from graveler.committed.store import Breaking, Committed
from graveler.committed.writer import FileWriter
from graveler.entries import entry_value, range_record, value_identity
from graveler.model import (
    EMPTY_METARANGE,
    AddressType,
    Change,
    Entry,
    MetaRangeID,
    RangeHeader,
    RangeID,
)
from graveler.sstable import TableWriter
from graveler.staging.listing import CommonPrefix, PageQuery
from tests.support.fakes.memory import MemoryCommittedFiles

NAMESPACE = "s3://bucket/repository"

# Ranges of one record, of few, and of all: results must not depend on the breaking.
BREAKINGS = (Breaking(1), Breaking(2), Breaking(3), Breaking(), Breaking(3, bytes_max=200))

Records = dict[bytes, bytes]
Key = Callable[[bytes], bytes]


def token_entry(token: str) -> Entry:
    """The entry that a token `content[@address]` of the vectors stands for."""
    content, _, address = token.partition("@")
    return Entry(
        address="data/" + sha256((address or content).encode()).hexdigest()[:20],
        address_type=AddressType.RELATIVE,
        size_bytes=int(sha256(content.encode()).hexdigest()[:6], 16),
        checksum=md5(content.encode()).hexdigest(),
        last_modified_ns=1_600_000_000 * 10**9,
        content_type="application/octet-stream",
    )


def token_value(token: str) -> bytes:
    """The stored value that a token of the vectors stands for."""
    return entry_value(token_entry(token))


def token_records(tokens: Mapping[str, str] | None) -> Records:
    """The records that a mapping of paths to tokens stands for."""
    return {key.encode(): token_value(token) for key, token in (tokens or {}).items()}


def committed_in_memory(breaking: Breaking | None = None) -> tuple[Committed, MemoryCommittedFiles]:
    """Committed data without files, and the store that will hold them."""
    files = MemoryCommittedFiles()
    return Committed(files, breaking=breaking), files


def write(committed: Committed, records: Mapping[bytes, bytes]) -> MetaRange:
    """A metarange of the records, written from scratch."""
    made = apply_changes(committed, opened(committed, EMPTY_METARANGE), sorted(records.items()))
    if records:
        return opened(committed, made.metarange_id)
    empty = FileWriter(committed, NAMESPACE, METARANGES)
    empty.begin_file()
    (metarange,) = empty.finish()
    return opened(committed, MetaRangeID(metarange.id))


def write_as_lakefs(
    files: MemoryCommittedFiles, records: Mapping[bytes, bytes], ends: Collection[bytes]
) -> MetaRangeID:
    """The ID of a metarange whose ranges end after those keys; blocks as lakeFS cuts them."""
    ranges, table, first = TableWriter("metaranges"), TableWriter("ranges"), b""
    keys = sorted(records)
    for key in keys:
        first = first or key
        table.add(key, records[key])
        if key in ends or key == keys[-1]:
            count, size_bytes, content = table.count, table.estimated_size_bytes, table.finish()
            name = RangeID(sha256(content).hexdigest())
            files.files[NAMESPACE, name] = content
            ranges.add(*range_record(RangeHeader(name, first, key, count, size_bytes)))
            table, first = TableWriter("ranges"), b""
    content = ranges.finish()
    metarange_id = MetaRangeID(sha256(content).hexdigest())
    files.files[NAMESPACE, metarange_id] = content
    return metarange_id


def id_of(records: Mapping[bytes, bytes], breaking: Breaking) -> MetaRangeID:
    """Return the ID of the metarange of the records by its formula; ranges break by key only."""

    def h(data: bytes) -> bytes:
        return sha256(data).digest()

    ranges, range_ids = b"", b""
    keys = sorted(records)
    for key in keys:
        range_ids += h(h(key) + h(records[key]))
        if int.from_bytes(h(key)[:8], "big") % breaking.raggedness_records == 0 or key == keys[-1]:
            ranges += h(h(key) + h(h(range_ids).hex().encode()))
            range_ids = b""
    return MetaRangeID(h(ranges).hex())


def opened(committed: Committed, metarange_id: MetaRangeID) -> MetaRange:
    """The stored metarange of that ID."""
    return MetaRange(committed, NAMESPACE, metarange_id)


def read(metarange: MetaRange) -> Records:
    """Every record of the metarange, which must be in order."""
    records = list(metarange.records())
    assert [key for key, _ in records] == sorted({key for key, _ in records})
    return dict(records)


def same(one: bytes | None, other: bytes | None) -> bool:
    """Whether two records, or missing ones, are equal in content."""
    if one is None or other is None:
        return one is other
    return value_identity(one) == value_identity(other)


def same_records(one: Records, other: Records) -> bool:
    """Whether two sets of records are equal in content."""
    return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)


def changes_between(base: Records, target: Records) -> list[Change]:
    """The changes that make base target, ascending."""
    return [
        (key, target.get(key))
        for key in sorted(base.keys() | target.keys())
        if base.get(key) != target.get(key)
    ]


def applied(base: Records, changes: Iterable[Change]) -> Records:
    """What a commit of the changes over base holds."""
    last = base | dict(changes)
    return {key: value for key, value in last.items() if value is not None}


def differences(left: Records, right: Records) -> list[tuple[bytes, bytes | None, bytes | None]]:
    """Key, left and right of everything whose content differs, ascending."""
    return [
        (key, left.get(key), right.get(key))
        for key in sorted(left.keys() | right.keys())
        if not same(left.get(key), right.get(key))
    ]


class Conflict(Exception):  # noqa: N818 - an outcome of the table, not a failure
    """Both sides changed a key differently."""


def merged(base: Records, source: Records, destination: Records, strategy: str = "") -> Records:
    """The merge by the concepts' table, key by key; of two equal records the source's."""
    result: Records = {}
    for key in base.keys() | source.keys() | destination.keys():
        in_base, in_source, in_destination = base.get(key), source.get(key), destination.get(key)
        if same(in_base, in_source):
            chosen = in_destination
        elif (
            same(in_base, in_destination)
            or same(in_source, in_destination)
            or strategy == "source-wins"
        ):
            chosen = in_source
        elif strategy == "dest-wins":
            chosen = in_destination
        else:
            raise Conflict(key)
        if chosen is not None:
            result[key] = chosen
    return result


def listed(keys: Iterable[bytes], query: PageQuery) -> list[bytes | CommonPrefix]:
    """Everything from the query's page on, whatever its amount."""
    shown: dict[bytes, bytes | CommonPrefix] = {}
    for key in sorted(keys):
        if not key.startswith(query.prefix):
            continue
        at = key.find(query.delimiter, len(query.prefix)) if query.delimiter else -1
        if at < 0:
            shown[key] = key
        else:
            folded = key[: at + len(query.delimiter)]
            shown[folded] = CommonPrefix(folded)
    return [item for key, item in sorted(shown.items()) if key > query.after]
