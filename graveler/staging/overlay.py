"""A branch as its readers see it: staged changes over committed records.

A branch has one staging token, which takes writes. Its sealed tokens, newest first, wait for a
commit to apply them. The newest change of a path wins over older ones and over the commit. A
tombstone hides the path.
"""

from collections.abc import Iterable, Iterator, Sequence
from heapq import merge as heap_merge
from typing import Protocol

from graveler.diff.two_way import Difference
from graveler.entries import same_record
from graveler.model import Change, Record


class RecordReader(Protocol):
    """What staged changes are compared with."""

    def get(self, key: bytes) -> bytes | None:
        """Return the stored value of the key, or None."""


def newest_changes(tokens: Sequence[Iterable[Change]]) -> Iterator[Change]:
    """Yield the newest change of each path, by path; the tokens' changes come newest first."""
    if len(tokens) == 1:
        yield from tokens[0]
        return
    latest = None
    # Of equal paths, the merge yields that of the first token first.
    for path, value in heap_merge(*tokens, key=lambda change: change[0]):
        if path != latest:
            latest = path
            yield path, value


def live_records(changes: Iterator[Change], committed: Iterator[Record]) -> Iterator[Record]:
    """Yield what a reader sees: committed records with the changes; both ascend by key."""
    change = next(changes, None)
    if change is None:
        yield from committed
        return
    for record in committed:
        key = record[0]
        while change is not None and change[0] < key:
            if change[1] is not None:
                yield change[0], change[1]
            change = next(changes, None)
        if change is None or change[0] != key:
            yield record
        else:
            if change[1] is not None:
                yield key, change[1]
            change = next(changes, None)
    while change is not None:
        if change[1] is not None:
            yield change[0], change[1]
        change = next(changes, None)


def effective_changes(changes: Iterable[Change], committed: RecordReader) -> Iterator[Difference]:
    """Yield the changes that would change the commit's records, in the given order.

    A staged value with the committed bytes changes nothing, and neither does a tombstone of a
    missing key. Equal content at another address is a change: the commit must hold it.
    """
    for path, value in changes:
        present = committed.get(path)
        if value != present:
            yield Difference(path, present, value)


def _content_changes(
    path: bytes, value: bytes | None, committed: RecordReader
) -> Iterator[Difference]:
    """Yield the change if it changes the commit's content."""
    for change in effective_changes([(path, value)], committed):
        if not same_record(change.left, change.right):
            yield change


def overlaid_differences(
    differences: Iterator[Difference], changes: Iterator[Change], base: RecordReader
) -> Iterator[Difference]:
    """Yield the differences from base to a commit with staged changes over it.

    differences are those from base to the commit; both arguments ascend by key. A staged change
    replaces the commit's record of its path. As between two commits, content is compared: equal
    content at another address does not differ.
    """
    staged = next(changes, None)
    committed = next(differences, None)
    while staged is not None or committed is not None:
        if staged is None or (committed is not None and committed.key < staged[0]):
            assert committed is not None
            yield committed
            committed = next(differences, None)
            continue
        yield from _content_changes(*staged, base)
        if committed is not None and committed.key == staged[0]:
            committed = next(differences, None)
        staged = next(changes, None)
