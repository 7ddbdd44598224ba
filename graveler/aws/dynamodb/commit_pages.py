"""Commits in pages: by ID, several pages at once, and by generation.

IDs are hashes. So the first page of a scan by ID gives an estimate of the number of commits. The
scan divides the rest into parts of about one page each, and reads them side by side. A wrong
estimate makes the scan slower, and never wrong.

A scan's page begins with a condition and has a limit, because of DynamoDB Local (`staged_pages`).
"""

from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future
from itertools import islice

import msgspec

from graveler.aws.dynamodb.models import COMMIT, COMMITS_BY_GENERATION
from graveler.aws.dynamodb.tables import Raw, Request, Tables
from graveler.model import Commit
from graveler.threads import ContextThreads

_PAGES_AT_ONCE = 4

_FIRST_PAGE_COMMITS = 1_000
# Two thirds of the parts differ from the mean by at most 32 commits. So few need a second page.
_PART_COMMITS = 1_200

# The bounds of parts have so many digits of an ID.
_DIGITS = 12
# Users can choose commits with small IDs, so that the estimate becomes much too large.
_PARTS_MAX = 1_024
_END = "g"  # after all hexadecimal digits

_COMMIT = msgspec.json.Decoder(Commit)


class _Text(msgspec.Struct):
    S: str


class _CommitText(msgspec.Struct):
    commit: _Text


class _Page(msgspec.Struct):
    Items: list[_CommitText]
    LastEvaluatedKey: dict[str, dict[str, str]] | None = None

    @property
    def commits(self) -> list[Commit]:
        return [_COMMIT.decode(item.commit.S) for item in self.Items]


_PAGE = msgspec.json.Decoder(_Page)


def commit_of(raw: Raw) -> Commit:
    """Return the commit of an item."""
    # Not through the model, which is slow: a log reads a thousand commits at once.
    return _COMMIT.decode(raw["commit"]["S"])


def commits_by_id(tables: Tables, partition: str) -> Iterator[Commit]:
    """Yield all commits by ID; memory holds a few pages."""
    commits, has_more = _page(tables, partition, "", _END, _FIRST_PAGE_COMMITS)
    yield from commits
    if not has_more:
        return
    with ContextThreads(_PAGES_AT_ONCE) as pool:

        def begin(low: str, high: str) -> Future[list[Commit]]:
            return pool.submit(_part, tables, partition, low, high)

        parts = _parts_behind(commits[-1].id)
        begun = deque(begin(*part) for part in islice(parts, _PAGES_AT_ONCE))
        while begun:
            commits = begun.popleft().result()
            begun.extend(begin(*part) for part in islice(parts, 1))
            yield from commits


def _parts_behind(last_id: str) -> Iterator[tuple[str, str]]:
    """Yield the bounds of the parts after last_id, each with about as many commits as before it."""
    covered = int(last_id[:_DIGITS], 16) + 1
    width = max(covered, 16**_DIGITS // _PARTS_MAX)
    low = last_id + "0"  # before every other ID that is greater
    for bound in range(covered + width, 16**_DIGITS, width):
        high = f"{bound:0{_DIGITS}x}"
        yield low, high
        low = high
    yield low, _END


def _part(tables: Tables, partition: str, low: str, high: str) -> list[Commit]:
    found, has_more = _page(tables, partition, low, high, _PART_COMMITS)
    while has_more:
        more, has_more = _page(tables, partition, found[-1].id + "0", high, _PART_COMMITS)
        found += more
    return found


def _page(
    tables: Tables, partition: str, low: str, high: str, limit: int
) -> tuple[list[Commit], bool]:
    """Return the first commits whose IDs are between the bounds, and whether there are more."""
    request: Request = {
        "TableName": tables.refs,
        "KeyConditionExpression": "#p = :p AND #s BETWEEN :low AND :high",
        "ExpressionAttributeNames": {"#p": "partition", "#s": "sort", "#c": "commit"},
        "ExpressionAttributeValues": {
            ":p": {"S": partition},
            ":low": {"S": COMMIT + low},
            ":high": {"S": COMMIT + high},
        },
        "ProjectionExpression": "#c",
        "ConsistentRead": True,
        "Limit": limit,
    }
    page: _Page = tables.dynamodb.call("Query", request, _PAGE)
    return page.commits, page.LastEvaluatedKey is not None


def commits_below(tables: Tables, partition: str, generation: int, amount: int) -> list[Commit]:
    """Return up to amount commits of that generation or lower, highest first."""
    request: Request = {
        "TableName": tables.refs,
        "IndexName": COMMITS_BY_GENERATION,
        "KeyConditionExpression": "#p = :p AND #g <= :g",
        "ExpressionAttributeNames": {"#p": "partition", "#g": "generation", "#c": "commit"},
        "ExpressionAttributeValues": {":p": {"S": partition}, ":g": {"N": str(generation)}},
        "ProjectionExpression": "#c",
        "ScanIndexForward": False,
        "Limit": amount,
    }
    commits: list[Commit] = []
    while True:
        page: _Page = tables.dynamodb.call("Query", request, _PAGE)
        commits += page.commits
        if page.LastEvaluatedKey is None or len(commits) >= amount:
            return commits[:amount]
        request["ExclusiveStartKey"] = page.LastEvaluatedKey
