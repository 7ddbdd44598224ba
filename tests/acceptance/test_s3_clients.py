"""Clients of S3 in Python, unchanged: each reads and writes on a branch through the gateway.

Those written in Rust run in another process (`tests/support/clients/apart.py`).
"""

from __future__ import annotations

import io
import os
from concurrent.futures import ThreadPoolExecutor
from importlib.metadata import files
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import duckdb
import lakefs
import minio
import obstore
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest
from deltalake import DeltaTable, write_deltalake
from minio.commonconfig import CopySource
from minio.deleteobjects import DeleteObject
from obstore.exceptions import AlreadyExistsError
from obstore.store import S3Store
from pyarrow.fs import FileSelector, S3FileSystem

from tests.acceptance.s3 import REGION
from tests.support.clients.apart import another_process
from tests.support.servers.stack import Stack

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from obstore import UpdateVersion

pytestmark = pytest.mark.server

MB = 1024**2
TABLE = pa.table({"n": range(1000), "part": [number % 3 for number in range(1000)]})
SUM = sum(range(1000))


@pytest.fixture
def bucket(repository: lakefs.Repository) -> str:
    return repository.id


@pytest.fixture
def options(stack: Stack) -> dict[str, str]:
    """What object_store takes, in Polars and in Delta."""
    return {
        "aws_access_key_id": stack.access_key_id,
        "aws_secret_access_key": stack.secret_access_key,
        "aws_region": REGION,
        "aws_endpoint_url": stack.endpoint,
        "aws_allow_http": "true",
    }


@pytest.fixture
def arrow(stack: Stack) -> S3FileSystem:
    return S3FileSystem(
        access_key=stack.access_key_id,
        secret_key=stack.secret_access_key,
        endpoint_override=stack.endpoint,
        region=REGION,
    )


@pytest.fixture
def store(stack: Stack, bucket: str) -> S3Store:
    return S3Store(
        bucket,
        endpoint=stack.endpoint,
        access_key_id=stack.access_key_id,
        secret_access_key=stack.secret_access_key,
        region=REGION,
        client_options={"allow_http": True},
    )


@pytest.fixture(scope="module")
def apart() -> Iterator[Callable[..., Any]]:
    with another_process() as call:
        yield call


@pytest.fixture
def duck(stack: Stack) -> duckdb.DuckDBPyConnection:
    """DuckDB with the extension httpfs from the package index."""
    extension = next(
        path.locate()
        for path in files("duckdb-extension-httpfs") or ()
        if path.name == "httpfs.duckdb_extension"
    )
    connection = duckdb.connect()
    connection.execute(f"LOAD '{extension}'")
    connection.execute(
        f"CREATE SECRET (TYPE s3, KEY_ID '{stack.access_key_id}', REGION '{REGION}', "
        f"SECRET '{stack.secret_access_key}', URL_STYLE 'path', USE_SSL false, "
        f"ENDPOINT '{urlsplit(stack.endpoint).netloc}')"
    )
    return connection


def test_pyarrow_writes_and_reads_a_partitioned_dataset(arrow: S3FileSystem, bucket: str) -> None:
    folder = f"{bucket}/main/tables/numbers"
    ds.write_dataset(TABLE, folder, filesystem=arrow, format="parquet", partitioning=["part"])
    found = ds.dataset(folder, filesystem=arrow, format="parquet", partitioning=["part"])
    assert found.count_rows() == 1000
    assert sum(found.to_table(columns=["n"])["n"].to_pylist()) == SUM
    assert found.count_rows(filter=ds.field("part") == 0) == 334


def test_pyarrow_makes_and_deletes_folders(arrow: S3FileSystem, bucket: str) -> None:
    arrow.create_dir(f"{bucket}/main/a/b", recursive=True)
    with arrow.open_output_stream(f"{bucket}/main/a/b/file") as stream:
        stream.write(b"x" * 11 * MB)
    arrow.copy_file(f"{bucket}/main/a/b/file", f"{bucket}/main/a/copy")
    arrow.move(f"{bucket}/main/a/copy", f"{bucket}/main/a/moved")
    found = arrow.get_file_info(FileSelector(f"{bucket}/main/a", recursive=True))
    assert sorted(info.path for info in found if info.is_file) == [
        f"{bucket}/main/a/b/file",
        f"{bucket}/main/a/moved",
    ]
    assert arrow.get_file_info(f"{bucket}/main/a/moved").size == 11 * MB
    with arrow.open_input_file(f"{bucket}/main/a/b/file") as file:
        file.seek(11 * MB - 3)
        assert file.read() == b"xxx"
    arrow.delete_dir(f"{bucket}/main/a")
    left = FileSelector(f"{bucket}/main", recursive=True, allow_not_found=True)
    assert arrow.get_file_info(left) == []


def test_pandas_writes_and_reads_parquet_over_pyarrow(arrow: S3FileSystem, bucket: str) -> None:
    place = f"{bucket}/main/pandas.parquet"
    pd.DataFrame({"n": range(1000)}).to_parquet(place, filesystem=arrow)
    assert pd.read_parquet(place, filesystem=arrow)["n"].sum() == SUM


def polars_writes_scans_and_partitions_parquet(options: dict[str, str], place: str) -> None:
    frame = pl.DataFrame({"n": range(1000), "part": [number % 3 for number in range(1000)]})
    frame.write_parquet(f"{place}/one.parquet", storage_options=options)
    frame.lazy().sink_parquet(f"{place}/two.parquet", storage_options=options)
    scanned = pl.scan_parquet(f"{place}/*.parquet", storage_options=options)
    assert scanned.select(pl.col("n").sum()).collect().item() == 2 * SUM
    assert scanned.filter(pl.col("part") == 0).collect().height == 2 * 334


def test_polars_writes_scans_and_partitions_parquet(
    apart: Callable[..., None], options: dict[str, str], bucket: str
) -> None:
    apart(polars_writes_scans_and_partitions_parquet, options, f"s3://{bucket}/main/polars")


def obstore_writes_reads_lists_and_deletes(store: S3Store) -> None:
    content = os.urandom(12 * MB)
    obstore.put(store, "main/large", content, chunk_size=5 * MB)
    obstore.put(store, "main/a/small", b"small", attributes={"Content-Type": "text/x", "k": "v"})
    assert bytes(obstore.get(store, "main/large").bytes()) == content
    assert bytes(obstore.get_range(store, "main/large", start=10, end=20)) == content[10:20]
    ranges = obstore.get_ranges(store, "main/large", starts=[0, 9 * MB], lengths=[5, 5])
    assert [bytes(each) for each in ranges] == [content[:5], content[9 * MB : 9 * MB + 5]]
    assert obstore.get(store, "main/a/small").attributes["k"] == "v"
    listed = obstore.list_with_delimiter(store, "main")
    assert (listed["common_prefixes"], [row["path"] for row in listed["objects"]]) == (
        ["main/a"],
        ["main/large"],
    )
    obstore.copy(store, "main/a/small", "main/copy")
    obstore.rename(store, "main/copy", "main/renamed")
    obstore.delete(store, ["main/large", "main/a/small"])
    left = [row["path"] for page in obstore.list(store, "main/") for row in page]
    assert left == ["main/renamed"]


def test_obstore_writes_reads_lists_and_deletes(apart: Callable[..., None], store: S3Store) -> None:
    apart(obstore_writes_reads_lists_and_deletes, store)


def obstore_creates_only_what_is_absent_and_updates_what_it_read(store: S3Store) -> None:
    first: UpdateVersion = {"e_tag": obstore.put(store, "main/a", b"1", mode="create")["e_tag"]}
    with pytest.raises(AlreadyExistsError):
        obstore.put(store, "main/a", b"2", mode="create")
    obstore.put(store, "main/a", b"3", mode=first)
    with pytest.raises(Exception, match=r"(?i)precondition"):
        obstore.put(store, "main/a", b"4", mode=first)
    assert bytes(obstore.get(store, "main/a").bytes()) == b"3"


def test_obstore_creates_only_what_is_absent_and_updates_what_it_read(
    apart: Callable[..., None], store: S3Store
) -> None:
    apart(obstore_creates_only_what_is_absent_and_updates_what_it_read, store)


def test_duckdb_writes_and_reads_parquet(duck: duckdb.DuckDBPyConnection, bucket: str) -> None:
    place = f"s3://{bucket}/main/duck"
    duck.execute(
        f"COPY (SELECT range AS n, range % 3 AS part FROM range(1000)) "
        f"TO '{place}' (FORMAT parquet, PARTITION_BY (part))"
    )
    found = duck.execute(f"SELECT count(*), sum(n) FROM '{place}/**/*.parquet'").fetchone()
    assert found == (1000, SUM)
    listed = duck.execute(
        f"SELECT count(*) FROM glob('s3://{bucket}/main/duck/part=0/*')"
    ).fetchone()
    assert listed == (1,)


def test_duckdb_uploads_more_than_a_part(duck: duckdb.DuckDBPyConnection, bucket: str) -> None:
    place = f"s3://{bucket}/main/large.csv"
    duck.execute(f"COPY (SELECT range AS n FROM range(2000000)) TO '{place}' (FORMAT csv)")
    assert duck.execute(f"SELECT max(n) FROM '{place}'").fetchone() == (1_999_999,)


def delta_tables_are_written_by_two_writers_at_once(options: dict[str, str], place: str) -> None:
    write_deltalake(place, TABLE, storage_options=options)

    def append(_: int) -> None:
        write_deltalake(place, TABLE, mode="append", storage_options=options)

    with ThreadPoolExecutor(2) as writers:
        list(writers.map(append, range(6)))
    table = DeltaTable(place, storage_options=options)
    assert table.version() == 6
    assert len(table.history()) == 7
    assert sum(table.to_pyarrow_table(columns=["n"])["n"].to_pylist()) == 7 * SUM


def test_delta_tables_are_written_by_two_writers_at_once(
    apart: Callable[..., None], options: dict[str, str], bucket: str
) -> None:
    apart(delta_tables_are_written_by_two_writers_at_once, options, f"s3://{bucket}/main/delta")


def delta_rows_left_by(deletion: str, place: str, options: dict[str, str]) -> int:
    table = DeltaTable(place, storage_options=options)
    table.delete(deletion)
    return table.to_pyarrow_table().num_rows


def delta_rows(place: str, options: dict[str, str]) -> int:
    return DeltaTable(place, storage_options=options).to_pyarrow_table().num_rows


def test_a_delta_table_is_read_as_it_was_on_a_tag(
    apart: Callable[..., Any], options: dict[str, str], repository: lakefs.Repository
) -> None:
    place = f"s3://{repository.id}/main/delta"
    apart(write_deltalake, place, TABLE, storage_options=options)
    repository.branch("main").commit("the first version")
    repository.tag("v1").create("main")
    apart(write_deltalake, place, TABLE, mode="overwrite", storage_options=options)
    assert apart(delta_rows_left_by, "n >= 10", place, options) == 10
    assert apart(delta_rows, f"s3://{repository.id}/v1/delta", options) == 1000


def test_minio_uploads_in_parts_composes_and_deletes(stack: Stack, bucket: str) -> None:
    client = minio.Minio(
        urlsplit(stack.endpoint).netloc,
        access_key=stack.access_key_id,
        secret_key=stack.secret_access_key,
        secure=False,
    )
    assert client.bucket_exists(bucket)
    content = os.urandom(11 * MB)
    client.put_object(
        bucket, "main/a b", io.BytesIO(content), -1, part_size=5 * MB, metadata={"k": "v"}
    )
    answer = client.get_object(bucket, "main/a b", offset=5, length=10)
    assert answer.read() == content[5:15]
    answer.close()
    answer.release_conn()
    found = client.stat_object(bucket, "main/a b")
    assert (found.size, (found.metadata or {})["x-amz-meta-k"]) == (11 * MB, "v")
    client.copy_object(bucket, "main/copy", CopySource(bucket, "main/a b"))
    names = [row.object_name for row in client.list_objects(bucket, "main/", recursive=True)]
    assert names == ["main/a b", "main/copy"]
    errors = client.remove_objects(bucket, [DeleteObject(name) for name in names])
    assert list(errors) == []
    assert list(client.list_objects(bucket, "main/", recursive=True)) == []


def test_parquet_of_one_client_is_read_by_all_others(
    apart: Callable[..., pl.DataFrame],
    arrow: S3FileSystem,
    options: dict[str, str],
    duck: duckdb.DuckDBPyConnection,
    bucket: str,
) -> None:
    place = f"{bucket}/main/shared.parquet"
    pq.write_table(TABLE, place, filesystem=arrow)
    found = apart(pl.read_parquet, f"s3://{place}", storage_options=options)
    assert found["n"].sum() == SUM
    assert duck.execute(f"SELECT sum(n) FROM 's3://{place}'").fetchone() == (SUM,)
    assert pd.read_parquet(place, filesystem=arrow)["n"].sum() == SUM
