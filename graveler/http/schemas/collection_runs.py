"""Runs of garbage collection."""

from typing import Literal

from msgspec import Struct, structs

from graveler.http.schemas.fields import Count
from graveler.retention.runs import CollectionRun, RunState
from graveler.times import unix_s

_STATES: dict[RunState, Literal["running", "succeeded", "failed"]] = {
    RunState.RUNNING: "running",
    RunState.SUCCEEDED: "succeeded",
    RunState.FAILED: "failed",
}


class RunCreation(Struct, frozen=True):
    # Required: a client that leaves it out must not delete.
    dry_run: bool
    maximum_deletions: Count | None = None


class RunCreated(Struct, frozen=True):
    run_id: str


class RunRow(Struct, frozen=True, omit_defaults=True, kw_only=True):
    """A run; fields that are not known yet are absent, such as the counts before its end."""

    run_id: str
    state: Literal["running", "succeeded", "failed"]
    dry_run: bool | None = None
    requested_by: str = ""
    start_time: int | None = None
    end_time: int | None = None
    cutoff_time: int | None = None
    marked_objects: int | None = None
    marked_bytes: int | None = None
    deleted_objects: int | None = None
    deleted_bytes: int | None = None
    failed_objects: int | None = None
    came_to_life: int | None = None
    aborted_uploads: int | None = None
    error: str = ""
    warnings: tuple[str, ...] = ()
    # The report for people, in answers about a single run.
    text: str = ""


def run_row(run: CollectionRun, text: str = "") -> RunRow:
    """Return the answer's form of a run."""
    row = RunRow(
        run_id=run.run_id,
        state=_STATES[run.state],
        dry_run=run.is_dry,
        requested_by=run.requested_by,
        start_time=run.start_s,
        error=run.error,
        text=text,
    )
    summary = run.summary
    if summary is None:
        return row
    return structs.replace(
        row,
        end_time=unix_s(summary.end_time),
        cutoff_time=unix_s(summary.cutoff_time),
        marked_objects=summary.num_marked_objects,
        marked_bytes=summary.num_marked_bytes,
        deleted_objects=summary.num_deleted_objects,
        deleted_bytes=summary.num_deleted_bytes,
        failed_objects=summary.num_failed_objects,
        came_to_life=summary.num_came_to_life,
        aborted_uploads=summary.num_aborted_uploads,
        warnings=tuple(summary.warnings),
    )
