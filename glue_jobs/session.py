"""What jobs run on: Spark, the stores as the driver knows them, and as executors do.

Executors get the deployment's settings with each task and connect by themselves, once per process.
Credentials are never among the settings: every process finds its own, by the chain that AWS
prescribes (the role of the job; the environment on a developer's machine).
"""

import os
import re
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, fields, replace
from functools import lru_cache

from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from graveler import errors
from graveler.aws import connect, wiring
from graveler.aws.dynamodb.job_records import DynamoJobStore
from graveler.aws.dynamodb.staging import DynamoStagingStore
from graveler.aws.dynamodb.tables import Tables
from graveler.aws.retries import Retries
from graveler.aws.s3.client import S3
from graveler.aws.s3.committed_files import S3CommittedFiles
from graveler.aws.s3.objects import S3ObjectStore
from graveler.aws.settings import Settings
from graveler.operations.engine import Engine
from graveler.ports import JobStore, ObjectStore, StagingStore

# Nobody waits for an answer: a store that is busy for a minute must not end a job of an hour.
_RETRIES = Retries(total_s_max=120.0, pause_s_max=10.0)

# The last line of what Python tells of an error that an executor raised.
_RAISED = re.compile(r"^graveler\.errors\.(\w+): (.*)$", re.MULTILINE)

# Settings that only functions need; the last one is a secret. Jobs do without.
_NOT_FOR_JOBS = ("cipher", "kms_key_id", "setup_token")


@dataclass(frozen=True, slots=True)
class Deployment:
    """The stores as the driver uses them, and the settings by which executors find them."""

    engine: Engine
    jobs: JobStore
    settings: Settings


@dataclass(frozen=True, slots=True)
class Stores:
    """The stores as an executor uses them."""

    objects: ObjectStore
    files: S3CommittedFiles
    staging: StagingStore
    jobs: JobStore


def job_settings(arguments: Mapping[str, str], environment: Mapping[str, str]) -> Settings:
    """Return the settings of a job: by its arguments, in lower case, else by the environment.

    Raises:
        ValueError: one is missing, or is not the number that it must be.
    """
    names = {each.name for each in fields(Settings)} - {"region", *_NOT_FOR_JOBS}
    given = {f"GRAVELER_{name.upper()}": arguments[name] for name in names & arguments.keys()}
    if "region" in arguments:
        given["AWS_REGION"] = arguments["region"]
    settings = Settings.from_environment({**environment, **given})
    # Executors get the settings, so these go nowhere.
    return replace(settings, cipher="", kms_key_id="", setup_token="")


def deployment(settings: Settings) -> Deployment:
    """Return the stores of the settings, for the driver."""
    tables = _tables(settings)
    # Jobs sign nothing, so they need no permission to decrypt the signing key.
    return Deployment(
        wiring.engine_over(settings, tables, signing_key=b""), DynamoJobStore(tables), settings
    )


@lru_cache(maxsize=1)
def stores(settings: Settings) -> Stores:
    """Return the stores of the settings, for an executor."""
    s3 = S3(connect.s3_client(settings, settings.s3_endpoint), _RETRIES)
    tables = _tables(settings)
    return Stores(
        S3ObjectStore(s3), S3CommittedFiles(s3), DynamoStagingStore(tables), DynamoJobStore(tables)
    )


def _tables(settings: Settings) -> Tables:
    dynamodb = connect.dynamodb(settings, _RETRIES)
    return Tables(settings.refs_table, settings.staging_table, dynamodb)


def local_spark(name: str, cores: int = 2, **options: str) -> SparkSession:
    """Return a Spark of this process's own, that nobody reaches from outside."""
    os.environ["PYSPARK_PYTHON"] = sys.executable
    # Before Spark looks for an address of its own, and warns of the one it chose.
    os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
    builder = SparkSession.builder.master(f"local[{cores}]").appName(name)
    settings = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.sql.shuffle.partitions": str(2 * cores),
        "spark.log.level": "ERROR",
        **options,
    }
    for setting, value in settings.items():
        builder = builder.config(setting, value)
    return builder.getOrCreate()


def join_by_sorting(spark: SparkSession) -> None:
    """Have joins sort both sides, which spills to disk, however small Spark takes a side to be.

    Any side may be all objects there are, and Spark goes by compressed bytes: it would hand ten
    million addresses that compress well to every executor, whole, in memory.
    """
    for threshold in ("autoBroadcastJoinThreshold", "adaptive.autoBroadcastJoinThreshold"):
        spark.conf.set(f"spark.sql.{threshold}", -1)


@contextmanager
def executors_errors() -> Iterator[None]:
    """Raise the engine's own errors of executors as they were raised there."""
    try:
        yield
    except PySparkException as error:
        raised = _RAISED.findall(str(error))
        if not raised:
            raise
        kind, message = raised[-1]
        raise getattr(errors, kind)(message) from error
