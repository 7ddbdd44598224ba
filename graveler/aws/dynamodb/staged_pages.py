"""Pages of a staging token's items, and what a query reads of each item."""

from collections.abc import Iterable, Iterator

import msgspec

from graveler.aws.dynamodb.tables import Request
from graveler.model import Change


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


PAGE = msgspec.json.Decoder(StagedPage)

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


def changes_of(pages: Iterable[list[StagedPath]]) -> Iterator[Change]:
    """Yield the changes of the pages."""
    for items in pages:
        for item in items:
            yield item.path.B, None if item.value is None else item.value.B
