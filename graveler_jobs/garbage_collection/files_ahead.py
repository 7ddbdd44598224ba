"""Committed files that a task fetches while it works on those before them."""

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Final, TypeVar

from graveler.retention.ranges import ReadFile
from graveler.threads import begun_ahead

T = TypeVar("T")

# A GET of a range waits for four times as long as the task works on the range (ADR 47).
FILES_AHEAD: Final = 4


class FilesAhead:
    """Fetches files of the namespace in the order in which they are read, each of them once."""

    def __init__(self, read_file: ReadFile, namespace: str) -> None:
        self._read_file = read_file
        self._namespace = namespace
        self._begun: dict[str, Future[bytes]] = {}

    def before(self, items: Iterable[T], id_of: Callable[[T], str]) -> Iterator[T]:
        """Yield the items, whose IDs differ; the files of each and of some after it are begun."""

        def content(item: T) -> bytes:
            return self._read_file(self._namespace, id_of(item))

        with ThreadPoolExecutor(FILES_AHEAD) as pool:
            for item, begun in begun_ahead(pool, content, items, FILES_AHEAD):
                self._begun[id_of(item)] = begun
                yield item

    def read(self, _namespace: str, file_id: str) -> bytes:
        """Return the content of an item's file; raises what `read_file` raised."""
        return self._begun.pop(file_id).result()
