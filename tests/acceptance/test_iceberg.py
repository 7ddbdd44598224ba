"""Iceberg's own clients use a repository as their catalogue, at any branch, tag or commit."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from importlib.metadata import files
from typing import Any

import duckdb
import lakefs
import pyarrow as pa
import pytest
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
    assert catalog.list_namespaces() == []


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
