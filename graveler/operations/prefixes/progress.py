"""How far the task of a copy or a move of a prefix has come: what its record saves."""

from collections.abc import Mapping
from hashlib import blake2b

from msgspec import Struct
from msgspec.structs import replace

_DIGEST_BYTES = 8


def digest(data: bytes) -> bytes:
    """Return the digest of a path or a value, as `made` has it."""
    return blake2b(data, digest_size=_DIGEST_BYTES).digest()


class SavedProgress(Struct, frozen=True):
    """The saved progress; paths are in hex.

    All objects of the source up to `after` are done. A step may be open, up to `until`: it has
    staged copies, and a commit may have missed them. `made` has two digests for each of those: of
    its path at the source, and of the value that was staged. `copied` counts them, too.
    """

    after: str = ""
    copied: int = 0
    skipped: int = 0
    until: str = ""
    made: str = ""

    @property
    def done(self) -> int:
        return self.copied + self.skipped

    def own(self) -> dict[bytes, bytes]:
        """Return the digest of the value that the open step staged, by the digest of the path."""
        made, size = bytes.fromhex(self.made), _DIGEST_BYTES
        starts = range(0, len(made), 2 * size)
        return {made[at : at + size]: made[at + size : at + 2 * size] for at in starts}

    def opened(self, copies: Mapping[bytes, bytes]) -> "SavedProgress":
        """Return the progress when copies are staged: their values, by the path at the source."""
        own = self.own()
        made = own | {digest(path): digest(value) for path, value in copies.items()}
        return replace(
            self,
            copied=self.copied + len(made) - len(own),
            until=max(self.until, max(copies).hex()),
            made=b"".join(part for pair in made.items() for part in pair).hex(),
        )

    def closed(self, last: bytes, skipped: int) -> "SavedProgress":
        """Return the progress when all up to the path is done, and so many were skipped."""
        after = last.hex()
        is_open = after < self.until
        return replace(
            self,
            after=after,
            skipped=self.skipped + skipped,
            until=self.until if is_open else "",
            made=self.made if is_open else "",
        )
