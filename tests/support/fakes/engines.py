"""Engines over the memory fakes."""

from dataclasses import dataclass, field, replace

from graveler.committed.store import Breaking, Committed
from graveler.engine import Engine
from graveler.export.record import ExportSettings
from graveler.limits import SEALED_TOKENS_MAX
from graveler.model.hooks import HookSettings
from graveler.model.tasks import TaskSettings
from tests.support.fakes.hooks import MemoryTargets
from tests.support.fakes.memory import (
    CountingNames,
    FixedClock,
    MemoryCommittedFiles,
    MemoryObjectStore,
    MemoryRefStore,
    MemoryStagingStore,
)
from tests.support.fakes.memory_exports import MemoryBatchJobs, MemoryExportQueue, MemoryExportStore
from tests.support.fakes.memory_jobs import MemoryCollectionJobs, MemoryJobStore
from tests.support.fakes.tasks import MemoryTaskQueue

# One request at a time, so that every run is the same.
EXPORT_SETTINGS = ExportSettings(allowed_prefixes=("s3://",), requests_at_once=1)


@dataclass
class MemoryWorld:
    """Memory stores, and engines over them; each engine is a process with its own caches."""

    clock: FixedClock
    names: CountingNames
    refs: MemoryRefStore
    staging: MemoryStagingStore
    objects: MemoryObjectStore
    files: MemoryCommittedFiles
    exports: MemoryExportStore
    export_queue: MemoryExportQueue
    batch_jobs: MemoryBatchJobs
    jobs: MemoryJobStore
    task_queue: MemoryTaskQueue
    breaking: Breaking
    # Shared by forks: what has left the process cannot be undone.
    collection_jobs: MemoryCollectionJobs = field(default_factory=MemoryCollectionJobs)
    targets: MemoryTargets = field(default_factory=MemoryTargets)
    hook_settings: HookSettings = field(default_factory=HookSettings)
    export_settings: ExportSettings = EXPORT_SETTINGS
    # Requests do all of their work, unless a test lets them leave some to tasks.
    task_settings: TaskSettings = field(default_factory=TaskSettings)
    sealed_tokens_max: int = SEALED_TOKENS_MAX

    def fork(self) -> "MemoryWorld":
        """Return an independent copy of every store."""
        clock, refs = self.clock.fork(), self.refs.fork()
        return replace(
            self,
            clock=clock,
            names=self.names.fork(clock),
            refs=refs,
            staging=self.staging.fork(refs),
            objects=self.objects.fork(clock),
            files=self.files.fork(),
            exports=self.exports.fork(refs),
            jobs=self.jobs.fork(refs),
            export_queue=self.export_queue.fork(clock),
            task_queue=self.task_queue.fork(clock),
        )

    def anew(self) -> "MemoryWorld":
        """Return a copy for another test, which has never started a job nor sent a message."""
        return replace(
            self.fork(),
            batch_jobs=MemoryBatchJobs(),
            collection_jobs=MemoryCollectionJobs(),
            targets=MemoryTargets(),
        )

    def engine(self, committed: Committed | None = None) -> Engine:
        return Engine(
            refs=self.refs,
            staging=self.staging,
            objects=self.objects,
            committed=committed or Committed(self.files, breaking=self.breaking),
            clock=self.clock,
            names=self.names,
            signing_key=b"signing key of the tests",
            exports=self.exports,
            export_queue=self.export_queue,
            batch_jobs=self.batch_jobs,
            jobs=self.jobs,
            collection_jobs=self.collection_jobs,
            export_settings=self.export_settings,
            task_queue=self.task_queue,
            task_settings=self.task_settings,
            sealed_tokens_max=self.sealed_tokens_max,
            hook_targets=self.targets.ports,
            hook_settings=self.hook_settings,
            import_prefixes=("s3://",),
        )


def memory_world(breaking: Breaking | None = None, step_ns: int = 10**9) -> MemoryWorld:
    """Return empty stores; the clock advances by step_ns at each now_ns()."""
    clock = FixedClock(step_ns=step_ns)
    refs = MemoryRefStore()
    return MemoryWorld(
        clock=clock,
        names=CountingNames(clock),
        refs=refs,
        staging=MemoryStagingStore(refs),
        objects=MemoryObjectStore(clock),
        files=MemoryCommittedFiles(),
        exports=MemoryExportStore(refs),
        export_queue=MemoryExportQueue(clock),
        batch_jobs=MemoryBatchJobs(),
        jobs=MemoryJobStore(refs),
        task_queue=MemoryTaskQueue(clock),
        breaking=breaking or Breaking(),
    )
