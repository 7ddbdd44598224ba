"""The StagingStore on DynamoDB: partition = staging token, sort key = path."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec
from pynamodb.expressions.condition import Condition

from graveler.aws.branches import branch_key, branch_of
from graveler.aws.dynamodb import Call, binary
from graveler.aws.errors import ConditionFailedError
from graveler.aws.models import StagedItem
from graveler.aws.tables import Raw, Request, Tables
from graveler.errors import UnknownOutcomeError
from graveler.limits import PATH_BYTES_MAX
from graveler.model import Branch, Repository
from graveler.ports import Staged

# A listing shows at most 1,000 paths, and mostly nothing but what is staged under few of them; a
# scan that goes on takes DynamoDB's full pages of 1 MB.
_FIRST_PAGE_ITEMS = 1_000


class _Binary(msgspec.Struct):
    B: bytes


class _Change(msgspec.Struct):
    path: _Binary
    value: _Binary | None = None


class _Changes(msgspec.Struct):
    """A page of a query, decoded straight to bytes: scans read thousands of items."""

    Items: list[_Change]
    LastEvaluatedKey: Mapping[str, Any] | None = None


_CHANGES = msgspec.json.Decoder(_Changes)


class DynamoStagingStore:
    """`graveler.ports.StagingStore` over the staging table."""

    def __init__(self, tables: Tables) -> None:
        self._tables = tables
        self._dynamodb = tables.dynamodb

    def get(self, token: str, path: bytes) -> Staged | None:
        request = {
            "TableName": self._tables.staging,
            "Key": _key(token, path),
            "ConsistentRead": True,
        }
        raw = self._dynamodb.call("GetItem", request).get("Item")
        return None if raw is None else _staged_of(raw)

    def get_with_branch(
        self, repository: Repository, branch: str, token: str, path: bytes
    ) -> tuple[Branch | None, Staged | None]:
        refs, staging = self._tables.refs, self._tables.staging
        wanted = {
            refs: {"Keys": [branch_key(repository, branch)], "ConsistentRead": True},
            staging: {"Keys": [_key(token, path)], "ConsistentRead": True},
        }
        found = self._tables.get_requests(wanted)
        branches, staged = found.get(refs), found.get(staging)
        return (
            branch_of(branches[0]) if branches else None,
            _staged_of(staged[0]) if staged else None,
        )

    def put(self, token: str, path: bytes, value: bytes | None) -> None:
        request = {"TableName": self._tables.staging, "Item": _item(token, path, value)}
        self._dynamodb.call("PutItem", request)

    def put_many(self, token: str, changes: Sequence[tuple[bytes, bytes | None]]) -> None:
        writes = [{"PutRequest": {"Item": _item(token, path, value)}} for path, value in changes]
        self._tables.write_batch(self._tables.staging, writes)

    def put_if(self, token: str, path: bytes, value: bytes, expected: Staged | None) -> bool:
        condition: Condition
        if expected is None:
            condition = StagedItem.path.does_not_exist()
        elif expected.value is None:
            condition = StagedItem.path.exists() & StagedItem.value.does_not_exist()
        else:
            condition = StagedItem.value == expected.value
        item = StagedItem(token, path, value=value)
        request = self._tables.put(item, condition | (StagedItem.value == value))
        try:
            self._dynamodb.call("PutItem", request)
        except ConditionFailedError:
            return False
        except UnknownOutcomeError:
            if self.get(token, path) != Staged(value):
                raise
        return True

    def scan(
        self, token: str, start: bytes, end: bytes | None
    ) -> Iterator[tuple[bytes, bytes | None]]:
        request = self._scan_request(token, start, end)
        if request is None:
            return
        page = self._dynamodb.call("Query", request, _CHANGES)
        yield from self._changes(request, page, start, end)

    def scan_with_branch(
        self, repository: Repository, branch: str, token: str, start: bytes, end: bytes | None
    ) -> tuple[Branch | None, Iterator[tuple[bytes, bytes | None]]]:
        branch_request = {
            "TableName": self._tables.refs,
            "Key": branch_key(repository, branch),
            "ConsistentRead": True,
        }
        request = self._scan_request(token, start, end)
        if request is None:
            raw = self._dynamodb.call("GetItem", branch_request).get("Item")
            return (None if raw is None else branch_of(raw)), iter(())
        answer, page = self._dynamodb.call_together(
            Call("GetItem", branch_request), Call("Query", request, _CHANGES)
        )
        raw = answer.get("Item")
        changes = self._changes(request, page, start, end)
        return (None if raw is None else branch_of(raw)), changes

    def drop(self, token: str) -> None:
        request = self._scan_request(token, b"", None)
        if request is None:
            return
        # The key alone; the token comes along since a key is what is deleted by.
        request["ExpressionAttributeNames"] = {"#t": "token", "#p": "path"}
        request["ProjectionExpression"] = "#t, #p"
        del request["Limit"]
        for raws in self._tables.pages(request):
            self._tables.write_batch(
                self._tables.staging, [{"DeleteRequest": {"Key": raw}} for raw in raws]
            )

    def _scan_request(self, token: str, start: bytes, end: bytes | None) -> Request | None:
        """The first page of the interval, a little wider at its ends; None if it is empty."""
        if end is not None and start >= end:
            return None
        condition = "#t = :t"
        values: dict[str, Any] = {":t": {"S": token}}
        # A bound may be longer than a key can be; cut off, it still lies outside.
        if start:
            values[":start"] = {"B": start[:PATH_BYTES_MAX]}
        if end is not None:
            values[":end"] = {"B": end[:PATH_BYTES_MAX]}
        if start and end is not None:
            condition += " AND #p BETWEEN :start AND :end"
        elif start:
            condition += " AND #p >= :start"
        elif end is not None:
            condition += " AND #p <= :end"
        return {
            "TableName": self._tables.staging,
            "KeyConditionExpression": condition,
            "ProjectionExpression": "#p, #v",
            "ExpressionAttributeNames": {"#t": "token", "#p": "path", "#v": "value"},
            "ExpressionAttributeValues": values,
            "ConsistentRead": True,
            "Limit": _FIRST_PAGE_ITEMS,
        }

    def _changes(
        self, request: Request, page: _Changes, start: bytes, end: bytes | None
    ) -> Iterator[tuple[bytes, bytes | None]]:
        while True:
            for item in page.Items:
                path = item.path.B
                if path >= start and (end is None or path < end):
                    yield path, None if item.value is None else item.value.B
            if page.LastEvaluatedKey is None:
                return
            request = {**request, "ExclusiveStartKey": page.LastEvaluatedKey}
            request.pop("Limit", None)
            page = self._dynamodb.call("Query", request, _CHANGES)


def _key(token: str, path: bytes) -> Request:
    return {"token": {"S": token}, "path": {"B": path}}


def _item(token: str, path: bytes, value: bytes | None) -> Request:
    # Not by way of the model: every write of an object passes here.
    item = _key(token, path)
    if value is not None:
        item["value"] = {"B": value}
    return item


def _staged_of(raw: Raw) -> Staged:
    return Staged(binary(raw["value"]) if "value" in raw else None)
