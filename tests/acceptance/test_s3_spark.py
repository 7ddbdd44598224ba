"""Spark 3.5 with s3a, unchanged: its committers rename, which is a copy and a deletion."""

import lakefs
import pytest

from tests.support.clients.spark_s3a import run_scenario, s3a_jars
from tests.support.servers.stack import Stack

pytestmark = pytest.mark.server


def test_spark_writes_overwrites_appends_and_renames_tables(
    stack: Stack, repository: lakefs.Repository, main: lakefs.Branch
) -> None:
    branch = repository.branch("spark").create("main")
    found = run_scenario(
        f"s3a://{repository.id}/spark/tables",
        JARS=s3a_jars(),
        ENDPOINT=stack.endpoint,
        AWS_ACCESS_KEY_ID=stack.access_key_id,
        AWS_SECRET_ACCESS_KEY=stack.secret_access_key,
    )
    hundred, thousand = sum(range(100)), sum(range(1000))
    assert found == {
        "written": [1000, thousand],
        "in a partition": 333,
        "overwritten": [100, hundred],
        "appended": [1100, hundred + thousand],
        "large": 1_000_000,
        "renamed": True,
        "moved": 1_000_000,
        "left": False,
        "deleted": True,
        "folders": ["table"],
    }
    branch.commit("tables")
    branch.merge_into(main)
    paths = [item.path for item in main.objects()]
    assert "tables/table/_SUCCESS" in paths
    assert not [path for path in paths if "_temporary" in path]
    assert [path for path in paths if path.startswith("tables/table/part=1/")]
