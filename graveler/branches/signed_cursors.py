"""Where the next page of a walk through history begins, as text that only this server can make."""

import hmac
from collections.abc import Sequence

from graveler.errors import InvalidInputError
from graveler.open_repository import OpenRepository

_SEPARATOR = ","


class SignedCursor:
    """Says where a page begins; signed, since commits of other refs may be secret."""

    def __init__(self, repo: OpenRepository, *about: bytes) -> None:
        """about: the operation and what it is asked; a text is for equal ones only."""
        parts = repo.record.uid.encode(), *about
        self._about = b"\0".join(part.hex().encode() for part in parts)
        self._key = repo.engine.signing_key

    def of(self, parts: Sequence[str]) -> str:
        """Return the text for a page that begins with these parts; "" for none."""
        return _SEPARATOR.join([*parts, self._signature(parts)]) if parts else ""

    def parts(self, after: str) -> list[str]:
        """Return the parts of a text.

        Raises:
            InvalidInputError: no page of this walk has said so.
        """
        *parts, signature = after.split(_SEPARATOR)
        if not parts or not hmac.compare_digest(
            self._signature(parts).encode(), signature.encode()
        ):
            raise InvalidInputError(f"after is {after[:80]!r}: give what the page before says")
        return parts

    def _signature(self, parts: Sequence[str]) -> str:
        signed = b"\0".join([b"cursor", self._about, *(part.encode() for part in parts)])
        return hmac.digest(self._key, signed, "sha256").hex()
