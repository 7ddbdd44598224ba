"""What is known of a branch's export: its configuration, its destinations, and the run at work.

One record per branch, changed by compare-and-swap on its version. It says everything that the next
runner needs, whoever that is: a run may move from one invocation to another, and be taken over
when its runner died.
"""

from dataclasses import dataclass
from enum import StrEnum

from graveler.model import Event


class ExportState(StrEnum):
    """Where a branch's export stands; the texts are those of status files and the API."""

    IN_PROGRESS = "in-progress"
    SUCCEEDED = "exported-successfully"
    FAILED = "export-failed"
    REPAIRED = "export-repaired"


@dataclass(frozen=True, slots=True)
class ExportConfiguration:
    """Where a branch is exported to, and when."""

    path: str  # an object-store URI without a trailing slash
    status_path: str = ""  # the same; "" writes no status
    last_keys_in_prefix_regexps: tuple[str, ...] = ()
    is_continuous: bool = False


@dataclass(frozen=True, slots=True)
class Destination:
    """What exports have done to one path.

    The path holds exactly the objects of exported_commit, except where runs towards
    touched_commits, which did not come to their end, wrote or deleted something.
    """

    path: str
    exported_commit: str = ""  # "": no export has come to its end
    touched_commits: tuple[str, ...] = ()
    status_file: str = ""  # URI of the last _STATUS_<timestamp>.json, "" if none was written
    manifest: str = ""  # URI of the manifest of exported_commit, "" if none was written
    has_marks: bool = False  # whether directories may hold a _lakefs_success of an earlier run


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a run has come: everything up to key `after` is done."""

    after: bytes = b""
    done: int = 0  # objects copied or deleted
    total: int = 0
    failed: int = 0
    first_errors: tuple[str, ...] = ()
    # Intervals, both ends included, that hold keys put off until the rest of their directory is
    # done; and the directory of the last failure: it and those around it get no success mark.
    put_off: tuple[tuple[bytes, bytes], ...] = ()
    failed_under: bytes | None = None
    pieces: int = 0  # files that tell the ETags of what was copied so far


@dataclass(frozen=True, slots=True)
class ExportRun:
    """One attempt to bring a commit to a destination; the configuration is that of its start."""

    id: str
    commit_id: str
    configuration: ExportConfiguration
    started_ns: int
    progress: Progress = Progress()
    # Whether the destination's record says that this run may write there.
    is_announced: bool = False
    repaired_file: str = ""  # URI of the status file of the failed run that it repairs
    is_batch: bool = False  # a batch job carries it out
    batch_starts: int = 0  # of jobs, since the run came forward last
    # Who works on it, and until when nobody else may; "" and 0 while nobody does.
    runner: str = ""
    lease_until_ns: int = 0


@dataclass(frozen=True, slots=True)
class BranchExport:
    """A branch's export."""

    branch: str
    configuration: ExportConfiguration
    state: ExportState | None = None  # None: nothing was exported yet
    version: int = 0
    run: ExportRun | None = None  # at work, or the last one
    error_message: str = ""
    destinations: tuple[Destination, ...] = ()  # the latest first
    # Something asked for a run while one was at work: its runner looks again before it ends.
    is_pending: bool = False
    # Its configuration was deleted while a runner was at work, who is to notice and stop.
    is_forgotten: bool = False
    # A message is on its way that will look after the run then, should its runner have died.
    watched_until_ns: int = 0


def next_version(old: BranchExport | None, event: Event | None) -> int:
    """The version of the record that replaces old: a first one's is of the time of its event.

    So a record that is made anew is another one, though everything in it were the same.
    """
    if old is not None:
        return old.version + 1
    return 1 if event is None else event.time_ns


@dataclass(frozen=True, slots=True)
class ExportRequest:
    """A message: look after the export of this branch."""

    repository: str
    branch: str
