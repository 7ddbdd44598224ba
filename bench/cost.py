"""`python -m bench.cost`: the usage of AWS services by operations, and its price.

Requests and DynamoDB's capacity units are counted on DynamoDB Local and S3Proxy, in a warm process,
over a repository of 100,000 objects; processor time is this machine's. `bench/prices.py` has the
prices, and assumptions that could only be measured on AWS (the time of a round trip). With
`--write`, `bench/cost_page.py` writes docs/cost.md.
"""

from argparse import ArgumentParser
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import count
from random import Random

from bench import cost_page
from bench.cost_page import BY_A_TASK, EXPORT_AT_ONCE, mixed, rows
from bench.dataset import Dataset
from bench.export import Lake
from bench.figures import in_fresh_process
from bench.metered import Meter
from bench.prices import (
    IDLE,
    Usage,
    cost,
    glue_run,
    idle_month,
    server_month,
    total,
)
from bench.servers import servers
from graveler.aws.dynamodb.cleanup import CleanupStore
from graveler.aws.dynamodb.staging import DynamoStagingStore
from graveler.aws.settings import DeploymentSettings
from graveler.engine import Engine
from graveler.entries import entry_value
from graveler.limits import LINKS_MAX, PRESIGNED_URL_LIFE_S, TOKEN_RETENTION_S
from graveler.model import AddressType, Entry
from graveler.model.tasks import TaskMessage
from graveler.operations import branches, commits, links, merges, objects, writes
from graveler.operations.task_work import WORK
from graveler.operations.tasks.advance import advance
from graveler.staging.listing import PageQuery
from graveler.times import NS_PER_S

REPOSITORY = "exported"  # as bench.export calls it
OBJECTS = 100_000
EXPORTED = 2_000
COMMITTED = (1, 100, 10_000)
LEFT_TO_A_TASK = 100_000
TRIES = 5


class Work:
    """Users' operations on a repository, on an engine that counts requests."""

    def __init__(self, settings: DeploymentSettings, objects_: int) -> None:
        self.meter = Meter(settings)
        self.dataset = Dataset(objects_)
        self._value = entry_value(
            Entry("data/one", AddressType.RELATIVE, 1, "0" * 32, 0, "text/plain")
        )
        self._numbers = count()
        self._random = Random(1)

    @property
    def engine(self) -> Engine:
        """Return the engine that counts requests."""
        return self.meter.engine

    def typical(self, prepare: Callable[[], Callable[[], object]], events: int = 0) -> Usage:
        """Return the usage of the action that prepare returns, of the run with the median time."""
        tries = [self.meter.use(prepare(), events) for _ in range(TRIES)]
        return sorted(tries, key=lambda each: each.cpu_ms)[TRIES // 2]

    def new_path(self) -> bytes:
        """Return a new path, beside others of its kind."""
        return b"raw/landing/new-%09d" % next(self._numbers)

    def anywhere(self, amount: int) -> list[bytes]:
        """Return existing paths, from all over the repository."""
        numbers = self._random.sample(range(self.dataset.objects), amount)
        return sorted(self.dataset.key(number) for number in numbers)

    def uploaded(self) -> tuple[bytes, links.StoredData]:
        """Return a new path, and data at an address for it."""
        path = self.new_path()
        address = links.get_physical_address(self.engine, REPOSITORY, "main", path)
        data = links.StoredData(physical_address=address, checksum="0" * 32, size_bytes=1)
        return path, data

    def linking(self) -> Callable[[], object]:
        """Link an upload address."""
        path, data = self.uploaded()
        return lambda: links.link(self.engine, REPOSITORY, "main", path, data)

    def addressing(self) -> Callable[[], object]:
        """Get a thousand addresses, with URLs."""
        objects = self.engine.objects

        def ask() -> None:
            links.check_linkable(self.engine, REPOSITORY, "main", force=False)
            for _ in range(LINKS_MAX):
                _, data = self.uploaded()
                objects.presign_put(data.physical_address, PRESIGNED_URL_LIFE_S)

        return ask

    def linking_many(self) -> Callable[[], object]:
        """Link a thousand addresses."""
        data = [self.uploaded() for _ in range(LINKS_MAX)]
        return lambda: links.link_each(self.engine, REPOSITORY, "main", data)

    def uploading(self) -> Callable[[], object]:
        """Upload a kilobyte through the API."""
        path = self.new_path()
        return lambda: writes.upload(
            self.engine,
            REPOSITORY,
            "main",
            path,
            read_content=lambda: (b"1" * 1024, "text/plain"),
            metadata={},
        )

    def deleting(self) -> Callable[[], object]:
        """Delete a committed object."""
        (path,) = self.anywhere(1)
        return lambda: writes.delete(self.engine, REPOSITORY, "main", path)

    def branching(self) -> Callable[[], object]:
        """Create a branch."""
        name = f"branch-{next(self._numbers)}"
        return lambda: branches.create(self.engine, REPOSITORY, name=name, source="main")

    def committing(self, paths: Sequence[bytes]) -> Callable[[], object]:
        """Commit so many staged changes."""
        self.stage("main", paths)
        return lambda: self.commit("main")

    def merging(self, changes: int) -> Callable[[], object]:
        """Merge a branch with so many changes into main, which has changed as well."""
        name = f"branch-{next(self._numbers)}"
        branches.create(self.engine, REPOSITORY, name=name, source="main")
        for branch in (name, "main"):
            self.stage(branch, [self.new_path() for _ in range(changes)])
            self.commit(branch)
        request = merges.MergeRequest("somebody")
        return lambda: merges.merge(self.engine, REPOSITORY, name, "main", request)

    def stage(self, branch: str, paths: Sequence[bytes]) -> None:
        """Stage changes as links would."""
        token = branches.get(self.engine, REPOSITORY, branch).staging_token
        self.engine.staging.stage(token, [(path, self._value) for path in paths])

    def commit(self, branch: str) -> object:
        """Commit the staged changes."""
        request = commits.CommitRequest("why", "somebody", allow_empty=True)
        return commits.commit(self.engine, REPOSITORY, branch, request)

    def clean_up(self) -> None:
        """Run the cleanup at a time when all its work is due."""
        tables = self.meter.tables
        store = CleanupStore(tables, DynamoStagingStore(tables))
        later_ns = self.engine.clock.now_ns() + (TOKEN_RETENTION_S + 60) * NS_PER_S
        store.sweep(later_ns)


# Measured operations: name and usage.
Measured = tuple[str, Usage]


class _Silence:
    """A queue that drops its messages: the measurement runs the task itself."""

    def send(self, message: TaskMessage, delay_s: int = 0) -> None:
        pass


def operations(objects_: int, committed: Sequence[int], large: int) -> Iterator[Measured]:
    """Yield the usage of operations over a repository of so many objects, in a warm process."""
    with servers() as made:
        Lake(made.engine, objects_)
        work = Work(made.settings, objects_)
        yield from measured(work, committed).items()
        yield by_a_task(work, large)


def measured(work: Work, committed: Sequence[int]) -> dict[str, Usage]:
    """Measure the usage of operations, by name."""
    engine, known = work.engine, work.dataset.key(0)
    head = branches.get(engine, REPOSITORY, "main").commit_id
    for _ in range(10):  # what is read again and again is fetched whole
        objects.list_objects(engine, REPOSITORY, "main", PageQuery(1000))
    found = {
        "stat by commit ID": work.typical(
            lambda: lambda: objects.stat(engine, REPOSITORY, head, known)
        ),
        "stat via a branch": work.typical(
            lambda: lambda: objects.stat(engine, REPOSITORY, "main", known)
        ),
        "list 1,000 objects via a branch": work.typical(
            lambda: lambda: objects.list_objects(engine, REPOSITORY, "main", PageQuery(1000))
        ),
        "get physical address": work.typical(
            lambda: lambda: links.get_physical_address(engine, REPOSITORY, "main", work.new_path())
        ),
        "link": work.typical(work.linking),
        "get 1,000 addresses with URLs": work.typical(work.addressing),
        "link 1,000": work.typical(work.linking_many),
        "upload of 1 KB": work.typical(work.uploading),
        "delete": work.typical(work.deleting),
        "create branch": work.typical(work.branching, events=1),
    }
    for changes in committed:
        found |= of_commits(work, changes)
    found["commit of 100, anywhere"] = work.typical(
        lambda: work.committing(work.anywhere(100)), events=1
    )
    found["merge of 100"] = work.typical(lambda: work.merging(100), events=1)
    found["log of 100 commits"] = work.typical(
        lambda: lambda: commits.log(engine, REPOSITORY, "main", commits.LogQuery(100))
    )
    return found


def of_commits(work: Work, changes: int) -> Iterator[Measured]:
    """Measure a commit of so many neighbouring changes, and the cleanup after it."""
    work.commit("main")
    work.clean_up()

    def prepare() -> Callable[[], object]:
        return work.committing([work.new_path() for _ in range(changes)])

    yield f"commit of {changes:,}", work.typical(prepare, events=1)
    dropped, idle = work.meter.use(work.clean_up), work.meter.use(work.clean_up)
    # Without what a sweep takes that finds nothing: an idle month has that.
    of_one = (dropped + idle.times(-1)).times(1 / TRIES)
    yield f"cleanup after a commit of {changes:,}", of_one.in_background()


def by_a_task(work: Work, changes: int) -> Measured:
    """Measure a commit of so many neighbouring changes that a task makes, slice after slice."""
    work.commit("main")
    work.clean_up()
    work.stage("main", [work.new_path() for _ in range(changes)])
    engine = replace(work.engine, task_queue=_Silence())

    def run() -> None:
        request = commits.CommitRequest("why", "somebody")
        task = commits.start_commit(engine, REPOSITORY, "main", request)
        message = TaskMessage(REPOSITORY, task.id)
        advance(engine, message, WORK, runner="runner", time_left_s=lambda: 900.0)

    # Of the task's start and end, and of the commit.
    return f"commit of {changes:,}{BY_A_TASK}", work.meter.use(run, events=3)


def export(objects_: int) -> Iterator[Measured]:
    """Measure a whole export of so many objects by the function."""
    with servers() as made:
        lake = Lake(made.engine, objects_)
        lake.configure("latest")
        meter = Meter(made.settings)
        engine = replace(
            meter.engine,
            export_queue=lake.engine.export_queue,
            export_settings=lake.engine.export_settings,
        )
        yield "export", meter.use(lambda: lake.export(engine), events=1).in_background()


# Output


def examples(found: Mapping[str, Usage], exported: Usage, objects_: int) -> Iterator[str]:
    """Yield the worked examples, a line each."""
    million = mixed(found, 1e6)
    yield _sum("a million requests of the mix", cost(million))
    for name in found:
        if name.startswith("commit of ") and not name.endswith(BY_A_TASK):
            after = found.get(f"cleanup after a {name}", Usage(requests=0))
            yield _sum(f"one {name}, and the cleanup after it", cost(found[name] + after), 9)
        elif name.startswith("commit of "):
            changes = int(name.split()[2].replace(",", ""))
            large = found[name].in_background().times(1e6 / changes)
            yield _sum("a commit of a million objects by a task", cost(large), 4)
    whole = exported.times(100_000 / objects_)
    yield _sum("an export of 100,000 objects", cost(whole, EXPORT_AT_ONCE))
    yield f"a garbage collection, 2 workers for 5 minutes: {glue_run(2, 5):.2f} USD"
    yield f"the same for an hour with 10 workers: {glue_run(10, 60):.2f} USD"
    idle = idle_month(IDLE)
    yield _sum("an idle month", idle)
    server = server_month()
    yield f"a server's idle month: {server:.2f} USD"
    even = (server - sum(idle.values())) / total(million)
    yield f"as many requests a month cost what that server does: {even:,.1f} million"


def _sum(name: str, parts: Mapping[str, float], digits: int = 2) -> str:
    listed = ", ".join(f"{part} {dollars:.{digits}f}" for part, dollars in parts.items())
    return f"{name}: {sum(parts.values()):.{digits}f} USD ({listed})"


def main(arguments: Sequence[str] | None = None) -> None:
    parser = ArgumentParser(prog="python -m bench.cost", description=__doc__)
    parser.add_argument("--objects", type=int, default=OBJECTS, help="of the repository")
    parser.add_argument("--exported", type=int, default=EXPORTED, help="of the export")
    parser.add_argument("--committed", type=int, nargs="+", default=COMMITTED)
    parser.add_argument("--by-a-task", type=int, default=LEFT_TO_A_TASK)
    parser.add_argument("--write", action="store_true", help="the results, and docs/cost.md")
    given = parser.parse_args(arguments)
    # Credentials belong to a process, so each process has its own servers.
    found = dict(in_fresh_process(operations, given.objects, given.committed, given.by_a_task))
    exported = dict(in_fresh_process(export, given.exported))["export"]
    for line in (*rows(found), "", *examples(found, exported, given.exported)):
        print(line)
    if given.write:
        cost_page.store(found, exported.times(1 / given.exported))
        cost_page.main()


if __name__ == "__main__":
    main()
