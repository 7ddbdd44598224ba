"""Tables are read at every ref that has them after a collection, and all else of theirs is gone."""

import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import duckdb
import lakefs
import pyarrow as pa
import pytest
import requests
from pyiceberg.catalog import Catalog

from tests.acceptance.test_iceberg import ROWS, catalog, duck, ids, of_ref
from tests.support.servers.stack import BUCKET, Stack

pytestmark = pytest.mark.server

__all__ = ["catalog", "duck", "of_ref"]

CONTENT = b"left behind by a crash"

OLDER, OLD = (int(time.time()) - days * 24 * 60 * 60 for days in (30, 20))


class Tables:
    """The files of a repository's tables, and collections of them."""

    def __init__(self, stack: Stack, repository: str) -> None:
        self.stack = stack
        self.repository = repository
        self.folder = stack.data / "s3" / BUCKET / repository / "_iceberg"

    def files(self, pattern: str = "**/*") -> set[Path]:
        return {path for path in self.folder.glob(pattern) if path.is_file()}

    def grow_old(self) -> None:
        for path in self.files():
            os.utime(path, (0, 0))

    def keep_days(self, days: int) -> None:
        rules = {"default_retention_days": days, "branches": []}
        requests.put(
            f"{self.stack.endpoint}/api/v1/repositories/{self.repository}/settings/gc_rules",
            auth=(self.stack.access_key_id, self.stack.secret_access_key),
            json=rules,
            timeout=60,
        ).raise_for_status()

    def collect(self) -> None:
        job = ("-m", "graveler_embedded.job", "garbage-collection", "--repository")
        environment = {**os.environ, "GRAVELER_DATA": str(self.stack.data)}
        command = [sys.executable, *job, self.repository]
        subprocess.run(command, env=environment, capture_output=True, check=True)


@pytest.fixture
def tables(stack: Stack, repository: lakefs.Repository) -> Tables:
    return Tables(stack, repository.id)


def test_each_ref_has_its_tables_after_a_collection_and_what_no_ref_needs_is_gone(
    repository: lakefs.Repository,
    catalog: Catalog,
    of_ref: Callable[[str], Catalog],
    duck: duckdb.DuckDBPyConnection,
    tables: Tables,
) -> None:
    main = repository.branch("main")
    for name in ("sales.orders", "sales.on_dev", "sales.nowhere"):
        catalog.create_table(name, ROWS.schema).append(ROWS)
    main.commit("three tables", date=OLDER)
    dev = repository.branch("dev").create("main")
    of_ref("dev").drop_table("sales.nowhere")
    orders = of_ref("dev").load_table("sales.orders")
    orders.append(pa.table({"id": [3], "city": ["Bonn"]}))
    orders.delete("id == 1")
    dev.commit("two tables", date=OLD)
    for name in ("sales.on_dev", "sales.nowhere"):
        catalog.drop_table(name)
    main.commit("one table", date=OLD)
    catalog.load_table("sales.orders").append(pa.table({"id": [4], "city": ["Rome"]}))
    duck.execute("CREATE TABLE lake.sales.numbers AS SELECT range AS id FROM range(100)")
    duck.execute("DELETE FROM lake.sales.numbers WHERE id > 1")
    orphan = next(iter(tables.files("*/data/*"))).with_name("orphan.parquet")
    orphan.write_bytes(CONTENT)
    refs = [of_ref(each) for each in ("main", "main@", "dev")]
    before = [ids(each) for each in refs]
    assert before == [[1, 2, 4], [1, 2], [2, 3]]

    tables.keep_days(7)
    tables.grow_old()
    tables.collect()
    assert [ids(each) for each in refs] == before
    assert ids(of_ref("dev"), "sales.on_dev") == [1, 2]
    assert ids(catalog, "sales.numbers") == [0, 1]
    assert not orphan.exists()
    folders = {path.relative_to(tables.folder).parts[0] for path in tables.files()}
    assert len(folders) == 3, "none of the table that is nowhere"
    # Two of three commits to the table on dev, and one to each other table, were replaced.
    assert len(tables.files("*/metadata/*.metadata.json")) == 1 + 1 + 1 + 1 + 1
    orders.append(ROWS.slice(1))
    assert ids(of_ref("dev")) == [2, 2, 3]
