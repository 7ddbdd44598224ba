"""Gates, which close a staging token, and the changes that fit beside the check of a gate.

A gate is an item of the staging table, and is closed if the item exists. So a new token needs no
items. A closed gate stays closed until the token is dropped, hours after its last use.
"""

from collections.abc import Iterator, Sequence
from itertools import count
from zlib import crc32

from graveler.aws.dynamodb.staged_items import StagedItem
from graveler.aws.dynamodb.tables import Raw, Request, with_condition
from graveler.model import Change, StagingToken
from graveler.model.tokens import spread_of

# A transaction has at most 4 MB and 100 parts; one part is the check of the gate.
_CHANGES_MAX = 99
_CHANGES_BYTES_MAX = 3 * 1024**2

_IS_ABSENT = with_condition({}, StagedItem.token.does_not_exist())


def gate_of(token: StagingToken, path: bytes) -> int:
    """Return the number of the gate that a write of the path checks."""
    return crc32(path) % spread_of(token).gates


def successive(token: StagingToken, changes: Sequence[Change]) -> Iterator[int]:
    """Yield gates without end for batches of the changes; neighbours never share one."""
    first, amount = gate_of(token, changes[0][0]) if changes else 0, spread_of(token).gates
    return (gate % amount for gate in count(first))


def keys(token: StagingToken) -> list[Raw]:
    """Return the keys of all gates of the token; gates have no other attributes."""
    return [_key(token, gate) for gate in range(spread_of(token).gates)]


def is_open(table: str, token: StagingToken, gate: int) -> Request:
    """Return the parameters of a transaction's check that the gate is open."""
    return {"TableName": table, "Key": _key(token, gate), **_IS_ABSENT}


def _key(token: StagingToken, gate: int) -> Raw:
    # Every write checks a gate, so each gate has a partition of its own. No token contains "#".
    return {"token": {"S": f"{token}#{gate}"}, "path": {"B": b"closed"}}


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
    """Whether one more change fits into a transaction, in which a path may occur once."""
    together = [*changes, more]
    return all(path != more[0] for path, _ in changes) and len(list(batches_of(together))) == 1
