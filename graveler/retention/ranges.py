"""Reading what commits hold, for its addresses: every metarange and every range whole, and once.

Nothing is cached, and nothing believed: what a file does not show might have kept something alive.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from graveler.entries import record_range
from graveler.errors import CorruptDataError, GravelerError
from graveler.model import RangeHeader
from graveler.retention.liveness import live_addresses
from graveler.sstable import Table

# A committed file's content, by namespace and ID.
ReadFile = Callable[[str, str], bytes]


def read_metarange(read_file: ReadFile, namespace: str, metarange_id: str) -> list[RangeHeader]:
    """The ranges of a metarange.

    Raises:
        GravelerError: the file is missing, not what was written, or refused to us; the message
            names it.
    """
    name = _name(namespace, metarange_id)
    with _in_file(name):
        table = Table.from_bytes(name, read_file(namespace, metarange_id))
        return [record_range(value) for _, value in table.scan()]


def range_addresses(read_file: ReadFile, namespace: str, header: RangeHeader) -> Iterator[str]:
    """The addresses in the namespace's data that the entries of a range keep alive.

    Raises:
        GravelerError: as read_metarange; or the range is not the one that its metarange describes.
    """
    name = _name(namespace, header.id)
    with _in_file(name):
        table = Table.from_bytes(name, read_file(namespace, header.id))
        yield from live_addresses(namespace, _checked_values(table, header))


def _checked_values(table: Table, header: RangeHeader) -> Iterator[bytes]:
    first = last = b""
    count = 0
    for keys, values in table.blocks():
        yield from values
        first = first or keys[0]
        last = keys[-1]
        count += len(keys)
    if (first, last, count) != (header.min_key, header.max_key, header.count):
        raise CorruptDataError(
            f"{count} records from {first!r} to {last!r}, and by its metarange "
            f"{header.count} from {header.min_key!r} to {header.max_key!r}"
        )


def _name(namespace: str, file_id: str) -> str:
    return f"{namespace}/_lakefs/{file_id}"


@contextmanager
def _in_file(name: str) -> Iterator[None]:
    """Errors raised inside name the file."""
    try:
        yield
    except GravelerError as error:
        if name in error.message:
            raise
        raise type(error)(f"{name}: {error.message}") from error
