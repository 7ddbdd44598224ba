"""Written values, by content and by address, and those that readers saw.

Content that goes through the API is unique. So if its writer got no answer, any reader's answer has
the address that the server gave it. Content at addresses that the client knows beforehand may equal
another: only the address distinguishes them. S3's answers have no addresses, so they identify only
unique content, by its checksum.
"""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from threading import Lock
from typing import Any

# Equal content at different addresses: only for writes whose address the client knows.
EQUAL = tuple(f"equal content {number}".encode() for number in range(2))

# As entries store the metadata that S3's clients call `m`.
METADATA = "X-Amz-Meta-m"


def md5(data: bytes) -> str:
    return hashlib.md5(data, usedforsecurity=False).hexdigest()


def checksum_of_parts(parts: Sequence[bytes]) -> str:
    """Return the checksum that S3 gives to an object of parts."""
    digests = b"".join(bytes.fromhex(md5(part)) for part in parts)
    return f"{md5(digests)}-{len(parts)}"


@dataclass(slots=True)
class Content:
    """A value that one operation writes."""

    data: bytes
    address: str | None = None  # None: the server gives one
    checksum: str = ""  # of the data, unless it is one of parts

    def __post_init__(self) -> None:
        self.checksum = self.checksum or md5(self.data)

    @property
    def is_unique(self) -> bool:
        return self.data not in EQUAL

    @property
    def token(self) -> str:
        """The name of this value for the checker: the distinguishing part of its address.

        If no answer had an address, the checksum names it.
        """
        return short(self.address or self.checksum)


def short(address: str) -> str:
    """Return the distinguishing part of an address."""
    return address.rpartition("/")[2]


@dataclass(frozen=True, slots=True)
class Row:
    """An object as the API describes it."""

    address: str
    checksum: str
    size_bytes: int
    metadata: str

    @classmethod
    def of(cls, answer: Mapping[str, Any]) -> "Row":
        metadata = (answer.get("metadata") or {}).get(METADATA, "")
        return cls(answer["physical_address"], answer["checksum"], answer["size_bytes"], metadata)


@dataclass(frozen=True, slots=True)
class Shown:
    """An object as S3's answers show it: without its address."""

    checksum: str
    size_bytes: int
    metadata: str | None = None  # None: the answer does not include them


class Ledger:
    """Shared by all clients."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._by_address: dict[str, Content] = {}
        # Those of unique contents:
        self._by_checksum: dict[str, Content] = {}
        self._by_md5: dict[str, Content] = {}
        self.problems: list[str] = []

    def writes(self, content: Content) -> None:
        """Record a value before it is written."""
        with self._lock:
            if content.address is not None:
                self._by_address[content.address] = content
            if content.is_unique:
                self._by_checksum[content.checksum] = content
                self._by_md5[md5(content.data)] = content

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
                self.problems.append(f"{where}: {row}, but written was {_brief(content)}")

    def showed(self, shown: Shown, where: str, data: bytes | None = None) -> None:
        """Compare an answer of S3, and the data with it, with the written values."""
        with self._lock:
            content = self._by_checksum.get(shown.checksum)
            if content is None:
                equal = [each for each in EQUAL if md5(each) == shown.checksum]
                if not equal:
                    self.problems.append(f"{where}: nobody wrote {shown}")
                    return
                content = Content(equal[0])
            if shown.size_bytes != len(content.data):
                self.problems.append(f"{where}: {shown}, but written was {_brief(content)}")
            if data is not None and data != content.data:
                self.problems.append(f"{where}: {shown} has the data {data[:60]!r}")

    def with_checksum(self, checksum: str) -> Content | None:
        """Return the unique content with the checksum; None for contents that are equal."""
        with self._lock:
            return self._by_checksum.get(checksum)

    def with_data(self, data: bytes) -> Content | None:
        """Return the unique content with the data; None for contents that are equal."""
        with self._lock:
            return self._by_md5.get(md5(data))

    def content_at(self, address: str) -> Content | None:
        with self._lock:
            return self._by_address.get(address)

    def problem(self, text: str) -> None:
        with self._lock:
            self.problems.append(text)


def _brief(content: Content) -> str:
    return f"{content.data[:60]!r}, {len(content.data)} bytes, checksum {content.checksum}"
