"""Copies and moves of all objects with a prefix, as tasks: metadata only, any number of objects.

Theory of operation. The task walks the source's paths in order, page by page, and stages the
objects at the destination. A move also deletes the source. It works in steps of some objects:

    open    one transaction stages the copies, and stores the progress in the task's record
    delete  of a move: another transaction deletes the source, under the same staging token
    close   the record says that the objects are done

A transaction is conditional on the task's record, on the branch's head and token, and on each
staged entry that it replaces. If another writer was faster, it has no effect, and the walk reads
the step again. So no newer write is overwritten or deleted unseen, and a cancelled task stages
nothing more.

A commit may miss parts of a transaction (`graveler.branches.staging`, "Confirming"). So each
transaction is confirmed before the next one. If a commit may have missed a part, or the process
dies, the step is still open, and it is made again: the saved progress knows its own copies. What a
move copies is confirmed before its source is deleted, and no commit has taken the token meanwhile.
So an object that moves is at both paths for a moment, and never at none.

Source and destination on one branch must not overlap: the walk would meet its own copies. Addresses
are claimed as by a shallow copy (`graveler.retention.claims`).
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import TypeVar

import msgspec
from msgspec.structs import replace

from graveler.addresses import etag_to_match, physical_uri
from graveler.branches.claims import claim
from graveler.branches.lookup import shown
from graveler.branches.protection import check_can_stage
from graveler.branches.retries import contention
from graveler.branches.staging import confirm_conditional
from graveler.branches.views import View
from graveler.entries import entry_value, value_entry
from graveler.errors import StaleVersionError, UnknownOutcomeError
from graveler.limits import BRANCH_WRITE_TRIES_MAX
from graveler.messages import Refusal
from graveler.model import Branch, Record
from graveler.model.tasks import Task, TaskKind
from graveler.names import check_path
from graveler.open_repository import OpenRepository
from graveler.operations.prefixes.progress import SavedProgress, digest
from graveler.operations.prefixes.requests import IfExists, PrefixObjects, ResolvedRequest
from graveler.operations.tasks.hold import Hold
from graveler.ports import Staged, StagedChange
from graveler.retention.claims import address_to_claim
from graveler.threads import ContextThreads

T = TypeVar("T")

# Paths that the walk reads at once. One step stages fewer.
_PAGE_PATHS = 960
# A transaction has at most 100 parts and 4 MB; two parts are the branch and the task.
_STEP_OBJECTS_MAX = 96
_STEP_BYTES_MAX = 3 * 1024**2
_HEADS_AT_ONCE = 16


def run_prefix(hold: Hold) -> dict[str, str]:
    """Do the work of a copy or a move of a prefix; return how many objects it staged.

    Raises:
        PreconditionFailedError: an object exists at the destination, and should not.
        GoneError: the data of an object do not exist any more.
        GravelerError: the others of start_copy; staged objects stay.
        StoppedError: this runner must not continue.
    """
    walk = _Walk(hold)
    tries = 0
    while True:
        before = walk.progress.after
        try:
            if not walk.next_page():
                break
        except StaleVersionError:
            pass  # another writer was faster: read again
        tries = 0 if walk.progress.after != before else tries + 1
        if tries == BRANCH_WRITE_TRIES_MAX:
            raise contention(f"branch {hold.task.branch!r}")
    progress = walk.progress
    return {"copied": str(progress.copied), "skipped": str(progress.skipped)}


@dataclass(frozen=True, slots=True)
class _Planned:
    """One object, and how to copy and to delete it; neither if it is skipped or done."""

    source: bytes
    copied: StagedChange | None = None
    deleted: StagedChange | None = None
    is_skipped: bool = False

    @property
    def size_bytes(self) -> int:
        return 0 if self.copied is None else len(self.copied.path) + len(self.copied.value or b"")


class _Walk:
    """The walk of one runner over the source."""

    def __init__(self, hold: Hold) -> None:
        self._hold = hold
        self._engine = hold.repo.engine
        self._asked = msgspec.convert(hold.task.request, ResolvedRequest)
        self._moves = hold.task.kind is TaskKind.MOVE_PREFIX

    @property
    def progress(self) -> SavedProgress:
        return msgspec.convert(self._hold.task.saved, SavedProgress)

    def next_page(self) -> bool:
        """Stage the next page of objects; return False if there are none.

        Raises:
            StaleVersionError: another writer changed the branch or a path; some steps may be made.
        """
        progress = self.progress
        self._hold.report(*2 * (progress.done,))
        repo, branch = self._hold.current_branch()
        check_can_stage(repo.record, branch.name, force=self._asked.request.force)
        records = self._claimed_page(repo, branch, bytes.fromhex(progress.after))
        if not records:
            return False
        for step in _steps(self._plan(repo, branch, records)):
            self._make(repo, branch, step)
        return True

    def _claimed_page(self, repo: OpenRepository, branch: Branch, after: bytes) -> list[Record]:
        """Return the next records, whose addresses no collection deletes meanwhile."""
        source = PrefixObjects(repo, self._asked)
        records = source.page(branch, after, _PAGE_PATHS)
        claimed = self._to_claim(repo, records)
        if not claimed:
            return records
        claim(repo, claimed.keys())
        if not self._asked.is_branch:
            # The commit may have expired, and a collection may have deleted the data before.
            self._require_data(repo, claimed)
            return records
        again = source.page(branch, after, _PAGE_PATHS)
        others = self._to_claim(repo, again).items() - claimed.items()
        first = min((path for address, path in others), default=None)
        kept = [record for record in again if first is None or record[0] < first]
        if again and not kept:
            raise StaleVersionError("the source changed since it was read")
        return kept

    def _to_claim(self, repo: OpenRepository, records: Sequence[Record]) -> dict[str, bytes]:
        """Return the addresses to claim, each with a path."""
        now_s = self._engine.now_s()
        found: dict[str, bytes] = {}
        for path, value in records:
            entry = value_entry(value)
            address = address_to_claim(repo.record.storage_namespace, entry, now_s)
            if address is not None:
                found.setdefault(address, path)
        return found

    def _require_data(self, repo: OpenRepository, claimed: dict[str, bytes]) -> None:
        uris = [f"{repo.record.storage_namespace}/{address}" for address in claimed]
        with ContextThreads(_HEADS_AT_ONCE) as pool:
            infos = pool.map(self._engine.objects.head, uris)
            for info, path in zip(infos, claimed.values(), strict=True):
                if info is None:
                    raise Refusal.NO_DATA.error(f"{shown(path)}: a collection deleted its data")

    def _plan(
        self, repo: OpenRepository, branch: Branch, records: Sequence[Record]
    ) -> Iterator[_Planned]:
        """Yield the changes to stage for each record."""
        request = self._asked.request
        cut = len(request.source_prefix.encode())
        into = request.destination_prefix.encode()
        targets = {path: into + path[cut:] for path, _ in records}
        for target in targets.values():
            check_path(target)
        staged = self._staged(branch, targets.values())
        sources = self._staged(branch, targets.keys()) if self._moves else {}
        existing = self._existing(repo, branch, targets.values(), staged)
        made = self.progress.own()
        for path, value in records:
            target, own = targets[path], made.get(digest(path))
            seen = existing.get(target)
            # A move that was cancelled may have left the same object at both paths.
            is_free = seen is None or digest(seen) == own or (self._moves and seen == value)
            is_copied = own is not None and (not self._moves or digest(value) == own)
            if not (is_free or is_copied):
                if request.if_exists is IfExists.FAIL:
                    raise Refusal.PATH_EXISTS.error(shown(target))
                yield _Planned(path, is_skipped=True)
                continue
            copied = deleted = None
            if is_free:
                copied = StagedChange(target, self._copied(repo, value), staged.get(target))
            if self._moves:
                now = sources.get(path)
                if now is not None and now.value != value:
                    raise StaleVersionError(f"path {shown(path)} changed since it was read")
                deleted = StagedChange(path, None, now)
            yield _Planned(path, copied, deleted)

    def _copied(self, repo: OpenRepository, value: bytes) -> bytes:
        """Return the value at the destination: a copy has a new time, a moved object its own.

        A copy of data that others may replace keeps it too: it would be younger than the data.
        """
        entry = value_entry(value)
        namespace = repo.record.storage_namespace
        if self._moves or etag_to_match(namespace, physical_uri(namespace, entry), entry.checksum):
            return value
        return entry_value(replace(entry, last_modified_ns=self._engine.clock.now_ns()))

    def _staged(self, branch: Branch, paths: Iterable[bytes]) -> dict[bytes, Staged]:
        """Return the branch's newest staged changes of the ascending paths."""
        wanted = list(paths)
        scan = self._engine.staging.scan(branch.staging_token, wanted[0], wanted[-1] + b"\0")
        known = set(wanted)
        return {path: Staged(value) for path, value in self._watched(scan) if path in known}

    def _existing(
        self,
        repo: OpenRepository,
        branch: Branch,
        paths: Iterable[bytes],
        staged: dict[bytes, Staged],
    ) -> dict[bytes, bytes]:
        """Return the objects that readers of the branch see at the ascending paths."""
        wanted = list(paths)
        if self._asked.request.if_exists is IfExists.OVERWRITE:
            return {}
        content = repo.content(branch.commit_id)
        below = View(repo, branch.sealed_tokens, content)
        first, end = wanted[0], wanted[-1] + b"\0"
        known = set(wanted)
        found = {
            path: value
            for path, value in self._watched(below.records(below.staged(end), first, end))
            if path in known
        }
        for path, change in staged.items():
            if change.value is None:
                found.pop(path, None)
            else:
                found[path] = change.value
        return found

    def _watched(self, things: Iterable[T]) -> Iterator[T]:
        """Pass the things on, and report meanwhile: many others may be between the wanted ones.

        Raises:
            StoppedError: this runner must not continue.
        """
        for number, thing in enumerate(things):
            if number % _PAGE_PATHS == 0:
                self._hold.report_again()
            yield thing

    def _make(self, repo: OpenRepository, branch: Branch, step: Sequence[_Planned]) -> None:
        """Copy the objects of a step, delete the source of a move, and save that they are done.

        Raises:
            StaleVersionError: another writer changed the branch, a path or the task, or a commit
                may have missed a change. The step is open, or has no effect.
        """
        copies = {each.source: each.copied for each in step if each.copied is not None}
        if copies:
            values = {path: change.value or b"" for path, change in copies.items()}
            self._stage(repo, branch, [*copies.values()], self.progress.opened(values))
        deletions = [each.deleted for each in step if each.deleted is not None]
        if deletions:
            self._stage(repo, branch, deletions, self.progress)
        skipped = sum(each.is_skipped for each in step)
        self._hold.save(asdict(self.progress.closed(step[-1].source, skipped)))

    def _stage(
        self,
        repo: OpenRepository,
        branch: Branch,
        changes: Sequence[StagedChange],
        progress: SavedProgress,
    ) -> None:
        """Stage the changes and the progress in one transaction.

        Raises:
            StaleVersionError: as `_make`.
        """

        def store(old: Task, new: Task) -> Task:
            return self._engine.staging.stage_step(repo.record, branch, changes, old, new)

        self._hold.step(asdict(progress), progress.done, store)
        try:
            staged = [(each.path, each.value) for each in changes]
            confirm_conditional(repo, branch, staged)
        except UnknownOutcomeError as error:
            raise StaleVersionError(error.message) from error


def _steps(planned: Iterator[_Planned]) -> Iterator[list[_Planned]]:
    """Yield the planned objects in groups that one transaction can stage."""
    step: list[_Planned] = []
    changes = size_bytes = 0
    for each in planned:
        changes += not each.is_skipped
        size_bytes += each.size_bytes
        if step and (changes > _STEP_OBJECTS_MAX or size_bytes > _STEP_BYTES_MAX):
            yield step
            step, changes, size_bytes = [], not each.is_skipped, each.size_bytes
        step.append(each)
    if step:
        yield step
