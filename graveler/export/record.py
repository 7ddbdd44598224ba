"""The record of a branch's export: its configuration, its destinations and its run.

There is one record per branch, changed by compare-and-swap on its version. It has everything that
the next runner needs. A run may move from one invocation to another. Another runner takes it over
if its runner dies.
"""

from enum import StrEnum

from msgspec import Struct

from graveler.model import NO_COMMIT, CommitID, Event


class ExportState(StrEnum):
    """The state of a branch's export; status files and the API show these texts."""

    IN_PROGRESS = "in-progress"
    SUCCEEDED = "exported-successfully"
    FAILED = "export-failed"
    REPAIRED = "export-repaired"


class ExportConfiguration(Struct, frozen=True):
    """Where and when a branch is exported."""

    path: str  # an object-store URI without a trailing slash
    status_path: str = ""  # the same; "" for no reports
    last_keys_in_prefix_regexps: tuple[str, ...] = ()
    is_continuous: bool = False


class Destination(Struct, frozen=True):
    """What is known about one path that the branch was exported to.

    The path holds exactly the objects of exported_commit, except where unfinished runs, which
    exported touched_commits, wrote or deleted objects.
    """

    path: str
    exported_commit: CommitID = NO_COMMIT  # until a run has succeeded
    touched_commits: tuple[CommitID, ...] = ()
    status_file: str = ""  # URI of the last _STATUS_<timestamp>.json, "" if none was written
    manifest: str = ""  # URI of the manifest of exported_commit, "" if none was written
    # A run succeeded before the path was unverified: it wrote each object, with its metadata.
    was_whole: bool = False
    has_marks: bool = False  # directories may hold marks (_lakefs_success) of an earlier run


class Progress(Struct, frozen=True):
    """The progress of a run: everything up to key `after` is done, except what was put off."""

    after: bytes = b""
    done: int = 0  # objects copied or deleted
    total: int = 0
    failed: int = 0
    first_errors: tuple[str, ...] = ()
    # Intervals of keys, both ends included: some keys in them wait for the rest of their directory.
    put_off: tuple[tuple[bytes, bytes], ...] = ()
    # The directory of the last failure: it and those around it get no success mark.
    failed_under: bytes | None = None
    pieces: int = 0  # files with the ETags of the copies so far


class ExportRun(Struct, frozen=True):
    """One attempt to export a commit, with the configuration of the moment when it began."""

    id: str
    commit_id: CommitID
    configuration: ExportConfiguration
    started_ns: int
    progress: Progress = Progress()
    # The record lists the run's commit as touched, so the run may write at the destination.
    is_announced: bool = False
    # URI of the status file of the failed run that this run repairs; its own if that had none.
    repaired_file: str = ""
    is_batch: bool = False  # a batch job carries it out
    batch_starts: int = 0  # jobs started since the run last made progress
    # The runner that holds the run, and the end of its lease; "" and 0 while none does.
    runner: str = ""
    lease_until_ns: int = 0


class EndedRun(Struct, frozen=True):
    """What is kept of a run that has ended; with state None it was dropped, as it was unwanted."""

    id: str
    commit_id: CommitID
    state: ExportState | None
    started_ns: int
    ended_ns: int
    done: int
    total: int
    failed: int
    error_message: str = ""


class BranchExport(Struct, frozen=True):
    """A branch's export."""

    branch: str
    configuration: ExportConfiguration
    state: ExportState | None = None  # None: nothing was exported yet
    version: int = 0
    run: ExportRun | None = None  # in progress, or the last one
    error_message: str = ""
    destinations: tuple[Destination, ...] = ()  # the latest first
    # A run was requested that has not begun. Another one may be in progress: then its runner looks
    # at the record again after it.
    is_pending: bool = False
    # The export was deleted while a runner was working; the runner reads this and stops.
    is_forgotten: bool = False
    # When the message arrives that is on its way to check the run's lease: the runner may die.
    watched_until_ns: int = 0
    # The last runs that have ended, the newest first.
    ended: tuple[EndedRun, ...] = ()


def next_version(old: BranchExport | None, event: Event | None) -> int:
    """Return the version of the record that replaces old; a first record has its event's time.

    So a record that is deleted and created again never has a version that it had before.
    """
    if old is not None:
        return old.version + 1
    return 1 if event is None else event.time_ns


class ExportRequest(Struct, frozen=True):
    """A message: advance the export of this branch."""

    repository: str
    branch: str


class ExportSettings(Struct, frozen=True):
    """A deployment's settings: where exports may write, and how much they do at once."""

    # Branches may be exported under these URIs only; with none, no branch may be.
    allowed_prefixes: tuple[str, ...] = ()
    # Concurrent requests to the object store; one means no threads.
    requests_at_once: int = 64
    # A run with this many objects to copy or delete is left to a batch job, if one is deployed.
    batch_objects_min: int = 2_000_000


def shortened(message: str, characters_max: int) -> str:
    """Return the message with at most so many characters, cut inside of the object's URI.

    The message is the URI of an object, which may be long, and then the cause.
    """
    if len(message) <= characters_max:
        return message
    head = characters_max // 4
    return f"{message[:head]}…{message[head + 1 - characters_max :]}"


def failure_summary(failed: int, error: str) -> str:
    """Return the message of a run in which so many objects failed, and one of the errors."""
    return f"{failed} {'task' if failed == 1 else 'tasks'} failed\n{error}"
