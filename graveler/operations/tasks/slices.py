"""Applying a large change by slices: a coordinator plans, workers apply side by side.

Theory of operation. The runner of a task is the coordinator. It plans slices one after another,
and invokes the slice function for each; several run at a time. A worker stores the ranges of its
slice, and then its result under a name that follows from the job. So neither another invocation nor
another runner applies a slice again. The coordinator assembles the metarange from the results, and
deletes them when the task has ended.
"""

from collections.abc import Iterator, Mapping
from concurrent.futures import FIRST_COMPLETED, Executor, Future, wait
from contextlib import suppress
from hashlib import sha256
from typing import Any

import msgspec

from graveler.branches.changes import Apply, ChangeSource, StagedSource
from graveler.branches.lookup import repository_not_found
from graveler.committed.apply import Applied, apply_slice, assemble
from graveler.committed.metarange import MetaRange
from graveler.committed.slices import Slice, SliceResult
from graveler.engine import Engine
from graveler.errors import CorruptDataError, GoneError, GravelerError, ThrottledError
from graveler.layout import task_folder
from graveler.model import MetaRangeID
from graveler.model.tasks import Failure
from graveler.open_repository import OpenRepository
from graveler.operations.tasks.hold import Hold
from graveler.threads import ContextThreads

# A slice that no worker could apply in this many tries fails its task.
_TRIES_MAX = 5
_FIRST_PAUSE_S = 0.5

# The coordinator looks at its clock this often while it waits for workers.
_TICK_S = 1.0

# Slices that are planned ahead of the workers.
_AHEAD = 2


class SliceJob(msgspec.Struct, frozen=True):
    """The job of one worker: a slice of a change, for a task."""

    repository: str
    uid: str
    namespace: str
    task: str
    base: MetaRangeID
    source: ChangeSource
    start: str  # base64, as in `Slice.to_json`
    end: str | None

    @property
    def result_uri(self) -> str:
        """The URI of the slice's result."""
        digest = sha256(msgspec.json.encode(self)).hexdigest()
        return f"{task_folder(self.namespace, self.task)}{digest}.json"


class SliceAnswer(msgspec.Struct, frozen=True, omit_defaults=True):
    """The answer of a worker: a result, or the error that ended it."""

    result: dict[str, Any] = {}
    failure: Failure | None = None


def apply_job(engine: Engine, job: SliceJob) -> SliceAnswer:
    """Apply a slice, unless it was applied before, and return its result; called in a worker."""
    try:
        repository = engine.refs.repository(job.repository)
        if repository is None or repository.uid != job.uid:
            raise repository_not_found(job.repository)
        with suppress(GoneError):
            return msgspec.json.decode(engine.objects.get(job.result_uri), type=SliceAnswer)
        repo = OpenRepository(engine, repository)
        base = repo.metarange(job.base)
        part = Slice.from_json({"start": job.start, "end": job.end})
        changes = job.source.changes(repo, base)(part.start, part.end)
        answer = SliceAnswer(apply_slice(engine.committed, base, part, changes).to_json())
        engine.objects.put(job.result_uri, msgspec.json.encode(answer), "application/json")
    except GravelerError as error:
        if isinstance(error, CorruptDataError):
            engine.committed.forget()  # the copy that this process holds may be the damaged one
        return SliceAnswer(failure=Failure.of(error))
    return answer


def apply_by_slices(hold: Hold, *, counts: bool = True) -> Apply:
    """Return the function that applies changes by slices, for a runner of a task.

    counts: whether the applied changes are the task's progress. Like `report` of the hold, the
    function may raise StoppedError.
    """

    def apply(repo: OpenRepository, base: MetaRange, source: ChangeSource) -> Applied:
        at_once = hold.repo.engine.task_settings.slices_at_once
        pool = ContextThreads(at_once)
        run = _SlicedChange(hold, repo, base, source, pool, at_once, counts)
        try:
            run.apply_all()
        finally:
            # A runner that has to stop does not wait for its workers.
            pool.shutdown(wait=False, cancel_futures=True)
        return assemble(hold.repo.engine.committed, base, run.results())

    return apply


class _SlicedChange(msgspec.Struct):
    """One change on its way through the workers."""

    hold: Hold
    repo: OpenRepository
    base: MetaRange
    source: ChangeSource
    pool: Executor
    at_once: int
    counts: bool
    planned: list[tuple[Slice, "Future[SliceResult]"]] = []
    waiting: "dict[Future[SliceResult], Slice]" = {}
    done: int = 0
    expected: int = 0  # in the slices that wait

    def apply_all(self) -> None:
        """Plan and apply; return when every slice is applied.

        Raises:
            StoppedError: this runner must not continue.
            GravelerError: a worker raised it.
        """
        self._report()
        for part in self.source.plan(self.repo, self.base, self.hold.reporting):
            future = self.pool.submit(self._applied, self._job(part))
            self.planned.append((part, future))
            self.waiting[future] = part
            self.expected += part.keys
            self._report()
            while len(self.waiting) >= self.at_once + _AHEAD:
                self._await_one()
        while self.waiting:
            self._await_one()

    def results(self) -> Iterator[SliceResult]:
        """Return the results, in the order of their keys."""
        return (future.result() for _, future in self.planned)

    def _await_one(self) -> None:
        ended, _ = wait(self.waiting, _TICK_S, FIRST_COMPLETED)
        for future in ended:
            part = self.waiting.pop(future)
            self.expected -= part.keys
            result = future.result()
            # Other sources plan by ranges: the number of objects is known only afterwards.
            is_exact = isinstance(self.source, StagedSource)
            self.done += part.keys if is_exact else result.counts.total
        self._report()

    def _report(self) -> None:
        if self.counts:
            self.hold.report(self.done, self.done + self.expected)
        else:
            self.hold.report_again()

    def _job(self, part: Slice) -> SliceJob:
        repo = self.repo
        return SliceJob(
            repository=repo.record.name,
            uid=repo.record.uid,
            namespace=repo.record.storage_namespace,
            task=self.hold.task.id,
            base=self.base.id,
            source=self.source,
            **part.to_json(),
        )

    def _applied(self, job: SliceJob) -> SliceResult:
        engine = self.hold.repo.engine
        for number in range(_TRIES_MAX):
            if number:
                engine.clock.sleep(_FIRST_PAUSE_S * 2**number)
            with suppress(ThrottledError):
                answer = self._answer(job)
                if answer.failure is not None:
                    raise answer.failure.error
                return SliceResult.from_json(answer.result)
        raise ThrottledError(f"no worker could apply a slice of task {job.task}: retry")

    def _answer(self, job: SliceJob) -> SliceAnswer:
        engine = self.hold.repo.engine
        if engine.slice_function is None:
            return apply_job(engine, job)
        answer: Mapping[str, Any] = engine.slice_function.invoke(msgspec.to_builtins(job))
        return msgspec.convert(answer, SliceAnswer)


def delete_results(repo: OpenRepository, task_id: str) -> None:
    """Delete the results of an ended task's slices, without raising if the object store fails."""
    with suppress(GravelerError):
        folder = task_folder(repo.record.storage_namespace, task_id)
        uris = [found.uri for found in repo.engine.objects.list_objects(folder)]
        if uris:
            repo.engine.objects.delete_many(uris)
