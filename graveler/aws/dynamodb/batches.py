"""How many changes of staged entries one transaction takes."""

from collections.abc import Iterator, Sequence

from graveler.model import Change

# A transaction has at most 4 MB and 100 parts; one part is the check of the gate.
_CHANGES_MAX = 99
_CHANGES_BYTES_MAX = 3 * 1024**2


def batches_of(changes: Sequence[Change]) -> Iterator[Sequence[Change]]:
    """Yield the changes in batches that each fit into a transaction."""
    batch: list[Change] = []
    size_bytes = 0
    for path, value in changes:
        change_bytes = len(path) + len(value or b"")
        if batch and (len(batch) == _CHANGES_MAX or size_bytes + change_bytes > _CHANGES_BYTES_MAX):
            yield batch
            batch, size_bytes = [], 0
        batch.append((path, value))
        size_bytes += change_bytes
    if batch:
        yield batch


def fits(changes: Sequence[Change], more: Change) -> bool:
    """Whether one more change fits into a transaction: a path may be there once."""
    together = [*changes, more]
    return all(path != more[0] for path, _ in changes) and len(list(batches_of(together))) == 1
