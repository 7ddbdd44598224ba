"""Pieces of a run's manifest: files with the ETags of copies, until the manifest is written.

They are stored in the repository's storage namespace, so that a runner that takes the run over
finds the ETags of the copies that others made.
"""

from collections.abc import Sequence
from contextlib import suppress

from graveler.engine import Engine
from graveler.errors import GravelerError
from graveler.export import manifest
from graveler.export.manifest import ETag, piece_uri
from graveler.export.record import ExportRun
from graveler.limits import DELETE_OBJECTS_MAX
from graveler.model import Repository
from graveler.operations.exports.retrying import RetriedRequests


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


def delete_pieces(engine: Engine, repository: Repository, run: ExportRun | None) -> None:
    """Delete the pieces of an ended run, without raising if the object store fails."""
    if run is None:
        return
    numbers = range(run.progress.pieces)
    uris = [piece_uri(repository.storage_namespace, run.id, number) for number in numbers]
    with suppress(GravelerError):
        for first in range(0, len(uris), DELETE_OBJECTS_MAX):
            engine.objects.delete_many(uris[first : first + DELETE_OBJECTS_MAX])
