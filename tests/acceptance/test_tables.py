"""Tables on the lake: pandas and pyarrow over lakefs-spec, at branches, tags and commits."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest
from lakefs_spec import LakeFSFileSystem
from pandas.testing import assert_frame_equal
from pyarrow.fs import FSSpecHandler, PyFileSystem

from tests.acceptance.clients import KeyPair, file_system, key_pair

pytestmark = pytest.mark.server

# More than fits through the API, so that readers seek in the object store.
LARGE_ROWS = 600_000


@pytest.fixture(scope="module")
def lake(stack) -> LakeFSFileSystem:
    return file_system(stack)


@pytest.fixture(scope="module")
def arrow(lake) -> PyFileSystem:
    """The lake as pyarrow sees it."""
    return PyFileSystem(FSSpecHandler(lake))


@pytest.fixture(scope="module")
def options(stack) -> KeyPair:
    return key_pair(stack)


@pytest.fixture
def root(repository) -> str:
    return f"{repository.id}/main"


def frame_of(rows: int) -> pd.DataFrame:
    chance = np.random.default_rng(rows)
    return pd.DataFrame(
        {
            "id": np.arange(rows, dtype="int64"),
            "day": chance.choice(["mon", "tue", "wed"], rows),
            "value": chance.normal(size=rows),
            "flag": chance.integers(0, 2, rows).astype(bool),
            "text": [f"row {number}, ünïcödé" if number % 7 else None for number in range(rows)],
            "when": pd.date_range("2024-01-01", periods=rows, freq="s", unit="us"),
        }
    )


def test_a_frame_comes_back_from_parquet_as_it_was(root, options):
    frame = frame_of(5_000)
    frame.to_parquet(f"lakefs://{root}/t.parquet", storage_options=options)
    back = pd.read_parquet(f"lakefs://{root}/t.parquet", storage_options=options)
    assert_frame_equal(back, frame)


@pytest.mark.parametrize("name", ["t.csv", "t.csv.gz"])
def test_a_frame_comes_back_from_csv_as_it_was(root, options, name):
    frame = frame_of(2_000)
    frame.to_csv(f"lakefs://{root}/{name}", index=False, storage_options=options)
    back = pd.read_csv(f"lakefs://{root}/{name}", parse_dates=["when"], storage_options=options)
    assert_frame_equal(back.astype({"when": frame["when"].dtype}), frame)


def test_json_lines_come_back_as_they_were(root, options):
    frame = frame_of(500)[["id", "day", "value"]]
    where = f"lakefs://{root}/t.jsonl"
    frame.to_json(where, orient="records", lines=True, storage_options=options, double_precision=15)
    back = pd.read_json(where, orient="records", lines=True, storage_options=options)
    assert_frame_equal(back, frame)


def test_a_large_table_is_read_by_column_and_row_group(root, lake):
    table = pa.Table.from_pandas(frame_of(LARGE_ROWS))
    with lake.open(f"{root}/large.parquet", "wb") as file:
        pq.write_table(table, file, row_group_size=100_000, compression="none")
    assert lake.size(f"{root}/large.parquet") > 12_000_000
    with lake.open(f"{root}/large.parquet") as file:
        parquet = pq.ParquetFile(file)
        assert parquet.metadata.num_rows == LARGE_ROWS
        middle = parquet.read_row_group(3, columns=["value", "day"])
        assert middle == table.select(["value", "day"]).slice(300_000, 100_000)
        assert parquet.read() == table


def test_a_partitioned_dataset_reads_only_what_the_filter_needs(root, arrow):
    table = pa.Table.from_pandas(frame_of(3_000))
    partitions = ds.partitioning(pa.schema([("day", pa.string())]), flavor="hive")
    ds.write_dataset(
        table, f"{root}/set", filesystem=arrow, format="parquet", partitioning=partitions
    )
    dataset = ds.dataset(f"{root}/set", filesystem=arrow, format="parquet", partitioning=partitions)
    assert sorted(dataset.files) == [
        f"{root}/set/day={day}/part-0.parquet" for day in ("mon", "tue", "wed")
    ]
    wanted = (ds.field("day") == "tue") & (ds.field("value") > 0)
    found = dataset.to_table(filter=wanted, columns=["id", "value"]).sort_by("id")
    assert found == table.filter(wanted).select(["id", "value"]).sort_by("id")
    assert len(list(dataset.get_fragments(filter=ds.field("day") == "tue"))) == 1
    whole = dataset.to_table().sort_by("id").select(table.column_names)
    assert whole.cast(table.schema) == table


def test_yesterdays_table_is_read_from_the_commit_of_yesterday(root, options, repository):
    main = repository.branch("main")
    frames = [frame_of(rows) for rows in (10, 20, 30)]
    for number, frame in enumerate(frames):
        frame.to_parquet(f"lakefs://{root}/t.parquet", storage_options=options)
        repository.tag(f"v{number}").create(main.commit(f"version {number}"))
    for ref, frame in {"main": frames[2], "main~1": frames[1], "v0": frames[0]}.items():
        where = f"lakefs://{repository.id}/{ref}/t.parquet"
        assert_frame_equal(pd.read_parquet(where, storage_options=options), frame)


def test_a_table_is_rewritten_on_a_branch_and_published_by_merging(options, repository, root):
    main, dev = repository.branch("main"), repository.branch("dev")
    before = frame_of(100)
    before.to_parquet(f"lakefs://{root}/t.parquet", storage_options=options)
    main.commit("before")
    dev.create(main)
    after = before.assign(value=before["value"] * 2)
    after.to_parquet(f"lakefs://{repository.id}/dev/t.parquet", storage_options=options)
    dev.commit("after")
    where = f"lakefs://{root}/t.parquet"
    assert_frame_equal(pd.read_parquet(where, storage_options=options), before)
    dev.merge_into(main)
    assert_frame_equal(pd.read_parquet(where, storage_options=options), after)


def test_a_table_that_does_not_exist_is_a_missing_file(root, options):
    with pytest.raises(FileNotFoundError):
        pd.read_parquet(f"lakefs://{root}/none.parquet", storage_options=options)
    with pytest.raises(FileNotFoundError):
        pd.read_csv(f"lakefs://{root}/none.csv", storage_options=options)
