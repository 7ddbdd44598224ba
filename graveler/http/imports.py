"""Bodies of requests and answers about imports; complements `requests` and `responses`."""

from typing import TYPE_CHECKING

from msgspec import Struct

from graveler.http.requests import CommitCreation
from graveler.http.responses import CommitRow, commit_row
from graveler.imports.request import ImportRequest, SourceType, source_of
from graveler.model.tasks import TaskState
from graveler.times import rfc3339

if TYPE_CHECKING:  # the runner of imports, which a request only names
    from graveler.operations.imports import ImportStatus

# lakeFS's word.
_CANCELED = "Canceled"


class ImportLocation(Struct, frozen=True):
    type: SourceType
    path: str
    destination: str


class ImportCreation(Struct, frozen=True):
    """The date and allow_empty of the commit have no effect, as in lakeFS."""

    paths: list[ImportLocation]
    commit: CommitCreation
    force: bool = False


class ImportCreated(Struct, frozen=True):
    id: str


class ErrorMessage(Struct, frozen=True):
    message: str


class ImportStatusBody(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The status of an import; completed is True after success only.

    lakectl looks at the error first, and the Python SDK at completed.
    """

    completed: bool
    update_time: str
    ingested_objects: int
    metarange_id: str = ""
    commit: CommitRow | None = None
    error: ErrorMessage | None = None


def request_of(body: ImportCreation, committer: str) -> ImportRequest:
    """Return the import that a body asks for.

    Raises:
        InvalidInputError: a source or a destination is invalid.
    """
    return ImportRequest(
        sources=tuple(source_of(each.type, each.path, each.destination) for each in body.paths),
        committer=committer,
        message=body.commit.message,
        metadata=body.commit.metadata,
        force=body.force,
    )


def status_body(status: "ImportStatus") -> ImportStatusBody:
    """Return the response that shows a status; errors begin as lakeFS's."""
    task, commit = status.task, status.commit
    # An import that is cancelled never succeeds, although it may take seconds to stop.
    is_cancelled = task.is_unwanted or task.state is TaskState.CANCELLED
    error = _CANCELED if is_cancelled else task.failure and task.failure.error
    return ImportStatusBody(
        completed=commit is not None,
        update_time=rfc3339(task.update_time_ns),
        ingested_objects=task.done,
        metarange_id="" if commit is None else commit.metarange_id,
        commit=None if commit is None else commit_row(commit),
        error=ErrorMessage(f"import error: {error}") if error else None,
    )
