"""A list of commits on disk, for histories that are too long for memory."""

from array import array
from collections.abc import Iterator
from tempfile import SpooledTemporaryFile
from types import TracebackType
from typing import IO, Self

import msgspec

from graveler_cli.schemas import Commit

_IN_MEMORY_BYTES = 1 << 20


class CommitSpool:
    """A list of commits in a temporary file, which is deleted at the end of the block."""

    def __init__(self) -> None:
        self._file: IO[bytes] = SpooledTemporaryFile(_IN_MEMORY_BYTES)  # noqa: SIM115
        self._ends = array("Q", [0])

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        where: TracebackType | None,
    ) -> None:
        self._file.close()

    def __len__(self) -> int:
        return len(self._ends) - 1

    def append(self, commit: Commit) -> None:
        """Add a commit at the end."""
        self._file.seek(self._ends[-1])
        self._ends.append(self._ends[-1] + self._file.write(msgspec.json.encode(commit)))

    def __getitem__(self, place: int) -> Commit:
        self._file.seek(self._ends[place])
        encoded = self._file.read(self._ends[place + 1] - self._ends[place])
        return msgspec.json.decode(encoded, type=Commit)

    def oldest_first(self, start: int, amount: int) -> Iterator[Commit]:
        """Yield `amount` commits from `start` on, in reverse order."""
        return (self[place] for place in reversed(range(start, start + amount)))
