"""Uploads of many objects: one request for their addresses, and one that links all of them.

Theory of operation. The runner cuts its jobs into groups. It asks for the addresses of a group's
files, and then the files are sent side by side. Whichever thread ends last links the group. So a
thousand files take two requests of the API. What is not linked when the command is killed is sent
again by the next run, so a group is small in bytes, too.

Each object fails by itself. Those whose link had no effect are linked again. A server that is no
Graveler has no such requests; its uploads go one by one.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from threading import Lock

import msgspec

from graveler_cli.errors import CommandError
from graveler_cli.schemas import ObjectStats
from graveler_cli.transfers.jobs import Job, UploadJob
from graveler_cli.transfers.objects import Address, PathError, RefObjects
from graveler_cli.transfers.requests import LaterError
from graveler_cli.transfers.uploads import PARTS_BYTES_MIN, UnlinkedData, Uploader

# The server's limit.
OBJECTS_MAX = 1000
# For fewer, the requests in a row take longer than each file's own.
OBJECTS_MIN = 10
BYTES_MAX = 64 * 1024 * 1024
# Of the JSON of path and metadata. The API's requests of links have 1.5 MiB at most.
DESCRIPTION_BYTES_MAX = 1024

_LATER = frozenset({429, 503})
_UNKNOWN = 500
_LEFT_OUT = PathError(_UNKNOWN, "the server does not say what became of it")

Linked = Callable[[UploadJob, ObjectStats | CommandError], None]


def grouped(jobs: Iterable[Job], size_of: Callable[[Job], int]) -> Iterator[Sequence[Job]]:
    """Yield the jobs, in order, in groups that may be linked together; others are alone."""
    group: dict[str, Job] = {}
    size_bytes = 0
    for job in jobs:
        job_bytes = size_of(job)
        is_alone = (
            not isinstance(job, UploadJob) or job_bytes >= PARTS_BYTES_MIN or not _is_brief(job)
        )
        is_full = len(group) == OBJECTS_MAX or size_bytes + job_bytes > BYTES_MAX
        if group and (is_alone or is_full or job.path in group):
            yield list(group.values())
            group, size_bytes = {}, 0
        if is_alone:
            yield [job]
        else:
            group[job.path] = job
            size_bytes += job_bytes
    if group:
        yield list(group.values())


def _is_brief(job: UploadJob) -> bool:
    try:
        return len(msgspec.json.encode((job.path, job.metadata))) <= DESCRIPTION_BYTES_MAX
    except UnicodeEncodeError:
        return False  # its own request tells why


def addresses_of(
    objects: RefObjects,
    group: Sequence[Job],
    pre_sign: bool | None,  # noqa: FBT001 - as the option
) -> Mapping[str, Address | PathError]:
    """Return addresses for a group's objects, or errors; nothing for what had better go alone."""
    if len(group) < OBJECTS_MIN or not objects.presigns(pre_sign):
        return {}
    try:
        return objects.addresses([job.path for job in group])
    except CommandError:
        return {}  # each object's own request tells why


class LinkedGroup:
    """Objects that are linked when the data of all are stored."""

    def __init__(self, uploader: Uploader, objects: RefObjects, size: int, linked: Linked) -> None:
        """Prepare a group of so many objects; `linked` is called with the outcome of each."""
        self._uploader, self._objects, self._linked = uploader, objects, linked
        self._lock = Lock()
        self._left = size
        self._stored: dict[str, UnlinkedData] = {}

    def add(self, stored: UnlinkedData | None) -> None:
        """Count an object, None if its data are not stored; with the last one, link all."""
        with self._lock:
            self._left -= 1
            if stored is not None:
                self._stored[stored.job.path] = stored
            if self._left or not self._stored:
                return
        try:
            self._objects.requests.repeat(self._link)
        except CommandError as error:
            for each in self._stored.values():
                self._linked(each.job, error)

    def _link(self) -> None:
        """Link the objects that are left.

        Raises:
            LaterError: some are left still.
        """
        answer = self._objects.link_each([each.link for each in self._stored.values()])
        outcomes: Sequence[ObjectStats | PathError] = [*answer.objects, *answer.errors]
        found = {each.path: each for each in outcomes}
        later = None
        # In their own order: many errors of one folder must not look like errors of all.
        for path, stored in list(self._stored.items()):
            outcome = found.get(path, _LEFT_OUT)
            if isinstance(outcome, PathError) and outcome.status_code in _LATER:
                later = outcome
            else:
                del self._stored[path]
                self._linked(stored.job, self._outcome(stored, outcome))
        if later:
            raise LaterError(str(later), None)

    def _outcome(
        self, stored: UnlinkedData, found: ObjectStats | PathError
    ) -> ObjectStats | CommandError:
        if isinstance(found, ObjectStats):
            return found
        # Not one that ends the run: the others may be allowed.
        refused = CommandError(str(found))
        if found.status_code != _UNKNOWN:
            return refused
        try:
            return self._uploader.confirmed(stored.job.path, stored.physical_address, refused)
        except CommandError as failed:
            return failed
