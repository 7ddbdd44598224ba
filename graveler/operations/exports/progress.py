"""The progress of a run, with the ETags of the copies that it covers."""

from msgspec.structs import replace

from graveler.export import lifecycle
from graveler.export.manifest import ETag
from graveler.export.schedule import Schedule
from graveler.export.slices import SlicedSchedule
from graveler.operations.exports.lease import ExportLease
from graveler.operations.exports.retried_requests import GaveUpError, RetriedRequests
from graveler.operations.exports.run_records import put_piece


class RunProgress:
    """The progress of a run, collected while the copies are made and stored now and then.

    Progress is stored in the run's record. ETags are too many for a record. They are stored in a
    piece of the manifest, before the progress that covers them. So a runner that takes the run over
    finds the ETags of all copies that the record counts as done.
    """

    def __init__(self, lease: ExportLease, requests: RetriedRequests) -> None:
        """Begin with the progress in the record; requests store the pieces."""
        self._lease = lease
        self._requests = requests
        self._begun = lease.run
        self._source: Schedule | SlicedSchedule | None = None
        self.now = lease.run.progress
        self.etags: list[ETag] = []  # of copies that `now` covers and no piece holds

    @property
    def failed(self) -> int:
        """How many objects have failed, including those that `now` does not cover yet."""
        return self.now.failed if self._source is None else self._source.failed

    @property
    def has_progressed(self) -> bool:
        """Whether this runner has announced the run or moved its position."""
        begun = self._begun
        is_announced = self._lease.run.is_announced and not begun.is_announced
        return is_announced or lifecycle.has_progressed(begun.progress, self.now)

    def follow(self, source: Schedule | SlicedSchedule) -> None:
        """Collect from the schedule or the slices that make the copies from now on."""
        self._source = source

    def collect(self) -> None:
        """Take over the progress of the source."""
        if self._source is not None:
            self.now = replace(self._source.progress, pieces=self.now.pieces)
            self.etags += self._source.take_etags()

    def reread(self) -> None:
        """Continue from the progress in the record, which a transition has just changed."""
        self.now = self._lease.run.progress

    def reserve_pieces(self, count: int) -> None:
        """Count pieces that workers are about to store, so that none is forgotten.

        Raises:
            StoppedError: another runner holds the run.
        """
        self.now = replace(self.now, pieces=self.now.pieces + count)
        self._lease.renew(self.now)

    def store_piece(self) -> None:
        """Store the ETags in a piece, if the run writes a manifest.

        Raises:
            GaveUpError: they cannot be stored.
        """
        run = self._lease.run
        if run.configuration.status_path and self.etags:
            pieces = self.now.pieces
            put_piece(self._requests, self._lease.repo.record, run.id, pieces, self.etags)
            self.now = replace(self.now, pieces=pieces + 1)
        self.etags = []

    def renew_lease(self) -> None:
        """Renew the lease and store the progress.

        Raises:
            GaveUpError: the ETags cannot be stored.
            StoppedError: another runner holds the run.
            UnwantedError: the run is unwanted.
        """
        self.collect()
        self.store_piece()
        self._lease.renew(self.now)

    def release_lease(self) -> None:
        """Give the lease up and store the progress; any runner may continue at once.

        Raises:
            StoppedError: another runner holds the run.
        """
        try:
            self.store_piece()
            stored = self.now
        except GaveUpError:
            stored = self._lease.run.progress  # the copies whose ETags are lost are made again
        self._lease.change(lambda now: lifecycle.released(lifecycle.advanced(now, stored)))
