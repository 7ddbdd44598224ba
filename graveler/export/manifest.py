"""Manifests: a line of JSON for each object of an exported commit, in key order.

    {"key": "a/b.parquet", "etag": "9b2c…", "size": 1024}

The ETag is that of the exported object. The ETags of this run's copies come from pieces, which the
run's runners store as lines of key and ETag. The others come from the manifest of the commit that
was exported before.
"""

from collections.abc import Iterable, Iterator
from heapq import heappop, heappush
from itertools import count

import msgspec

from graveler.entries import value_entry
from graveler.model import Record

ETag = tuple[bytes, str]  # a key, and the ETag of its object at the destination

CONTENT_TYPE = "application/jsonl"


class _Copy(msgspec.Struct):
    key: str
    etag: str


class _Object(_Copy):
    size: int


_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(_Copy).decode


def lines_of(
    records: Iterable[Record], copied: Iterator[ETag], before: Iterator[ETag]
) -> Iterator[bytes]:
    """Yield the manifest's lines for a commit's records; all arguments are in key order.

    An object's ETag is that of its copy, else that in the manifest before, else its checksum.
    """
    copies, older = _Cursor(copied), _Cursor(before)
    for key, value in records:
        entry = value_entry(value)
        etag = copies.find(key) or older.find(key) or entry.checksum
        yield _encode(_Object(key.decode(), etag, entry.size_bytes)) + b"\n"


def piece_uri(namespace: str, run_id: str, number: int) -> str:
    """Return the URI of a run's piece."""
    uid = run_id.rpartition("-")[2]  # the rest of the ID may be too long for a key
    return f"{namespace}/_lakefs/exports/{uid}/{number}.jsonl"


def piece_of(etags: Iterable[ETag]) -> bytes:
    """Return the content of a piece, in key order, with the last ETag of each key."""
    copies = sorted(dict(etags).items())
    return b"".join(_encode(_Copy(key.decode(), etag)) + b"\n" for key, etag in copies)


def etags_in(lines: Iterable[bytes]) -> Iterator[ETag]:
    """Yield keys and ETags of the lines of a manifest or a piece; skip unreadable lines."""
    for line in lines:
        try:
            copy = _decode(line)
        except msgspec.DecodeError:
            continue  # not ours: others may write there
        yield copy.key.encode(), copy.etag


def lines_in(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """Yield the lines of a text that arrives in chunks."""
    rest = b""
    for chunk in chunks:
        *lines, rest = (rest + chunk).split(b"\n")
        yield from lines
    if rest:
        yield rest


def merged(pieces: Iterable[tuple[bytes, Iterable[ETag]]]) -> Iterator[ETag]:
    """Merge pieces by key; each has its first key, and is not read before that key is reached.

    Pieces hardly overlap, so few are open at a time. For equal keys, later pieces come first.
    """
    numbers = count(0, -1)
    closed = sorted(((first, next(numbers), etags) for first, etags in pieces), reverse=True)
    heads: list[tuple[bytes, int, str, Iterator[ETag]]] = []
    while closed or heads:
        while closed and (not heads or closed[-1][0] <= heads[0][0]):
            _, number, etags = closed.pop()
            _push(heads, number, iter(etags))
        if heads:
            key, number, etag, rest = heappop(heads)
            yield key, etag
            _push(heads, number, rest)


def _push(
    heads: list[tuple[bytes, int, str, Iterator[ETag]]], number: int, etags: Iterator[ETag]
) -> None:
    first = next(etags, None)
    if first is not None:
        heappush(heads, (first[0], number, first[1], etags))


class _Cursor:
    """Looks up keys in ascending order."""

    def __init__(self, etags: Iterator[ETag]) -> None:
        self._etags = etags
        self._head = next(etags, None)

    def find(self, key: bytes) -> str | None:
        while self._head is not None and self._head[0] < key:
            self._head = next(self._etags, None)
        if self._head is not None and self._head[0] == key:
            return self._head[1]
        return None
