"""The namespace `system` of a ref: what is in its commit is a table, which nobody writes."""

from dataclasses import replace
from io import BytesIO
from typing import Any

import fastavro
import msgspec
import pyarrow.parquet as pq
import pytest

from graveler.committed.store import Breaking
from graveler.engine import Engine
from graveler.errors import (
    ForbiddenError,
    GravelerError,
    InvalidInputError,
    NotFoundError,
    StillRunningError,
    ThrottledError,
)
from graveler.iceberg.metadata import read_metadata
from graveler.model.tasks import TaskSettings
from graveler.operations import branches, objects, tags
from graveler.operations.tables import commits, namespaces, system, tables
from graveler.operations.tables.commits import TableChange
from graveler.operations.tables.metadata import IcebergTable
from graveler.operations.tasks.requests import list_page
from tests.support.fakes.engines import MemoryWorld
from tests.support.fakes.tasks import run_all
from tests.support.faults.counting import engine_around
from tests.support.worlds.iceberg_tables import request
from tests.support.worlds.lake import NAMESPACE, REPO, commit, new_lake, upload
from tests.support.worlds.task_scenarios import IMPATIENT

SYSTEM = ("system",)
FOLDER = f"{NAMESPACE}/_iceberg/system/objects"


@pytest.fixture
def world() -> MemoryWorld:
    return replace(new_lake(), breaking=Breaking(3))


@pytest.fixture
def engine(world: MemoryWorld) -> Engine:
    return world.engine()


def load(engine: Engine, ref: str = "main") -> IcebergTable:
    return system.load(engine, REPO, ref, "objects", "somebody")


def records(avro: bytes) -> list[Any]:
    return list(fastavro.reader(BytesIO(avro)))


def rows(world: MemoryWorld, table: IcebergTable) -> list[dict[str, Any]]:
    """Return the rows that a reader finds on its way from the table's metadata file."""
    get = world.objects.get
    metadata = read_metadata(msgspec.json.decode(get(str(table.metadata_location))))
    assert metadata == table.metadata
    (snapshot,) = metadata["snapshots"]
    found = []
    for listed in records(get(snapshot["manifest-list"])):
        manifest = get(listed["manifest_path"])
        assert len(manifest) == listed["manifest_length"]
        for entry in records(manifest):
            file = entry["data_file"]
            content = get(file["file_path"])
            read = pq.read_table(BytesIO(content)).to_pylist()
            assert (len(content), len(read)) == (file["file_size_in_bytes"], file["record_count"])
            assert file["lower_bounds"][0]["value"].decode() == read[0]["path"]
            assert file["upper_bounds"][0]["value"].decode() == read[-1]["path"]
            found += read
    assert snapshot["summary"]["total-records"] == str(len(found))
    return found


def shown(world: MemoryWorld, engine: Engine, ref: str = "main") -> list[str]:
    return [row["path"] for row in rows(world, load(engine, ref))]


def files_of(world: MemoryWorld, kind: str) -> list[str]:
    return [uri for uri in world.objects.uris() if uri.startswith(f"{FOLDER}/{kind}/")]


def fill(engine: Engine, count: int = 20) -> None:
    for number in range(count):
        upload(engine, f"a/{number:02}".encode(), b"x" * number)
    commit(engine)


def test_a_row_says_what_a_stat_of_the_object_says(world: MemoryWorld, engine: Engine) -> None:
    upload(engine, "ä/b".encode(), b"content", metadata={"label": "x", "leer": ""})
    upload(engine, b"c", b"")
    commit(engine)
    found = {row.pop("path"): row for row in rows(world, load(engine))}
    assert list(found) == ["c", "ä/b"]
    for path, row in found.items():
        stat = objects.stat(engine, REPO, "main", path.encode())
        assert row["physical_address"] == stat.physical_address
        assert (row["size"], row["checksum"], row["content_type"], dict(row["user_metadata"])) == (
            stat.entry.size_bytes,
            stat.entry.checksum,
            stat.entry.content_type,
            stat.entry.metadata,
        )
        assert row["last_modified"].timestamp() * 10**9 == stat.entry.last_modified_ns


def test_each_ref_describes_its_commit_without_uncommitted_changes(
    world: MemoryWorld, engine: Engine
) -> None:
    assert shown(world, engine) == []
    upload(engine, b"a", b"1")
    assert shown(world, engine) == []
    first = commit(engine)
    tags.create(engine, REPO, name="v1", ref="main")
    branches.create(engine, REPO, name="dev", source="main")
    upload(engine, b"b", b"2")
    commit(engine)
    assert shown(world, engine) == ["a", "b"]
    for ref in ("v1", "dev", first.id, first.id[:12], "main~1"):
        assert load(engine, ref) == load(engine, "v1")
        assert shown(world, engine, ref) == ["a"]


def test_commits_share_the_files_of_the_ranges_that_they_share(
    world: MemoryWorld, engine: Engine
) -> None:
    fill(engine)
    first = load(engine)
    before = files_of(world, "data")
    assert len(before) > 2
    upload(engine, b"a/19", b"other")
    commit(engine)
    assert len(rows(world, load(engine))) == len(rows(world, first)) == 20
    assert len(before) < len(files_of(world, "data")) < 2 * len(before)


def test_much_work_is_left_to_a_task_that_goes_on_after_a_crash(world: MemoryWorld) -> None:
    fill(world.engine())
    world.task_settings = IMPATIENT
    with pytest.raises(StillRunningError):
        load(world.engine())
    puts: list[str] = []

    def failing(name: str, call: Any) -> Any:
        if name == "objects.put":
            puts.append(name)
            if len(puts) == 4:
                raise ThrottledError("the store is busy")
        return call()

    run_all(world.task_queue, engine_around(world.engine(), failing))
    (task,) = list_page(world.engine(), REPO, "", 10).results
    assert (task.kind, task.state) == ("describe-objects", "completed")
    assert task.result == {"metadata_location": load(world.engine()).metadata_location}
    files = sum(len(files_of(world, kind)) for kind in ("data", "metadata"))
    assert len(puts) == files + 1
    assert len(shown(world, world.engine())) == 20


def test_a_snapshot_is_as_old_as_its_commit(engine: Engine) -> None:
    """A query that begins after the commit has to see it."""
    upload(engine, b"a", b"1")
    old = commit(engine, date_s=1000)
    assert load(engine).metadata["snapshots"][0]["timestamp-ms"] == old.creation_date * 1000
    upload(engine, b"b", b"1")
    commit(engine, date_s=2**40)
    assert load(engine).metadata["snapshots"][0]["timestamp-ms"] <= engine.now_s() * 1000


def test_equal_requests_about_a_commit_of_the_future_share_a_task(world: MemoryWorld) -> None:
    upload(world.engine(), b"a", b"1")
    commit(world.engine(), date_s=2**40)
    world.task_settings = IMPATIENT
    for _ in range(3):
        with pytest.raises(StillRunningError):
            load(world.engine())
        world.clock.sleep(2)
    assert len(list_page(world.engine(), REPO, "", 10).results) == 1


def test_a_request_leaves_the_rest_to_a_task_after_any_range(world: MemoryWorld) -> None:
    fill(world.engine(), 60)
    world.task_settings = TaskSettings(request_work_s=2, request_wait_s=2)

    def slow(name: str, call: Any) -> Any:
        if name == "objects.put":
            world.clock.sleep(1)
        return call()

    with pytest.raises(StillRunningError):
        load(engine_around(world.engine(), slow))
    assert 0 < len(files_of(world, "data")) < 5


def test_files_that_a_user_deleted_are_made_again(world: MemoryWorld, engine: Engine) -> None:
    upload(engine, b"a", b"1")
    commit(engine)
    assert shown(world, engine) == ["a"]
    for kind in ("data", "metadata"):
        for uri in files_of(world, kind):
            world.objects.delete(uri)
    assert shown(world, engine) == ["a"]


@pytest.mark.parametrize("number", range(1, 10))
def test_a_table_whose_making_broke_off_is_not_there(world: MemoryWorld, number: int) -> None:
    fill(world.engine(), 9)
    puts: list[str] = []

    def failing(name: str, call: Any) -> Any:
        puts.extend([name] * (name == "objects.put"))
        if len(puts) == number:
            raise ThrottledError("the store is busy")
        return call()

    engine = engine_around(world.engine(), failing)
    try:
        load(engine)
    except ThrottledError:
        uri = load(world.engine()).metadata_location
        assert world.objects.head(str(uri)) is not None
    assert len(shown(world, world.engine())) == 9


@pytest.mark.parametrize(
    ("ref", "table", "error"),
    [
        ("main", "others", NotFoundError),
        ("none", "objects", NotFoundError),
        ("main$", "objects", InvalidInputError),
        ("a b", "objects", InvalidInputError),
    ],
)
def test_what_there_is_not_is_not_made(
    engine: Engine, ref: str, table: str, error: type[GravelerError]
) -> None:
    with pytest.raises(error):
        system.load(engine, REPO, ref, table, "somebody")
    with pytest.raises(error):
        system.check_exists(engine, REPO, ref, table)


def test_it_is_listed_once_behind_all_other_namespaces(engine: Engine) -> None:
    for name in ("a", "t", "z"):
        namespaces.create(engine, REPO, "main", (name,), {})
    for amount in (1, 2, 3, 4, 100):
        found: list[str] = []
        after = ""
        while True:
            page = namespaces.list_namespaces(engine, REPO, "main", (), after, amount)
            assert len(page.results) <= amount
            found += page.results
            after = page.next_after
            if not after:
                break
        assert found == ["a", "t", "z", "system"]
    assert namespaces.list_tables(engine, REPO, "main", SYSTEM, "", 10).results == ("objects",)
    assert namespaces.properties_of(engine, REPO, "main", SYSTEM) == {}
    namespaces.check_exists(engine, REPO, "main", SYSTEM)
    with pytest.raises(NotFoundError):
        namespaces.list_tables(engine, REPO, "none", SYSTEM, "", 10)


def test_nobody_writes_there(engine: Engine) -> None:
    namespaces.create(engine, REPO, "main", ("sales",), {})
    tables.create(engine, REPO, "main", ("sales",), "orders", request())
    uri = load(engine).metadata_location
    orders, there = (("sales",), "orders"), (SYSTEM, "orders")
    change = TableChange(SYSTEM, "objects", [], [{"action": "set-properties", "updates": {}}])
    own = TableChange(("sales",), "orders", [], [])
    for write in (
        lambda: namespaces.create(engine, REPO, "main", SYSTEM, {}),
        lambda: namespaces.create(engine, REPO, "main", ("system", "below"), {}),
        lambda: namespaces.update_properties(engine, REPO, "main", SYSTEM, {"a": "b"}, []),
        lambda: namespaces.drop(engine, REPO, "main", SYSTEM),
        lambda: tables.create(engine, REPO, "main", SYSTEM, "orders", request()),
        lambda: tables.rename(engine, REPO, "main", orders, there),
        lambda: tables.drop(engine, REPO, "main", SYSTEM, "objects"),
        lambda: commits.commit_tables(engine, REPO, "main", [own, change]),
    ):
        with pytest.raises(ForbiddenError, match="namespace 'system' can only be read"):
            write()
    with pytest.raises(InvalidInputError):
        tables.register(
            engine, REPO, "main", ("sales",), "copy", str(uri), check_file=lambda _uri: None
        )
