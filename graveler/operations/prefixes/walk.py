"""Copies and moves of all objects with a prefix, as tasks: metadata only, any number of objects.

Theory of operation. The task walks the source's paths in order, page by page, and stages the
objects at the destination. A move also deletes the source. Objects are staged in steps: one
transaction stages some objects and stores the walk's progress in the task's record. So each object
is staged once, whichever process crashes, and a cancelled task stages nothing more.

A step is conditional on the branch's head and token, and on each staged entry that it replaces. If
another writer was faster, the step has no effect, and the walk reads again from the last step on.
So no newer write is overwritten or deleted unseen. An object that moves is never at both paths or
at none.

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
from graveler.branches.staging import confirm
from graveler.branches.views import View
from graveler.entries import entry_value, value_entry
from graveler.errors import ConflictError, StaleVersionError, UnknownOutcomeError
from graveler.limits import BRANCH_WRITE_TRIES_MAX
from graveler.messages import Refusal
from graveler.model import Branch, Record, Repository
from graveler.model.tasks import Task, TaskKind
from graveler.names import check_path
from graveler.operations.prefixes.requests import IfExists, PrefixObjects, ResolvedRequest
from graveler.operations.tasks.hold import Hold
from graveler.ports import Staged, StagedChange
from graveler.retention.claims import address_to_claim
from graveler.threads import ContextThreads

T = TypeVar("T")

# Paths that the walk reads at once. One step stages fewer.
_PAGE_PATHS = 960
# A transaction has at most 100 parts and 4 MB; two parts are the branch and the task.
_STEP_CHANGES_MAX = 96
_STEP_BYTES_MAX = 3 * 1024**2
_HEADS_AT_ONCE = 16


@dataclass(frozen=True, slots=True)
class _Progress:
    """The saved progress: `after` is the last path of the source that is done, in hex."""

    after: str = ""
    copied: int = 0
    skipped: int = 0


def run_prefix(hold: Hold) -> dict[str, str]:
    """Do the work of a copy or a move of a prefix; return how many objects it staged.

    Raises:
        PreconditionFailedError: an object exists at the destination, and should not.
        GoneError: the data of an object do not exist any more.
        GravelerError: the others of start_copy; staged objects stay.
        TaskStoppedError: this runner must not continue.
    """
    walk = _Walk(hold)
    tries = 0
    while True:
        before = hold.task.saved
        try:
            if not walk.next_page():
                break
        except StaleVersionError:
            pass  # another writer was faster: read again
        tries = 0 if hold.task.saved != before else tries + 1
        if tries == BRANCH_WRITE_TRIES_MAX:
            raise contention(f"branch {hold.task.branch!r}")
    progress = walk.progress
    return {"copied": str(progress.copied), "skipped": str(progress.skipped)}


@dataclass(frozen=True, slots=True)
class _Planned:
    """One object: the changes that stage it, none if it is skipped."""

    source: bytes
    changes: tuple[StagedChange, ...]

    @property
    def size_bytes(self) -> int:
        return sum(len(each.path) + len(each.value or b"") for each in self.changes)


class _Walk:
    """The walk of one runner over the source."""

    def __init__(self, hold: Hold) -> None:
        self._hold = hold
        self._engine = hold.engine
        self._asked = msgspec.convert(hold.task.request, ResolvedRequest)
        self._moves = hold.task.kind is TaskKind.MOVE_PREFIX

    @property
    def progress(self) -> _Progress:
        return msgspec.convert(self._hold.task.saved, _Progress)

    def next_page(self) -> bool:
        """Stage the next page of objects; return False if there are none.

        Raises:
            StaleVersionError: another writer changed the branch or a path; some steps may be made.
        """
        progress = self.progress
        self._hold.report(*2 * (progress.copied + progress.skipped,))
        found, branch = self._hold.current_branch()
        check_can_stage(found, branch.name, force=self._asked.request.force)
        records = self._claimed_page(found, branch, bytes.fromhex(progress.after))
        if not records:
            return False
        for step in _steps(self._plan(found, branch, records)):
            self._make(found, branch, step)
        return True

    def _claimed_page(self, repository: Repository, branch: Branch, after: bytes) -> list[Record]:
        """Return the next records, whose addresses no collection deletes meanwhile."""
        source = PrefixObjects(self._engine, repository, self._asked)
        records = source.page(branch, after, _PAGE_PATHS)
        claimed = self._to_claim(repository, records)
        if not claimed:
            return records
        claim(self._engine, repository, claimed.keys())
        if not self._asked.is_branch:
            # The commit may have expired, and a collection may have deleted the data before.
            self._require_data(repository, claimed)
            return records
        again = source.page(branch, after, _PAGE_PATHS)
        others = self._to_claim(repository, again).items() - claimed.items()
        first = min((path for address, path in others), default=None)
        kept = [record for record in again if first is None or record[0] < first]
        if again and not kept:
            raise StaleVersionError("the source changed since it was read")
        return kept

    def _to_claim(self, repository: Repository, records: Sequence[Record]) -> dict[str, bytes]:
        """Return the addresses to claim, each with a path."""
        now_s = self._engine.now_s()
        found: dict[str, bytes] = {}
        for path, value in records:
            entry = value_entry(value)
            address = address_to_claim(repository.storage_namespace, entry, now_s)
            if address is not None:
                found.setdefault(address, path)
        return found

    def _require_data(self, repository: Repository, claimed: dict[str, bytes]) -> None:
        uris = [f"{repository.storage_namespace}/{address}" for address in claimed]
        with ContextThreads(_HEADS_AT_ONCE) as pool:
            infos = pool.map(self._engine.objects.head, uris)
            for info, path in zip(infos, claimed.values(), strict=True):
                if info is None:
                    raise Refusal.NO_DATA.error(f"{shown(path)}: a collection deleted its data")

    def _plan(
        self, repository: Repository, branch: Branch, records: Sequence[Record]
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
        existing = self._existing(repository, branch, targets.values(), staged)
        for path, value in records:
            target = targets[path]
            if target in existing and request.if_exists is not IfExists.OVERWRITE:
                if request.if_exists is IfExists.FAIL:
                    raise Refusal.PATH_EXISTS.error(shown(target))
                yield _Planned(path, ())
                continue
            copied = StagedChange(target, self._copied(repository, value), staged.get(target))
            if not self._moves:
                yield _Planned(path, (copied,))
                continue
            now = sources.get(path)
            if now is not None and now.value != value:
                raise StaleVersionError(f"path {shown(path)} changed since it was read")
            yield _Planned(path, (copied, StagedChange(path, None, now)))

    def _copied(self, repository: Repository, value: bytes) -> bytes:
        """Return the value at the destination: a copy has a new time, a moved object its own.

        A copy of data that others may replace keeps it too: it would be younger than the data.
        """
        entry = value_entry(value)
        namespace = repository.storage_namespace
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
        repository: Repository,
        branch: Branch,
        paths: Iterable[bytes],
        staged: dict[bytes, Staged],
    ) -> dict[bytes, bytes]:
        """Return the objects that readers of the branch see at the ascending paths."""
        wanted = list(paths)
        if self._asked.request.if_exists is IfExists.OVERWRITE:
            return {}
        content = self._engine.content(repository, branch.commit_id)
        below = View(self._engine, repository, branch.sealed_tokens, content)
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
            TaskStoppedError: this runner must not continue.
        """
        for number, thing in enumerate(things):
            if number % _PAGE_PATHS == 0:
                self._hold.report_again()
            yield thing

    def _make(self, repository: Repository, branch: Branch, step: Sequence[_Planned]) -> None:
        """Stage the objects and the progress in one transaction.

        Raises:
            StaleVersionError: another writer changed the branch, a path or the task.
            ConflictError: a staged change was lost, or replaced at once.
        """
        changes = [change for planned in step for change in planned.changes]
        skipped = sum(not planned.changes for planned in step)
        before = self.progress
        after = _Progress(
            step[-1].source.hex(),
            before.copied + len(step) - skipped,
            before.skipped + skipped,
        )

        def store(old: Task, new: Task) -> Task:
            return self._engine.staging.stage_step(repository, branch, changes, old, new)

        self._hold.step(asdict(after), after.copied + after.skipped, store)
        if changes:
            try:
                pairs = [(each.path, each.value) for each in changes]
                confirm(self._engine, repository, branch, pairs)
            except UnknownOutcomeError as error:
                raise ConflictError(f"{error.message}: then repeat the request") from error


def _steps(planned: Iterator[_Planned]) -> Iterator[list[_Planned]]:
    """Yield the planned objects in groups that one transaction can stage."""
    step: list[_Planned] = []
    changes = size_bytes = 0
    for each in planned:
        changes += len(each.changes)
        size_bytes += each.size_bytes
        if step and (changes > _STEP_CHANGES_MAX or size_bytes > _STEP_BYTES_MAX):
            yield step
            step, changes, size_bytes = [], len(each.changes), each.size_bytes
        step.append(each)
    if step:
        yield step
