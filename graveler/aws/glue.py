"""Glue jobs: exports that are too large for the export function, and garbage collection."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from botocore.exceptions import ClientError

from graveler.aws.errors import repeated
from graveler.errors import ThrottledError
from graveler.export.record import ExportRequest

if TYPE_CHECKING:
    from mypy_boto3_glue import GlueClient


class _GlueJob:
    """A Glue job; its name is "" where none is deployed."""

    def __init__(self, client: "Callable[[], GlueClient]", job_name: str) -> None:
        self._client = client
        self._job_name = job_name

    def _start(self, arguments: Mapping[str, str]) -> bool:
        """Start a run of the job; return False if it is not deployed.

        Raises:
            ThrottledError: too many runs are in progress.
        """
        if not self._job_name:
            return False
        try:
            repeated(
                "Glue",
                lambda: self._client().start_job_run(
                    JobName=self._job_name, Arguments=dict(arguments)
                ),
            )
        except ClientError as error:
            if error.response["Error"]["Code"] != "ConcurrentRunsExceededException":
                raise
            raise ThrottledError(
                f"Glue job {self._job_name} has reached its maximum of concurrent runs: retry later"
            ) from error
        return True


class GlueBatchJobs(_GlueJob):
    """`graveler.export.ports.BatchJobs` on a Glue job."""

    def start_export(self, request: ExportRequest, run_id: str) -> bool:
        return self._start(
            {"--repository": request.repository, "--branch": request.branch, "--run-id": run_id}
        )


class GlueCollectionJobs(_GlueJob):
    """`graveler.ports.jobs.CollectionJobs` on a Glue job."""

    def start_collection(
        self, repository: str, run_id: str, *, is_dry: bool, deletions_max: int | None
    ) -> bool:
        arguments = {"--repository": repository, "--run_id": run_id}
        if is_dry:
            arguments["--dry_run"] = "true"
        if deletions_max is not None:
            arguments["--maximum_deletions"] = str(deletions_max)
        return self._start(arguments)
