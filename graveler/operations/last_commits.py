"""The last commit that changed each entry of a listing, by the rule of `object_history`.

Theory of operation. An entry is an object, or all objects below a folder. Its way goes from a
commit to the first parent in which it is the same. A commit without such a parent is the last one
that changed it. So an entry is at one commit at any time. Entries at one commit go on together:
their content is compared once. The commit with the highest generation goes next, so ways that part
at a merge go together again where they meet.

Two commits are compared by their metaranges. A range is read only if it differs and may hold an
entry whose commit is not found yet. A process remembers the answers at the commits that it was
asked for. A walk ends there, so it costs what has come since.

A page that takes too long ends with the entries that are found. The next one begins with the
others, each at the commit that it has reached.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from heapq import heappop, heappush
from typing import NamedTuple

from msgspec import Struct

from graveler.branches.lookup import in_repository
from graveler.branches.request_time import TimeLimit
from graveler.branches.signed_cursors import SignedCursor
from graveler.diff.two_way import Span, changed_spans
from graveler.engine import Engine
from graveler.messages import within
from graveler.model import Commit, CommitID, Page, Record, RepositoryUID
from graveler.open_repository import OpenRepository
from graveler.refs.history import READ_AHEAD_MAX, History
from graveler.refs.resolve import resolve_commit_id
from graveler.staging.listing import CommonPrefix, PageQuery, list_page, prefix_end

# A page has at most so many entries, whatever is asked: the URL of the next one names the commits
# that they have reached.
ENTRIES_MAX = 64
# A reader waits for a page no longer than this.
_PAGE_S = 2.0
# Commits that are compared at the same time.
_AHEAD = 16
_DELIMITER = b"/"
# What a remembered answer takes beside its path, which it has twice.
_ANSWER_BYTES = 400


class LastCommit(Struct, frozen=True):
    """An object, or a folder, with the last commit that changed it."""

    path: bytes
    is_folder: bool
    commit: Commit


def list_last_commits(
    engine: Engine, repository: str, ref: str, prefix: bytes, after: str, amount: int
) -> Page[LastCommit]:
    """Return the last commits of objects and folders at the ref whose paths begin with the prefix.

    Folders end with the first slash behind the prefix, as in a listing. What is staged is left out.
    after: what the page before says; "" for the first one. A page may have fewer entries than
    amount, even none, and others may follow. They are in order within the page.

    Raises:
        InvalidInputError: a name, the ref or after is malformed.
        NotFoundError: the repository does not exist, or the ref names no commit.
        CorruptDataError: a file or a commit is missing.
    """
    amount = min(amount, ENTRIES_MAX)

    def read(repo: OpenRepository) -> Page[LastCommit]:
        history = repo.history()
        with within("ref"):
            start_id = resolve_commit_id(engine.refs, history, ref)
        asked = b"last commits", ref.encode(), prefix, b"%d" % amount
        cursor = SignedCursor(repo, *asked)
        # The commit whose entries these are, the path behind which they begin, and where they are.
        start, behind, *reached = cursor.parts(after) if after else (start_id, "")
        content = repo.content(CommitID(start))
        query = PageQuery(amount, prefix, bytes.fromhex(behind), _DELIMITER)
        listed = list_page(content.records, lambda record: record[0], query)
        entries = {_span(item): item for item in listed.results}
        places = reached or ([f"{start}:{(1 << len(entries)) - 1:x}"] if entries else [])
        walk = _Walk(repo, history, prefix, list(entries), places)
        limit = TimeLimit(engine, _PAGE_S)
        while walk.width:
            walk.step()
            if limit.is_over:
                break
        walk.remember(CommitID(start))
        found = {entry: entries[entry] for entry in entries if entry in walk.found}
        last = history.commits([walk.found[entry] for entry in found])
        results = [
            LastCommit(entry.start, isinstance(item, CommonPrefix), commit)
            for (entry, item), commit in zip(found.items(), last, strict=True)
        ]
        if walk.width:
            following = [start, behind, *walk.places()]
        else:
            following = [start, listed.next_after.hex()] if listed.next_after else []
        return Page(tuple(results), cursor.of(following))

    return in_repository(engine, repository, read)


def _span(item: Record | CommonPrefix) -> Span:
    if isinstance(item, CommonPrefix):
        end = prefix_end(item.path)
        assert end is not None  # it ends in a slash
        return Span(item.path, end)
    return Span(item[0], item[0] + b"\0")


class _Begun(NamedTuple):
    """A comparison of a commit with its first parent, for some entries."""

    entries: frozenset[Span]
    changed: Callable[[], set[Span]]


class _Walk:
    """The ways of entries through history, each until the last commit that changed the entry."""

    def __init__(
        self,
        repo: OpenRepository,
        history: History,
        prefix: bytes,
        entries: Sequence[Span],
        places: Sequence[str],
    ) -> None:
        """places: what `places` of an earlier walk said of the same entries."""
        self.found: dict[Span, CommitID] = {}
        self._repo = repo
        self._prefix = prefix
        self._history = history
        self._commits = history.walk(READ_AHEAD_MAX)
        self._entries = entries
        self._queue: list[tuple[int, int, CommitID, Commit]] = []
        self._at: dict[CommitID, list[Span]] = {}  # the entries at a commit, in order
        self._begun: dict[CommitID, _Begun] = {}  # comparisons with first parents
        self._ahead = 0  # how many of them were begun ahead of the walk
        masks = {CommitID(at): int(mask, 16) for at, _, mask in (p.partition(":") for p in places)}
        for commit in history.commits(list(masks)):
            mask = masks[commit.id]
            self._add(commit, [each for i, each in enumerate(entries) if mask >> i & 1])

    @property
    def width(self) -> int:
        """How many commits come next."""
        return len(self._queue)

    def places(self) -> list[str]:
        """Return where the entries are that are not found: commits, with the entries as bits."""
        bits = {entry: 1 << i for i, entry in enumerate(self._entries)}
        return [f"{at}:{sum(map(bits.__getitem__, these)):x}" for at, these in self._at.items()]

    def step(self) -> None:
        """Go on from the next commit to its parents."""
        commit = heappop(self._queue)[-1]
        known = self._known(commit.id)
        at_commit = self._at.pop(commit.id)
        self.found |= {entry: known[entry] for entry in at_commit if entry in known}
        entries = [entry for entry in at_commit if entry not in known]
        if not entries:
            return
        parents = self._commits.parents(commit, commit.parents)
        self._begin_ahead(commit, entries)
        begun = self._begun.pop(commit.id, None)
        for parent in parents:
            if begun is not None and begun.entries.issuperset(entries):
                changed = begun.changed()
            else:
                changed = self._changed(parent, commit, entries)
            begun = None
            self._add(parent, [entry for entry in entries if entry not in changed])
            entries = [entry for entry in entries if entry in changed]
            if not entries:
                return
        self.found |= dict.fromkeys(entries, commit.id)

    def remember(self, start: CommitID) -> None:
        """Remember what was found as the answers at the commit from which the entries are."""
        known = {**self._known(start), **self.found}
        size_bytes = sum(_ANSWER_BYTES + 2 * len(entry.start) for entry in known)
        self._repo.engine.last_commits.put(self._key(start), known, size_bytes)

    def _known(self, commit_id: CommitID) -> Mapping[Span, CommitID]:
        return self._repo.engine.last_commits.get(self._key(commit_id)) or {}

    def _key(self, commit_id: CommitID) -> tuple[RepositoryUID, CommitID, bytes]:
        return self._repo.record.uid, commit_id, self._prefix

    def _add(self, commit: Commit, entries: list[Span]) -> None:
        """Let the entries wait at the commit for its turn."""
        if not entries:
            return
        there = self._at.get(commit.id)
        if there is None:
            self._at[commit.id] = entries
            heappush(self._queue, (-commit.generation, -commit.creation_date, commit.id, commit))
        else:
            self._at[commit.id] = sorted(there + entries)

    def _begin_ahead(self, commit: Commit, entries: Sequence[Span]) -> None:
        """Begin to compare the commits that probably come next with their first parents."""
        self._ahead -= 1
        if self._ahead > _AHEAD // 2 or self._repo.engine.threads is None:
            return
        self._ahead = _AHEAD
        these = frozenset(entries)
        for _ in range(_AHEAD):
            parent = self._history.cached(commit.parents[0]) if commit.parents else None
            if parent is None:
                return
            if commit.id not in self._begun:
                compare = partial(self._changed, parent, commit, entries)
                self._begun[commit.id] = _Begun(these, self._repo.engine.ahead(compare))
            commit = parent

    def _changed(self, parent: Commit, commit: Commit, entries: Sequence[Span]) -> set[Span]:
        """Return the entries that differ between a commit and its parent."""
        left, right = parent.metarange_id, commit.metarange_id
        if left == right:
            return set()
        return changed_spans(self._repo.metarange(left), self._repo.metarange(right), entries)
