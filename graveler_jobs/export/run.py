"""Carry out a run of an export on Spark.

Theory of operation. The driver is the runner. It holds the lease, counts progress and writes the
reports, with the export function's code (`graveler.operations.exports.run`). The executors carry
out slices of keys (`graveler.operations.exports.slices`). Each slice is a Spark job of one task. So
its result is known at once, not when all are done. Spark begins tasks in the order of their jobs,
so progress follows the keys.

Spark may lose the connection to a running task, and start a second attempt. Two attempts must not
write under one lease, so a second attempt does nothing. A lost task ends the job, which keeps the
lease: the next runner waits until the task must have stopped.
"""

from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from functools import lru_cache
from uuid import uuid4

from pyspark import SparkContext, TaskContext
from pyspark.sql import SparkSession

from graveler.aws.background_work import patient_reads
from graveler.aws.settings import DeploymentSettings
from graveler.engine import Engine
from graveler.export.record import ExportRequest
from graveler.export.slices import ExportSlice, ExportSliceResult
from graveler.operations.exports import requests
from graveler.operations.exports.batch import export_in_batch
from graveler.operations.exports.requests import ExportStatus
from graveler.operations.exports.slices import RunSpec, carry_out_slice
from graveler.operations.leases import StoppedError
from graveler_jobs.export.options import ExportOptions
from graveler_jobs.session import JobDeployment, deployment

# Threads that wait for tasks: at least as many as a large cluster has cores.
_TASKS_MAX = 1024


def run(spark: SparkSession, stores: JobDeployment, options: ExportOptions) -> ExportStatus:
    """Carry out the run as far as possible; return the status of the branch's export.

    Raises:
        ConflictError: another runner holds the run, or it has ended.
        NotFoundError: the branch does not exist, or it is not exported.
    """
    request = ExportRequest(options.repository, options.branch)
    with _workers(spark.sparkContext, options, stores.settings) as workers:
        export_in_batch(
            stores.engine,
            request,
            options.run_id,
            runner=f"job {uuid4()}",
            workers=workers,
        )
    return requests.status(stores.engine, options.repository, options.branch)


class SparkWorkers:
    """`graveler.operations.exports.slices.ExportWorkers` on the executors of a Spark cluster."""

    def __init__(
        self,
        context: SparkContext,
        pool: ThreadPoolExecutor,
        settings: DeploymentSettings,
        objects_min: int,
    ) -> None:
        self.objects_min = objects_min
        self._context = context
        self._pool = pool
        self._settings = settings

    @property
    def at_once(self) -> int:
        """Twice as many as there are cores now: Glue adds workers while tasks wait."""
        return min(2 * self._context.defaultParallelism, _TASKS_MAX)

    def submit(self, run: RunSpec, part: ExportSlice) -> Future[ExportSliceResult]:
        """Start an executor on the slice."""
        return self._pool.submit(self._carry_out, run, part)

    def _carry_out(self, run: RunSpec, part: ExportSlice) -> ExportSliceResult:
        settings = self._settings
        rows = self._context.parallelize([part], 1)
        try:
            results = rows.map(lambda each: _task(settings, run, each)).collect()
        except Exception as error:  # whatever Spark reports, the task may still be running
            raise StoppedError(f"Spark lost sight of a slice: {error}") from error
        return results[0]


@contextmanager
def _workers(
    context: SparkContext, options: ExportOptions, settings: DeploymentSettings
) -> Iterator[SparkWorkers]:
    with ThreadPoolExecutor(_TASKS_MAX, thread_name_prefix="slice") as pool:
        yield SparkWorkers(context, pool, settings, options.slice_objects)


def _task(settings: DeploymentSettings, run: RunSpec, part: ExportSlice) -> ExportSliceResult:
    """Carry out a slice on an executor."""
    context = TaskContext.get()
    if context is not None and context.attemptNumber():
        raise RuntimeError("an earlier attempt may still be running")
    with patient_reads():
        return carry_out_slice(_engine(settings), run, part)


@lru_cache(maxsize=1)
def _engine(settings: DeploymentSettings) -> Engine:
    """Return the engine of this executor process, whose connections and caches outlive a task."""
    return deployment(settings).engine
