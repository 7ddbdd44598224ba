"""Items of the staging table: a partition is a staging token or a shard of it, a key is a path.

A path's shard is the same while the token exists: a hash of the path selects it.
"""

from collections.abc import Sequence
from zlib import crc32

from pynamodb.attributes import BinaryAttribute, BooleanAttribute, UnicodeAttribute
from pynamodb.expressions.condition import Condition
from pynamodb.models import Model

from graveler.aws.dynamodb.client import binary
from graveler.aws.dynamodb.tables import Raw, Request
from graveler.model import Branch, StagingToken
from graveler.model.tokens import spread_of
from graveler.ports import Staged


class StagedItem(Model):
    """An item of the staging table; without a value it is a tombstone.

    write is the nonce of the conditional write that put it. restored is set if the put repeated the
    head's entry at the path.
    """

    token = UnicodeAttribute(hash_key=True)
    path = BinaryAttribute(range_key=True, legacy_encoding=False)
    value = BinaryAttribute(null=True, legacy_encoding=False)
    write = BinaryAttribute(null=True, legacy_encoding=False)
    restored = BooleanAttribute(null=True)


def partitions_of(token: StagingToken) -> Sequence[str]:
    """Return the partitions of the token's changes."""
    shards = spread_of(token).shards
    return [token] if shards == 1 else [_shard(token, number) for number in range(shards)]


def partition_of_path(token: StagingToken, path: bytes) -> str:
    """Return the partition of the token's change of the path."""
    shards = spread_of(token).shards
    return token if shards == 1 else _shard(token, crc32(path) % shards)


def _shard(token: StagingToken, number: int) -> str:
    return f"{token}#shard-{number}"  # no token contains "#"


def staged_key(token: StagingToken, path: bytes) -> Request:
    """Return the key of the token's change of the path."""
    return key_in(partition_of_path(token, path), path)


def key_in(partition: str, path: bytes) -> Request:
    """Return the key of the change of a path in a partition."""
    return {"token": {"S": partition}, "path": {"B": path}}


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


def modelled_item(
    token: StagingToken, path: bytes, value: bytes | None, write: bytes | None = None
) -> StagedItem:
    """Return the item for a conditional put; write is its nonce."""
    return StagedItem(partition_of_path(token, path), path, value=value, write=write)


def restored_item(branch: Branch, path: bytes, value: bytes | None) -> StagedItem:
    """Return the item of a head's record, staged again."""
    partition = partition_of_path(branch.staging_token, path)
    return StagedItem(partition, path, value=value, restored=True)


def staged_of(raw: Raw) -> Staged:
    """Return the change that an item holds."""
    return Staged(binary(raw["value"]) if "value" in raw else None)
