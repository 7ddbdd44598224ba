"""The ports of continuous export, in addition to the engine's other ports."""

from collections.abc import Iterator
from typing import Protocol

from graveler.export.paths import ListedExport
from graveler.export.record import BranchExport, ExportRequest
from graveler.model import Branch, Event, Repository
from graveler.model.tasks import TaskStart


class ExportStore(Protocol):
    """The export records of branches, changed by compare-and-swap."""

    def branch_export(self, repository: Repository, branch: str) -> BranchExport | None:
        """Return the current record; None if the branch is not exported."""

    def replace_branch_export(
        self,
        repository: Repository,
        old: BranchExport | None,
        new: BranchExport,
        event: Event | None = None,
    ) -> BranchExport:
        """Replace old (None: no record) by new, and store the event in the same transaction.

        A change of the configuration must come with an event: then the list of exports gets the
        new paths, too. So must a branch's first record, which is stored only if the branch exists.

        Returns:
            new as it is stored, with its `next_version`.

        Raises:
            StaleVersionError: another writer changed the record, or a first record's branch is
                deleted.
        """

    def delete_branch_export(self, repository: Repository, old: BranchExport) -> None:
        """Delete the record; succeed if it is deleted already.

        Raises:
            StaleVersionError: another writer changed the record.
        """

    def delete_branch(
        self,
        repository: Repository,
        branch: Branch,
        event: Event,
        drop_after_ns: int,
        *,
        export: BranchExport | None = None,
        left: BranchExport | None = None,
        starts: TaskStart | None = None,
    ) -> None:
        """Delete the branch together with its export, in one transaction.

        Args:
            repository: the branch's.
            branch: as it was read.
            event: stored in the same transaction.
            drop_after_ns: when the branch's staging tokens may be dropped, which are registered.
            export: the branch's export record as it was read; None if it has none.
            left: replaces the record; None to delete the record and its entry in the list.
            starts: a task to store in the same transaction.

        Raises:
            StaleVersionError: another writer changed the branch or the record.
        """

    def listed_exports(self) -> Iterator[ListedExport]:
        """Yield every exported branch, and some that are not exported any more, page by page.

        The paths are those that the record had when it was last configured.
        """

    def listed_record(self, listed: ListedExport) -> BranchExport | None:
        """Return the current record of a listed export, even if its repository is deleted."""


class ExportQueue(Protocol):
    """Messages to the export function: delivered at least once, in any order, never early."""

    def send(self, request: ExportRequest, delay_s: int = 0) -> None:
        """Make the export function advance the branch after delay_s seconds, 900 at most."""


class BatchJobs(Protocol):
    """Jobs for work that takes longer than a function may run."""

    def start_export(self, request: ExportRequest, run_id: str) -> bool:
        """Start the Spark job that carries out this run; return False if no such job is deployed.

        Raises:
            ThrottledError: too many jobs are running.
        """
