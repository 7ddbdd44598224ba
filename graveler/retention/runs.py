"""Runs of garbage collection as their files describe them: a request, a beginning, a summary.

A run has a folder of its own (`files.run_folder`). The API writes the request of a run that a user
asked for; the run writes the rest. The lease of the repository names the run that works on it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeVar

import msgspec
from msgspec import Struct

from graveler.times import unix_s

T = TypeVar("T")

# The lease on a repository: its kind, and how long a dead run blocks others.
LEASE = "garbage-collection"
LEASE_S = 15 * 60

REQUEST_FILE = "requested.json"
BEGINNING_FILE = "begun.json"
SUMMARY_FILE = "summary.json"
TEXT_FILE = "report.txt"


class Beginning(Struct, frozen=True):
    """What is known of a run before it ends: the content of its request and of its beginning."""

    dry_run: bool
    start_time: str
    requested_by: str = ""


class CollectionSummary(Struct, frozen=True):
    """The content of summary.json. lakeFS's own job writes fewer fields."""

    success: bool = False
    start_time: str = ""
    end_time: str = ""
    cutoff_time: str = ""
    dry_run: bool | None = None
    num_deleted_objects: int = 0
    num_deleted_bytes: int = 0
    num_failed_objects: int = 0
    num_marked_objects: int = 0
    num_marked_bytes: int = 0
    num_came_to_life: int = 0
    num_aborted_uploads: int = 0
    error: str = ""
    warnings: Sequence[str] = ()


class RunState(StrEnum):
    """The states of a run, as the API shows them."""

    RUNNING = "running"
    SUCCEEDED = "succeeded"
    FAILED = "failed"


_WITHOUT_REPORT = (
    "the run ended without a report, and deleted nothing or not all: the log of its job says why"
)
_NOT_ALL = "{} objects could not be deleted: the next run tries again"


@dataclass(frozen=True, slots=True)
class CollectionRun:
    """One run over one repository; what its files do not say is None."""

    run_id: str
    is_running: bool
    request: Beginning | None
    beginning: Beginning | None
    summary: CollectionSummary | None

    @property
    def state(self) -> RunState:
        if self.summary is None:
            return RunState.RUNNING if self.is_running else RunState.FAILED
        return RunState.SUCCEEDED if self.summary.success else RunState.FAILED

    @property
    def error(self) -> str:
        """Why the run failed; "" if it did not."""
        if self.state is not RunState.FAILED:
            return ""
        if self.summary is None:
            return _WITHOUT_REPORT
        return self.summary.error or _NOT_ALL.format(self.summary.num_failed_objects)

    @property
    def is_dry(self) -> bool | None:
        known = (self.summary, self.beginning, self.request)
        return next((each.dry_run for each in known if each and each.dry_run is not None), None)

    @property
    def requested_by(self) -> str:
        return self.request.requested_by if self.request else ""

    @property
    def start_s(self) -> int | None:
        known = (self.summary, self.beginning, self.request)
        found = (unix_s(each.start_time) for each in known if each)
        return next((each for each in found if each is not None), None)


def decoded(content: bytes, shape: type[T]) -> T | None:
    """Return the content of a file; None if another program wrote something else there."""
    try:
        return msgspec.json.decode(content, type=shape)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None
