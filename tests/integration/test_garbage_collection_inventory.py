"""Candidates come from an inventory, reports go elsewhere, and deleting takes its time."""

import csv
import gzip
import hashlib
import io
import json
import time
from pathlib import Path
from uuid import uuid4

import pytest
from pyspark.sql import SparkSession

from tests.support.servers.spark import spark, spark_session
from tests.support.servers.stack import BUCKET
from tests.support.worlds.addresses import address, partition
from tests.support.worlds.collected import WARNINGS, Collected, world
from tests.support.worlds.server_world import ServerWorld

pytestmark = [pytest.mark.server, *WARNINGS]

__all__ = ["spark", "spark_session", "world"]


def inventory_of(lake: Collected) -> str:
    """The URI of a report of all that the repository has."""
    folder = f"reports/{uuid4().hex}"
    lines = io.StringIO()
    writer = csv.writer(lines, quoting=csv.QUOTE_ALL, lineterminator="\n")
    for listed in lake.objects.list_objects(lake.namespace):
        moment = time.gmtime(listed.last_modified_ns // 10**9)
        key = listed.uri.removeprefix(f"s3://{BUCKET}/")
        modified = time.strftime("%Y-%m-%dT%H:%M:%S.000Z", moment)
        writer.writerow([BUCKET, key, listed.size_bytes, modified])
    content = gzip.compress(lines.getvalue().encode())
    lake.objects.put(f"s3://{BUCKET}/{folder}/file.csv.gz", content, "a/b")
    checksum = hashlib.md5(content).hexdigest()
    manifest = {
        "sourceBucket": BUCKET,
        "destinationBucket": f"arn:aws:s3:::{BUCKET}",
        "fileFormat": "CSV",
        "fileSchema": "Bucket, Key, Size, LastModifiedDate",
        "files": [{"key": f"{folder}/file.csv.gz", "size": 1, "MD5checksum": checksum}],
    }
    uri = f"s3://{BUCKET}/{folder}/manifest.json"
    lake.objects.put(uri, json.dumps(manifest).encode(), "a/b")
    return uri


def test_what_an_inventory_lists_is_collected(
    spark: SparkSession, world: ServerWorld, s3_folder: Path
) -> None:
    lake = Collected(spark, world, s3_folder)
    garbage = lake.upload("path", "first")
    kept = lake.upload("path", "second")
    # A repository was here, and may be restored.
    namespace = f"{lake.namespace}/{partition(100)}"
    foreign = [
        f"{lake.namespace}/{address(100)}",
        f"{namespace}_lakefs/dummy",
        f"{namespace}{address(1)}",
        f"{lake.namespace}/data/2019/part-0.parquet",
    ]
    for uri in foreign:
        lake.objects.put(uri, b"1", "a/b")
    lake.grow_old()
    inventory_uri = inventory_of(lake)
    unlisted = lake.upload("path too", "first")
    lake.upload("path too", "second")
    lake.grow_old()
    output_uri = f"s3://{BUCKET}/output/{uuid4().hex}"

    begun_s = time.monotonic()
    report = lake.collect(
        inventory_uri=inventory_uri, output_uri=f"{output_uri}/", deletes_per_s=1000
    )
    # Each of two cores may begin another thousand two seconds after the last one.
    assert time.monotonic() - begun_s > 2
    assert [lake.is_there(uri) for uri in (garbage, kept, unlisted)] == [False, True, True]
    assert all(lake.is_there(uri) for uri in foreign)
    assert report.deleted.objects == 1
    assert lake.uris("_lakefs/retention/") == []
    summary = json.loads(lake.objects.get(f"{output_uri}/{report.run_id}/summary.json"))
    assert summary["num_deleted_objects"] == 1
    listed = lake.objects.list_objects(f"{output_uri}/{report.run_id}/deleted.text/")
    lines = [lake.objects.get(each.uri).decode() for each in listed]
    assert lines == [garbage.removeprefix(f"{lake.namespace}/") + "\n"]
