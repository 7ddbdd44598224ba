"""Jobs of Glue for exports that one function invocation is too small for."""

from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING

from botocore.exceptions import ClientError

from graveler.aws.errors import service_call
from graveler.errors import ThrottledError
from graveler.export.model import ExportRequest

if TYPE_CHECKING:
    from mypy_boto3_glue import GlueClient


class GlueBatchJobs:
    """`graveler.export.ports.BatchJobs` by a job of Glue; its name is "" where none is deployed.

    It connects when there is something to start.
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
            with service_call("Glue"):
                self._client.start_job_run(JobName=self._job_name, Arguments=arguments)
        except ClientError as error:
            if error.response["Error"]["Code"] != "ConcurrentRunsExceededException":
                raise
            raise ThrottledError(f"Glue job {self._job_name} has all the runs it may") from error
        return True
