"""Spark 3.5 with s3a against an S3 endpoint, as a program of its own.

Run as `python -m tests.support.clients.spark_s3a URL`, with JARS, ENDPOINT and the key pair in the
environment. It prints what it found as JSON. A process has one Spark, so tests start another.
"""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

from graveler_embedded.config import ROOT
from graveler_embedded.fetching import fetch
from graveler_embedded.jars import paths


def s3a_jars() -> str:
    """Return the paths of what Spark 3.5 needs to read s3a: URLs, 280 MB, separated by commas."""
    return ",".join(map(str, fetched("s3a")))


def fetched(jars: str) -> list[Path]:
    """Return the files of that folder of the cache, which gets those that it lacks."""
    fetch((jars,), print)
    return paths(jars)


def run_scenario(url: str, **variables: str) -> dict[str, Any]:
    """Run the scenario below the URL in a process of its own; return what it found."""
    command = (sys.executable, "-m", "tests.support.clients.spark_s3a", url)
    done = subprocess.run(
        command,
        env={**os.environ, **variables, "PYTHONPATH": str(ROOT)},
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def _session() -> SparkSession:
    options = {
        "spark.jars": os.environ["JARS"],
        "spark.ui.enabled": "false",
        "spark.sql.shuffle.partitions": "2",
        "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
        "spark.hadoop.fs.s3a.endpoint": os.environ["ENDPOINT"],
        "spark.hadoop.fs.s3a.access.key": os.environ["AWS_ACCESS_KEY_ID"],
        "spark.hadoop.fs.s3a.secret.key": os.environ["AWS_SECRET_ACCESS_KEY"],
        "spark.hadoop.fs.s3a.path.style.access": "true",
        "spark.hadoop.fs.s3a.connection.ssl.enabled": "false",
        # So that a small file takes several parts.
        "spark.hadoop.fs.s3a.multipart.size": "5M",
        "spark.hadoop.fs.s3a.multipart.threshold": "5M",
        "spark.sql.parquet.compression.codec": "uncompressed",
    }
    builder = SparkSession.builder.master("local[2]").appName("s3a")
    for name, value in options.items():
        builder = builder.config(name, value)
    return builder.getOrCreate()


def _scenario(spark: SparkSession, url: str) -> dict[str, Any]:
    """Write, overwrite, append and partition tables; return what reading them finds."""
    found: dict[str, Any] = {}
    numbers = spark.range(1000).selectExpr("id AS n", "id % 3 AS part")
    numbers.repartition(2).write.partitionBy("part").parquet(f"{url}/table")
    found["written"] = _summary(spark, f"{url}/table")
    found["in a partition"] = spark.read.parquet(f"{url}/table").where("part = 1").count()
    numbers.limit(100).write.mode("overwrite").partitionBy("part").parquet(f"{url}/table")
    found["overwritten"] = _summary(spark, f"{url}/table")
    numbers.write.mode("append").partitionBy("part").parquet(f"{url}/table")
    found["appended"] = _summary(spark, f"{url}/table")
    large = spark.range(1_000_000).selectExpr("hash(id) AS h", "id").coalesce(1)
    large.write.parquet(f"{url}/large")
    found["large"] = spark.read.parquet(f"{url}/large").where("h = hash(id)").count()
    files = spark.sparkContext._jvm.org.apache.hadoop.fs  # type: ignore[union-attr]
    system = files.FileSystem.get(
        spark.sparkContext._jvm.java.net.URI(url),  # type: ignore[union-attr]
        spark.sparkContext._jsc.hadoopConfiguration(),
    )
    found["renamed"] = system.rename(files.Path(f"{url}/large"), files.Path(f"{url}/moved"))
    found["moved"] = spark.read.parquet(f"{url}/moved").count()
    found["left"] = system.exists(files.Path(f"{url}/large"))
    found["deleted"] = system.delete(files.Path(f"{url}/moved"), True)
    found["folders"] = sorted(
        status.getPath().getName() for status in system.listStatus(files.Path(url))
    )
    return found


def _summary(spark: SparkSession, url: str) -> list[int]:
    row = spark.read.parquet(url).selectExpr("count(*)", "sum(n)").collect()[0]
    return [row[0], row[1]]


if __name__ == "__main__":
    print(json.dumps(_scenario(_session(), sys.argv[1])))  # noqa: T201 - for the test
