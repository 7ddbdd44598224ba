"""Consistent views of refs: a commit, with the staged changes of a branch over it.

A branch's record names its staging tokens and its commit. Tokens that a commit takes off stay
readable for longer than any request lasts. So the record works as a snapshot.
"""

from collections.abc import Iterator, Mapping, Sequence
from heapq import merge as heap_merge
from itertools import chain, islice, repeat
from typing import TypeVar

from msgspec import Struct

from graveler.addresses import etag_to_match, physical_uri
from graveler.branches.lookup import StagedRead
from graveler.committed.metarange import MetaRange
from graveler.engine import Engine
from graveler.entries import value_entry
from graveler.limits import PAGE_AMOUNT_MAX
from graveler.model import Branch, Change, Entry, Record, Repository, StagingToken
from graveler.names import check_path, is_branch_name
from graveler.open_repository import OpenRepository
from graveler.ports import ChangesPage
from graveler.refs.resolve import resolve
from graveler.staging.cursors import Passed, StagedChanges, TokenChanges
from graveler.staging.listing import PageQuery
from graveler.staging.overlay import live_records, newest_changes

T = TypeVar("T")


class ObjectStat(Struct, frozen=True, gc=False):
    """An object at a path; physical_address is the whole URI of its data.

    if_match: the ETag that the data must have, see `etag_to_match`.
    headers: of the object store's answer, if this request has stored the data.
    """

    path: bytes
    entry: Entry
    physical_address: str
    if_match: str = ""
    headers: Mapping[str, str] = {}


def object_stat(
    repository: Repository, path: bytes, stored: bytes, headers: Mapping[str, str] = {}
) -> ObjectStat:
    """Return the object that a stored value describes."""
    return entry_stat(repository.storage_namespace, path, value_entry(stored), headers)


def entry_stat(
    namespace: str, path: bytes, entry: Entry, headers: Mapping[str, str] = {}
) -> ObjectStat:
    """Return the object that an entry in the namespace describes."""
    uri = physical_uri(namespace, entry)
    return ObjectStat(path, entry, uri, etag_to_match(namespace, uri, entry.checksum), headers)


class View(Struct, frozen=True):
    """A commit's content with the changes of staging tokens over it."""

    repo: OpenRepository
    tokens: tuple[StagingToken, ...]  # newest first
    committed: MetaRange

    def get(self, path: bytes) -> bytes | None:
        """Return the stored value at the path, None if a reader sees no object there."""
        staged = self.repo.engine.staging.newest(self.tokens, path) if self.tokens else None
        return self.committed.get(path) if staged is None else staged.value

    def get_each(self, paths: Sequence[bytes]) -> Mapping[bytes, bytes | None]:
        """Return what `get` returns, for each of the paths."""
        staged = self.repo.engine.staging.newest_each(self.tokens, paths)
        return {
            path: staged[path].value if path in staged else self.committed.get(path)
            for path in paths
        }

    def changes(self, start: bytes = b"", end: bytes | None = None) -> Iterator[Change]:
        """Return the staged changes with start <= path < end, the newest of each path."""
        return staged_changes(self.repo.engine, self.tokens, start, end)

    def changed_paths(self) -> Iterator[bytes]:
        """Return the paths of the staged changes, with less to transfer."""
        scans = [self.repo.engine.staging.scan_paths(token, b"", None) for token in self.tokens]
        latest = None
        for path in heap_merge(*side_by_side(self.repo.engine, scans)):
            if path != latest:
                latest = path
                yield path

    def records(self, staged: StagedChanges, start: bytes, end: bytes | None) -> Iterator[Record]:
        """Return the records that a reader sees with start <= path < end."""
        return live_records(staged.from_path(start), self.committed.records(start, end))

    def staged(
        self,
        end: bytes | None,
        amount: int = PAGE_AMOUNT_MAX,
        passed: Passed | None = None,
        first: Iterator[ChangesPage] | None = None,
    ) -> StagedChanges:
        """Return the staged changes up to end, for a reader that skips forward.

        amount: about how many changes the reader needs first.
        first: reads the pages of the newest token already, from the reader's start on.
        """

        def changes(token: StagingToken, pages: Iterator[ChangesPage] | None) -> TokenChanges:
            def read(start: bytes, at_first: int) -> Iterator[ChangesPage]:
                pages = self.repo.engine.staging.scan_pages(token, start, end, at_first)
                return pages if len(self.tokens) == 1 else _begun(self.repo.engine, pages)

            return TokenChanges(read, amount, pages, passed)

        rest = repeat(None)
        return StagedChanges(list(map(changes, self.tokens, chain([first], rest))))


def staged_changes(
    engine: Engine, tokens: Sequence[StagingToken], start: bytes = b"", end: bytes | None = None
) -> Iterator[Change]:
    """Return the changes with start <= path < end, the newest of each path; newest tokens first."""
    scan = engine.staging.scan
    return newest_changes(side_by_side(engine, [scan(token, start, end) for token in tokens]))


def side_by_side(engine: Engine, scans: Sequence[Iterator[T]]) -> Sequence[Iterator[T]]:
    """Return the scans; the first pages of several are fetched beside one another."""
    return scans if len(scans) == 1 else [_begun(engine, scan) for scan in scans]


def _begun(engine: Engine, scan: Iterator[T]) -> Iterator[T]:
    """Return the scan, and begin to fetch its first page now."""
    first = engine.ahead(lambda: list(islice(scan, 1)))
    return chain.from_iterable(part() for part in (first, lambda: scan))


def view_of_branch(repo: OpenRepository, branch: Branch) -> View:
    """Return the view of the branch, and remember its token for the next reader.

    Raises:
        CorruptDataError: the head's commit does not exist.
    """
    repo.remember(branch)
    committed = repo.content(branch.commit_id)
    return View(repo, branch.tokens, committed)


def view_of_ref(repo: OpenRepository, ref: str) -> View:
    """Return the view of a ref expression.

    Raises:
        InvalidInputError: ref is malformed.
        NotFoundError: it names no commit.
    """
    resolved = resolve(repo.engine.refs, repo.history(), ref)
    if resolved.branch is not None:
        repo.remember(resolved.branch)
    committed = repo.content(resolved.commit_id)
    return View(repo, resolved.tokens, committed)


def read_value(repo: OpenRepository, ref: str, path: bytes) -> bytes | None:
    """Return the stored value of a path at a ref; for a branch, usually in one request.

    The request reads the branch's record and the staged entry under the token that was seen last.

    Raises:
        InvalidInputError: the ref or the path is malformed.
        NotFoundError: the ref names no commit.
    """
    check_path(path)
    seen = repo.engine.branches.get((repo.record.uid, ref)) if is_branch_name(ref) else None
    if seen is None:
        return view_of_ref(repo, ref).get(path)
    branch, staged = repo.engine.staging.get_with_branch(repo.record, ref, seen.staging_token, path)
    if branch is None:
        repo.engine.branches.forget((repo.record.uid, ref))
        return view_of_ref(repo, ref).get(path)
    return value_on_branch(repo, branch, path, StagedRead(seen, staged))


def value_on_branch(
    repo: OpenRepository, branch: Branch, path: bytes, read: StagedRead | None
) -> bytes | None:
    """Return the stored value that readers of the branch see at the path.

    read: made beside the read of the branch, in no order.

    Raises:
        CorruptDataError: the head's commit does not exist.
    """
    view = view_of_branch(repo, branch)
    if read is None or not read.is_current(branch):
        return view.get(path)
    if read.staged is not None:
        return read.staged.value
    return View(repo, branch.sealed_tokens, view.committed).get(path)


def view_with_staged(
    repo: OpenRepository, ref: str, query: PageQuery, passed: Passed | None = None
) -> tuple[View, StagedChanges]:
    """Return the view of a ref, and its staged changes for the page.

    For a branch, one round trip fetches its record and the first page of its staged changes.

    Raises:
        InvalidInputError: the ref is malformed.
        NotFoundError: it names no commit.
    """
    # One more than the page shows that there is another page.
    end, amount = query.end, query.amount + 1
    seen = repo.engine.branches.get((repo.record.uid, ref)) if is_branch_name(ref) else None
    if seen is None:
        view = view_of_ref(repo, ref)
        return view, view.staged(end, amount, passed)
    token = seen.staging_token
    branch, first = repo.engine.staging.scan_pages_with_branch(
        repo.record, ref, token, query.start, end, amount
    )
    if branch is None:
        repo.engine.branches.forget((repo.record.uid, ref))
        view = view_of_ref(repo, ref)
        return view, view.staged(end, amount, passed)
    view = view_of_branch(repo, branch)
    if (branch.staging_token, branch.version) != (token, seen.version):  # as StagedRead.is_current
        return view, view.staged(end, amount, passed)
    return view, view.staged(end, amount, passed, first)
