"""Engines for tests: on memory fakes, with whatever a test wants to be different."""

from dataclasses import dataclass, replace

from graveler.committed.store import Breaking, Committed
from graveler.export.settings import ExportSettings
from graveler.operations.engine import Engine
from tests.support.memory import (
    CountingNames,
    FixedClock,
    MemoryCommittedFiles,
    MemoryObjectStore,
    MemoryRefStore,
    MemoryStagingStore,
)
from tests.support.memory_exports import MemoryBatchJobs, MemoryExportQueue, MemoryExportStore

# One request after the other: what happens is the same every time.
EXPORT_SETTINGS = ExportSettings(allowed_prefixes=("s3://",), requests_at_once=1)


@dataclass
class MemoryWorld:
    """Memory stores, and engines over them: each engine is another process with its own caches."""

    clock: FixedClock
    names: CountingNames
    refs: MemoryRefStore
    staging: MemoryStagingStore
    objects: MemoryObjectStore
    files: MemoryCommittedFiles
    exports: MemoryExportStore
    export_queue: MemoryExportQueue
    batch_jobs: MemoryBatchJobs
    breaking: Breaking
    export_settings: ExportSettings = EXPORT_SETTINGS

    def fork(self) -> "MemoryWorld":
        """Stores that hold the same, which can be changed without changing these."""
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
            export_queue=self.export_queue.fork(clock),
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
            export_settings=self.export_settings,
        )


def memory_world(breaking: Breaking | None = None, step_ns: int = 10**9) -> MemoryWorld:
    """Empty stores; the clock goes on by step_ns whenever somebody looks."""
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
        breaking=breaking or Breaking(),
    )
