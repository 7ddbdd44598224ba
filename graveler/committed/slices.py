"""Cut a large change into slices that can be applied independently: elsewhere, or in parallel.

Theory of operation. A metarange is changed in three steps:

    plan        where to cut the keys                              Slice, Slice, …
    apply       the changes of one slice: its ranges are stored    Slice -> SliceResult
    assemble    one metarange from the results of the slices       SliceResults -> metarange

Slices do not see each other. But they must make exactly the ranges of one pass over all changes
(`graveler.committed.apply`). The only state that a pass carries from key to key is the range that
it is writing. So a cut is safe exactly where a range ends whatever came before it:

    base       [a····f][g··k][l·······r][s···]
    changes       ^b^d            ^n^p       ^x^y^z
    cuts             |      |       |          |

- after the last key of a base range, if the change keeps that key; not after the last range, which
  may continue;
- after an added key whose hash ends a range: inside a base range, between two, or behind the last.
  If inside, the next slice begins in the middle of that base range and writes only its rest.

No other place is safe, because a range may also end when it reaches the maximum size.

A plan takes memory for one slice, and one pass over the changing keys. Keys may represent many: in
a merge, the last keys of the differing ranges. Slices and results are plain data; to_json and
from_json carry them to another process.
"""

from base64 import b64decode, b64encode
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from msgspec import Struct, structs

from graveler.committed.counts import Counts
from graveler.committed.metarange import MetaRange
from graveler.committed.store import Breaking
from graveler.committed.writer import breaks_after
from graveler.model import Change, RangeHeader

# The changes from start up to, but not including, end (None: no end), ascending by key.
Changes = Callable[[bytes, bytes | None], Iterable[Change]]

# Rewriting a range takes about as long as this many changes, however few changes it has.
RANGE_WEIGHT = 2_000
# A slice of this many changes, or of 25 ranges, takes about a second.
SLICE_WEIGHT = 50_000


@dataclass(frozen=True, slots=True)
class Slice:
    """The keys from start up to, but not including, end; None: no end.

    keys: how many changes the plan expects there.
    """

    start: bytes = b""
    end: bytes | None = None
    keys: int = field(default=0, compare=False)

    def to_json(self) -> dict[str, Any]:
        """Return the value as JSON types."""
        return {"start": _text(self.start), "end": None if self.end is None else _text(self.end)}

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> "Slice":
        """Return the value that to_json encoded."""
        return cls(
            b64decode(data["start"]), None if data["end"] is None else b64decode(data["end"])
        )


class SliceResult(Struct, frozen=True):
    """The effect of one slice: counted records, and edits of the metarange.

    An edit is the last key of a range, and the range that now ends there; None if none does.
    """

    edits: tuple[tuple[bytes, RangeHeader | None], ...]
    counts: Counts

    def to_json(self) -> dict[str, Any]:
        """Return the value as JSON types."""
        edits = [
            [_text(key)] if header is None
            else [_text(key), header.id, _text(header.min_key), header.count, header.size_bytes]
            for key, header in self.edits
        ]  # fmt: skip
        return structs.asdict(self.counts) | {"edits": edits}

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> "SliceResult":
        """Return the value that to_json encoded."""
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
    """Yield slices of about slice_weight that cover all keys; they are larger without safe cuts.

    touched shows where the work is: keys among or around the changes, in order, each worth
    key_weight changes. By default these are the changing keys.

    Raises:
        CorruptDataError: a file of base is missing or damaged.
    """
    if touched is None:
        touched = (key for key, _ in changes(b"", None))
    start, weight, keys = b"", 0, 0
    header: RangeHeader | None = None  # of base, around the key or behind it
    for key in touched:
        if header is not None and key > header.max_key:
            if weight >= slice_weight and _lives_on(base, changes, header.max_key):
                yield Slice(start, _after(header.max_key), keys)
                start, weight, keys = _after(header.max_key), 0, 0
            header = None
        if header is None and key <= base.last_key:
            header = base.range_from(key)
            weight += RANGE_WEIGHT
        weight += key_weight
        keys += key_weight
        if weight >= slice_weight and breaks_after(key, breaking) and _is_added(base, changes, key):
            yield Slice(start, _after(key), keys)
            start, weight, keys = _after(key), 0, 0
    yield Slice(start, None, keys)


def _after(key: bytes) -> bytes:
    """Return the least key greater than key."""
    return key + b"\x00"


def _lives_on(base: MetaRange, changes: Changes, max_key: bytes) -> bool:
    """Return whether the last key of that base range still ends a range after the changes."""
    is_deleted = any(value is None for _, value in changes(max_key, _after(max_key)))
    return max_key != base.last_key and not is_deleted


def _is_added(base: MetaRange, changes: Changes, key: bytes) -> bool:
    """Return whether the changes add the key to base."""
    is_put = any(value is not None for _, value in changes(key, _after(key)))
    return is_put and base.get(key) is None
