"""Walks over the paths of a prefix that stage objects in steps: of copies, moves and restores.

Theory of operation. A task walks paths in order, page by page, and stages objects. It works in
steps of some objects:

    open    one transaction stages the objects, and stores the progress in the task's record
    delete  of a move: another transaction deletes the source, under the same staging token
    close   the record says that the objects are done

A transaction is conditional on the task's record, on the branch's head and token, and on each
staged entry that it replaces. If another writer was faster, it has no effect, and the walk reads
the step again. So no newer write is overwritten or deleted unseen, and a cancelled task stages
nothing more.

A commit may miss parts of a transaction (`graveler.branches.staging`, "Confirming"). So each
transaction is confirmed before the next one. If a commit may have missed a part, or the process
dies, the step is still open, and it is made again: the saved progress knows what it has staged.

Addresses are claimed as by a shallow copy (`graveler.retention.claims`).
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TypeVar

import msgspec
from msgspec.structs import asdict

from graveler.branches.confirming import confirm_conditional
from graveler.branches.lookup import shown
from graveler.branches.protection import check_can_stage
from graveler.branches.retries import contention
from graveler.entries import value_entry
from graveler.errors import StaleVersionError, UnknownOutcomeError
from graveler.limits import BRANCH_WRITE_TRIES_MAX
from graveler.messages import Refusal
from graveler.model import Branch, Record
from graveler.model.tasks import Task
from graveler.open_repository import OpenRepository
from graveler.operations.prefixes.progress import SavedProgress
from graveler.operations.tasks.hold import Hold
from graveler.ports import CHANGES_TOGETHER_MAX, Staged, StagedChange
from graveler.retention.claims import address_to_claim
from graveler.threads import ContextThreads

T = TypeVar("T")

# Paths that a walk reads at once. One step stages fewer.
PAGE_PATHS = 960
# A transaction has at most 100 parts and 4 MB; two parts are the branch and the task.
_STEP_BYTES_MAX = 3 * 1024**2
_HEADS_AT_ONCE = 16


class Planned(msgspec.Struct, frozen=True):
    """One path of a walk, and what to stage for it; nothing if it is skipped or done.

    staged: an object, or a deletion.
    deleted: of a move, the deletion of the source.
    """

    path: bytes
    staged: StagedChange | None = None
    deleted: StagedChange | None = None
    is_skipped: bool = False

    @property
    def size_bytes(self) -> int:
        return 0 if self.staged is None else len(self.staged.path) + len(self.staged.value or b"")


class StagingWalk(ABC):
    """The walk of one runner.

    force: whether the branch may be read-only.
    """

    def __init__(self, hold: Hold, *, force: bool) -> None:
        self._hold = hold
        self._engine = hold.repo.engine
        self._force = force

    @abstractmethod
    def planned(
        self, repo: OpenRepository, branch: Branch, after: bytes
    ) -> Iterator[Planned] | None:
        """Return a page of the paths behind `after`; None if there are none.

        Raises:
            StaleVersionError: others changed the paths meanwhile.
        """

    @property
    def progress(self) -> SavedProgress:
        return msgspec.convert(self._hold.task.saved, SavedProgress)

    def go(self) -> SavedProgress:
        """Walk to the end; return the progress.

        Raises:
            ContentionError: other writers were faster in each try.
            GravelerError: whatever a page raises; what is staged stays.
            StoppedError: this runner must not continue.
        """
        tries = 0
        while True:
            before = self.progress.after
            try:
                if not self._next_page():
                    return self.progress
            except StaleVersionError:
                pass  # another writer was faster: read again
            tries = 0 if self.progress.after != before else tries + 1
            if tries == BRANCH_WRITE_TRIES_MAX:
                raise contention(f"branch {self._hold.task.branch!r}")

    def _next_page(self) -> bool:
        """Stage the next page of objects; return False if there are none.

        Raises:
            StaleVersionError: another writer changed the branch or a path; some steps may be made.
        """
        progress = self.progress
        self._hold.report(*2 * (progress.done,))
        repo, branch = self._hold.current_branch()
        check_can_stage(repo.record, branch.name, force=self._force)
        planned = self.planned(repo, branch, bytes.fromhex(progress.after))
        if planned is None:
            return False
        for step in _steps(planned):
            self._make(repo, branch, step)
        return True

    def to_claim(self, repo: OpenRepository, records: Iterable[Record]) -> dict[str, bytes]:
        """Return the addresses to claim, each with a path."""
        now_s = self._engine.now_s()
        found: dict[str, bytes] = {}
        for path, value in records:
            entry = value_entry(value)
            address = address_to_claim(repo.record.storage_namespace, entry, now_s)
            if address is not None:
                found.setdefault(address, path)
        return found

    def require_data(self, repo: OpenRepository, claimed: Mapping[str, bytes]) -> None:
        uris = [f"{repo.record.storage_namespace}/{address}" for address in claimed]
        with ContextThreads(_HEADS_AT_ONCE) as pool:
            infos = pool.map(self._engine.objects.head, uris)
            for info, path in zip(infos, claimed.values(), strict=True):
                if info is None:
                    raise Refusal.NO_DATA.error(f"{shown(path)}: its data are missing")

    def staged(self, branch: Branch, paths: Iterable[bytes]) -> dict[bytes, Staged]:
        """Return the branch's newest staged changes of the ascending paths."""
        wanted = list(paths)
        scan = self._engine.staging.scan(branch.staging_token, wanted[0], wanted[-1] + b"\0")
        known = set(wanted)
        return {path: Staged(value) for path, value in self.watched(scan) if path in known}

    def watched(self, things: Iterable[T]) -> Iterator[T]:
        """Pass the things on, and report meanwhile: many others may be between the wanted ones.

        Raises:
            StoppedError: this runner must not continue.
        """
        for number, thing in enumerate(things):
            if number % PAGE_PATHS == 0:
                self._hold.report_again()
            yield thing

    def _make(self, repo: OpenRepository, branch: Branch, step: Sequence[Planned]) -> None:
        """Stage the objects of a step, delete the source of a move, and save that they are done.

        Raises:
            StaleVersionError: another writer changed the branch, a path or the task, or a commit
                may have missed a change. The step is open, or has no effect.
        """
        changes = {each.path: each.staged for each in step if each.staged is not None}
        if changes:
            values = {path: change.value or b"" for path, change in changes.items()}
            self._stage(repo, branch, [*changes.values()], self.progress.opened(values))
        deletions = [each.deleted for each in step if each.deleted is not None]
        if deletions:
            self._stage(repo, branch, deletions, self.progress)
        skipped = sum(each.is_skipped for each in step)
        self._hold.save(asdict(self.progress.closed(step[-1].path, skipped)))

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


def _steps(planned: Iterator[Planned]) -> Iterator[list[Planned]]:
    """Yield the planned objects in groups that one transaction can stage."""
    step: list[Planned] = []
    changes = size_bytes = 0
    for each in planned:
        changes += not each.is_skipped
        size_bytes += each.size_bytes
        if step and (changes > CHANGES_TOGETHER_MAX or size_bytes > _STEP_BYTES_MAX):
            yield step
            step, changes, size_bytes = [], not each.is_skipped, each.size_bytes
        step.append(each)
    if step:
        yield step
