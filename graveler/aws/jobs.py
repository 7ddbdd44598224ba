"""Glue jobs for exports that are too large for the export function."""

from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING

from botocore.exceptions import ClientError

from graveler.aws.errors import repeated
from graveler.errors import ThrottledError
from graveler.export.model import ExportRequest

if TYPE_CHECKING:
    from mypy_boto3_glue import GlueClient


class GlueBatchJobs:
    """`graveler.export.ports.BatchJobs` on a Glue job; its name is "" where none is deployed.

    It connects when the first job starts.
    """

    def __init__(self, connect: "Callable[[], GlueClient]", job_name: str) -> None:
        self._connect = connect
        self._job_name = job_name

    @cached_property
    def _client(self) -> "GlueClient":
        return self._connect()

    def start_export(self, request: ExportRequest, run_id: str) -> bool:
        if not self._job_name:
            return False
        arguments = {
            "--repository": request.repository,
            "--branch": request.branch,
            "--run-id": run_id,
        }
        try:
            repeated(
                "Glue",
                lambda: self._client.start_job_run(JobName=self._job_name, Arguments=arguments),
            )
        except ClientError as error:
            if error.response["Error"]["Code"] != "ConcurrentRunsExceededException":
                raise
            raise ThrottledError(
                f"Glue job {self._job_name} has reached its maximum of concurrent runs: retry later"
            ) from error
        return True
