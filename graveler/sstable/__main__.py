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
from pathlib import Path

from graveler.errors import CorruptDataError
from graveler.sstable.inspection import Json, decoded_records, properties
from graveler.sstable.reader import Table


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
        for item in _records(table) if options.command == "dump" else [properties(table)]:
            print(json.dumps(item))
    except CorruptDataError as e:
        print(e, file=sys.stderr)
        return 1
    return 0


def _records(table: Table) -> Iterator[Json]:
    """Yield key, identity and value of each record, as hex and decoded."""
    for key, identity, data, decoded in decoded_records(table):
        yield {
            "key": key.hex(),
            "identity": identity.hex(),
            "value": data.hex(),
            "decoded": decoded,
        }


if __name__ == "__main__":
    # Like other filters, end quietly when the reader of the output ends.
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    sys.exit(main())
