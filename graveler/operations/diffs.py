"""Differences as the API lists them: uncommitted changes, and differences between two refs."""

from collections.abc import Iterator

from msgspec import Struct

from graveler.branches.changes import opened_base
from graveler.branches.lookup import current_branch, in_repository, resolving
from graveler.branches.request_time import TimeLimit
from graveler.branches.views import ObjectStat, View, object_stat, view_of_branch
from graveler.committed.metarange import MetaRange
from graveler.diff.three_way import Meeting, source_changes
from graveler.diff.two_way import Difference
from graveler.diff.virtual_base import UNSETTLED, Base, changes_since
from graveler.engine import Engine
from graveler.messages import within
from graveler.model import Change, Repository
from graveler.open_repository import OpenRepository
from graveler.refs.base_graph import base_of_merge
from graveler.refs.resolve import Resolved, Staging, resolve_commit
from graveler.staging.listing import CommonPrefix, ListPage, PageOverError, PageQuery, list_page
from graveler.staging.overlay import effective_changes, overlaid_differences


class DiffEntry(Struct, frozen=True):
    """One entry of a diff: an object, or a common prefix (kind prefix_changed).

    left, right: the object on each side, None if it does not exist there.

    left of a conflict is None as well if crossed merges conflict there already.
    """

    kind: str  # added, removed, changed, conflict or prefix_changed
    path: bytes
    left: ObjectStat | None = None
    right: ObjectStat | None = None

    @property
    def is_prefix(self) -> bool:
        """Whether the entry is a common prefix."""
        return self.kind == "prefix_changed"

    @property
    def size_bytes(self) -> int | None:
        """Return the object's size after the change, or the size of a removed object."""
        shown = self.right or self.left
        return None if shown is None else shown.entry.size_bytes


class _FoundDifference(Struct, frozen=True):
    difference: Difference
    kind: str


def _key(found: _FoundDifference) -> bytes:
    return found.difference.key


def _page(repository: Repository, page: ListPage[_FoundDifference]) -> ListPage[DiffEntry]:
    def shown(path: bytes, stored: bytes | None) -> ObjectStat | None:
        return None if stored in (None, UNSETTLED) else object_stat(repository, path, stored)

    results: list[DiffEntry | CommonPrefix] = []
    for item in page.results:
        if isinstance(item, CommonPrefix):
            results.append(DiffEntry("prefix_changed", item.path))
        else:
            found = item.difference
            left, right = shown(found.key, found.left), shown(found.key, found.right)
            results.append(DiffEntry(item.kind, found.key, left, right))
    return ListPage(results, page.next_after)


def uncommitted(
    engine: Engine, repository: str, branch: str, query: PageQuery
) -> ListPage[DiffEntry]:
    """Return a page of the branch's uncommitted changes.

    Raises:
        InvalidInputError: a name is malformed.
        NotFoundError: the repository or the branch does not exist.
    """
    repo, current = current_branch(engine, repository, branch)
    view = view_of_branch(repo, current)
    staged = view.staged(query.end)
    limit = _PageLimit(engine, query)

    def items(start: bytes, _: bytes | None) -> Iterator[_FoundDifference]:
        changes = limit.over(staged.from_path(start))
        for difference in effective_changes(changes, view.committed):
            yield _FoundDifference(difference, difference.kind)

    return _page(repo.record, list_page(items, _key, query))


def between_refs(
    engine: Engine,
    repository: str,
    left_ref: str,
    right_ref: str,
    query: PageQuery,
    *,
    two_dot: bool = False,
) -> ListPage[DiffEntry]:
    """Return a page of the differences from left to right.

    Two-dot compares the two contents. Three-dot lists the changes of right since the merge base,
    and marks conflicts with left. Changes of left alone are not listed. `branch$` on the right
    includes its uncommitted changes.

    Raises:
        InvalidInputError: a name or a ref is malformed, or the two refs have no common ancestor
            (three-dot).
        NotFoundError: the repository does not exist, or a ref names no commit.
    """

    def read(repo: OpenRepository) -> ListPage[DiffEntry]:
        history = repo.history()
        right_ahead = resolving(repo, right_ref)
        with within(f"get commit by branch {left_ref}" if not two_dot else ""):
            left = resolve_commit(engine.refs, history, left_ref)
        with within(f"get commit by ref {right_ref}" if not two_dot else ""):
            resolved = right_ahead()
        left_content = repo.metarange(left.metarange_id)
        right = _RightSide(repo, resolved, _PageLimit(engine, query))
        if two_dot:
            items = right.differences(left_content, query)
            return _page(repo.record, list_page(lambda s, e: _kinds(items(s, e)), _key, query))
        base = opened_base(repo, base_of_merge(history, left.id, resolved.commit_id))
        items = right.differences(base, query)
        return _page(
            repo.record, list_page(lambda s, e: _compared(items(s, e), left_content), _key, query)
        )

    return in_repository(engine, repository, read)


class _RightSide:
    """The right side of a diff: a commit; for `branch$`, with the staged changes over it."""

    def __init__(self, repo: OpenRepository, resolved: Resolved, limit: "_PageLimit") -> None:
        tokens = resolved.tokens if resolved.staging is Staging.ONLY else ()
        content = repo.content(resolved.commit_id)
        self._view = View(repo, tokens, content)
        self._limit = limit

    def differences(self, base: Base, query: PageQuery) -> "_Items":
        return _Items(base, self._view, query, self._limit)


class _Items:
    """Differences from base to a view, from any key on; later calls start at later keys."""

    def __init__(self, base: Base, view: View, query: PageQuery, limit: "_PageLimit") -> None:
        self._base = base
        self._limit = limit
        self._view = view
        self._staged = view.staged(query.end) if view.tokens else None

    def __call__(self, start: bytes, end: bytes | None) -> Iterator[Difference]:
        view, staged = self._view, self._staged
        if staged is None:
            passed = self._limit.check
            return changes_since(self._base, view.committed, start, end, passed=passed)
        committed = changes_since(self._base, view.committed, start, end)
        changes = self._limit.over(staged.from_path(start))
        return overlaid_differences(committed, changes, self._base)


class _PageLimit(TimeLimit):
    """Ends a page that takes too long."""

    def __init__(self, engine: Engine, query: PageQuery) -> None:
        super().__init__(engine)
        self._query = query

    def check(self, key: bytes) -> None:
        """Check that the page may go on after the key.

        Raises:
            PageOverError: the time is up.
        """
        if self.is_over and self._query.may_continue_after(key):
            raise PageOverError(key)

    def over(self, changes: Iterator[Change]) -> Iterator[Change]:
        """Pass the changes on.

        Raises:
            PageOverError: the time is up; it has the key of the last change passed on.
        """
        for change in changes:
            yield change
            self.check(change[0])


def _kinds(differences: Iterator[Difference]) -> Iterator[_FoundDifference]:
    for difference in differences:
        yield _FoundDifference(difference, difference.kind)


def _compared(changes: Iterator[Difference], left: MetaRange) -> Iterator[_FoundDifference]:
    for found in source_changes(changes, left):
        if found.meeting is not Meeting.AGREED:
            conflict = found.meeting is Meeting.CONFLICT
            yield _FoundDifference(found.change, "conflict" if conflict else found.change.kind)
