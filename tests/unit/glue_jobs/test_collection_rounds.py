"""The driver's rules of a sweep: when a round ends, when the run does, and what the next look sees."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pyarrow as pa
import pytest

from graveler.branches.lookup import read_repository
from graveler.errors import ContentionError, PreconditionFailedError
from graveler.operations import presigned_uploads, recorded_uploads
from graveler.retention.candidates import Territory
from graveler.retention.liveness import FRUITLESS_LOOKS_MAX, Look
from graveler.retention.report import CollectionReport, Tally
from graveler.retention.runs import LEASE
from graveler_jobs import parquet_files
from graveler_jobs.garbage_collection import run as module
from graveler_jobs.garbage_collection import sweeping
from graveler_jobs.garbage_collection.listing import CANDIDATE_SCHEMA
from graveler_jobs.garbage_collection.options import CollectionOptions
from graveler_jobs.garbage_collection.sweeping import LEASE_IS_LOST, LOOK_IS_OLD, SweptRound
from graveler_jobs.session import JobDeployment
from tests.support.checks.cases import for_each
from tests.support.fakes.engines import MemoryWorld
from tests.support.worlds.addresses import address
from tests.support.worlds.lake import NAMESPACE, REPO

FOLDER = f"{NAMESPACE}/run/"
LOOK_S = 77
MARK: Any = SimpleNamespace(cutoff_ns=0)
KEPT, *GARBAGE = (address(number) for number in range(1, 6))


class Frame:
    """A table with the few methods of Spark's frames that a sweep calls."""

    sparkSession = SimpleNamespace(sparkContext=SimpleNamespace(defaultParallelism=1))  # noqa: N815 - Spark's name

    def __init__(self, table: pa.Table) -> None:
        self._table = table

    def select(self, *columns: str) -> "Frame":
        return Frame(self._table.select(columns))

    def join(self, other: "Frame", on: str, how: str) -> "Frame":
        assert how == "left_anti"
        known = {*other._table.column(on).to_pylist()}
        return Frame(self._table.filter([each.as_py() not in known for each in self._table[on]]))

    def mapInArrow(  # noqa: N802 - Spark's name
        self, rows: Callable[[Iterator[pa.RecordBatch]], Iterable[pa.RecordBatch]], _schema: str
    ) -> "Frame":
        return Frame(pa.Table.from_batches(rows(iter(self._table.to_batches()))))

    def collect(self) -> list[SimpleNamespace]:
        return [SimpleNamespace(**row) for row in self._table.to_pylist()]


class LocalSpark:
    """A session of Spark that makes frames of numbers."""

    sparkContext = Frame.sparkSession.sparkContext  # noqa: N815 - Spark's name

    def range(self, start: int, end: int, _step: int, _tasks: int) -> Frame:
        return Frame(pa.table({"id": list(range(start, end))}))


class LocalMarking:
    """The marking of a run, since whose mark one object has come back to life."""

    def count_read(self) -> None:
        """Count nothing."""

    def territory(self) -> Territory:
        return Territory(NAMESPACE, 0, 0)

    def come_to_life(self) -> Frame:
        return Frame(pa.table({"address": [KEPT]}))


def new_run(deployment: JobDeployment, monkeypatch: pytest.MonkeyPatch) -> module._CollectionRun:
    """A run whose driver does not notice that it loses its lease."""
    monkeypatch.setattr(module, "Marking", lambda *_: LocalMarking())
    repository = read_repository(deployment.engine, REPO)
    options = CollectionOptions(repository=REPO, output_uri=f"{NAMESPACE}/", look_s=LOOK_S)
    report = CollectionReport(run_id="run", mark_id="run", repository=REPO, start_ns=0, cutoff_ns=0)
    spark: Any = LocalSpark()
    lease: Any = SimpleNamespace(check=lambda: None)
    return module._CollectionRun(
        spark, deployment, repository, options, report, lease, lambda _: None
    )


def test_no_look_deletes_again_what_earlier_ones_deleted(
    world: MemoryWorld, deployment: JobDeployment, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []

    def delete_many(uris: Sequence[str]) -> dict[str, str]:
        assert not {*uris} & {*asked}, "it is deleted again"
        asked.extend(uris)
        return {}

    local = SimpleNamespace(objects=world.objects, jobs=deployment.jobs)
    for room in (parquet_files, sweeping):
        monkeypatch.setattr(room, "stores", lambda _: local)
    monkeypatch.setattr(parquet_files, "task_name", lambda: "00000")
    monkeypatch.setattr(world.objects, "delete_many", delete_many)
    # Each look lasts for one request, and a request deletes one object.
    monkeypatch.setattr(sweeping, "DELETE_OBJECTS_MAX", 1)
    monkeypatch.setattr(Look, "is_current", lambda this, *_: len(asked) < this.number)
    run = new_run(deployment, monkeypatch)
    assert deployment.jobs.take_lease(run._repo.record, LEASE, "run", now_ns=0, until_ns=1)
    marked = parquet_files.PartWriter(world.objects, f"{FOLDER}marked/", "part")
    sizes, times = [10] * 5, [0] * 5
    marked.add(pa.record_batch([[KEPT, *GARBAGE], sizes, times], schema=CANDIDATE_SCHEMA))
    marked.finish()
    run._sweep_round(parquet_files.uris(world.objects, f"{FOLDER}marked/"))
    assert asked == [f"{NAMESPACE}/{each}" for each in GARBAGE]
    assert run._report.deleted == Tally(4, 40)


class Scripted:
    """A run whose sweeps have these results, and the names that each of its looks leaves out."""

    def __init__(
        self,
        deployment: JobDeployment,
        monkeypatch: pytest.MonkeyPatch,
        results: Iterable[SweptRound],
    ) -> None:
        self.left_out: list[list[str]] = []
        self.run = new_run(deployment, monkeypatch)
        self.report = self.run._report
        coming = iter(results)
        monkeypatch.setattr(self.run, "_look", self._look)
        monkeypatch.setattr(module, "sweep", lambda *_: next(coming))

    def _look(self, _uris: object, names: Sequence[str]) -> tuple[SimpleNamespace, None]:
        self.left_out.append(list(names))
        return SimpleNamespace(name=f"round-{len(self.left_out)}"), None

    def sweep_round(self) -> None:
        self.run._sweep_round(["part"])


def swept(deleted: int, left: int = 0, failed: int = 0, stopped: str = LOOK_IS_OLD) -> SweptRound:
    failure = f"{failed} failed" if failed else ""
    return SweptRound(Tally(deleted, deleted * 10), failed, failure, left, stopped if left else "")


def test_a_run_whose_executors_lost_the_lease_ends_and_reports_what_they_deleted(
    deployment: JobDeployment, monkeypatch: pytest.MonkeyPatch
) -> None:
    results = [swept(2, left=3, stopped=LEASE_IS_LOST), swept(3)]
    scripted = Scripted(deployment, monkeypatch, results)
    with pytest.raises(ContentionError, match=f"{LEASE_IS_LOST} '{REPO}'"):
        scripted.sweep_round()
    assert scripted.left_out == [[]]
    assert scripted.report.deleted == Tally(2, 20)


FRUITLESS = [swept(0, left=5)] * FRUITLESS_LOOKS_MAX


@for_each(
    ("before", "looks"), [([], FRUITLESS_LOOKS_MAX), ([swept(1, left=5)], FRUITLESS_LOOKS_MAX + 1)]
)
def test_a_run_ends_with_the_remedy_after_as_many_looks_in_a_row_that_delete_nothing(
    deployment: JobDeployment, monkeypatch: pytest.MonkeyPatch, before: list[SweptRound], looks: int
) -> None:
    scripted = Scripted(deployment, monkeypatch, [*before, *FRUITLESS, swept(5)])
    why = f"the {LOOK_S} s .* the last {FRUITLESS_LOOKS_MAX}: raise look_s, or use more workers"
    with pytest.raises(PreconditionFailedError, match=why):
        scripted.sweep_round()
    assert len(scripted.left_out) == looks


def test_a_look_that_deletes_something_grants_the_next_ones_as_many_again(
    deployment: JobDeployment, monkeypatch: pytest.MonkeyPatch
) -> None:
    results = [*FRUITLESS[1:], swept(1, left=4), *FRUITLESS[1:], swept(4)]
    scripted = Scripted(deployment, monkeypatch, results)
    scripted.sweep_round()
    assert scripted.report.deleted == Tally(5, 50)


def test_what_is_left_goes_by_the_next_looks_and_counts_once(
    deployment: JobDeployment, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An object that failed is tried again by the next look, whose count of failures is the last."""
    results = [swept(2, left=4, failed=2), swept(1, left=2, failed=1), swept(2, failed=1)]
    scripted = Scripted(deployment, monkeypatch, results)
    scripted.sweep_round()
    report = scripted.report
    assert scripted.left_out == [[], ["round-1"], ["round-1", "round-2"]]
    assert (report.deleted, report.failed, report.failure) == (Tally(5, 50), 1, "1 failed")
    assert report.is_swept


def test_a_run_that_loses_its_lease_while_it_looks_deletes_nothing(
    deployment: JobDeployment, monkeypatch: pytest.MonkeyPatch
) -> None:
    scripted = Scripted(deployment, monkeypatch, [])

    def check() -> None:
        raise ContentionError("another run has taken over")

    lost: Any = SimpleNamespace(check=check)
    monkeypatch.setattr(scripted.run, "_lease", lost)
    with pytest.raises(ContentionError, match="another run has taken over"):
        scripted.sweep_round()
    assert scripted.report.deleted == Tally()


@for_each(("maximum", "is_swept"), [(3, False), (4, True)])
def test_no_more_is_deleted_than_the_options_allow(
    deployment: JobDeployment, monkeypatch: pytest.MonkeyPatch, maximum: int, is_swept: bool
) -> None:
    run, swept_marks = new_run(deployment, monkeypatch), list[object]()
    monkeypatch.setattr(run, "_options", replace(run._options, maximum_deletions=maximum))
    monkeypatch.setattr(run, "_sweep", swept_marks.append)
    four = SimpleNamespace(objects=4)
    monkeypatch.setattr(run, "_marking", SimpleNamespace(mark=lambda _: four))
    with nullcontext() if is_swept else pytest.raises(PreconditionFailedError, match="4 objects"):
        run.do()
    assert swept_marks == [four] * is_swept


def test_old_unfinished_uploads_are_aborted_but_for_those_that_can_be_completed(
    world: MemoryWorld, deployment: JobDeployment, monkeypatch: pytest.MonkeyPatch
) -> None:
    recorded = recorded_uploads.create(deployment.engine, REPO, "main", b"a", metadata={})
    presigned_uploads.create(deployment.engine, REPO, "main", b"b")
    world.clock.tick(1)
    run = new_run(deployment, monkeypatch)
    run._abort_uploads(Territory(NAMESPACE, world.clock.now_ns(), 0))
    left = world.objects.list_uploads(NAMESPACE)
    assert [each.uri for each in left] == [f"{NAMESPACE}/{recorded.address}"]


def test_a_run_that_ends_publishes_one_event(
    world: MemoryWorld, deployment: JobDeployment, monkeypatch: pytest.MonkeyPatch
) -> None:
    new_run(deployment, monkeypatch).publish()
    [event] = [each for each in world.refs.events if each.kind == module.EVENT]
    assert event.detail["run_id"] == "run"
