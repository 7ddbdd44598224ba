"""A large change in slices, each of which can be made by itself: elsewhere, or at the same time."""

from dataclasses import dataclass

from graveler.model import RangeHeader


@dataclass(frozen=True, slots=True)
class Slice:
    """The keys from start up to, and not including, end; None: no end."""

    start: bytes = b""
    end: bytes | None = None


@dataclass(frozen=True, slots=True)
class SliceResult:
    """What making one slice of a change did.

    edits is what becomes of the metarange's records, by key: a range's last key, and the range
    that now ends there; None if none does any more.
    """

    edits: tuple[tuple[bytes, RangeHeader | None], ...]
    added: int
    changed: int
    removed: int
