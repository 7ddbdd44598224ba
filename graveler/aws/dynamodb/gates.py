"""Gates, which close a staging token.

A gate is an item of the staging table, and is closed if the item exists. So a new token needs no
items. A closed gate stays closed until the token is dropped, hours after its last use.
"""

from zlib import crc32

from graveler.aws.dynamodb.models import StagedItem
from graveler.aws.dynamodb.tables import Raw, Request, with_condition
from graveler.model import StagingToken

# As many as one BatchWriteItem can close. More gates allow more concurrent writers of one branch,
# and make a commit more expensive: docs/adr/0012-gates.md has figures.
COUNT = 25

_IS_ABSENT = with_condition({}, StagedItem.token.does_not_exist())


def gate_of(path: bytes) -> int:
    """Return the number of the gate that a write of the path checks."""
    return crc32(path) % COUNT


def keys(token: StagingToken) -> list[Raw]:
    """Return the keys of all gates of the token; gates have no other attributes."""
    return [_key(token, gate) for gate in range(COUNT)]


def is_open(table: str, token: StagingToken, gate: int) -> Request:
    """Return the parameters of a transaction's check that the gate is open."""
    return {"TableName": table, "Key": _key(token, gate), **_IS_ABSENT}


def _key(token: StagingToken, gate: int) -> Raw:
    # Every write checks a gate, so each gate has a partition of its own. No token contains "#".
    return {"token": {"S": f"{token}#{gate}"}, "path": {"B": b"closed"}}
