"""Items of the staging table: partition = staging token, sort key = path."""

from pynamodb.expressions.condition import Condition

from graveler.aws.dynamodb.client import binary
from graveler.aws.dynamodb.models import StagedItem
from graveler.aws.dynamodb.tables import Raw, Request
from graveler.model import StagingToken
from graveler.ports import Staged


def staged_key(token: StagingToken, path: bytes) -> Request:
    """Return the key of the token's change of the path."""
    return {"token": {"S": token}, "path": {"B": path}}


def says(expected: Staged | None) -> Condition:
    """Return the condition that the token has exactly the expected entry at the path."""
    if expected is None:
        return StagedItem.path.does_not_exist()
    if expected.value is None:
        void: Condition = StagedItem.path.exists() & StagedItem.value.does_not_exist()
        return void
    equal: Condition = StagedItem.value == expected.value
    return equal


def staged_item(token: StagingToken, path: bytes, value: bytes | None) -> Request:
    """Return the item of a change; None is a tombstone."""
    # Not through the model, which is slow: every write of an object makes an item.
    item = staged_key(token, path)
    if value is not None:
        item["value"] = {"B": value}
    return item


def staged_of(raw: Raw) -> Staged:
    """Return the change that an item holds."""
    return Staged(binary(raw["value"]) if "value" in raw else None)
