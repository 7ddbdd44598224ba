"""Copies and moves of all objects with a prefix, as tasks: metadata only, any number of objects.

Theory of operation. The task walks the source's paths, and stages the objects at the destination
(`graveler.operations.prefixes.walk`). A move also deletes the source. What it copies is confirmed
before that, and no commit has taken the token meanwhile. So an object that moves is at both paths
for a moment, and never at none.

Source and destination on one branch must not overlap: the walk would meet its own copies.
"""

from collections.abc import Iterable, Iterator, Sequence

import msgspec
from msgspec.structs import replace

from graveler.addresses import etag_to_match, physical_uri
from graveler.branches.claims import claim
from graveler.branches.lookup import shown
from graveler.branches.protection import check_changeable
from graveler.branches.views import View
from graveler.entries import entry_value, value_entry
from graveler.errors import StaleVersionError
from graveler.messages import Refusal
from graveler.model import Branch, Record
from graveler.model.tasks import TaskKind
from graveler.names import check_path
from graveler.open_repository import OpenRepository
from graveler.operations.prefixes import walk
from graveler.operations.prefixes.progress import digest
from graveler.operations.prefixes.requests import IfExists, PrefixObjects, ResolvedRequest
from graveler.operations.prefixes.walk import Planned, StagingWalk
from graveler.operations.tasks.hold import Hold
from graveler.ports import Staged, StagedChange


def run_copy(hold: Hold) -> dict[str, str]:
    """Do the work of a copy or a move of a prefix; return how many objects it staged.

    Raises:
        PreconditionFailedError: an object exists at the destination, and should not.
        GoneError: the data of an object do not exist any more.
        GravelerError: the others of start_copy; staged objects stay.
        StoppedError: this runner must not continue.
    """
    progress = _CopyWalk(hold).go()
    return {"copied": str(progress.copied), "skipped": str(progress.skipped)}


class _CopyWalk(StagingWalk):
    """The walk over the source of a copy or a move."""

    def __init__(self, hold: Hold) -> None:
        self._asked = msgspec.convert(hold.task.request, ResolvedRequest)
        self._moves = hold.task.kind is TaskKind.MOVE_PREFIX
        super().__init__(hold, force=self._asked.request.force)

    def planned(
        self, repo: OpenRepository, branch: Branch, after: bytes
    ) -> Iterator[Planned] | None:
        records = self._claimed_page(repo, branch, after)
        return self._plan(repo, branch, records) if records else None

    def _claimed_page(self, repo: OpenRepository, branch: Branch, after: bytes) -> list[Record]:
        """Return the next records, whose addresses no collection deletes meanwhile."""
        source = PrefixObjects(repo, self._asked)
        records = source.page(branch, after, walk.PAGE_PATHS)
        claimed = self.to_claim(repo, records)
        if not claimed:
            return records
        claim(repo, claimed.keys())
        if not self._asked.is_branch:
            # The commit may have expired, and a collection may have deleted the data before.
            self.require_data(repo, claimed)
            return records
        again = source.page(branch, after, walk.PAGE_PATHS)
        others = self.to_claim(repo, again).items() - claimed.items()
        first = min((path for address, path in others), default=None)
        kept = [record for record in again if first is None or record[0] < first]
        if again and not kept:
            raise StaleVersionError("the source changed since it was read")
        return kept

    def _plan(
        self, repo: OpenRepository, branch: Branch, records: Sequence[Record]
    ) -> Iterator[Planned]:
        """Yield the changes to stage for each record."""
        request = self._asked.request
        cut = len(request.source_prefix.encode())
        into = request.destination_prefix.encode()
        targets = {path: into + path[cut:] for path, _ in records}
        for path, target in targets.items():
            check_path(target)
            if target != path:
                check_changeable(target)
            if self._moves:
                check_changeable(path)
        staged = self.staged(branch, targets.values())
        sources = self.staged(branch, targets.keys()) if self._moves else {}
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
                yield Planned(path, is_skipped=True)
                continue
            copied = deleted = None
            if is_free:
                copied = StagedChange(target, self._copied(repo, value), staged.get(target))
            if self._moves:
                now = sources.get(path)
                if now is not None and now.value != value:
                    raise StaleVersionError(f"path {shown(path)} changed since it was read")
                deleted = StagedChange(path, None, now)
            yield Planned(path, copied, deleted)

    def _copied(self, repo: OpenRepository, value: bytes) -> bytes:
        """Return the value at the destination: a copy has a new time, a moved object its own.

        A copy of data that others may replace keeps it too: it would be younger than the data.
        """
        entry = value_entry(value)
        namespace = repo.record.storage_namespace
        if self._moves or etag_to_match(namespace, physical_uri(namespace, entry), entry.checksum):
            return value
        return entry_value(replace(entry, last_modified_ns=self._engine.clock.now_ns()))

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
            for path, value in self.watched(below.records(below.staged(end), first, end))
            if path in known
        }
        for path, change in staged.items():
            if change.value is None:
                found.pop(path, None)
            else:
                found[path] = change.value
        return found
