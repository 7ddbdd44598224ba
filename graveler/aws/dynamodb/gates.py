"""Gates: what closes a staging token.

A gate is an item of the staging table that exists when the gate is closed. So a new token needs no
items, and what was closed stays closed until the token is dropped, hours after its last use.
"""

from zlib import crc32

from graveler.aws.dynamodb.models import StagedItem
from graveler.aws.dynamodb.tables import Raw, Request, with_condition

# As many as one BatchWriteItem closes. More gates let more writers of one branch pass side by side,
# and make a commit dearer: docs/adr/0012-gates.md has figures.
COUNT = 25


def gate_of(path: bytes) -> int:
    """The number of the gate that a write of the path passes."""
    return crc32(path) % COUNT


def keys(token: str) -> list[Raw]:
    """The keys of all gates of the token; they have no other attributes."""
    return [_key(token, gate) for gate in range(COUNT)]


def is_open(table: str, token: str, gate: int) -> Request:
    """The parameters of a transaction's check that the gate is open."""
    request = {"TableName": table, "Key": _key(token, gate)}
    return with_condition(request, StagedItem.token.does_not_exist())


def _key(token: str, gate: int) -> Raw:
    # A partition of its own: a gate is checked by every write that passes it. No token has a "#".
    return {"token": {"S": f"{token}#{gate}"}, "path": {"B": b"closed"}}
