"""The stored data of a run: its record, and pieces of its manifest until that is written.

A piece is a file with the ETags of copies, in the repository's storage namespace. So a runner that
takes the run over finds the ETags of the copies that others made.
"""

from collections.abc import Sequence
from contextlib import suppress

from graveler.errors import GravelerError
from graveler.export import manifest
from graveler.export.manifest import ETag, piece_uri
from graveler.export.record import BranchExport, ExportRun
from graveler.model import Branch, Repository
from graveler.open_repository import OpenRepository
from graveler.operations.exports.retried_requests import RetriedRequests


def new_run_id(repo: OpenRepository, branch: Branch) -> str:
    """Return a new ID for a run that exports the branch's head."""
    uid = repo.engine.names.new_uid()
    return f"{repo.record.name}-{branch.name}-{branch.commit_id}-{uid}"


def put_piece(
    requests: RetriedRequests,
    repository: Repository,
    run_id: str,
    number: int,
    etags: Sequence[ETag],
) -> None:
    """Store ETags of copies as the run's piece of that number.

    Raises:
        GaveUpError: they cannot be stored.
    """
    uri = piece_uri(repository.storage_namespace, run_id, number)
    requests.put(uri, manifest.piece_of(etags), manifest.CONTENT_TYPE)


def delete_pieces(repo: OpenRepository, run: ExportRun | None) -> None:
    """Delete the pieces of an ended run, without raising if the object store fails."""
    if run is None:
        return
    numbers = range(run.progress.pieces)
    uris = [piece_uri(repo.record.storage_namespace, run.id, number) for number in numbers]
    if uris:
        with suppress(GravelerError):
            repo.engine.objects.delete_many(uris)


def delete_record(repo: OpenRepository, record: BranchExport) -> None:
    """Delete the export's record, and the pieces of its run.

    Raises:
        StaleVersionError: another writer changed the record.
    """
    repo.engine.exports.delete_branch_export(repo.record, record)
    delete_pieces(repo, record.run)
