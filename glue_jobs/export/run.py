"""Carries a run of an export out on Spark.

Theory of operation. The driver is the runner: it holds the lease, counts what is done, and writes
everything that is told of the run, with the code of the export function (`export_runs`). Stretches
of keys are the executors' (`export_stretches`): each is a Spark job of one task, because what comes
of it must be known at once, not when all of them are done, and because Spark begins tasks in the
order of their jobs, so that progress follows the keys.

Spark may lose sight of a task that lives on, and would try it again beside it. Two of them must not
write under one lease, so a second attempt does nothing, and a task that was lost ends the job
without giving the lease back: who takes the run over has to wait until nobody can be at work.
"""

from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from functools import lru_cache
from uuid import uuid4

from pyspark import SparkContext, TaskContext
from pyspark.sql import SparkSession

from glue_jobs.export.options import Options
from glue_jobs.session import Deployment, deployment
from graveler.aws.settings import Settings
from graveler.export.model import ExportRequest
from graveler.export.stretches import Stretch, StretchResult
from graveler.operations.engine import Engine
from graveler.operations.exports import requests
from graveler.operations.exports.batch import export_in_batch
from graveler.operations.exports.lease import StoppedError
from graveler.operations.exports.requests import ExportStatus
from graveler.operations.exports.stretches import RunSpec, carry_out_stretch

# Threads that wait for tasks: no less than there are cores in a large cluster.
_TASKS_MAX = 1024


def run(spark: SparkSession, stores: Deployment, options: Options) -> ExportStatus:
    """Carry the run out as far as it goes; where the branch's export stands then.

    Raises:
        ConflictError: somebody else carries it out, or it has ended; or nothing is to be exported.
        NotFoundError: there is no such branch, or it is not exported.
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
    """`graveler.operations.exports.stretches.Workers` on the cores of a Spark."""

    def __init__(
        self, context: SparkContext, pool: ThreadPoolExecutor, settings: Settings, objects_min: int
    ) -> None:
        self.objects_min = objects_min
        self._context = context
        self._pool = pool
        self._settings = settings

    @property
    def at_once(self) -> int:
        """Twice as many as there are cores at the moment: where tasks wait, Glue adds workers."""
        return min(2 * self._context.defaultParallelism, _TASKS_MAX)

    def submit(self, run: RunSpec, stretch: Stretch) -> Future[StretchResult]:
        """Have an executor carry the stretch out."""
        return self._pool.submit(self._carry_out, run, stretch)

    def _carry_out(self, run: RunSpec, stretch: Stretch) -> StretchResult:
        settings = self._settings
        rows = self._context.parallelize([stretch], 1)
        try:
            carried = rows.map(lambda each: _task(settings, run, each)).collect()
        except Exception as error:  # whatever Spark says, nobody knows what the task does
            raise StoppedError(f"Spark lost sight of a stretch: {error}") from error
        return carried[0]


@contextmanager
def _workers(context: SparkContext, options: Options, settings: Settings) -> Iterator[SparkWorkers]:
    with ThreadPoolExecutor(_TASKS_MAX, thread_name_prefix="stretch") as pool:
        yield SparkWorkers(context, pool, settings, options.stretch_objects)


def _task(settings: Settings, run: RunSpec, stretch: Stretch) -> StretchResult:
    """What an executor does."""
    context = TaskContext.get()
    if context is not None and context.attemptNumber():
        raise RuntimeError("an earlier attempt may still be at work")
    return carry_out_stretch(_engine(settings), run, stretch)


@lru_cache(maxsize=1)
def _engine(settings: Settings) -> Engine:
    """The engine of this process, an executor's: its connections and caches outlive a task."""
    return deployment(settings).engine
