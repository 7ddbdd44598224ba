"""A mark: the objects that it leaves out, and the runs that may sweep it."""

from types import SimpleNamespace
from typing import Any

import msgspec
import pytest

from graveler.branches.claims import claim
from graveler.branches.lookup import read_repository
from graveler.errors import NotFoundError
from graveler.operations import repositories
from graveler.retention.report import CollectionReport
from graveler_jobs import parquet_files
from graveler_jobs.garbage_collection import live
from graveler_jobs.garbage_collection.marking import Mark, MarkFolder, Marking, read_mark
from graveler_jobs.garbage_collection.options import CollectionOptions
from graveler_jobs.session import JobDeployment
from tests.support.fakes.engines import MemoryWorld
from tests.support.worlds.addresses import address
from tests.support.worlds.lake import NAMESPACE, REPO

FOLDER = MarkFolder(f"{NAMESPACE}/run/")
CLAIMED, GARBAGE = address(1), address(2)


class Addresses(set[str]):
    """A frame of addresses, with the few methods of Spark's frames that a mark calls."""

    def union(self, *others: Any) -> Any:
        return Addresses(super().union(*others))

    def join(self, other: set[str], _on: str, _how: str) -> "Addresses":
        return Addresses(self - other)

    def count(self) -> int:
        return len(self)

    def localCheckpoint(self) -> "Addresses":  # noqa: N802 - Spark's name
        return self


class LocalSpark:
    """A session of Spark that makes frames of addresses."""

    sparkContext = SimpleNamespace(accumulator=lambda value: SimpleNamespace(value=value))  # noqa: N815 - Spark's name

    def createDataFrame(self, rows: list[tuple[str]], _schema: str) -> Addresses:  # noqa: N802 - Spark's name
        return Addresses(each for (each,) in rows)


def test_a_mark_leaves_out_what_is_claimed(
    deployment: JobDeployment, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A claimed address gets another name: a copy of it may be on its way."""
    engine, marked = deployment.engine, list[Addresses]()
    repository = read_repository(engine, REPO)
    claim(repository, [CLAIMED])
    monkeypatch.setattr(live, "staged", lambda *_: Addresses())
    monkeypatch.setattr(live, "ranges", lambda *_: Addresses())
    monkeypatch.setattr(Marking, "_candidates", lambda *_: Addresses([CLAIMED, GARBAGE]))
    monkeypatch.setattr(Marking, "_read", lambda *_: Addresses())
    monkeypatch.setattr(Marking, "_committed", lambda *_: Addresses())
    monkeypatch.setattr(Marking, "_describe", lambda _: None)
    monkeypatch.setattr(parquet_files, "write", lambda frame, *_: marked.append(frame))
    report = CollectionReport(run_id="run", mark_id="run", repository=REPO, start_ns=0, cutoff_ns=0)
    spark: Any = LocalSpark()
    marking = Marking(spark, deployment, repository, FOLDER, report, lambda _: None)
    marking.mark(CollectionOptions(repository=REPO))
    assert marked[-1] == {GARBAGE}


def test_a_mark_of_a_deleted_repository_of_the_name_is_not_swept(
    world: MemoryWorld, deployment: JobDeployment
) -> None:
    engine = deployment.engine
    old = read_repository(engine, REPO)
    mark = Mark(
        mark_id="run",
        repository=REPO,
        repository_uid=old.record.uid,
        namespace=NAMESPACE,
        cutoff_ns=0,
        objects=1,
        size_bytes=1,
    )
    engine.objects.put(FOLDER.mark_uri, msgspec.json.encode(mark), "application/json")
    assert read_mark(deployment, FOLDER, old.record) == mark
    repositories.delete(engine, REPO)
    new = repositories.create(world.engine(), name=REPO, storage_namespace=f"{NAMESPACE}-2")
    with pytest.raises(NotFoundError, match="the mark of another repository"):
        read_mark(deployment, FOLDER, new)
