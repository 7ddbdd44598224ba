"""The objects of a commit whose paths match a glob."""

from collections.abc import Iterator, Sequence

import re2
from msgspec import Struct

from graveler import globs
from graveler.branches.lookup import in_repository
from graveler.branches.request_time import TimeLimit
from graveler.branches.views import ObjectStat, object_stat
from graveler.engine import Engine
from graveler.errors import InvalidInputError
from graveler.limits import ARN_BYTES_MAX
from graveler.model import CommitID, Record
from graveler.open_repository import OpenRepository
from graveler.refs.resolve import resolve_commit_id
from graveler.staging.listing import PageQuery

_PAGE_S = 5.0


class MatchingPage(Struct, frozen=True):
    """Matching objects by path; the next page begins behind next_after, b"" on the last one."""

    results: Sequence[ObjectStat]
    next_after: bytes = b""


def list_page(
    engine: Engine, repository: str, ref: str, glob: str, after: bytes, amount: int
) -> tuple[CommitID, MatchingPage]:
    """Return the commit of the ref, and a page of its objects that match, by path.

    A page may have fewer objects than amount, even none, and others may follow.

    Raises:
        InvalidInputError: a name, the ref or the glob is malformed.
        NotFoundError: the repository does not exist, or the ref names no commit.
    """
    if not glob or len(glob.encode()) > ARN_BYTES_MAX or globs.has_empty_set(glob):
        raise InvalidInputError(f"bad glob {glob[:100]!r}", "write one, such as tables/*.parquet")
    try:
        matching = globs.of_paths(glob)
    except re2.error as error:
        raise InvalidInputError(f"bad glob {glob[:100]!r}", str(error)) from error
    query = PageQuery(amount, prefix=globs.prefix_of(glob).encode(), after=after)

    def read(repo: OpenRepository) -> tuple[CommitID, MatchingPage]:
        commit_id = resolve_commit_id(engine.refs, repo.history(), ref)
        records = repo.content(commit_id).records(query.start, query.end)
        found: list[ObjectStat] = []
        limit = TimeLimit(engine, _PAGE_S)
        for path, value in records:
            if matching.fullmatch(path.decode("utf-8", "replace")):
                found.append(object_stat(repo.record, path, value))
            if (len(found) == amount or limit.is_over) and _has_more(records):
                return commit_id, MatchingPage(found, path)
        return commit_id, MatchingPage(found)

    return in_repository(engine, repository, read)


def _has_more(records: Iterator[Record]) -> bool:
    return next(records, None) is not None
