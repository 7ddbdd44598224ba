"""A large change in slices, each of which can be made by itself: elsewhere, or at the same time.

Theory of operation. A change is made to a metarange in three steps:

    plan        where to cut the keys                              Slice, Slice, …
    apply       the changes of one slice: its ranges are stored    Slice -> SliceResult
    assemble    one metarange out of what the slices made          SliceResults -> metarange

Slices must not see each other, and yet make the very ranges that one pass over all changes would
make (`graveler.committed.apply`). What a pass knows when it comes to a key is only the range that
it is writing. So a cut is safe exactly where a range certainly ends, whatever came before it:

    base       [a····f][g··k][l·······r][s···]
    changes       ^b^d            ^n^p       ^x^y^z
    cuts             |      |       |          |

- after the last key of a base range that lives on, unless that is the last range, which may go on;
- after an added key whose hash ends a range: inside a base range, between two, or behind the last.
  The slice behind it begins in the middle of that base range, and writes only the rest of it.

Elsewhere it is not known: a range may also end because it has grown to the maximum size.

A plan takes one pass over the keys that change, or over keys that stand for many (of a merge, the
last keys of the ranges that differ), and memory for one slice. Slices and results are plain data;
to_json and from_json carry them to another process.
"""

from base64 import b64decode, b64encode
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass
from typing import Any

from graveler.committed.counts import Counts
from graveler.committed.metarange import MetaRange
from graveler.committed.store import Breaking
from graveler.committed.writer import breaks_after
from graveler.model import Change, RangeHeader

# What changes the keys have from start up to, and not including, end (None: no end), ascending.
Changes = Callable[[bytes, bytes | None], Iterable[Change]]

# Rewriting a range takes about as long as so many changes, however few of them it has.
RANGE_WEIGHT = 200
# A slice of so many changes, or of a few hundred ranges, takes seconds.
SLICE_WEIGHT = 50_000


@dataclass(frozen=True, slots=True)
class Slice:
    """The keys from start up to, and not including, end; None: no end."""

    start: bytes = b""
    end: bytes | None = None

    def to_json(self) -> dict[str, Any]:
        """As JSON has it."""
        return {"start": _text(self.start), "end": None if self.end is None else _text(self.end)}

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> "Slice":
        """What to_json was made of."""
        return cls(
            b64decode(data["start"]), None if data["end"] is None else b64decode(data["end"])
        )


@dataclass(frozen=True, slots=True)
class SliceResult:
    """What making one slice of a change did: records by kind, and ranges.

    edits is what becomes of the metarange's records, by key: a range's last key, and the range
    that now ends there; None if none does any more.
    """

    edits: tuple[tuple[bytes, RangeHeader | None], ...]
    counts: Counts

    def to_json(self) -> dict[str, Any]:
        """As JSON has it."""
        edits = [
            [_text(key)] if header is None
            else [_text(key), header.id, _text(header.min_key), header.count, header.size_bytes]
            for key, header in self.edits
        ]  # fmt: skip
        return asdict(self.counts) | {"edits": edits}

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> "SliceResult":
        """What to_json was made of."""
        edits: list[tuple[bytes, RangeHeader | None]] = []
        for text, *rest in data["edits"]:
            key, header = b64decode(text), None
            if rest:
                range_id, min_key, count, size_bytes = rest
                header = RangeHeader(range_id, b64decode(min_key), key, count, size_bytes)
            edits.append((key, header))
        return cls(tuple(edits), Counts(data["added"], data["changed"], data["removed"]))


def _text(key: bytes) -> str:
    return b64encode(key).decode()


def plan(
    base: MetaRange,
    breaking: Breaking,
    changes: Changes,
    touched: Iterable[bytes] | None = None,
    *,
    key_weight: int = 1,
    slice_weight: int = SLICE_WEIGHT,
) -> Iterator[Slice]:
    """Cut the changes to base into slices of about the weight, as far as there are safe cuts.

    touched are keys among or around the changes, in order, that tell where the work is, each worth
    key_weight changes; by default the keys that change. The slices follow each other from the first
    key of all to the last.

    Raises:
        CorruptDataError: a file of base is missing or damaged.
    """
    if touched is None:
        touched = (key for key, _ in changes(b"", None))
    start, weight = b"", 0
    header: RangeHeader | None = None  # of base, around the key or behind it
    for key in touched:
        if header is not None and key > header.max_key:
            if weight >= slice_weight and _lives_on(base, changes, header.max_key):
                yield Slice(start, _after(header.max_key))
                start, weight = _after(header.max_key), 0
            header = None
        if header is None and key <= base.last_key:
            header = base.range_from(key)
            weight += RANGE_WEIGHT
        weight += key_weight
        if weight >= slice_weight and breaks_after(key, breaking) and _is_added(base, changes, key):
            yield Slice(start, _after(key))
            start, weight = _after(key), 0
    yield Slice(start)


def _after(key: bytes) -> bytes:
    """The least key behind that one."""
    return key + b"\x00"


def _lives_on(base: MetaRange, changes: Changes, max_key: bytes) -> bool:
    """Whether the last key of that range of base still ends a range afterwards."""
    is_deleted = any(value is None for _, value in changes(max_key, _after(max_key)))
    return max_key != base.last_key and not is_deleted


def _is_added(base: MetaRange, changes: Changes, key: bytes) -> bool:
    """Whether the changes add the key to base."""
    is_put = any(value is not None for _, value in changes(key, _after(key)))
    return is_put and base.get(key) is None
