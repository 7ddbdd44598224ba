"""Pages of a staging token's items: what a query reads of each item, and of how many.

A query's next page begins with a condition on the path, and has a limit. DynamoDB does not care.
But DynamoDB Local reads everything before an ExclusiveStartKey and everything up to the limit, so
that a scan of a million entries would take it an hour. Even so it takes 30 µs an item: a reader
that needs few gets few.
"""

from collections.abc import Iterator
from typing import Any

import msgspec

from graveler.aws.dynamodb.client import DynamoDBCall
from graveler.aws.dynamodb.tables import Request, Tables
from graveler.limits import PATH_BYTES_MAX
from graveler.model import StagingToken
from graveler.ports import ChangesPage

# The first page of readers that want everything. Later ones are larger by a factor, until they are
# about as large as DynamoDB's full ones, of 1 MB.
FIRST_PAGE_ITEMS = 1_000
_GROWTH = 4
_PAGE_ITEMS_MAX = 4_000


class _Binary(msgspec.Struct):
    B: bytes


class StagedPath(msgspec.Struct):
    """An item, or a key of one."""

    path: _Binary
    value: _Binary | None = None


class StagedPage(msgspec.Struct):
    """A page of a query, decoded straight to bytes: scans read thousands of items."""

    Items: list[StagedPath]
    LastEvaluatedKey: StagedPath | None = None

    @property
    def changes(self) -> ChangesPage:
        """The page as the port has it."""
        return ChangesPage(
            [(item.path.B, None if item.value is None else item.value.B) for item in self.Items],
            self.LastEvaluatedKey is not None,
        )


_PAGE = msgspec.json.Decoder(StagedPage)

# What a scan reads of each item. DynamoDB refuses names that no expression uses.
_PATH_NAMES = {"#t": "token", "#p": "path"}
PATHS: Request = {"ProjectionExpression": "#p", "ExpressionAttributeNames": _PATH_NAMES}
CHANGES: Request = {
    "ProjectionExpression": "#p, #v",
    "ExpressionAttributeNames": {**_PATH_NAMES, "#v": "value"},
}
RESTORED_PATHS: Request = {
    "ProjectionExpression": "#p",
    "FilterExpression": "attribute_exists(#r)",
    "ExpressionAttributeNames": {**_PATH_NAMES, "#r": "restored"},
}


def first_page(
    tables: Tables, token: StagingToken, start: bytes, end: bytes | None, limit: int
) -> DynamoDBCall:
    """Return the query of the first page of the changes with start <= path < end."""
    return DynamoDBCall("Query", _request(tables, token, start, end, CHANGES, limit), _PAGE)


def pages(
    tables: Tables,
    token: StagingToken,
    start: bytes,
    end: bytes | None,
    wanted: Request,
    limit: int = FIRST_PAGE_ITEMS,
    first: StagedPage | None = None,
) -> Iterator[StagedPage]:
    """Yield the items with start <= path < end in pages; first is the first one, if known."""
    page = first
    while end is None or start < end:
        if page is None:
            request = _request(tables, token, start, end, wanted, limit)
            page = tables.dynamodb.call("Query", request, _PAGE)
        limit = min(_GROWTH * limit, _PAGE_ITEMS_MAX)
        last, page.Items = page.LastEvaluatedKey, _inside(page.Items, start, end)
        yield page
        if last is None:
            return
        start, page = last.path.B + b"\0", None


def _inside(items: list[StagedPath], start: bytes, end: bytes | None) -> list[StagedPath]:
    """Return the items with start <= path < end; only the first and the last may be outside."""
    if items and start > items[0].path.B:
        del items[0]
    if items and end is not None and end <= items[-1].path.B:
        del items[-1]
    return items


def _request(
    tables: Tables,
    token: StagingToken,
    start: bytes,
    end: bytes | None,
    wanted: Request,
    limit: int,
) -> Request:
    """Return the request of a page, which may hold a path at either end of the interval."""
    condition = "#t = :t"
    values: dict[str, Any] = {":t": {"S": token}}
    # A bound may be longer than a key can be. Cut off, it still includes the interval.
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
