"""Written values, by content and by address, and those that readers saw.

Content that goes through the API is unique, so the address that the server gave it can be learnt
from any reader when its writer got no answer. Content at addresses that the client knows beforehand
may be equal to another's: only the address tells them apart.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from threading import Lock
from typing import Any


@dataclass(slots=True)
class Content:
    """A value that one operation writes."""

    data: bytes
    address: str | None = None  # None: the server gives one

    @property
    def checksum(self) -> str:
        return hashlib.md5(self.data, usedforsecurity=False).hexdigest()


@dataclass(frozen=True, slots=True)
class Row:
    """An object as the API describes it."""

    address: str
    checksum: str
    size_bytes: int
    metadata: str

    @classmethod
    def of(cls, answer: Mapping[str, Any]) -> "Row":
        metadata = (answer.get("metadata") or {}).get("m", "")
        return cls(answer["physical_address"], answer["checksum"], answer["size_bytes"], metadata)


class Ledger:
    """Shared by all clients."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._by_address: dict[str, Content] = {}
        self._by_checksum: dict[str, Content] = {}  # of those whose address the server gives
        self.problems: list[str] = []

    def writes(self, content: Content) -> None:
        """Record a value before it is written."""
        with self._lock:
            if content.address is None:
                self._by_checksum[content.checksum] = content
            else:
                self._by_address[content.address] = content

    def saw(self, row: Row, where: str) -> None:
        """Compare a reader's answer with the written values, and report differences."""
        with self._lock:
            content = self._by_address.get(row.address)
            if content is None:
                content = self._by_checksum.get(row.checksum)
                if content is None:
                    self.problems.append(f"{where}: nobody wrote {row}")
                    return
                if content.address is not None:
                    self.problems.append(f"{where}: {row}, written once, to {content.address}")
                    return
                content.address = row.address
                self._by_address[row.address] = content
            if (row.checksum, row.size_bytes) != (content.checksum, len(content.data)):
                self.problems.append(f"{where}: {row}, but written was {content}")

    def address_of(self, data: bytes) -> str | None:
        """Return the server's address for a content; None if it is not known."""
        checksum = hashlib.md5(data, usedforsecurity=False).hexdigest()
        with self._lock:
            content = self._by_checksum.get(checksum)
            return None if content is None else content.address

    def content_at(self, address: str) -> Content | None:
        with self._lock:
            return self._by_address.get(address)

    def problem(self, text: str) -> None:
        with self._lock:
            self.problems.append(text)
