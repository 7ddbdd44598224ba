"""Iceberg's own clients use a repository as their catalogue, at any branch, tag or commit."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from importlib.metadata import files
from typing import Any

import duckdb
import lakefs
import pyarrow as pa
import pytest
from click.testing import CliRunner
from pyiceberg.catalog import Catalog, load_catalog
from pyiceberg.exceptions import (
    CommitFailedException,
    ForbiddenError,
    NamespaceNotEmptyError,
    NoSuchTableError,
    TableAlreadyExistsError,
)
from pyiceberg.partitioning import PartitionField, PartitionSpec
from pyiceberg.schema import Schema
from pyiceberg.transforms import IdentityTransform
from pyiceberg.types import LongType, NestedField, StringType

from graveler_cli.main import app
from tests.support.servers.stack import Stack

pytestmark = pytest.mark.server

ROWS = pa.table({"id": [1, 2], "city": ["Rome", "Oslo"]})
WRITERS = 8
APPENDS = 3


def connected(stack: Stack, path: str) -> Catalog:
    credential = f"{stack.access_key_id}:{stack.secret_access_key}"
    properties = {
        "uri": f"{stack.endpoint}/iceberg/{path}api",
        "oauth2-server-uri": f"{stack.endpoint}/iceberg/api/v1/oauth/tokens",
        "credential": credential,
    }
    return load_catalog("lake", type="rest", **properties)


@pytest.fixture
def of_ref(stack: Stack, repository: lakefs.Repository) -> Callable[[str], Catalog]:
    """The catalogue of one ref of the test's repository."""
    return lambda ref: connected(stack, f"relative_to/{repository.id}.{ref}/")


@pytest.fixture
def catalog(of_ref: Callable[[str], Catalog]) -> Catalog:
    made = of_ref("main")
    made.create_namespace("sales")
    return made


def ids(catalog: Catalog, table: str = "sales.orders") -> list[int]:
    return sorted(catalog.load_table(table).scan().to_arrow()["id"].to_pylist())


def test_a_table_s_life(catalog: Catalog) -> None:
    table = catalog.create_table("sales.orders", ROWS.schema)
    with pytest.raises(TableAlreadyExistsError):
        catalog.create_table("sales.orders", ROWS.schema)
    table.append(ROWS)
    table.overwrite(ROWS.slice(1), "id == 1")
    with table.update_schema() as update:
        update.rename_column("city", "town")
    assert table.scan().to_arrow().to_pydict() == {"id": [2, 2], "town": ["Oslo", "Oslo"]}
    table.delete("id == 2")
    assert len(table.snapshots()) >= 3
    assert ids(catalog) == []
    catalog.rename_table("sales.orders", "sales.old")
    assert catalog.list_tables("sales") == [("sales", "old")]
    with pytest.raises(NamespaceNotEmptyError):
        catalog.drop_namespace("sales")
    catalog.purge_table("sales.old")
    with pytest.raises(NoSuchTableError):
        catalog.load_table("sales.old")
    catalog.register_table("sales.again", table.metadata_location)
    catalog.drop_table("sales.again")
    catalog.drop_namespace("sales")
    assert catalog.list_namespaces() == [("system",)]


def test_partitions_and_properties_are_stored(catalog: Catalog) -> None:
    schema = Schema(NestedField(1, "id", LongType()), NestedField(2, "city", StringType()))
    field = PartitionField(source_id=2, field_id=1000, transform=IdentityTransform(), name="city")
    table = catalog.create_table(
        "sales.orders", schema, partition_spec=PartitionSpec(field), properties={"owner": "ann"}
    )
    table.append(ROWS)
    found = catalog.load_table("sales.orders")
    assert found.properties["owner"] == "ann"
    assert len(found.inspect.partitions()) == 2


def test_a_branch_of_all_tables_is_written_and_merged(
    repository: lakefs.Repository, catalog: Catalog, of_ref: Callable[[str], Catalog]
) -> None:
    catalog.create_table("sales.orders", ROWS.schema).append(ROWS)
    catalog.create_table("sales.items", ROWS.schema).append(ROWS)
    main = repository.branch("main")
    main.commit("tables")
    tag = repository.tag("v1.0").create("main")
    dev = repository.branch("dev").create("main")
    for table in ("sales.orders", "sales.items"):
        of_ref("dev").load_table(table).append(ROWS.slice(1))
    assert ids(catalog) == ids(of_ref("v1.0")) == [1, 2]
    assert ids(of_ref("dev")) == ids(of_ref("dev"), "sales.items") == [1, 2, 2]
    dev.commit("more")
    dev.merge_into(main)
    assert ids(catalog) == ids(catalog, "sales.items") == [1, 2, 2]
    assert ids(of_ref("v1.0")) == ids(of_ref(str(tag.get_commit().id))) == [1, 2]
    with pytest.raises(ForbiddenError):
        of_ref("v1.0").load_table("sales.orders").append(ROWS)


def test_one_session_reaches_all_refs_of_all_repositories(
    stack: Stack, repository: lakefs.Repository, catalog: Catalog
) -> None:
    catalog.create_table("sales.orders", ROWS.schema).append(ROWS)
    repository.branch("main").commit("tables")
    repository.branch("dev").create("main")
    whole = connected(stack, "")
    assert (repository.id,) in whole.list_namespaces()
    assert whole.list_namespaces(repository.id) == [
        (repository.id, "dev"),
        (repository.id, "main"),
    ]
    name = (repository.id, "dev", "sales", "orders")
    whole.load_table(name).append(ROWS)
    assert len(whole.load_table(name).scan().to_arrow()) == 4
    assert ids(catalog) == [1, 2]


def test_no_append_of_eight_writers_is_lost(
    catalog: Catalog, of_ref: Callable[[str], Catalog]
) -> None:
    catalog.create_table("sales.orders", ROWS.schema)

    def write(writer: int) -> None:
        table = of_ref("main").load_table("sales.orders")
        for number in range(APPENDS):
            rows = pa.table({"id": [writer * APPENDS + number], "city": ["x"]})
            while True:
                try:
                    table.append(rows)
                    break
                except CommitFailedException:
                    table.refresh()

    with ThreadPoolExecutor(WRITERS) as pool:
        list(pool.map(write, range(WRITERS)))
    assert ids(catalog) == list(range(WRITERS * APPENDS))


@pytest.fixture
def duck(stack: Stack, repository: lakefs.Repository) -> duckdb.DuckDBPyConnection:
    """DuckDB with its extensions from the package index, attached to the branch main."""
    connection = duckdb.connect()
    for name in ("avro", "httpfs", "iceberg"):
        found = files(f"duckdb-extension-{name}") or ()
        extension = next(each.locate() for each in found if each.name == f"{name}.duckdb_extension")
        connection.execute(f"LOAD '{extension}'")
    connection.execute(
        f"CREATE SECRET lake (TYPE iceberg, CLIENT_ID '{stack.access_key_id}', "
        f"CLIENT_SECRET '{stack.secret_access_key}', "
        f"OAUTH2_SERVER_URI '{stack.endpoint}/iceberg/api/v1/oauth/tokens')"
    )
    endpoint = f"{stack.endpoint}/iceberg/relative_to/{repository.id}.main/api"
    connection.execute(f"ATTACH '' AS lake (TYPE iceberg, ENDPOINT '{endpoint}', SECRET lake)")
    return connection


def test_duckdb_creates_writes_and_reads_tables_and_commits_several_at_once(
    duck: duckdb.DuckDBPyConnection, catalog: Catalog
) -> None:
    def ask(query: str) -> list[Any]:
        return duck.execute(query).fetchall()

    ask("CREATE TABLE lake.sales.orders (id INT, city VARCHAR)")
    ask("INSERT INTO lake.sales.orders VALUES (1, 'Rome'), (2, 'Oslo')")
    ask("CREATE TABLE lake.sales.numbers AS SELECT range AS id FROM range(1000)")
    assert ask("SELECT sum(id) FROM lake.sales.numbers") == [(499_500,)]
    ask("BEGIN")
    ask("INSERT INTO lake.sales.orders VALUES (3, 'Bonn')")
    ask("INSERT INTO lake.sales.numbers VALUES (1000)")
    assert ids(catalog) == [1, 2]
    ask("COMMIT")
    assert ids(catalog) == [1, 2, 3]
    assert len(ids(catalog, "sales.numbers")) == 1001
    ask("UPDATE lake.sales.orders SET city = 'Paris' WHERE id = 1")
    ask("DELETE FROM lake.sales.orders WHERE id = 2")
    assert sorted(ask("SELECT * FROM lake.sales.orders")) == [(1, "Paris"), (3, "Bonn")]
    ask("DROP TABLE lake.sales.numbers")
    assert catalog.list_tables("sales") == [("sales", "orders")]


def test_the_objects_of_any_ref_are_asked_for_in_sql(
    repository: lakefs.Repository,
    catalog: Catalog,
    of_ref: Callable[[str], Catalog],
    duck: duckdb.DuckDBPyConnection,
) -> None:
    main = repository.branch("main")
    for name, label in (("cat", "animal"), ("dog", "animal"), ("oak", "tree")):
        main.object(f"images/{name}").upload(name.encode() * 3, metadata={"kind": label})
    main.commit("images")
    repository.tag("v1").create("main")
    main.object("images/fir").upload(b"fir", metadata={"kind": "tree"})
    main.commit("one more")
    query = "SELECT path, size FROM {} WHERE user_metadata['kind'] = 'tree' ORDER BY path"
    wanted = [("images/fir", 3), ("images/oak", 9)]
    assert duck.execute(query.format("lake.system.objects")).fetchall() == wanted
    assert ("system",) in catalog.list_namespaces()
    old = of_ref("v1").load_table("system.objects").scan().to_duckdb("old")
    assert old.execute(query.format("old")).fetchall() == wanted[1:]
    with pytest.raises(ForbiddenError):
        catalog.drop_table("system.objects")


def test_the_command_line_shows_tables_and_what_a_branch_changes_in_them(
    stack: Stack,
    repository: lakefs.Repository,
    catalog: Catalog,
    of_ref: Callable[[str], Catalog],
) -> None:
    def prints(*words: str) -> str:
        done = CliRunner(env=environment).invoke(app, ["tables", *words], catch_exceptions=False)
        assert (done.exit_code, done.stderr) == (0, "")
        return done.stdout

    environment = {
        "LAKECTL_SERVER_ENDPOINT_URL": stack.endpoint,
        "LAKECTL_CREDENTIALS_ACCESS_KEY_ID": stack.access_key_id,
        "LAKECTL_CREDENTIALS_SECRET_ACCESS_KEY": stack.secret_access_key,
    }
    on_main, on_dev = (f"lakefs://{repository.id}/{branch}" for branch in ("main", "dev"))
    catalog.create_namespace("sales.eu")
    catalog.create_table("sales.orders", ROWS.schema).append(ROWS)
    catalog.create_table("sales.eu.vat", ROWS.schema)
    repository.branch("main").commit("tables")
    dev = repository.branch("dev").create("main")
    orders = of_ref("dev").load_table("sales.orders")
    with orders.update_schema() as update:
        update.rename_column("city", "town")
        update.add_column("total", LongType(), doc="in cents")
    orders.append(pa.table({"id": [3], "town": ["Bern"], "total": [7]}))
    snapshot = orders.current_snapshot()
    assert snapshot
    orders.manage_snapshots().create_tag(snapshot.snapshot_id, "first").commit()
    of_ref("dev").drop_table("sales.eu.vat")
    changed = (
        "- removed sales.eu.vat\n"
        "~ modified sales.orders: columns +1 ~1, snapshots +1, refs +1 ~1, records: 2 -> 3\n"
    )
    assert prints("diff", on_dev) == f"Ref: {on_dev}\n{changed}"
    dev.commit("more")
    assert [line.split("\t")[0] for line in prints("ls", on_main).splitlines()] == [
        "sales.eu.vat",
        "sales.orders",
    ]
    assert prints("ls", on_dev, "sales.eu") == ""
    shown = prints("show", on_dev, "sales.orders")
    assert f"Metadata File: {orders.metadata_location}\n" in shown
    assert "\nRecords: 3\nData Files: 2\n" in shown
    assert shown.endswith(
        "1\tid\tlong\toptional\t\n2\ttown\tstring\toptional\t\n3\ttotal\tlong\toptional\tin cents\n"
    )
    newest, oldest = prints("log", on_dev, "sales.orders").splitlines()
    assert newest.startswith(f"{snapshot.snapshot_id}\t")
    assert newest.endswith("\tappend\t+1 -0\t+1 -0\tfirst, main")
    assert oldest.endswith("\tappend\t+2 -0\t+1 -0\t-")
    both = f"Left ref: {on_main}\nRight ref: {on_dev}\n"
    assert prints("diff", on_main, on_dev) == both + changed
    whole = prints("diff", on_main, on_dev, "sales.orders")
    assert "\t~ modified column 2: city string -> town string\n" in whole
    assert "\t+ added column 3: total long (in cents)\n" in whole
    assert f"\t+ added snapshot {snapshot.snapshot_id}: append, records +1 -0" in whole
