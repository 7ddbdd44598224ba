"""What continuous export asks of the world beside the engine's other ports."""

from collections.abc import Iterator
from typing import Protocol

from graveler.export.model import BranchExport, ExportRequest
from graveler.export.places import ListedExport
from graveler.model import Branch, Event, Repository


class ExportStore(Protocol):
    """The export record of each branch, changed by compare-and-swap."""

    def branch_export(self, repository: Repository, branch: str) -> BranchExport | None:
        """The record as it stands; None if the branch was never configured."""

    def replace_branch_export(
        self,
        repository: Repository,
        old: BranchExport | None,
        new: BranchExport,
        event: Event | None = None,
    ) -> BranchExport:
        """Store new in place of old (None: nothing), with an event in one transaction.

        A configuration comes with an event; then the list of exports has its places, too. The
        first record of a branch comes with an event as well, on condition that the branch exists.

        Returns:
            new as it is stored, with its `next_version`.

        Raises:
            StaleVersionError: the record is not old any more, or the branch of a first one is gone.
        """

    def delete_branch_export(self, repository: Repository, old: BranchExport) -> None:
        """Forget the record; one that is forgotten already is as good.

        Raises:
            StaleVersionError: the record is not old any more.
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
    ) -> None:
        """Delete the branch and end its export, all or nothing.

        export is the branch's record (None: it has none), left is what replaces it (None: record
        and listing go). The branch's tokens are registered to be dropped after that time.

        Raises:
            StaleVersionError: the branch or the record changed since it was read.
        """

    def listed_exports(self) -> Iterator[ListedExport]:
        """Every branch that is exported, and some that were, fetched page by page.

        The places are those of the last configuration and all that were in the record then.
        """

    def listed_record(self, listed: ListedExport) -> BranchExport | None:
        """The record of a listed export as it stands, even if its repository is deleted."""


class ExportQueue(Protocol):
    """Messages to the export function: at least once, in no order, no earlier than told."""

    def send(self, request: ExportRequest, delay_s: int = 0) -> None:
        """Have the export function look after the branch in delay_s seconds, 900 at most."""


class BatchJobs(Protocol):
    """Jobs for what one function invocation is too small for."""

    def start_export(self, request: ExportRequest, run_id: str) -> bool:
        """Start the Spark job that carries out this run; False where no such job is deployed."""
