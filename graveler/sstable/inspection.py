"""What is in a range or metarange file, and what is wrong with it, for people and scripts."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import UTC, datetime
from hashlib import sha256
from typing import Any

from google.protobuf.message import DecodeError

from graveler.entries import decode_entry, record_range, split_value
from graveler.errors import CorruptDataError
from graveler.identity import entry_identity, is_id, lakefs_file_id, record_ids
from graveler.proto import stored_pb2 as messages
from graveler.sstable.format import BLOCK_TRAILER_BYTES
from graveler.sstable.properties import DATA_BLOCKS, readable_properties
from graveler.sstable.reader import Table
from graveler.sstable.table_in_memory import TableInMemory
from graveler.times import NS_PER_S

Json = dict[str, object]

_METARANGES = "metaranges"
_RANGES = "ranges"

# The user properties that the writer adds when it ends a file.
_SUMMARY = ("min_key", "max_key", "count", "estimated_size_bytes")
_KEY_TRAILER_BYTES = 8


def open_table(name: str, content: bytes) -> Table:
    """Return the table of a whole file.

    Raises:
        CorruptDataError: the bytes are not those of a table.
    """
    return Table.from_bytes(name, content)


def kind_of(table: Table | TableInMemory) -> str:
    """Return what the records are: metaranges (records of ranges), ranges, or an entity.

    The entities are those of dumps: branch, commit, tag.
    """
    properties = table.properties
    if properties.get("type") == _METARANGES.encode():
        return _METARANGES
    return properties.get("entity", _RANGES.encode()).decode(errors="backslashreplace")


def decoded_records(table: Table) -> Iterator[tuple[bytes, bytes, bytes, Json]]:
    """Yield key, identity, data and the decoded value of each record.

    Raises:
        CorruptDataError: a record or its block is not what was written.
    """
    decode = _decoder(kind_of(table))
    for key, stored in table.scan():
        try:
            identity, data = split_value(stored)
            yield key, identity, data, decode(key, stored, data)
        except CorruptDataError as e:
            raise CorruptDataError(f"{table.name}: key {key!r}: {e}") from e


def properties(table: Table) -> Json:
    """Return the file's properties as texts and numbers.

    Raises:
        CorruptDataError: a number among them is malformed.
    """
    try:
        return dict(readable_properties(table.properties))
    except ValueError as e:
        raise CorruptDataError(f"{table.name}: properties: {e}") from e


def statistics(name: str, content: bytes) -> Json:
    """Return what the file has: records, keys, blocks, sizes, compression.

    Raises:
        CorruptDataError: the file is not whole.
    """
    table = TableInMemory.from_bytes(name, content)
    blocks = [table.block(at) for at in range(len(table))]
    keys = [key for block in blocks for key in block.keys]
    stored = [end - begin for begin, end in map(table.extent, range(len(table)))]
    raw_bytes = sum(len(table.raw_block(at)) for at in range(len(table)))
    compressed = sum(content[table.extent(at)[1] - BLOCK_TRAILER_BYTES] for at in range(len(table)))
    return {
        "name": name,
        "kind": kind_of(table),
        "size_bytes": len(content),
        "records": len(keys),
        "first_key": _text(keys[0]) if keys else None,
        "last_key": _text(keys[-1]) if keys else None,
        "data_blocks": len(table),
        "data_bytes": sum(stored),
        "uncompressed_data_bytes": raw_bytes,
        "largest_block_bytes": max(stored),
        "compressed_blocks": compressed,
        "compression": table.properties.get("rocksdb.compression", b"").decode(errors="replace"),
    }


def faults(name: str, content: bytes, file_id: str) -> Iterator[str]:
    """Yield everything that is wrong with a file: checksums, order, properties, records, its ID.

    Args:
        name: what messages call the file.
        content: the whole file.
        file_id: the ID that the content should have, or another text if that is not known.
    """
    try:
        table = TableInMemory.from_bytes(name, content)
        kind = kind_of(table)
        stated = readable_properties(table.properties)
    except CorruptDataError as e:
        yield _without(name, e)
        return
    except ValueError as e:
        yield f"properties: {e}"
        return
    decode = _decoder(kind)
    records: list[tuple[bytes, bytes]] = []
    is_whole, end = True, 0
    for at in range(len(table)):
        try:
            begin, next_end = table.extent(at)
            if begin != end:
                yield f"offset {end}: {begin - end} bytes belong to no data block"
            end = next_end
            block = table.block(at)
        except CorruptDataError as e:
            yield _without(name, e)
            is_whole = False
            continue
        for key, stored in zip(block.keys, block.values, strict=True):
            records.append((key, stored))
            yield from _of_record(kind, decode, key, stored)
    if is_whole:  # else these would only follow from the faults above
        yield from _of_properties(stated, records, len(table))
        yield from _of_id(file_id, table.properties, kind, records)


def _of_record(
    kind: str, decode: Callable[[bytes, bytes, bytes], Json], key: bytes, stored: bytes
) -> Iterator[str]:
    try:
        identity, data = split_value(stored)
        decode(key, stored, data)
        if kind == _RANGES and identity != entry_identity(decode_entry(data)):
            yield f"key {key!r}: the identity is not that of its entry"
        if kind == _METARANGES:
            header = record_range(stored)
            if not is_id(header.id):
                yield f"key {key!r}: {header.id!r} is not the ID of a range"
            if not header.min_key <= header.max_key == key:
                yield f"key {key!r}: the range's keys are {header.min_key!r} to {header.max_key!r}"
    except CorruptDataError as e:
        yield f"key {key!r}: {e}"


def _of_properties(
    stated: Mapping[str, str | int], records: list[tuple[bytes, bytes]], blocks: int
) -> Iterator[str]:
    """Yield the properties that do not describe the records."""
    found: dict[str, str | int] = {
        "rocksdb.num.entries": len(records),
        "rocksdb.raw.key.size": sum(len(key) + _KEY_TRAILER_BYTES for key, _ in records),
        "rocksdb.raw.value.size": sum(len(value) for _, value in records),
        DATA_BLOCKS: blocks,
        "count": str(len(records)),
    }
    if records:
        found |= {"min_key": _text(records[0][0]), "max_key": _text(records[-1][0])}
    for name, value in found.items():
        if name in stated and stated[name] != value:
            yield f"property {name} is {stated[name]!r}, but the records have {value!r}"
    if stated.get("type") not in {_RANGES, _METARANGES}:
        yield f"property type is {stated.get('type')!r}: it must be {_RANGES} or {_METARANGES}"


def _of_id(
    file_id: str, found: Mapping[str, bytes], kind: str, records: list[tuple[bytes, bytes]]
) -> Iterator[str]:
    """Yield a fault if a name that is an ID is neither that of Graveler nor that of lakeFS."""
    if not is_id(file_id):
        return
    user = {
        name: value.decode(errors="replace")
        for name, value in found.items()
        if not name.startswith("rocksdb.") and name not in _SUMMARY
    }
    said = {name: value for name, value in user.items() if name != "type"}
    try:
        ids = _record_ids(kind, found, records) + record_ids(
            [name.encode() for name in sorted(said)], [said[name].encode() for name in sorted(said)]
        )
    except CorruptDataError:
        return  # told of the record already
    own = sha256(b"".join(ids)).hexdigest()
    lakefs = lakefs_file_id(records, user)
    if file_id not in {own, lakefs}:
        yield f"the name is {file_id}, but the content's ID is {own}, or {lakefs} in lakeFS"


def _record_ids(
    kind: str, found: Mapping[str, bytes], records: Iterable[tuple[bytes, bytes]]
) -> list[bytes]:
    pairs = list(records)
    is_metarange = found.get("type") == _METARANGES.encode() or kind == _METARANGES
    identities = [split_value(value)[0] if is_metarange else value for _, value in pairs]
    return record_ids([key for key, _ in pairs], identities)


def _decoder(kind: str) -> Callable[[bytes, bytes, bytes], Json]:
    """Return what decodes the records of a kind, from key, stored value and data."""
    match kind:
        case "metaranges":
            return lambda _key, stored, _data: _range(stored)
        case "branch":
            return lambda key, _stored, data: _named(messages.BranchData, key, data)
        case "tag":
            return lambda key, _stored, data: _named(messages.TagData, key, data)
        case "commit":
            return lambda key, _stored, data: _commit(key, data)
        case _:
            return lambda key, _stored, data: {"key": _text(key)} | _entry(data)


def _entry(data: bytes) -> Json:
    """Return the fields of an Entry by their stored names."""
    entry = decode_entry(data)
    return {
        "address": entry.address,
        "last_modified": _time(entry.last_modified_ns),
        "size": entry.size_bytes,
        "e_tag": entry.checksum,
        "metadata": dict(sorted(entry.metadata.items())),
        "address_type": entry.address_type.name,
        "content_type": entry.content_type,
    }


def _range(stored: bytes) -> Json:
    """Return the fields of a RangeData by their stored names, and the range's ID."""
    header = record_range(stored)
    return {
        "id": header.id,
        "min_key": _text(header.min_key),
        "max_key": _text(header.max_key),
        "estimated_size": header.size_bytes,
        "count": header.count,
    }


def _named(message_type: Any, key: bytes, data: bytes) -> Json:  # noqa: ANN401 - generated classes
    message = _message(message_type, data)
    return {"key": _text(key), "id": message.id, "commit_id": message.commit_id}


def _commit(key: bytes, data: bytes) -> Json:
    message = _message(messages.CommitData, data)
    return {
        "key": _text(key),
        "commit_id": _text(key),
        "committer": message.committer,
        "message": message.message,
        "creation_date": _time(message.creation_date.seconds * NS_PER_S),
        "metadata": dict(sorted(message.metadata.items())),
        "parents": list(message.parents),
        "meta_range_id": message.meta_range_id,
        "version": message.version,
        "generation": message.generation,
    }


def _message(message_type: Any, data: bytes) -> Any:  # noqa: ANN401 - generated classes
    try:
        return message_type.FromString(data)
    except DecodeError as e:
        raise CorruptDataError(f"{len(data)} bytes are not a {message_type.__name__}: {e}") from e


def _text(data: bytes) -> str:
    """Return readable text: bytes that are not UTF-8 are escaped."""
    return data.decode(errors="backslashreplace")


def _time(time_ns: int) -> str:
    """Return the time in UTC as RFC 3339, to the nanosecond.

    Raises:
        CorruptDataError: a Timestamp message cannot have that year.
    """
    seconds, nanoseconds = divmod(time_ns, NS_PER_S)
    try:
        return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%dT%H:%M:%S}.{nanoseconds:09d}Z"
    except (ValueError, OverflowError, OSError) as e:
        raise CorruptDataError(f"{time_ns} ns since 1970 is not a valid time") from e


def _without(name: str, error: CorruptDataError) -> str:
    """Return the error without the file's name."""
    return re.sub(rf"^{re.escape(name)}: ", "", str(error))
