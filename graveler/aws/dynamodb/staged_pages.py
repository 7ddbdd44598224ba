"""Pages of a partition of staged items: the attributes that a query reads, and its pages' sizes.

A query's next page begins with a condition on the path, and has a limit. DynamoDB needs neither.
But DynamoDB Local reads all items before an ExclusiveStartKey, and all items up to the limit. It
would take an hour to scan a million entries. Each item takes it 30 µs even so, so readers that need
few items set a low limit.
"""

from collections.abc import Iterator
from typing import Any

import msgspec

from graveler.aws.dynamodb.client import DynamoDBCall
from graveler.aws.dynamodb.tables import Request, Tables
from graveler.limits import PATH_BYTES_MAX
from graveler.ports import ChangesPage

# The first page of a scan. Later pages grow by a factor, until they have about the size of
# DynamoDB's full pages, 1 MB.
FIRST_PAGE_ITEMS = 1_000
_GROWTH = 4
PAGE_ITEMS_MAX = 4_000
COUNTED_MAX = 1_000


class _Binary(msgspec.Struct):
    B: bytes


class StagedPath(msgspec.Struct):
    """An item or its key."""

    path: _Binary
    value: _Binary | None = None


class StagedPage(msgspec.Struct):
    """A page of a query, decoded straight to bytes: scans read thousands of items."""

    Items: list[StagedPath]
    LastEvaluatedKey: StagedPath | None = None

    @property
    def changes(self) -> ChangesPage:
        """The page in the port's form."""
        return ChangesPage(
            [(item.path.B, None if item.value is None else item.value.B) for item in self.Items],
            self.LastEvaluatedKey is not None,
        )


_PAGE = msgspec.json.Decoder(StagedPage)

# The attributes that scans read. DynamoDB refuses names that no expression uses.
_PATH_NAMES = {"#t": "token", "#p": "path"}
PATHS: Request = {"ProjectionExpression": "#p", "ExpressionAttributeNames": _PATH_NAMES}
CHANGES: Request = {
    "ProjectionExpression": "#p, #v",
    "ExpressionAttributeNames": {**_PATH_NAMES, "#v": "value"},
}
_COUNT: Request = {"Select": "COUNT", "ExpressionAttributeNames": {"#t": "token"}}
RESTORED_PATHS: Request = {
    "ProjectionExpression": "#p",
    "FilterExpression": "attribute_exists(#r)",
    "ExpressionAttributeNames": {**_PATH_NAMES, "#r": "restored"},
}


def first_page(
    tables: Tables, partition: str, start: bytes, end: bytes | None, limit: int
) -> DynamoDBCall:
    """Return the query of the first page of the changes with start <= path < end."""
    return DynamoDBCall("Query", _request(tables, partition, start, end, CHANGES, limit), _PAGE)


def counted(tables: Tables, partition: str) -> Request:
    """Return the query that counts the partition's items, up to COUNTED_MAX or a page of 1 MB."""
    request = _request(tables, partition, b"", None, _COUNT, COUNTED_MAX)
    return request | {"ConsistentRead": False}  # a guess at half the price


def pages(
    tables: Tables,
    partition: str,
    start: bytes,
    end: bytes | None,
    wanted: Request,
    limit: int = FIRST_PAGE_ITEMS,
    first: StagedPage | None = None,
    limit_max: int = PAGE_ITEMS_MAX,
) -> Iterator[StagedPage]:
    """Yield the items with start <= path < end in pages; first is the first page, if known."""
    page = first
    while end is None or start < end:
        if page is None:
            request = _request(tables, partition, start, end, wanted, limit)
            page = tables.dynamodb.call("Query", request, _PAGE)
        limit = min(_GROWTH * limit, limit_max)
        last, page.Items = page.LastEvaluatedKey, _inside(page.Items, start, end)
        yield page
        following = None if last is None else _behind(last.path.B)
        if following is None:
            return
        start, page = following, None


def _behind(path: bytes) -> bytes | None:
    """Return the least possible path that is greater; None if the path is the greatest."""
    if len(path) < PATH_BYTES_MAX:
        return path + b"\0"
    kept = path.rstrip(b"\xff")
    return kept[:-1] + bytes([kept[-1] + 1]) if kept else None


def _inside(items: list[StagedPath], start: bytes, end: bytes | None) -> list[StagedPath]:
    """Return the items with start <= path < end; only the first and the last one may be outside."""
    if items and start > items[0].path.B:
        del items[0]
    if items and end is not None and end <= items[-1].path.B:
        del items[-1]
    return items


def _request(
    tables: Tables,
    partition: str,
    start: bytes,
    end: bytes | None,
    wanted: Request,
    limit: int,
) -> Request:
    """Return the request of a page, which includes both ends of the interval."""
    condition = "#t = :t"
    values: dict[str, Any] = {":t": {"S": partition}}
    # A bound may be longer than a key can be. A truncated bound still includes the interval.
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
    return wanted | {
        "TableName": tables.staging,
        "KeyConditionExpression": condition,
        "ExpressionAttributeValues": values,
        "ConsistentRead": True,
        "Limit": limit,
    }
