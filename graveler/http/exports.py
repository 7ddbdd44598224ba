"""Bodies of continuous export, in camel case as in the versions of lakeFS that had it."""

from collections.abc import Sequence

from msgspec import Struct

from graveler.export.record import EndedRun, ExportConfiguration
from graveler.http.requests import NonEmpty
from graveler.operations.exports import requests
from graveler.times import NS_PER_S


class ConfigurationBody(Struct, frozen=True, rename="camel"):
    """The configuration, in requests and responses."""

    export_path: NonEmpty
    # Optional fields may be null: Go clients send null for an empty list.
    export_status_path: str | None = ""
    last_keys_in_prefix_regexp: Sequence[str] | None = ()
    is_continuous: bool | None = True


def configuration_of(body: ConfigurationBody) -> ExportConfiguration:
    """Return the configuration in a request."""
    return ExportConfiguration(
        path=body.export_path,
        status_path=body.export_status_path or "",
        last_keys_in_prefix_regexps=tuple(body.last_keys_in_prefix_regexp or ()),
        is_continuous=body.is_continuous is not False,
    )


def configuration_body(configuration: ExportConfiguration) -> ConfigurationBody:
    """Return the response that shows a configuration."""
    return ConfigurationBody(
        configuration.path,
        configuration.status_path,
        configuration.last_keys_in_prefix_regexps,
        configuration.is_continuous,
    )


class StatusBody(Struct, frozen=True, rename="camel"):
    """The export's state, and the run in progress or the last one; "" and 0 if there was none."""

    state: str
    is_pending: bool
    export_id: str
    commit_id: str
    exported_commit_id: str
    started_at: int
    objects_done: int
    objects_total: int
    objects_failed: int
    errors: Sequence[str]
    error_message: str


def status_body(status: requests.ExportStatus) -> StatusBody:
    """Return the response that shows a status."""
    return StatusBody(
        state=status.state or "none",
        is_pending=status.is_pending,
        export_id=status.export_id,
        commit_id=status.commit_id,
        exported_commit_id=status.exported_commit,
        started_at=status.started_ns // NS_PER_S,
        objects_done=status.done,
        objects_total=status.total,
        objects_failed=status.failed,
        errors=status.first_errors,
        error_message=status.error_message,
    )


class EndedRunRow(Struct, frozen=True, rename="camel"):
    """A run that has ended; `state` is `dropped` if its results were no longer wanted."""

    export_id: str
    commit_id: str
    state: str
    started_at: int
    ended_at: int
    objects_done: int
    objects_total: int
    objects_failed: int
    error_message: str


def ended_run_row(run: EndedRun) -> EndedRunRow:
    """Return the response's form of a run that has ended."""
    return EndedRunRow(
        export_id=run.id,
        commit_id=run.commit_id,
        state=run.state or "dropped",
        started_at=run.started_ns // NS_PER_S,
        ended_at=run.ended_ns // NS_PER_S,
        objects_done=run.done,
        objects_total=run.total,
        objects_failed=run.failed,
        error_message=run.error_message,
    )
