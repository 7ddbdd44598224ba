"""What operations may cost: the table that docs/requests.md repeats."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from graveler.branches.data import read_content
from graveler.branches.heads import seal
from graveler.branches.lookup import current_branch, read_repository
from graveler.engine import Engine
from graveler.limits import SEALED_TOKENS_MAX
from graveler.model import Commit, Requirement
from graveler.model.tasks import TaskSettings
from graveler.operations import (
    branches,
    commits,
    diffs,
    last_commits,
    links,
    merge_bases,
    merges,
    object_history,
    objects,
    replays,
    tags,
    writes,
)
from graveler.operations.prefixes.totals import total
from graveler.operations.tables import namespaces, tables
from graveler.operations.tables.commits import TableChange, commit_tables
from graveler.staging.listing import PageQuery
from tests.support.faults.trips import Chain, CountedThreads, longest_chain, made
from tests.support.servers.stack import BUCKET
from tests.support.worlds.addresses import address as old_address
from tests.support.worlds.iceberg_tables import request
from tests.support.worlds.server_world import ServerWorld

# As deployed: what takes longer is left to a task, so that a request looks for an equal one.
_WITH_TASKS = TaskSettings(request_work_s=4)

_THREADS_MAX = 64


@dataclass
class Meter:
    """A repository, and an engine whose requests are counted."""

    world: ServerWorld
    requests: list[str] = field(default_factory=list)
    repo: str = ""

    def __post_init__(self) -> None:
        self.repo = self.repo or self.world.new_repository(BUCKET)
        self.engine = self.world.engine(self._observe, CountedThreads(_THREADS_MAX))
        self.other = self.world.engine()

    def _observe(self, request: str) -> None:
        self.requests.append(request)
        made(request)

    def cost(self, do: Callable[[], object]) -> tuple[int, Counter[str]]:
        """Round trips to DynamoDB, and requests to S3 by their method."""
        return self.spent(do)[:2]

    def spent(self, do: Callable[[], object]) -> tuple[int, Counter[str], Chain]:
        """As cost, and the longest chain of trips.

        The process has just read the repository: on a slow machine, it would forget it meanwhile.
        """
        read_repository(self.engine, self.repo)
        self.requests.clear()
        chain = longest_chain(do)
        to_s3 = Counter(name[3:] for name in self.requests if name.startswith("S3 "))
        return len(self.requests) - to_s3.total(), to_s3, chain

    def upload(self, path: bytes, branch: str = "main", engine: Engine | None = None) -> None:
        writes.upload(
            engine or self.engine,
            self.repo,
            branch,
            path,
            read_content=lambda: (path, "text/plain"),
            metadata={},
        )

    def commit(self, branch: str = "main", engine: Engine | None = None) -> Commit:
        request = commits.CommitRequest("commit", "somebody", allow_empty=True)
        return commits.commit(engine or self.engine, self.repo, branch, request)

    @property
    def with_tasks(self) -> Engine:
        """The counted engine, which leaves what takes long to tasks."""
        return replace(self.engine, task_settings=_WITH_TASKS)

    def see(self, branch: str) -> None:
        """Let the counted process see the branch as it is."""
        objects.list_objects(self.engine, self.repo, branch, PageQuery(100))


def head(meter: Meter) -> str:
    """The ID of main's head, without a request of the metered engine."""
    return branches.get(meter.other, meter.repo, "main").commit_id


def stat(ref: str, path: bytes) -> Callable[[Meter], object]:
    def run(meter: Meter) -> object:
        named = head(meter) if ref == "ID" else ref
        return objects.stat(meter.engine, meter.repo, named, path)

    return run


def listing(ref: str) -> Callable[[Meter], object]:
    def run(meter: Meter) -> object:
        named = head(meter) if ref == "ID" else ref
        return objects.list_objects(meter.engine, meter.repo, named, PageQuery(100))

    return run


@dataclass(frozen=True)
class Budget:
    """The cost of an operation in a process that is warm.

    dynamodb, s3: round trips to DynamoDB, and requests to S3 by their method.
    chain: the trips of them that wait for one another.
    prepare: what comes before, and does not count.
    """

    operation: str
    run: Callable[[Meter], object]
    dynamodb: int
    s3: dict[str, int]
    chain: Chain
    prepare: Callable[[Meter], object] = head


def _stored(address: str) -> links.StoredData:
    return links.StoredData(physical_address=address, checksum="x", size_bytes=1)


def _stage(meter: Meter) -> object:
    data = _stored("s3://elsewhere/x")
    return links.stage(meter.engine, meter.repo, "main", b"new", data)


def _stage_old(meter: Meter) -> object:
    repository = read_repository(meter.other, meter.repo)
    data = _stored(f"{repository.record.storage_namespace}/{old_address(1)}")
    return links.stage(meter.engine, meter.repo, "main", b"new", data)


def _address(meter: Meter, engine: Engine) -> str:
    return links.get_physical_address(engine, meter.repo, "main", b"new")


def _link(meter: Meter) -> object:
    data = _stored(_address(meter, meter.other))
    return links.link(meter.engine, meter.repo, "main", b"new", data)


def _link_many(meter: Meter) -> object:
    paths = [b"new/%d" % number for number in range(99)]
    uploaded = [
        (path, _stored(links.get_physical_address(meter.other, meter.repo, "main", path)))
        for path in paths
    ]
    return links.link_each(meter.engine, meter.repo, "main", uploaded)


def _get(meter: Meter) -> object:
    found = objects.stat(meter.engine, meter.repo, "main", b"a")
    return read_content(meter.engine, found)


def _create_conditionally(meter: Meter) -> object:
    return writes.upload(
        meter.engine,
        meter.repo,
        "main",
        b"new",
        read_content=lambda: (b"x", "text/plain"),
        metadata={},
        requirement=Requirement(is_absent=True),
    )


def _set_metadata(meter: Meter) -> None:
    writes.set_user_metadata(meter.engine, meter.repo, "main", b"a", {"k": "v"})


def _with_branch(*names: str) -> Callable[[Meter], object]:
    """Create the branches from main, which the counted process sees."""

    def prepare(meter: Meter) -> None:
        for name in names:
            branches.create(meter.engine, meter.repo, name=name, source="main")
            meter.see(name)

    return prepare


def _refused(meter: Meter) -> None:
    """Commit nothing of main as often as a branch takes it; the process sees that."""
    meter.commit()
    for _ in range(SEALED_TOKENS_MAX):
        meter.upload(b"refused")
        seal(*current_branch(meter.other, meter.repo, "main"))
    meter.upload(b"more")
    meter.see("main")


def _diverged(meter: Meter) -> None:
    """Let dev and main have a commit of their own, above a clean common one."""
    meter.commit()
    branches.create(meter.engine, meter.repo, name="dev", source="main")
    for branch, path in (("dev", b"on dev"), ("main", b"on main")):
        meter.upload(path, branch)
        meter.commit(branch)
        meter.see(branch)


def _merge(meter: Meter) -> object:
    request = merges.MergeRequest("somebody")
    return merges.merge(meter.with_tasks, meter.repo, "dev", "main", request)


def _revert(meter: Meter) -> object:
    request = replays.RevertRequest("main~1", "somebody")
    return replays.revert(meter.with_tasks, meter.repo, "main", request)


def _cherry_pick(meter: Meter) -> object:
    request = replays.CherryPickRequest("dev", "somebody")
    return replays.cherry_pick(meter.with_tasks, meter.repo, "main", request)


def _diff(meter: Meter) -> object:
    return diffs.between_refs(meter.engine, meter.repo, "main", "dev", PageQuery(100))


def _log(meter: Meter) -> object:
    return commits.log(meter.engine, meter.repo, "main", commits.LogQuery(100))


def _distance(meter: Meter) -> object:
    return merge_bases.find(meter.engine, meter.repo, "dev", "main", with_distance=True)


def _heads(meter: Meter) -> object:
    engine, repo = meter.engine, meter.repo
    return branches.list_with_commits(engine, repo, prefix="", after="", amount=100)


def _history(meter: Meter) -> object:
    return object_history.list_page(meter.engine, meter.repo, "main", b"on main", "", 100)


def _last_commits(meter: Meter) -> object:
    return last_commits.list_last_commits(meter.engine, meter.repo, "main", b"", "", 100)


def _tables(meter: Meter) -> None:
    """Two Iceberg tables, which the counted process has seen."""
    place = meter.repo, "main", ("n",)
    namespaces.create(meter.engine, *place, {})
    for name in ("t0", "t1"):
        tables.create(meter.engine, *place, name, request())
        tables.load(meter.engine, *place, name)


def _tables_of_others(meter: Meter) -> None:
    """Two Iceberg tables, whose files the counted process has not read."""
    _tables(meter)
    meter.engine.tables.clear()


def _change_tables(count: int) -> Callable[[Meter], object]:
    updates = [{"action": "set-properties", "updates": {"a": "b"}}]
    changes = [TableChange(("n",), f"t{number}", [], updates) for number in range(count)]
    return lambda meter: commit_tables(meter.engine, meter.repo, "main", changes)


def _load_table(meter: Meter) -> object:
    return tables.load(meter.engine, meter.repo, "main", ("n",), "t0")


def _total(meter: Meter) -> object:
    return total(meter.engine, meter.repo, "main", "", b"")


BUDGETS = [
    Budget("stat by commit ID", stat("ID", b"a"), 0, {}, Chain(0, 0)),
    Budget("stat via a branch, staged", stat("main", b"staged"), 1, {}, Chain(1, 0)),
    Budget("stat via a branch, committed", stat("main", b"a"), 1, {}, Chain(1, 0)),
    Budget("stat after eight refused commits", stat("main", b"a"), 2, {}, Chain(2, 0), _refused),
    Budget("list after eight refused commits", listing("main"), 9, {}, Chain(2, 0), _refused),
    Budget("get object via a branch", _get, 1, {"GET": 1}, Chain(1, 1)),
    Budget("list by commit ID", listing("ID"), 0, {}, Chain(0, 0)),
    Budget("list via a branch", listing("main"), 1, {}, Chain(1, 0)),
    Budget("log", _log, 1, {}, Chain(1, 0), _diverged),
    Budget("diff of two branches", _diff, 2, {}, Chain(1, 0), _diverged),
    Budget("ahead and behind", _distance, 2, {}, Chain(2, 0), _diverged),
    Budget("list branches with their commits", _heads, 2, {}, Chain(2, 0), _diverged),
    Budget("history of an object", _history, 1, {}, Chain(1, 0), _diverged),
    Budget("last commits of a listing", _last_commits, 1, {}, Chain(1, 0), _diverged),
    Budget("total of a prefix", _total, 2, {}, Chain(2, 0), _diverged),
    Budget("upload", lambda meter: meter.upload(b"new"), 3, {"PUT": 1}, Chain(2, 1)),
    Budget("upload if absent", _create_conditionally, 3, {"PUT": 1}, Chain(2, 1)),
    Budget("stage", _stage, 3, {}, Chain(3, 0)),
    Budget("stage an old address", _stage_old, 4, {}, Chain(4, 0)),
    Budget(
        "get physical address",
        lambda meter: _address(meter, meter.engine),
        0,
        {},
        Chain(0, 0),
    ),
    Budget("link", _link, 3, {}, Chain(3, 0)),
    Budget("link 99 objects", _link_many, 3, {}, Chain(3, 0)),
    Budget("set user metadata", _set_metadata, 3, {}, Chain(3, 0)),
    Budget("load a table", _load_table, 1, {"GET": 1}, Chain(1, 1), prepare=_tables_of_others),
    Budget("load a table again", _load_table, 1, {}, Chain(1, 0), prepare=_tables),
    Budget(
        "commit to a table",
        _change_tables(1),
        3,
        {"HEAD": 1, "PUT": 1},
        Chain(3, 1),
        prepare=_tables,
    ),
    Budget(
        "commit to two tables",
        _change_tables(2),
        4,
        {"HEAD": 2, "PUT": 2},
        Chain(4, 2),
        prepare=_tables,
    ),
    Budget(
        "delete object",
        lambda meter: writes.delete(meter.engine, meter.repo, "main", b"a"),
        3,
        {},
        Chain(3, 0),
    ),
    Budget(
        "commit",
        lambda meter: meter.commit(engine=meter.with_tasks),
        7,
        {"PUT": 2},
        Chain(5, 1),
    ),
    Budget(
        "commit after eight refused commits",
        lambda meter: meter.commit(engine=meter.with_tasks),
        37,
        {"PUT": 2},
        Chain(13, 1),
        _refused,
    ),
    Budget("merge", _merge, 5, {"PUT": 3}, Chain(2, 1), _diverged),
    Budget("revert", _revert, 5, {"PUT": 2}, Chain(2, 1), _diverged),
    Budget("cherry-pick", _cherry_pick, 5, {"PUT": 3}, Chain(2, 1), _diverged),
    Budget(
        "create branch",
        lambda meter: branches.create(meter.engine, meter.repo, name="new", source="main"),
        2,
        {},
        Chain(2, 0),
    ),
    Budget(
        "delete branch",
        lambda meter: branches.delete(meter.engine, meter.repo, "gone"),
        2,
        {},
        Chain(2, 0),
        _with_branch("gone"),
    ),
    Budget(
        "create tag",
        lambda meter: tags.create(meter.engine, meter.repo, name="new", ref="main"),
        2,
        {},
        Chain(2, 0),
    ),
]
