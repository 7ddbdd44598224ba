"""The sample files agree with each other, and name the repository they lie in."""

import csv
import json
from io import BytesIO, StringIO

import pyarrow.parquet as pq

from graveler.samples.files import sample_files
from graveler.samples.lakes import LAKES


def files(repository: str = "lake", branch: str = "main") -> dict[str, bytes]:
    return {file.path.decode(): file.content for file in sample_files(repository, branch)}


def test_the_table_has_the_columns_of_lakefss_quickstart():
    table = pq.read_table(BytesIO(files()["lakes.parquet"]))
    assert table.column_names == ["Lake_name", "Country", "Depth_m", "Area_km2"]
    assert table.num_rows == len(LAKES)
    assert "Denmark" in table.column("Country").to_pylist()


def test_table_and_text_have_the_same_rows():
    found = files()
    rows = pq.read_table(BytesIO(found["lakes.parquet"])).to_pylist()
    text = list(csv.DictReader(StringIO(found["data/lakes.csv"].decode())))
    assert text == [{name: str(value) for name, value in row.items()} for row in rows]
    countries = json.loads(found["data/countries.json"])
    assert sum(row["Lakes"] for row in countries) == len(rows)
    assert max(row["Deepest_m"] for row in countries) == 1642


def test_no_lake_is_there_twice():
    assert len({lake.name for lake in LAKES}) == len(LAKES)


def test_the_readme_names_repository_and_branch():
    readme = files("my-repo", "trunk")["README.md"].decode()
    assert readme.startswith("# my-repo\n")
    assert "lakefs://my-repo/trunk/" in readme
    assert "{" not in readme


def test_the_files_are_the_same_each_time():
    assert files() == files()
    assert list(files()) == sorted(files())
