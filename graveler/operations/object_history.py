"""The history of an object: the commits that added, changed or deleted it, as git finds them.

Theory of operation. The walk goes from a commit to its parents, the highest generation first, so a
commit comes after all that lead to it. If a parent has the same object, the walk goes on to that
parent alone: the others brought nothing that stayed. Otherwise the commit is a change, and all of
its parents follow. So a merge is a change only if its object is no parent's, and most of a history
with many branches is never read.

A record is read only where the range of the path differs: two ranges of one ID are equal. What a
process has read of a metarange or a range it remembers by the file's ID.

A page ends with the commits that come next. They are all that the next page needs, which begins
with them: so every page costs what it walks, however long the history before it.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from heapq import heappop, heappush
from typing import Literal

from msgspec import Struct

from graveler.branches.lookup import in_repository
from graveler.branches.request_time import TimeLimit
from graveler.branches.signed_cursors import SignedCursor
from graveler.branches.views import ObjectStat, object_stat
from graveler.engine import Engine
from graveler.entries import value_identity
from graveler.messages import within
from graveler.model import Commit, CommitID, MetaRangeID, Page
from graveler.names import check_path
from graveler.open_repository import OpenRepository
from graveler.refs.history import READ_AHEAD_MAX, History
from graveler.refs.resolve import resolve_commit_id

# A reader waits for a page no longer than this, if little is found.
_PAGE_S = 2.0
# Commits whose metaranges are read at the same time.
_AHEAD = 16
# What a known version takes: its key, its value and its entry in the cache.
_VERSION_BYTES = 400
# The URL of the next page names its first commits, so a page goes on while there are more.
_NEXT_MAX = 64


class ObjectChange(Struct, frozen=True):
    """A commit that changed the object; left is the object before it, right the one after it."""

    commit: Commit
    left: ObjectStat | None
    right: ObjectStat | None

    @property
    def kind(self) -> Literal["added", "changed", "removed"]:
        if self.left is None:
            return "added"
        return "removed" if self.right is None else "changed"


def list_page(
    engine: Engine, repository: str, ref: str, path: bytes, after: str, amount: int
) -> Page[ObjectChange]:
    """Return changes of the object at the path in the commits that lead to the ref, newest first.

    after: what the page before says; "" for the first one. A page may have fewer changes than
    amount, even none, and others may follow. It has more if it cannot end where histories meet.

    Raises:
        InvalidInputError: a name, the path, the ref or after is malformed.
        NotFoundError: the repository does not exist, or the ref or after names no commit.
        CorruptDataError: a file or a commit is missing.
    """
    check_path(path)

    def read(repo: OpenRepository) -> Page[ObjectChange]:
        history = repo.history()
        with within("ref"):
            start_id = resolve_commit_id(engine.refs, history, ref)
        cursor = SignedCursor(repo, b"object history", ref.encode(), path)
        begins = map(CommitID, cursor.parts(after)) if after else [start_id]
        walk = _Walk(repo, history, path, history.commits(list(begins)))
        limit = TimeLimit(engine, _PAGE_S)
        found: list[ObjectChange] = []
        for change in walk:
            if change is not None:
                found.append(change)
            if (len(found) >= amount or limit.is_over) and walk.width <= _NEXT_MAX:
                break
        return Page(tuple(found), cursor.of(walk.next_ids))

    return in_repository(engine, repository, read)


class _Walk:
    """A walk over the commits that may have changed the object."""

    def __init__(
        self, repo: OpenRepository, history: History, path: bytes, begins: Sequence[Commit]
    ) -> None:
        self._repo = repo
        self._object = _Object(repo, path)
        self._ahead = 0  # how many commits were begun to be read
        self._history = history
        self._commits = history.walk(READ_AHEAD_MAX)
        self._queue: list[tuple[int, int, CommitID, Commit]] = []
        self._reached: set[CommitID] = set()
        for commit in begins:
            self._add(commit)

    @property
    def next_ids(self) -> Sequence[CommitID]:
        """The commits with which the next page begins."""
        return [commit_id for _, _, commit_id, _ in sorted(self._queue)]

    @property
    def width(self) -> int:
        """How many commits come next."""
        return len(self._queue)

    def __iter__(self) -> Iterator[ObjectChange | None]:
        """Yield the change of each commit, None if it made none."""
        found = self._object
        while self._queue:
            commit = heappop(self._queue)[-1]
            parents = self._commits.parents(commit, commit.parents)
            self._read_ahead(parents)
            same = next((parent for parent in parents if found.is_same(parent, commit)), None)
            if same is not None:
                self._add(same)
                yield None
                continue
            for parent in parents:
                self._add(parent)
            before = (found.in_commit(parent) for parent in parents)
            left, right = next(filter(None, before), None), found.in_commit(commit)
            yield None if left is right is None else ObjectChange(commit, left, right)

    def _add(self, commit: Commit) -> None:
        if commit.id not in self._reached:
            self._reached.add(commit.id)
            heappush(self._queue, (-commit.generation, -commit.creation_date, commit.id, commit))

    def _read_ahead(self, parents: Sequence[Commit]) -> None:
        """Begin to read the object in the commits that probably come next."""
        self._ahead -= 1
        if self._ahead > _AHEAD // 2 or self._repo.engine.threads is None:
            return
        ahead = list(parents)
        while len(ahead) < _AHEAD and ahead and ahead[-1].parents:
            following = self._history.cached(ahead[-1].parents[0])
            if following is None:
                break
            ahead.append(following)
        self._object.read_ahead(ahead)
        self._ahead = _AHEAD


class _Object:
    """The object in commits; what was read of them is remembered."""

    def __init__(self, repo: OpenRepository, path: bytes) -> None:
        self._repo = repo
        self._path = path
        self._namespace = repo.record.storage_namespace
        self._known = repo.engine.versions
        self._begun: set[MetaRangeID] = set()

    def is_same(self, one: Commit, other: Commit) -> bool:
        """Whether both commits have the same object, or none."""
        if one.metarange_id == other.metarange_id:
            return True
        ranges = self._range_id(one.metarange_id), self._range_id(other.metarange_id)
        if ranges[0] == ranges[1]:
            return True
        return self._identity(one.metarange_id) == self._identity(other.metarange_id)

    def in_commit(self, commit: Commit) -> ObjectStat | None:
        """Return the object, None if the commit has none."""
        stored = self._repo.metarange(commit.metarange_id).get(self._path)
        return None if stored is None else object_stat(self._repo.record, self._path, stored)

    def read_ahead(self, commits: Sequence[Commit]) -> None:
        """Begin to read the object in the commits, unless it is known there."""
        for commit in commits:
            metarange_id = commit.metarange_id
            is_known = self._known.get((self._namespace, metarange_id, self._path)) is not None
            if not is_known and metarange_id not in self._begun:
                self._begun.add(metarange_id)
                self._repo.engine.ahead(partial(self._identity, metarange_id))

    def _range_id(self, metarange_id: MetaRangeID) -> bytes:
        """Return the ID of the range that can hold the object, b"" if there is none."""
        return self._remembered(metarange_id, self._read_range_id)

    def _identity(self, metarange_id: MetaRangeID) -> bytes:
        """Return the object's identity, b"" if there is no object."""
        range_id = self._range_id(metarange_id)
        read = partial(self._read_identity, metarange_id)
        return self._remembered(range_id.hex(), read) if range_id else b""

    def _remembered(self, file_id: str, read: Callable[[str], bytes]) -> bytes:
        key = (self._namespace, file_id, self._path)
        found = self._known.get(key)
        if found is None:
            found = read(file_id)
            self._known.put(key, found, _VERSION_BYTES + len(self._path))
        return found

    def _read_range_id(self, metarange_id: str) -> bytes:
        header = self._repo.metarange(MetaRangeID(metarange_id)).range_at(self._path)
        return b"" if header is None else bytes.fromhex(header.id)

    def _read_identity(self, metarange_id: MetaRangeID, _range_id: str) -> bytes:
        stored = self._repo.metarange(metarange_id).get(self._path)
        return b"" if stored is None else value_identity(stored)
