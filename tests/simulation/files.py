"""Committed data for schedules: a file is opened once, however many schedules and clients read it.

Opening a file costs more than everything else that a schedule does. What is opened is known by its
name and its whole content, because two schedules may write different bytes under one ID.
"""

from collections.abc import Callable
from typing import Any, TypeVar

from graveler.committed.blocks import StoredBlocks
from graveler.committed.level import Level
from graveler.committed.store import Committed
from graveler.sstable import BlockCache, TableInMemory

T = TypeVar("T")

_HELD_MAX = 20_000
_CACHE_BYTES = 1 << 20
_opened: dict[Any, Any] = {}


def _held(key: object, make: Callable[[], T]) -> T:
    found: T | None = _opened.get(key)
    if found is None:
        if len(_opened) > _HELD_MAX:
            _opened.clear()
        found = _opened[key] = make()
    return found


class SharedCommitted(Committed):
    """Committed whose files stay open between schedules."""

    def _open(
        self,
        kind: type[Any],
        namespace: str,
        file_id: str,
        length: int,
        indexes: BlockCache | None = None,
    ) -> Any:
        content = self._files.read_all(namespace, file_id)
        name = f"{namespace}/_lakefs/{file_id}"

        def opened() -> Any:
            return kind.open(
                name,
                len(content),
                content[-length:],
                lambda offset, size: content[offset : offset + size],
                BlockCache(_CACHE_BYTES),
                None if indexes is None else BlockCache(_CACHE_BYTES),
            )

        return _held((kind, name, content), opened)

    def _opened_whole(self, namespace: str, file_id: str, level: Level) -> StoredBlocks:
        content = self._files.read_all(namespace, file_id)
        name = f"{namespace}/_lakefs/{file_id}"

        def opened() -> StoredBlocks:
            return StoredBlocks(TableInMemory.from_bytes(name, content), level, self._summaries)

        return _held((level.__class__, id(level), name, content), opened)
