"""Iceberg tables of a repository: they have versions as objects have, and nobody else writes them."""

from collections.abc import Callable
from typing import Any
from unittest.mock import ANY

import pytest

from graveler.branches.lookup import read_repository
from graveler.engine import Engine
from graveler.errors import (
    AlreadyExistsError,
    ConflictError,
    CorruptDataError,
    ForbiddenError,
    GoneError,
    GravelerError,
    InvalidInputError,
    MergeConflictError,
    NoTableError,
    NotEmptyError,
    NotFoundError,
    StaleVersionError,
    UnknownOutcomeError,
)
from graveler.imports.request import ImportRequest, SourceType, source_of
from graveler.model import ProtectionRule
from graveler.operations import (
    branches,
    diffs,
    dumps,
    links,
    objects,
    repositories,
    tags,
    writes,
)
from graveler.operations.prefixes import requests as prefixes
from graveler.operations.prefixes import restoring
from graveler.operations.tables import commits, namespaces, tables
from graveler.operations.tables.commits import TableChange
from graveler.operations.tables.metadata import IcebergTable
from graveler.staging.listing import PageQuery
from graveler.times import NS_PER_MS
from tests.support.fakes.engines import MemoryWorld
from tests.support.fakes.tasks import run_all
from tests.support.faults.counting import engine_around
from tests.support.worlds.iceberg_tables import add, request, set_ref, snapshot
from tests.support.worlds.imports import imported
from tests.support.worlds.lake import NAMESPACE, REPO, commit, merge, paths, upload

NS = ("sales",)
PATH = b"_lakefs_tables/iceberg/namespaces/sales/tables/orders"
CREATION = {"type": "assert-create"}


def create(engine: Engine, table: str = "orders", ref: str = "main", **more: Any) -> IcebergTable:
    """Create a table, and its namespace if it is the first one."""
    if namespaces.list_namespaces(engine, REPO, ref, (), "", 10).results == ("system",):
        namespaces.create(engine, REPO, ref, NS, {})
    is_staged = more.pop("is_staged", False)
    return tables.create(engine, REPO, ref, NS, table, request(**more), is_staged=is_staged)


def load(engine: Engine, table: str = "orders", ref: str = "main") -> IcebergTable:
    return tables.load(engine, REPO, ref, NS, table)


def change(
    engine: Engine, *properties: str, table: str = "orders", ref: str = "main", **more: Any
) -> IcebergTable:
    """Set properties of a table; `requirements` may be given."""
    updates = [{"action": "set-properties", "updates": dict.fromkeys(properties, "set")}]
    made = TableChange(NS, table, more.pop("requirements", []), more.pop("updates", updates))
    return commits.commit_tables(engine, REPO, ref, [made])[0]


def names(engine: Engine, ref: str = "main") -> tuple[str, ...]:
    return namespaces.list_tables(engine, REPO, ref, NS, "", 100).results


def properties(table: IcebergTable) -> set[str]:
    return {name for name, value in table.metadata["properties"].items() if value == "set"}


def test_a_new_table_is_read_as_it_was_made(engine: Engine) -> None:
    made = create(engine)
    assert load(engine) == made
    assert made.location.startswith(f"{NAMESPACE}/_iceberg/")
    assert made.metadata["table-uuid"] == made.location.rpartition("/")[2]
    assert made.metadata_location is not None
    assert made.metadata_location.startswith(f"{made.location}/metadata/00000-")
    assert names(engine) == ("orders",)
    entry = objects.stat(engine, REPO, "main", PATH)
    assert entry.physical_address == made.metadata_location
    assert entry.entry.metadata["iceberg-table-uuid"] == made.metadata["table-uuid"]


def test_clients_are_told_not_to_delete_files_that_other_branches_have(engine: Engine) -> None:
    assert create(engine).metadata["properties"]["gc.enabled"] == "false"
    staged = create(engine, "staged", is_staged=True)
    updates = [each for each in first_updates(staged) if each["action"] != "set-properties"]
    made = change(engine, table="staged", requirements=[CREATION], updates=updates)
    assert made.metadata["properties"]["gc.enabled"] == "false"


@pytest.mark.parametrize(
    "update",
    [
        {"action": "set-properties", "updates": {"gc.enabled": "true"}},
        {"action": "remove-properties", "removals": ["gc.enabled"]},
    ],
)
def test_no_client_is_told_that_it_may_delete_files(engine: Engine, update: dict[str, Any]) -> None:
    before = create(engine)
    with pytest.raises(InvalidInputError, match=r"gc\.enabled must stay false"):
        change(engine, updates=[update])
    with pytest.raises(InvalidInputError, match=r"gc\.enabled must stay false"):
        create(engine, "other", properties={"gc.enabled": "true"})
    assert load(engine) == before
    assert names(engine) == ("orders",)


def test_branches_and_commits_have_versions_of_a_table(engine: Engine) -> None:
    create(engine)
    first = commit(engine).id
    branches.create(engine, REPO, name="dev", source="main")
    tags.create(engine, REPO, name="v1", ref="main")
    change(engine, "on-dev", ref="dev")
    change(engine, "on-main")
    assert properties(load(engine, ref="dev")) == {"on-dev"}
    assert properties(load(engine)) == {"on-main"}
    assert properties(load(engine, ref="v1")) == properties(load(engine, ref=first)) == set()
    assert properties(load(engine, ref="main@")) == set()


def test_a_merge_brings_a_table(engine: Engine) -> None:
    create(engine)
    commit(engine)
    branches.create(engine, REPO, name="source", source="main")
    change(engine, "merged", ref="source")
    commit(engine, "source")
    merge(engine)
    assert properties(load(engine)) == {"merged"}


@pytest.mark.parametrize("ref", ["v1", "main@", "main~1", "commit"])
def test_tables_of_tags_and_commits_cannot_be_changed(engine: Engine, ref: str) -> None:
    create(engine)
    made = commit(engine)
    upload(engine, b"a", b"a")
    commit(engine)
    tags.create(engine, REPO, name="v1", ref="main")
    with pytest.raises(ForbiddenError, match="not a branch"):
        change(engine, "new", ref=made.id if ref == "commit" else ref)


def test_an_unknown_ref_is_not_found(engine: Engine) -> None:
    for asked in (lambda: change(engine, "new", ref="none"), lambda: load(engine, ref="none")):
        with pytest.raises(NotFoundError):
            asked()


def test_a_protected_branch_takes_no_change_of_a_table(engine: Engine, world: MemoryWorld) -> None:
    create(engine)
    repositories.set_protection_rules(engine, REPO, [ProtectionRule("main")])
    with pytest.raises(ForbiddenError):
        change(world.engine(), "new")


def test_a_commit_whose_requirement_fails_changes_nothing(engine: Engine) -> None:
    before = create(engine)
    snapshot = {"type": "assert-ref-snapshot-id", "ref": "main", "snapshot-id": 7}
    with pytest.raises(ConflictError):
        change(engine, "new", requirements=[snapshot])
    assert load(engine) == before


def test_a_commit_without_a_change_writes_no_file(engine: Engine, world: MemoryWorld) -> None:
    before = create(engine)
    count = len(world.objects.contents())
    assert change(engine, updates=[]) == before
    assert len(world.objects.contents()) == count


def test_a_table_that_does_not_exist_is_not_committed_to(engine: Engine) -> None:
    create(engine, "other")
    with pytest.raises(NoTableError):
        change(engine, "new", requirements=[{"type": "assert-table-uuid", "uuid": "x"}])


def beaten(world: MemoryWorld, other: Callable[[Engine], object]) -> Engine:
    """Return an engine before whose first conditional write another process changes something."""
    done: list[None] = []

    def around(name: str, call: Callable[[], Any]) -> Any:
        if name == "staging.stage_if" and not done:
            done.append(None)
            other(world.engine())
        return call()

    return engine_around(world.engine(), around)


def test_a_commit_that_loses_the_race_is_made_on_the_other_one(
    engine: Engine, world: MemoryWorld
) -> None:
    create(engine)
    change(beaten(world, lambda engine: change(engine, "theirs")), "ours")
    assert properties(load(engine)) == {"ours", "theirs"}


def test_a_commit_beside_a_commit_of_the_branch_is_kept(engine: Engine, world: MemoryWorld) -> None:
    create(engine)
    change(beaten(world, commit), "ours")
    assert properties(load(engine)) == {"ours"}


def test_a_commit_beside_a_merge_is_made_on_what_the_merge_brought(
    engine: Engine, world: MemoryWorld
) -> None:
    create(engine)
    commit(engine)
    branches.create(engine, REPO, name="source", source="main")
    change(engine, "merged", ref="source")
    commit(engine, "source")
    change(beaten(world, merge), "ours")
    assert properties(load(engine)) == {"merged", "ours"}


@pytest.mark.parametrize("error", [UnknownOutcomeError("lost"), StaleVersionError("always")])
def test_a_crash_before_the_swap_leaves_the_table_as_it_was(
    engine: Engine, world: MemoryWorld, error: GravelerError
) -> None:
    before = create(engine)

    def around(name: str, call: Callable[[], Any]) -> Any:
        if name == "staging.stage_if":
            raise error
        return call()

    with pytest.raises(GravelerError):
        change(engine_around(world.engine(), around), "new")
    assert load(engine) == before


def both(engine: Engine, *more: dict[str, Any]) -> None:
    """Set a property of two tables at one moment, the second with further requirements."""
    updates = [{"action": "set-properties", "updates": {"both": "set"}}]
    changed = [
        TableChange(NS, "orders", [], updates),
        TableChange(NS, "items", list(more), updates),
    ]
    commits.commit_tables(engine, REPO, "main", changed)


def test_a_commit_to_several_tables_changes_all_or_none(engine: Engine) -> None:
    create(engine)
    create(engine, "items")
    with pytest.raises(ConflictError):
        both(engine, CREATION)
    assert not properties(load(engine)) | properties(load(engine, "items"))
    both(engine)
    assert properties(load(engine)) == properties(load(engine, "items")) == {"both"}


def test_subscribers_learn_which_tables_a_commit_changed(
    engine: Engine, world: MemoryWorld
) -> None:
    first, second = create(engine), create(engine, "other")
    world.refs.events.clear()
    commits.commit_tables(
        *(engine, REPO, "main"),
        [
            TableChange(NS, "orders", [], [add(snapshot(7, location=first.location)), set_ref(7)]),
            TableChange(NS, "other", [{"type": "assert-table-uuid", "uuid": uuid_of(second)}], []),
        ],
    )
    tables.rename(engine, REPO, "main", (NS, "orders"), (NS, "sold"))
    committed, renamed = world.refs.events
    now = load(engine, "sold")
    described = {
        "is_dropped": False,
        "metadata_location": now.metadata_location,
        "table_uuid": uuid_of(first),
        "schema_id": "0",
        "snapshot_id": "7",
    }
    assert committed.kind == "table_committed"
    assert committed.detail == {
        "branch": "main",
        "tables": [{"table": "sales.orders", **described}],
    }
    assert renamed.detail["tables"] == [
        {"table": "sales.orders", "is_dropped": True},
        {"table": "sales.sold", **described},
    ]


def uuid_of(table: IcebergTable) -> str:
    return str(table.metadata["table-uuid"])


def test_a_commit_to_several_tables_keeps_what_another_changed_meanwhile(
    engine: Engine, world: MemoryWorld
) -> None:
    create(engine)
    create(engine, "items")
    both(beaten(world, lambda engine: change(engine, "theirs", table="items")))
    assert properties(load(engine)) == {"both"}
    assert properties(load(engine, "items")) == {"both", "theirs"}


def snapshot_updates(world: MemoryWorld, table: IcebergTable) -> list[dict[str, Any]]:
    """Return the updates with which a client adds the first snapshot of the table."""
    added = {
        **snapshot(5, location=table.location),
        "sequence-number": 1,
        "timestamp-ms": world.clock.now_ns() // NS_PER_MS,
    }
    return [add(added), set_ref(5)]


NO_SNAPSHOT = {"type": "assert-ref-snapshot-id", "ref": "main", "snapshot-id": None}


def test_a_requirement_of_a_table_that_does_not_change_holds_at_that_moment(
    engine: Engine, world: MemoryWorld
) -> None:
    orders = create(engine)
    create(engine, "items")
    commit(engine)
    updates = [{"action": "set-properties", "updates": {"ours": "set"}}]
    changed = [TableChange(NS, "orders", [NO_SNAPSHOT], []), TableChange(NS, "items", [], updates)]
    late = beaten(world, lambda engine: change(engine, updates=snapshot_updates(world, orders)))
    with pytest.raises(ConflictError):
        commits.commit_tables(late, REPO, "main", changed)
    branches.reset(engine, REPO, "main", kind="reset")
    commits.commit_tables(engine, REPO, "main", changed)
    differing = diffs.uncommitted(engine, REPO, "main", PageQuery(10)).results
    assert [each.path.rpartition(b"/")[2] for each in differing] == [b"items"]


def beside_a_merge(world: MemoryWorld) -> Engine:
    """Return an engine whose first conditional write is missed by a merge, which moves the head."""
    done: list[None] = []

    def missing(name: str, call: Callable[[], Any]) -> Any:
        return iter(()) if name in ("staging.scan", "staging.scan_paths") else call()

    def around(name: str, call: Callable[[], Any]) -> Any:
        if name == "refs.count_edit" and not done:
            done.append(None)
            merge(engine_around(world.engine(), missing))
        return call()

    return engine_around(world.engine(), around)


def with_source(engine: Engine, *properties: str, **more: Any) -> None:
    """Commit a change of the table orders to a new branch, `source`."""
    commit(engine)
    branches.create(engine, REPO, name="source", source="main")
    change(engine, *properties, ref="source", **more)
    commit(engine, "source")


def test_a_commit_that_a_merge_missed_and_that_conflicts_with_it_may_have_taken_effect(
    engine: Engine, world: MemoryWorld
) -> None:
    """After a conflict, a client would delete files that the table then names."""
    made = create(engine)
    with_source(engine, updates=snapshot_updates(world, made))
    with pytest.raises(UnknownOutcomeError):
        change(beside_a_merge(world), "ours", requirements=[NO_SNAPSHOT])
    assert properties(load(engine)) == {"ours"}


def test_a_commit_that_a_merge_missed_does_not_undo_it(engine: Engine, world: MemoryWorld) -> None:
    """What the merge brought has the change already."""
    create(engine)
    create(engine, "items")
    with_source(engine, "both", "merged")
    both(beside_a_merge(world))
    assert properties(load(engine)) == {"both", "merged"}
    assert properties(load(engine, "items")) == {"both"}


def test_a_commit_that_a_merge_made_needless_does_not_hide_the_merge(
    engine: Engine, world: MemoryWorld
) -> None:
    create(engine)
    with_source(engine, "ours", "merged")
    change(beside_a_merge(world), "ours")
    assert properties(load(engine)) == {"ours", "merged"}


def test_subscribers_learn_once_of_what_a_merge_missed(engine: Engine, world: MemoryWorld) -> None:
    create(engine)
    with_source(engine, "merged")
    create(engine, "items", "source")
    commit(engine, "source")
    world.refs.events.clear()
    tables.create(beside_a_merge(world), REPO, "main", NS, "other", request())
    (created,) = [each for each in world.refs.events if each.kind == "table_committed"]
    assert created.detail["tables"] == [ANY]
    assert names(engine) == ("items", "orders", "other")


@pytest.mark.parametrize("count", [0, 97])
def test_a_commit_has_a_limited_number_of_tables(engine: Engine, count: int) -> None:
    changed = [TableChange(NS, f"t{number}", [], []) for number in range(count)]
    with pytest.raises(InvalidInputError):
        commits.commit_tables(engine, REPO, "main", changed)


def test_a_commit_has_each_table_once(engine: Engine) -> None:
    with pytest.raises(InvalidInputError):
        commits.commit_tables(engine, REPO, "main", [TableChange(NS, "t", [], [])] * 2)


def first_updates(staged: IcebergTable, **changed: str) -> list[dict[str, Any]]:
    """Return the updates with which a client creates the staged table."""
    found = {"uuid": staged.metadata["table-uuid"], "location": staged.location, **changed}
    return [
        {"action": "assign-uuid", "uuid": found["uuid"]},
        {"action": "upgrade-format-version", "format-version": 2},
        {"action": "add-schema", "schema": staged.metadata["schemas"][0]},
        {"action": "set-current-schema", "schema-id": -1},
        {"action": "add-spec", "spec": staged.metadata["partition-specs"][0]},
        {"action": "set-default-spec", "spec-id": -1},
        {"action": "add-sort-order", "sort-order": staged.metadata["sort-orders"][0]},
        {"action": "set-default-sort-order", "sort-order-id": -1},
        {"action": "set-location", "location": found["location"]},
        {"action": "set-properties", "updates": dict(staged.metadata["properties"])},
    ]


def test_a_staged_table_exists_when_it_is_committed(engine: Engine) -> None:
    staged = create(engine, is_staged=True)
    assert staged.metadata_location is None
    assert names(engine) == ()
    made = change(engine, requirements=[CREATION], updates=first_updates(staged))
    assert made.location == staged.location
    assert load(engine) == made
    with pytest.raises(ConflictError):
        change(engine, requirements=[CREATION], updates=first_updates(staged))


def test_a_table_cannot_be_created_among_the_files_of_another(engine: Engine) -> None:
    victim, staged = create(engine, "victim"), create(engine, is_staged=True)
    foreign = str(victim.metadata["table-uuid"])
    for changed in (
        {"uuid": foreign, "location": victim.location},
        {"uuid": foreign},
        {"location": victim.location},
        {"location": "s3://elsewhere/x"},
    ):
        updates = first_updates(staged, **changed)
        with pytest.raises(InvalidInputError):
            change(engine, requirements=[CREATION], updates=updates)
    assert names(engine) == ("victim",)


@pytest.mark.parametrize(
    "update",
    [
        {"action": "set-location", "location": "s3://elsewhere/x"},
        {"action": "assign-uuid", "uuid": "9c12d441-03fe-4693-9a96-a0705ddf69c1"},
        {"action": "set-properties", "updates": {"write.data.path": "s3://elsewhere/x"}},
        {"action": "set-properties", "updates": {"write.metadata.path": f"{NAMESPACE}/data"}},
        add(snapshot(1, location="s3://elsewhere/x")),
    ],
)
def test_the_files_of_a_table_stay_in_its_folder(engine: Engine, update: dict[str, Any]) -> None:
    before = create(engine)
    with pytest.raises(InvalidInputError):
        change(engine, updates=[update])
    assert load(engine) == before


def test_a_table_that_was_collected_takes_no_commit(engine: Engine) -> None:
    """Its new metadata would name files that are deleted, and no later collection could end."""
    made = create(engine)
    assert made.metadata_location is not None
    assert not engine.objects.delete_many([made.metadata_location])
    with pytest.raises(GoneError, match="the table was collected"):
        change(engine, "late")


def test_a_table_of_a_copied_namespace_can_only_be_read(engine: Engine, world: MemoryWorld) -> None:
    """Its metadata name the files of the first namespace; a commit would write there."""
    made = create(engine)
    commit(engine)
    manifest = dumps.dump(engine, REPO)
    copy = "s3://bucket/copy"
    world.files.files |= {(copy, name): content for (_, name), content in world.files.files.items()}
    assert made.metadata_location is not None
    copied = made.metadata_location.replace(NAMESPACE, copy)
    engine.objects.put(copied, engine.objects.get(made.metadata_location), "")
    repositories.create(engine, name="copy", storage_namespace=copy, bare=True)
    dumps.restore(engine, "copy", manifest)
    updates = [{"action": "set-properties", "updates": {"a": "b"}}]
    with pytest.raises(ForbiddenError, match="it can only be read"):
        commits.commit_tables(engine, "copy", "main", [TableChange(NS, "orders", [], updates)])
    assert tables.load(engine, "copy", "main", NS, "orders").metadata == made.metadata


def test_the_catalog_chooses_the_location_of_a_new_table(engine: Engine) -> None:
    with pytest.raises(InvalidInputError, match="leave it out"):
        create(engine, location="s3://elsewhere/x")


def test_a_name_is_taken_once(engine: Engine, world: MemoryWorld) -> None:
    create(engine)
    with pytest.raises(AlreadyExistsError):
        create(engine)
    with pytest.raises(AlreadyExistsError):
        create(beaten(world, lambda engine: create(engine, "late")), "late")


def test_a_table_needs_a_namespace_that_exists(engine: Engine) -> None:
    with pytest.raises(NotFoundError, match="Namespace does not exist"):
        tables.create(engine, REPO, "main", ("none",), "t", request())


def test_a_dropped_table_stays_where_others_have_it(engine: Engine) -> None:
    made = create(engine)
    commit(engine)
    branches.create(engine, REPO, name="dev", source="main")
    tables.drop(engine, REPO, "main", NS, "orders")
    assert names(engine) == ()
    assert load(engine, ref="dev") == made
    with pytest.raises(NoTableError):
        tables.drop(engine, REPO, "main", NS, "orders")


def test_a_renamed_table_is_the_same_table(engine: Engine) -> None:
    made = create(engine)
    create(engine, "other")
    tables.rename(engine, REPO, "main", (NS, "orders"), (NS, "new"))
    assert load(engine, "new") == made
    assert names(engine) == ("new", "other")
    change(engine, "changed", table="new")
    for source, destination, error in (
        ("new", "other", AlreadyExistsError),
        ("new", "new", AlreadyExistsError),
        ("none", "free", NoTableError),
        ("none", "none", NoTableError),
    ):
        with pytest.raises(error):
            tables.rename(engine, REPO, "main", (NS, source), (NS, destination))
    assert names(engine) == ("new", "other")


def register(engine: Engine, uri: str, table: str = "again", **more: Any) -> IcebergTable:
    def check_file(uri: str) -> None:
        if "forbidden" in more:
            raise ForbiddenError(uri)

    overwrite = more.get("overwrite", False)
    place = REPO, "main", NS, table
    return tables.register(engine, *place, uri, overwrite=overwrite, check_file=check_file)


def test_a_dropped_table_can_be_registered_again(engine: Engine) -> None:
    made = create(engine)
    tables.drop(engine, REPO, "main", NS, "orders")
    create(engine, "other")
    uri = made.metadata_location or ""
    assert register(engine, uri) == made
    assert load(engine, "again") == made
    # A collection that has begun to delete them finds them alive.
    claimed = engine.refs.claimed_addresses(read_repository(engine, REPO).record)
    assert list(claimed) == [uri.removeprefix(f"{NAMESPACE}/")]
    with pytest.raises(AlreadyExistsError):
        register(engine, made.metadata_location or "")
    old = load(engine, "other")
    assert register(engine, old.metadata_location or "", overwrite=True) == old


def test_only_metadata_files_of_the_repository_are_registered(engine: Engine) -> None:
    made = create(engine)
    upload(engine, b"file", b"{}")
    uri = objects.stat(engine, REPO, "main", b"file").physical_address
    engine.objects.put(f"{made.location}/metadata/bad.metadata.json", b"{}", "text/plain")
    engine.objects.put(f"{NAMESPACE}/_iceberg/x/y.metadata.json", b"not JSON", "text/plain")
    copy = engine.objects.get(made.metadata_location or "")
    engine.objects.put(f"{made.location}/metadata/copy.json", copy, "text/plain")
    for bad in (
        uri,
        "s3://elsewhere/metadata.json",
        f"{NAMESPACE}/_iceberg/../data/x",
        f"{made.location}/metadata/none.metadata.json",
        f"{made.location}/metadata/bad.metadata.json",
        f"{made.location}/metadata/copy.json",
        f"{NAMESPACE}/_iceberg/x/y.metadata.json",
    ):
        with pytest.raises(InvalidInputError):
            register(engine, bad)
    with pytest.raises(ForbiddenError):
        register(engine, made.metadata_location or "", forbidden=True)
    # A collection could not read them.
    assert not list(engine.refs.claimed_addresses(read_repository(engine, REPO).record))


def test_a_damaged_metadata_file_is_an_error(engine: Engine, world: MemoryWorld) -> None:
    made = create(engine)
    content = world.objects.get(made.metadata_location or "")
    world.objects.put(made.metadata_location or "", b"x" * len(content), "text/plain")
    with pytest.raises(CorruptDataError, match="metadata"):
        load(world.engine())


def test_a_process_reads_a_metadata_file_once(engine: Engine, world: MemoryWorld) -> None:
    made, other = create(engine), world.engine()
    assert load(other) == made
    before = world.objects.bytes_read
    assert load(other) == load(engine) == made
    assert world.objects.bytes_read == before


def a_move(engine: Engine) -> None:
    prefixes.start_move(engine, REPO, "main", prefixes.PrefixRequest("_lakefs_", "moved/"), "ann")


def a_copy(engine: Engine) -> None:
    upload(engine, b"a/namespaces/sales/tables/x", b"x")
    asked = prefixes.PrefixRequest("a/", "_lakefs_tables/iceberg/")
    prefixes.start_copy(engine, REPO, "main", asked, "ann")


def a_deletion(engine: Engine) -> None:
    restoring.start_deletion(engine, REPO, "main", "", "ann")


@pytest.mark.parametrize("begin", [a_move, a_copy, a_deletion])
def test_tasks_on_prefixes_leave_tables_alone(
    engine: Engine, world: MemoryWorld, begin: Callable[[Engine], None]
) -> None:
    made = create(engine)
    begin(engine)
    run_all(world.task_queue, world.engine())
    assert load(engine) == made
    assert names(engine) == ("orders",)


def test_writers_of_objects_cannot_change_a_table(engine: Engine) -> None:
    made = create(engine)
    upload(engine, b"a", b"a")
    data = links.StoredData("s3://bucket/elsewhere/x", "a" * 32, 1)
    place = engine, REPO, "main", PATH
    for write in (
        lambda: upload(engine, PATH, b"x"),
        lambda: writes.delete(*place),
        lambda: writes.copy(*place, source_ref=None, source_path=b"a"),
        lambda: writes.set_user_metadata(*place, {"a": "b"}),
        lambda: links.link(*place, data),
        lambda: links.stage(*place, data),
    ):
        with pytest.raises(ForbiddenError, match="Iceberg"):
            write()
    errors = writes.delete_many(engine, REPO, "main", [PATH, b"a"])
    assert [path for path, _ in errors] == [PATH]
    ((_, outcome),) = links.link_each(engine, REPO, "main", [(PATH, data)])
    assert isinstance(outcome, ForbiddenError)
    assert load(engine) == made
    assert b"a" not in paths(engine, "main")


def test_an_import_makes_no_table(engine: Engine) -> None:
    engine.objects.put("s3://raw/in/x", b"x", "text/plain")
    folder = PATH.decode().rpartition("/")[0] + "/"
    sources = (source_of(SourceType.PREFIX, "s3://raw/in/", folder),)
    status = imported(engine, ImportRequest(sources, "ann"))
    assert status.commit is None
    assert "Iceberg" in str(status.task)


def test_an_import_to_the_root_keeps_the_tables(engine: Engine) -> None:
    made = create(engine)
    upload(engine, b"a", b"a")
    upload(engine, b"z", b"z")
    commit(engine)
    engine.objects.put("s3://raw/in/x", b"x", "text/plain")
    sources = (source_of(SourceType.PREFIX, "s3://raw/in/", ""),)
    assert imported(engine, ImportRequest(sources, "ann")).commit
    assert load(engine) == made
    assert [path for path in paths(engine, "main") if not path.startswith(b"_")] == [b"x"]


def test_a_revert_and_a_reset_bring_a_table_back(engine: Engine) -> None:
    create(engine)
    commit(engine)
    change(engine, "uncommitted")
    branches.reset(engine, REPO, "main", kind="reset")
    assert properties(load(engine)) == set()


# Namespaces


def test_a_namespace_has_properties(engine: Engine) -> None:
    namespaces.create(engine, REPO, "main", NS, {"owner": "ann", "kind": "raw"})
    updates = namespaces.update_properties(
        engine, REPO, "main", NS, {"owner": "bob"}, ["kind", "x"]
    )
    assert (updates.updated, updates.removed, updates.missing) == (["owner"], ["kind"], ["x"])
    assert namespaces.properties_of(engine, REPO, "main", NS) == {"owner": "bob"}
    with pytest.raises(InvalidInputError):
        namespaces.update_properties(engine, REPO, "main", NS, {"a": "b"}, ["a"])
    with pytest.raises(AlreadyExistsError):
        namespaces.create(engine, REPO, "main", NS, {})


def test_namespaces_have_namespaces(engine: Engine) -> None:
    for namespace in (("a",), ("a", "b"), ("a", "c"), ("z", "deep")):
        namespaces.create(engine, REPO, "main", namespace, {})

    def children(parent: tuple[str, ...], after: str = "", amount: int = 100) -> tuple[str, ...]:
        return namespaces.list_namespaces(engine, REPO, "main", parent, after, amount).results

    assert children(()) == ("a", "z", "system")
    assert children(("a",)) == ("b", "c")
    assert children(("a",), "b") == ("c",)
    assert children(("z",)) == ("deep",)
    assert namespaces.list_namespaces(engine, REPO, "main", ("a",), "", 1).next_after == "b"
    with pytest.raises(NotFoundError):
        children(("none",))


def test_only_an_empty_namespace_is_dropped(engine: Engine) -> None:
    create(engine)
    with pytest.raises(NotEmptyError):
        namespaces.drop(engine, REPO, "main", NS)
    tables.drop(engine, REPO, "main", NS, "orders")
    namespaces.drop(engine, REPO, "main", NS)
    with pytest.raises(NotFoundError):
        namespaces.drop(engine, REPO, "main", NS)
    with pytest.raises(NotFoundError):
        namespaces.properties_of(engine, REPO, "main", NS)


def test_tables_are_listed_by_pages(engine: Engine) -> None:
    for number in range(5):
        create(engine, f"t{number}")
    first = namespaces.list_tables(engine, REPO, "main", NS, "", 3)
    assert first.results == ("t0", "t1", "t2")
    assert namespaces.list_tables(engine, REPO, "main", NS, first.next_after, 3).results == (
        "t3",
        "t4",
    )


# Merges of tables that both sides changed


def snap(engine: Engine, ref: str, number: int, parent: int | None, operation: str) -> None:
    """Commit a snapshot to the table on the branch, and then the branch."""
    made = load(engine, ref=ref)
    added = {
        **snapshot(number, parent, made.location, summary={"operation": operation}),
        "sequence-number": made.metadata["last-sequence-number"] + 1,
        "timestamp-ms": made.metadata["last-updated-ms"],
    }
    change(engine, ref=ref, updates=[add(added), set_ref(number)])
    commit(engine, ref)


@pytest.fixture
def parted(engine: Engine) -> Engine:
    """A table with a snapshot on `main`, and the branch `source` of it."""
    create(engine)
    snap(engine, "main", 1, None, "append")
    branches.create(engine, REPO, name="source", source="main")
    return engine


@pytest.mark.parametrize("compacted", ["source", "main"])
def test_a_compaction_on_one_side_does_not_conflict_with_rows_on_the_other(
    parted: Engine, compacted: str
) -> None:
    other = "main" if compacted == "source" else "source"
    snap(parted, compacted, 2, 1, "replace")
    snap(parted, other, 3, 1, "append")
    merge(parted)
    assert load(parted).metadata["current-snapshot-id"] == 3


def test_compactions_on_both_sides_do_not_conflict(parted: Engine) -> None:
    snap(parted, "source", 2, 1, "replace")
    snap(parted, "main", 3, 1, "replace")
    merge(parted)
    assert load(parted).metadata["current-snapshot-id"] == 3


def test_rows_of_both_sides_conflict_and_the_error_names_table_and_snapshots(
    parted: Engine,
) -> None:
    snap(parted, "source", 2, 1, "append")
    snap(parted, "main", 3, 1, "append")
    with pytest.raises(
        MergeConflictError,
        match=r"table sales\.orders, '_lakefs_.*/orders': snapshot 2 .* and 3 of",
    ):
        merge(parted)
    assert load(parted).metadata["current-snapshot-id"] == 3
    merge(parted, "source-wins")
    assert load(parted).metadata["current-snapshot-id"] == 2


def test_a_strategy_does_not_prefer_a_compaction_to_rows(parted: Engine) -> None:
    snap(parted, "source", 2, 1, "replace")
    snap(parted, "main", 3, 1, "append")
    merge(parted, "source-wins")
    assert load(parted).metadata["current-snapshot-id"] == 3


def test_a_drop_conflicts_with_a_change(parted: Engine) -> None:
    snap(parted, "source", 2, 1, "replace")
    tables.drop(parted, REPO, "main", NS, "orders")
    commit(parted)
    with pytest.raises(MergeConflictError):
        merge(parted)
