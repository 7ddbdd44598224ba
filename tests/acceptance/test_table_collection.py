"""Tables are read at every ref that has them after a collection, and all else of theirs is gone."""

import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import lakefs
import pyarrow as pa
import pytest
import requests
from pyiceberg.catalog import Catalog
from pyiceberg.exceptions import NoSuchTableError

from tests.acceptance.test_iceberg import ROWS, catalog, ids, of_ref
from tests.support.servers.stack import BUCKET, Stack

pytestmark = pytest.mark.server

__all__ = ["catalog", "of_ref"]

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


def test_what_no_ref_needs_of_tables_is_collected_and_nothing_else(
    repository: lakefs.Repository,
    catalog: Catalog,
    of_ref: Callable[[str], Catalog],
    tables: Tables,
) -> None:
    main = repository.branch("main")
    table = catalog.create_table("sales.orders", ROWS.schema)
    table.append(ROWS)
    main.commit("two rows")
    dev = repository.branch("dev").create("main")
    on_dev = of_ref("dev").load_table("sales.orders")
    on_dev.append(pa.table({"id": [3], "city": ["Bonn"]}))
    on_dev.delete("id == 1")
    dev.commit("on dev")
    table.append(pa.table({"id": [4], "city": ["Rome"]}))
    catalog.create_table("sales.dropped", ROWS.schema).append(ROWS)
    catalog.drop_table("sales.dropped")
    orphan = next(iter(tables.files("*/data/*"))).with_name("orphan.parquet")
    orphan.write_bytes(CONTENT)
    refs = [of_ref(each) for each in ("main", "main@", "dev", "dev~1")]
    before = [ids(each) for each in refs]
    assert before == [[1, 2, 4], [1, 2], [2, 3], [1, 2]]

    there = tables.files()
    tables.grow_old()
    tables.collect()
    assert [ids(each) for each in refs] == before
    gone = there - tables.files()
    assert orphan in gone
    # A metadata file of each commit to a table that the next one replaced, and all of the dropped
    # table: two metadata files, a manifest list, a manifest and data.
    assert len([path for path in gone if path.name.endswith(".metadata.json")]) == 1 + 1 + 2
    assert len(gone) == 8
    on_dev.append(ROWS.slice(1))
    assert ids(of_ref("dev")) == [2, 2, 3]


def test_a_table_dropped_on_one_branch_stays_on_the_other_when_commits_expire(
    repository: lakefs.Repository,
    catalog: Catalog,
    of_ref: Callable[[str], Catalog],
    tables: Tables,
) -> None:
    main = repository.branch("main")
    for name in ("sales.orders", "sales.lost"):
        catalog.create_table(name, ROWS.schema).append(ROWS)
    main.commit("tables", date=OLDER)
    dev = repository.branch("dev").create("main")
    of_ref("dev").drop_table("sales.lost")
    of_ref("dev").load_table("sales.orders").append(ROWS)
    dev.commit("one table", date=OLD)
    for name in ("sales.orders", "sales.lost"):
        catalog.drop_table(name)
    main.commit("no table", date=OLD)
    tables.keep_days(7)
    tables.grow_old()
    tables.collect()
    assert ids(of_ref("dev")) == [1, 1, 2, 2]
    assert len({path.parts[-3] for path in tables.files()}) == 1
    with pytest.raises(NoSuchTableError):
        of_ref("dev").load_table("sales.lost")
