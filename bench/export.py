"""`python -m bench.export`: the cost of an export, over DynamoDB Local and S3Proxy.

    python -m bench.export --objects 100000 --copies 3000 --only full job

It compares an export's copies per second with the store's own rate for the same CopyObject calls,
from as many threads, in turns. Every section has its own servers and process. All entries point to
one small object, so hundreds of thousands need not be created: only the copies are measured.
"""

from argparse import ArgumentParser
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from math import inf
from random import Random
from statistics import median

from msgspec import structs

from bench.dataset import Dataset
from bench.figures import Figure, Spent, in_fresh_process, peak_memory_mb, spent
from bench.gc.watch import DRIVER, JVM, WORKERS, Watch
from bench.report import printed
from bench.servers import servers
from graveler.aws.connect import Clients
from graveler.aws.dynamodb.exports import DynamoExportStore
from graveler.aws.dynamodb.refs import DynamoRefStore
from graveler.aws.dynamodb.tables import Tables
from graveler.aws.s3.client import S3
from graveler.aws.s3.committed_files import S3CommittedFiles
from graveler.aws.s3.objects import S3ObjectStore
from graveler.committed.apply import apply_changes
from graveler.committed.store import Committed
from graveler.engine import Engine
from graveler.entries import entry_value
from graveler.export.record import (
    BranchExport,
    Destination,
    ExportConfiguration,
    ExportRequest,
    ExportSettings,
    ExportState,
)
from graveler.model import EMPTY_METARANGE, AddressType, Change, CommitID, Entry
from graveler.open_repository import OpenRepository
from graveler.operations import commits, repositories
from graveler.operations.exports import requests
from graveler.operations.exports.advance import advance
from graveler.ports import ObjectDescription
from graveler_embedded.stores import BUCKET
from graveler_jobs.export.options import ExportOptions
from graveler_jobs.export.run import run
from graveler_jobs.session import JobDeployment, local_spark

REPOSITORY = "exported"
OBJECTS = 100_000
OBJECTS_OF_INCREMENT = 200_000
CHANGES = 10
COPIES = 3_000
ROUNDS = 3

_NAMESPACE = f"s3://{BUCKET}/{REPOSITORY}"
_CONTENT = b"what every entry points to"
_SETTINGS = ExportSettings(allowed_prefixes=("s3://",))
_STATUS_PATH = f"s3://{BUCKET}/status"
_REQUEST = ExportRequest(REPOSITORY, "main")


class Unsent:
    """A queue without a reader: the measured runs end by themselves."""

    def send(self, request: ExportRequest, delay_s: int = 0) -> None:
        pass


class Lake:
    """A repository of so many paths, all with one object."""

    def __init__(self, engine: Engine, objects: int) -> None:
        self.engine = replace(engine, export_queue=Unsent(), export_settings=_SETTINGS)
        self._dataset = Dataset(objects)
        self._repository = repositories.create(
            self.engine, name=REPOSITORY, storage_namespace=_NAMESPACE
        )
        stored = self.engine.objects.put(f"{_NAMESPACE}/data/one", _CONTENT, "text/plain")
        self.entry = Entry(
            "data/one",
            AddressType.RELATIVE,
            len(_CONTENT),
            stored.checksum,
            stored.last_modified_ns,
            "text/plain",
        )
        value = entry_value(self.entry)
        self._head = EMPTY_METARANGE
        self.head_commit = self._commit((key, value) for key in self._dataset.keys())  # noqa: SIM118

    def change(self, count: int) -> None:
        """Commit another content type for so many objects anywhere."""
        numbers = sorted(Random(1).sample(range(self._dataset.objects), count))
        value = entry_value(structs.replace(self.entry, content_type="text/csv"))
        self._commit((self._dataset.key(number), value) for number in numbers)

    def _commit(self, changes: Iterator[Change]) -> CommitID:
        base = OpenRepository(self.engine, self._repository).metarange(self._head)
        self._head = apply_changes(self.engine.committed, base, changes).metarange_id
        request = commits.CommitRequest("why", "somebody", source_metarange=self._head)
        return commits.commit(self.engine, REPOSITORY, "main", request).id

    def configure(self, name: str) -> None:
        """Configure an export to an empty place of that name, with status and manifest."""
        configuration = ExportConfiguration(f"s3://{BUCKET}/{name}", _STATUS_PATH)
        requests.configure(self.engine, REPOSITORY, "main", configuration)

    def claim(self, name: str, status_path: str) -> None:
        """Configure an export to a place of that name, recorded as up to date with the head."""
        configuration = ExportConfiguration(
            f"s3://{BUCKET}/{name}", status_path, is_continuous=True
        )
        known = Destination(configuration.path, exported_commit=self.head_commit)
        record = BranchExport("main", configuration, ExportState.SUCCEEDED, destinations=(known,))
        self.engine.exports.replace_branch_export(self._repository, None, record)

    def export(self, engine: Engine | None = None) -> int:
        """Run one invocation of the function; return the number of objects copied or deleted."""
        runner = f"function {self.engine.clock.now_ns()}"
        advance(engine or self.engine, _REQUEST, runner=runner, time_left_s=lambda: inf)
        return self.done()

    def done(self) -> int:
        """Return the number of objects that the last export copied or deleted.

        Raises:
            RuntimeError: it did not succeed.
        """
        status = requests.status(self.engine, REPOSITORY, "main")
        if status.state is not ExportState.SUCCEEDED:
            raise RuntimeError(f"the export has {status.state}: {status.error_message}")
        return status.done


# Sections


def copies(count: int) -> Iterator[Figure]:
    """Measure an export and the same copies alone, in turns."""
    with servers() as made:
        lake = Lake(made.engine, count)
        bare_copies(lake, count // 10, "warm")
        alone, exported = [], []
        for number in range(ROUNDS):
            with spent() as times:
                bare_copies(lake, count, f"alone-{number}")
            alone.append(times)
            lake.configure(f"exported-{number}")
            with spent() as times:
                done = lake.export()
            if done != count:
                raise RuntimeError(f"{done} objects were exported of {count}")
            exported.append(times)
        yield from _paces("CopyObject alone", alone, count)
        yield from _paces("export", exported, count)


def bare_copies(lake: Lake, count: int, name: str) -> None:
    """Copy the object so many times, from as many threads as an export uses."""
    objects = lake.engine.objects
    source = f"{_NAMESPACE}/{lake.entry.address}"
    description = ObjectDescription("text/plain", {})

    def copy(number: int) -> None:
        target = f"s3://{BUCKET}/{name}/{number:06}"
        objects.copy(source, target, len(_CONTENT), description)

    with ThreadPoolExecutor(_SETTINGS.requests_at_once) as pool:
        for _ in pool.map(copy, range(count)):
            pass


def _paces(name: str, rounds: Sequence[Spent], count: int) -> Iterator[Figure]:
    wall_s, cpu_s = (median(each) for each in zip(*_seconds(rounds), strict=True))
    threads = _SETTINGS.requests_at_once
    yield Figure(f"{name}, {threads} threads", count / wall_s, "objects/s wall")
    yield Figure(f"{name}, per object", 1e3 * cpu_s / count, "ms cpu")


def _seconds(rounds: Sequence[Spent]) -> list[tuple[float, float]]:
    return [(times.wall_s, times.cpu_s) for times in rounds]


def increment(objects: int, changes: int, status_path: str) -> Iterator[Figure]:
    """Measure an export of a few changes by a cold function, with its requests by kind."""
    with servers() as made:
        lake = Lake(made.engine, objects)
        lake.claim("latest", status_path)
        lake.change(changes)
        requests: Counter[str] = Counter()
        engine = counted(made, requests)
        with spent() as times:
            done = lake.export(engine)
        if done != changes:
            raise RuntimeError(f"{done} objects were exported of {changes}")
        yield Figure("time", 1e3 * times.wall_s, "ms wall")
        yield Figure("processor", 1e3 * times.cpu_s, "ms cpu")
        yield Figure("requests", requests.total(), "requests")
        for kind, count in sorted(requests.items()):
            yield Figure(f"  {kind}", count, "requests")


def counted(made: JobDeployment, requests: Counter[str]) -> Engine:
    """Return an engine with empty caches that counts its requests to the stores by kind."""
    settings = made.settings
    clients = Clients(settings)

    def observe_s3(model: object, **_: object) -> None:
        requests[f"S3 {getattr(model, 'name', '?')}"] += 1

    def observe_dynamodb(operation: str) -> None:
        requests[f"DynamoDB {operation}"] += 1

    clients.s3.meta.events.register("before-call.s3", observe_s3)
    s3 = S3(clients.s3)
    dynamodb = clients.dynamodb(observe=observe_dynamodb)
    tables = Tables(settings.refs_table, settings.staging_table, dynamodb)
    return Engine(
        hook_targets=made.engine.hook_targets,
        refs=DynamoRefStore(tables),
        staging=made.engine.staging,
        objects=S3ObjectStore(s3),
        committed=Committed(S3CommittedFiles(s3), breaking=made.engine.committed.breaking),
        clock=made.engine.clock,
        names=made.engine.names,
        signing_key=b"",
        exports=DynamoExportStore(tables),
        export_queue=Unsent(),
        batch_jobs=made.engine.batch_jobs,
        jobs=made.engine.jobs,
        collection_jobs=made.engine.collection_jobs,
        export_settings=_SETTINGS,
        task_queue=made.engine.task_queue,
    )


def full(objects: int) -> Iterator[Figure]:
    """Measure a whole export by the function, without its time limit."""
    with servers() as made:
        lake = Lake(made.engine, objects)
        lake.configure("latest")
        yield Figure("peak memory before", peak_memory_mb(), "MB")
        with spent() as times:
            done = lake.export()
        yield Figure("peak memory", peak_memory_mb(), "MB")
        yield from _whole(times.wall_s, done, objects)
        yield Figure("processor, per object", 1e3 * times.cpu_s / objects, "ms cpu")


def job(objects: int) -> Iterator[Figure]:
    """Measure the same by the Spark job on two cores, including its start."""
    with servers() as made:
        lake = Lake(made.engine, objects)
        lake.configure("latest")
        watch = Watch()
        spark = local_spark("bench-export")
        watch.step("start of Spark")
        options = ExportOptions(repository=REPOSITORY, branch="main")
        run(spark, replace(made, engine=lake.engine), options)
        watch.step("export")
        watch.end()
        spark.stop()
        yield Figure("start of Spark", watch.seconds["start of Spark"], "s wall")
        yield from _whole(watch.seconds["export"], lake.done(), objects)
        yield Figure("processor, per object", 1e3 * watch.cpu_s["export"] / objects, "ms cpu")
        for kind in (DRIVER, JVM, WORKERS):
            yield Figure(f"peak memory of {kind}", watch.peaks_mb["export"][kind], "MB")


def _whole(wall_s: float, done: int, objects: int) -> Iterator[Figure]:
    if done != objects:
        raise RuntimeError(f"{done} objects were exported of {objects}")
    yield Figure("time", wall_s, "s wall")
    yield Figure("objects", objects / wall_s, "objects/s wall")


def main() -> None:
    parser = ArgumentParser(prog="python -m bench.export", description="measure exports")
    parser.add_argument("--objects", type=int, default=OBJECTS, help="of a whole export")
    parser.add_argument("--increment", type=int, default=OBJECTS_OF_INCREMENT, metavar="OBJECTS")
    parser.add_argument("--copies", type=int, default=COPIES, help="of a round beside the store")
    names = ("copies", "increment", "manifest", "full", "job")
    parser.add_argument("--only", nargs="+", choices=names, default=names)
    arguments = parser.parse_args()
    objects, beside, of = arguments.objects, arguments.copies, arguments.increment
    changed = f"{CHANGES} changes of {of:,} objects"
    sections: dict[str, tuple[str, Callable[..., Iterator[Figure]], tuple[object, ...]]] = {
        "copies": (f"{beside:,} copies, beside the store alone", copies, (beside,)),
        "increment": (changed, increment, (of, CHANGES, "")),
        "manifest": (f"{changed}, and a manifest of all", increment, (of, CHANGES, _STATUS_PATH)),
        "full": (f"{objects:,} objects by the function", full, (objects,)),
        "job": (f"{objects:,} objects by the Spark job, two cores", job, (objects,)),
    }
    for name in names:
        if name in arguments.only:
            title, measure, given = sections[name]
            printed(title, in_fresh_process(measure, *given))


if __name__ == "__main__":
    main()
