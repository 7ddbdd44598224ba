"""A consistent view of one ref: what a request that reads objects works on.

A branch record says which staging tokens and which commit make up the branch. Tokens that a
commit drops stay readable for longer than any request lives, so the record is a snapshot.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from graveler.addresses import physical_uri
from graveler.committed.metarange import MetaRange
from graveler.entries import value_entry
from graveler.model import Branch, Change, Entry, Record, Repository
from graveler.names import check_path, is_branch_name
from graveler.operations.engine import Engine
from graveler.refs.resolve import resolve
from graveler.staging.overlay import StagedChanges, live_records, newest_changes


@dataclass(frozen=True, slots=True)
class ObjectStat:
    """An object as a reader of its path sees it; physical_address is the whole URI of its data."""

    path: bytes
    entry: Entry
    physical_address: str


def object_stat(repository: Repository, path: bytes, stored: bytes) -> ObjectStat:
    """The object that a stored value describes."""
    entry = value_entry(stored)
    return ObjectStat(path, entry, physical_uri(repository.storage_namespace, entry))


@dataclass(frozen=True, slots=True)
class View:
    """Staging tokens over a commit's content."""

    engine: Engine
    repository: Repository
    tokens: tuple[str, ...]  # newest first
    committed: MetaRange

    def get(self, path: bytes) -> bytes | None:
        """The stored value that a reader of the path sees."""
        for token in self.tokens:
            staged = self.engine.staging.get(token, path)
            if staged is not None:
                return staged.value
        return self.committed.get(path)

    def changes(self, start: bytes = b"", end: bytes | None = None) -> Iterator[Change]:
        """The staged changes with start <= path < end, the newest of each path."""
        scan = self.engine.staging.scan
        return newest_changes([scan(token, start, end) for token in self.tokens])

    def records(self, staged: StagedChanges, start: bytes, end: bytes | None) -> Iterator[Record]:
        """What a reader sees with start <= path < end."""
        return live_records(staged.from_path(start), self.committed.records(start, end))

    def staged(self, start: bytes, end: bytes | None) -> StagedChanges:
        """The staged changes from start on, for a reader that jumps ahead."""
        return StagedChanges(lambda begin: self.changes(begin, end), start)


def view_of_branch(engine: Engine, repository: Repository, branch: Branch) -> View:
    """What a reader of the branch sees."""
    engine.remember(repository, branch)
    committed = engine.content(repository, branch.commit_id)
    return View(engine, repository, branch.tokens, committed)


def view_of_ref(engine: Engine, repository: Repository, ref: str) -> View:
    """What a reader of the ref expression sees.

    Raises:
        InvalidInputError: ref is no ref expression.
        NotFoundError: it names nothing.
    """
    resolved = resolve(engine.refs, engine.history(repository), ref)
    if resolved.branch is not None:
        engine.remember(repository, resolved.branch)
    committed = engine.content(repository, resolved.commit_id)
    return View(engine, repository, resolved.tokens, committed)


def read_value(engine: Engine, repository: Repository, ref: str, path: bytes) -> bytes | None:
    """The stored value of a path at a ref; for a branch, usually in one request.

    The branch's record and the staged entry are read together, under the token last seen, in no
    order. If it is still the branch's token, a staged entry is what readers saw. That there was
    none says something of this head only if the head did not move: then the version is the last
    one seen, too.
    """
    check_path(path)
    seen = engine.tokens.get((repository.uid, ref)) if is_branch_name(ref) else None
    if seen is None:
        return view_of_ref(engine, repository, ref).get(path)
    token, version = seen
    branch, staged = engine.staging.get_with_branch(repository, ref, token, path)
    if branch is None:
        engine.tokens.forget((repository.uid, ref))
        return view_of_ref(engine, repository, ref).get(path)
    view = view_of_branch(engine, repository, branch)
    if branch.staging_token == token and staged is not None:
        return staged.value
    if (branch.staging_token, branch.version) != (token, version):
        return view.get(path)
    return View(engine, repository, branch.sealed_tokens, view.committed).get(path)


def view_with_staged(
    engine: Engine, repository: Repository, ref: str, start: bytes, end: bytes | None
) -> tuple[View, StagedChanges]:
    """What a reader of the ref sees, and its staged changes from start on.

    For a branch, its record and the first page of its staged changes are fetched together.
    """
    seen = engine.tokens.get((repository.uid, ref)) if is_branch_name(ref) else None
    if seen is None:
        view = view_of_ref(engine, repository, ref)
        return view, view.staged(start, end)
    token, version = seen
    branch, first = engine.staging.scan_with_branch(repository, ref, token, start, end)
    if branch is None:
        engine.tokens.forget((repository.uid, ref))
        view = view_of_ref(engine, repository, ref)
        return view, view.staged(start, end)
    view = view_of_branch(engine, repository, branch)
    if (branch.staging_token, branch.version) != (token, version):  # as in read_value
        return view, view.staged(start, end)
    return view, _staged_after(view, first, start, end)


def _staged_after(
    view: View, first: Iterator[Change], start: bytes, end: bytes | None
) -> StagedChanges:
    """The view's staged changes, of which the newest token's are being read already."""
    sealed = View(view.engine, view.repository, view.tokens[1:], view.committed)
    begun = newest_changes([first, sealed.changes(start, end)]) if sealed.tokens else first
    scans = iter([begun])
    return StagedChanges(lambda begin: next(scans, None) or view.changes(begin, end), start)
