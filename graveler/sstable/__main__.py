"""Show the content of a range or metarange file, for people and scripts.

    python -m graveler.sstable dump FILE         one JSON object per record
    python -m graveler.sstable properties FILE   the file's properties as one JSON object

Exit status: 0 done, 1 the file is missing or damaged (one line on stderr says which), 2 usage.
"""

import argparse
import json
import signal
import sys
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path

from graveler.entries import decode_entry, record_range, split_value
from graveler.errors import CorruptDataError
from graveler.sstable.properties import readable_properties
from graveler.sstable.reader import Table
from graveler.times import NS_PER_S

Json = dict[str, object]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; return the exit status."""
    parser = argparse.ArgumentParser(
        prog="python -m graveler.sstable", description="Show what is in a range or metarange file."
    )
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name, text in (
        ("dump", "print one JSON object per record"),
        ("properties", "print the file's properties as one JSON object"),
    ):
        commands.add_parser(name, help=text, description=text).add_argument("file", metavar="FILE")
    options = parser.parse_args(arguments)
    path: str = options.file
    try:
        content = Path(path).read_bytes()
    except OSError as e:
        print(f"{path}: {e.strerror or e}", file=sys.stderr)
        return 1
    try:
        table = Table.from_bytes(path, content)
        for item in _records(table) if options.command == "dump" else _properties(table):
            print(json.dumps(item))
    except CorruptDataError as e:
        print(e, file=sys.stderr)
        return 1
    return 0


def _records(table: Table) -> Iterator[Json]:
    """Yield key, identity and value of each record, as hex and decoded."""
    is_metarange = table.properties.get("type") == b"metaranges"
    is_refs_dump = "entity" in table.properties
    for key, stored in table.scan():
        try:
            identity, data = split_value(stored)
            if is_metarange:
                decoded = _range(stored)
            elif is_refs_dump:
                decoded = {"key": _text(key), "commit_id": _text(identity)}
            else:
                decoded = {"key": _text(key)} | _entry(data)
        except CorruptDataError as e:
            raise CorruptDataError(f"{table.name}: key {key!r}: {e}") from e
        yield {
            "key": key.hex(),
            "identity": identity.hex(),
            "value": data.hex(),
            "decoded": decoded,
        }


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


def _properties(table: Table) -> Iterator[Json]:
    try:
        yield dict(readable_properties(table.properties))
    except ValueError as e:
        raise CorruptDataError(f"{table.name}: properties: {e}") from e


def _text(data: bytes) -> str:
    """Return readable text: bytes that are not UTF-8 are escaped; the hex fields are exact."""
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


if __name__ == "__main__":
    # Like other filters, end quietly when the reader of the output ends.
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    sys.exit(main())
