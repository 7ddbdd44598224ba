"""The files of a refs dump: three metaranges, of commits, branches and tags.

The files have the format of committed data (docs/formats/committed.md) and break by the same rules.
Their IDs also cover their properties (`entity` and schema). A branch and a tag of one name and
commit have equal records, but must not share a file.
"""

from collections.abc import Iterable, Iterator
from hashlib import sha256
from typing import Any, TypeVar

from msgspec import Struct

from graveler.committed.headers import ENTITY, check_records
from graveler.committed.level import METARANGES, RANGES, Level
from graveler.committed.store import Committed
from graveler.committed.writer import breaks_after
from graveler.dump.records import BRANCHES, COMMITS, TAGS, DumpKind
from graveler.entries import range_record, record_range
from graveler.errors import InvalidInputError, in_file
from graveler.identity import key_hash, record_id, record_ids
from graveler.layout import committed_uri
from graveler.model import MetaRangeID, RangeHeader, RangeID, Record
from graveler.sstable import Table, TableWriter

T = TypeVar("T")


class RefsDump(Struct, frozen=True):
    """The IDs of a dump's metaranges; "" if the dump has none of that kind."""

    commits_id: MetaRangeID
    branches_id: MetaRangeID
    tags_id: MetaRangeID

    @property
    def manifest(self) -> dict[str, str]:
        """The IDs as lakeFS writes them to a file, and `lakectl refs-restore` reads them."""
        return {
            "commits_meta_range_id": self.commits_id,
            "tags_meta_range_id": self.tags_id,
            "branches_meta_range_id": self.branches_id,
        }


def write(
    committed: Committed, namespace: str, kind: DumpKind[T], things: Iterable[T]
) -> MetaRangeID:
    """Store things of one kind, which ascend by key; return the ID of their metarange.

    Memory holds one range. Equal things give equal IDs.
    """
    breaking = committed.breaking
    headers: list[RangeHeader] = []
    file = _File(RANGES, kind)
    for key, value in map(kind.encode, things):
        file.add((key, value))
        if breaks_after(key, breaking) or file.size_bytes >= breaking.bytes_max:
            headers.append(file.store(committed, namespace))
            file = _File(RANGES, kind)
    if file.last_key:
        headers.append(file.store(committed, namespace))
    metarange = _File(METARANGES, kind)
    for header in headers:
        metarange.add(range_record(header))
    # Every file is described as a range.
    return MetaRangeID(metarange.store(committed, namespace).id)


class _File:
    """A file being written."""

    def __init__(self, level: Level, kind: DumpKind[Any]) -> None:
        self._level = level
        self._metadata = kind.metadata
        self._table = TableWriter(level.kind, self._metadata)
        self._ids: list[bytes] = []
        self._first_key = b""
        self.last_key = b""

    @property
    def size_bytes(self) -> int:
        return self._table.estimated_size_bytes

    def add(self, record: Record) -> None:
        key, value = record
        self._table.add(key, value)
        self._ids.append(record_id(key_hash(key), self._level.identity(value)))
        self._first_key = self._first_key or key
        self.last_key = key

    def store(self, committed: Committed, namespace: str) -> RangeHeader:
        """End the file and store it; return its header."""
        names = sorted(self._metadata)
        said = record_ids(
            [name.encode() for name in names], [self._metadata[name].encode() for name in names]
        )
        header = RangeHeader(
            id=RangeID(sha256(b"".join(self._ids + said)).hexdigest()),
            min_key=self._first_key,
            max_key=self.last_key,
            count=self._table.count,
            size_bytes=self._table.estimated_size_bytes,
        )
        committed.write(namespace, header.id, self._table.finish()).result()
        return header


def read(
    committed: Committed, namespace: str, metarange_id: MetaRangeID, kind: DumpKind[T]
) -> Iterator[T]:
    """Yield the things that write stored, by key, range by range.

    Raises:
        CorruptDataError: a file is missing, or is not what was written.
        InvalidInputError: a file holds things of another kind, or an impossible thing.
    """
    if not metarange_id:
        return
    metarange = _open(committed, namespace, metarange_id, METARANGES, kind)
    for _, described in metarange.scan():
        with in_file(metarange.name):
            header = record_range(described)
        records = _open(committed, namespace, header.id, RANGES, kind)
        first = last = b""
        count = 0
        for key, value in records.scan():
            with in_file(records.name):
                thing = kind.of_record(key, value)
            first = first or key
            last = key
            count += 1
            yield thing
        with in_file(records.name):
            check_records(header, first, last, count)


def file_ids(committed: Committed, namespace: str, dumped: RefsDump) -> Iterator[str]:
    """Yield the IDs of all files of a dump; each metarange follows its ranges.

    Raises:
        CorruptDataError: a metarange is missing, or is not what was written.
        InvalidInputError: it is not a metarange of a dump.
    """
    kinds = ((dumped.commits_id, COMMITS), (dumped.branches_id, BRANCHES), (dumped.tags_id, TAGS))
    for metarange_id, kind in kinds:
        if not metarange_id:
            continue
        metarange = _open(committed, namespace, metarange_id, METARANGES, kind)
        for _, described in metarange.scan():
            with in_file(metarange.name):
                yield record_range(described).id
        yield metarange_id


def _open(
    committed: Committed, namespace: str, file_id: str, level: Level, kind: DumpKind[Any]
) -> Table:
    """Return the file; its content is not cached.

    Raises:
        CorruptDataError: it is missing, or is not what was written.
        InvalidInputError: its properties state another level or kind.
    """
    content = committed.read_once(namespace, file_id)
    table = Table.from_bytes(committed_uri(namespace, file_id), content)
    for name, expected in (("type", level.kind), (ENTITY, kind.entity)):
        found = table.properties.get(name, b"").decode(errors="replace")
        if found != expected:
            raise InvalidInputError(
                f"{table.name} has {name} {found!r} where a dump's {kind.entity} file has "
                f"{expected!r}: give the IDs that the dump returned"
            )
    return table
