"""The environment of jobs: Spark, and the stores for driver and executors.

Executors get the deployment's settings with each task, and connect once per process. Settings never
contain credentials. Each process finds its own by AWS's standard chain: the job's role, or the
environment on a developer's machine.
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
from graveler.aws.connect import Clients
from graveler.aws.dynamodb.job_records import DynamoJobStore
from graveler.aws.dynamodb.staging import DynamoStagingStore
from graveler.aws.dynamodb.tables import Tables
from graveler.aws.retries import RetryPolicy
from graveler.aws.s3.client import S3
from graveler.aws.s3.committed_files import S3CommittedFiles
from graveler.aws.s3.objects import S3ObjectStore
from graveler.aws.settings import DeploymentSettings
from graveler.aws.wiring import Adapters
from graveler.engine import Engine
from graveler.ports import JobStore, ObjectStore, StagingStore

# No client waits, and a store that is busy for a minute must not end a job of an hour.
_RETRIES = RetryPolicy().patient(120.0)

# The last line of the Python traceback of an executor's error.
_RAISED = re.compile(r"^graveler\.errors\.(\w+): (.*)$", re.MULTILINE)

# Settings that only functions need.
_NOT_FOR_JOBS = ("cipher", "kms_key_id")


@dataclass(frozen=True, slots=True)
class JobDeployment:
    """The driver's stores, and the settings with which executors connect."""

    engine: Engine
    jobs: JobStore
    settings: DeploymentSettings


@dataclass(frozen=True, slots=True)
class ExecutorStores:
    """The stores of an executor."""

    objects: ObjectStore
    files: S3CommittedFiles
    staging: StagingStore
    jobs: JobStore


def job_settings(
    arguments: Mapping[str, str], environment: Mapping[str, str]
) -> DeploymentSettings:
    """Return the settings of a job: from its arguments, in lower case, else the environment.

    Raises:
        ValueError: one is missing, or is not a valid number.
    """
    names = {each.name for each in fields(DeploymentSettings)} - {"region", *_NOT_FOR_JOBS}
    given = {f"GRAVELER_{name.upper()}": arguments[name] for name in names & arguments.keys()}
    if "region" in arguments:
        given["AWS_REGION"] = arguments["region"]
    settings = DeploymentSettings.from_environment({**environment, **given})
    # Executors get the settings as text, so these are removed.
    return replace(settings, cipher="", kms_key_id="")


def deployment(settings: DeploymentSettings) -> JobDeployment:
    """Return the stores of the settings, for the driver."""
    tables = _tables(settings, Clients(settings))
    # Jobs sign nothing, so they need no permission to decrypt the signing key.
    engine = Adapters(settings, tables).engine_signing(b"")
    return JobDeployment(engine, DynamoJobStore(tables), settings)


@lru_cache(maxsize=1)
def stores(settings: DeploymentSettings) -> ExecutorStores:
    """Return the stores of the settings, for an executor."""
    clients = Clients(settings)
    s3 = S3(clients.s3, _RETRIES)
    tables = _tables(settings, clients)
    return ExecutorStores(
        S3ObjectStore(s3), S3CommittedFiles(s3), DynamoStagingStore(tables), DynamoJobStore(tables)
    )


def _tables(settings: DeploymentSettings, clients: Clients) -> Tables:
    return Tables(settings.refs_table, settings.staging_table, clients.dynamodb(_RETRIES))


def local_spark(name: str, cores: int = 2, **options: str) -> SparkSession:
    """Return a Spark session of this process, which listens on loopback only."""
    os.environ["PYSPARK_PYTHON"] = sys.executable
    # Otherwise Spark chooses an address, and warns about it.
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
    """Make joins sort both sides, which spills to disk, instead of broadcasting a small side.

    Any side may be all objects, and Spark judges by compressed bytes. It would broadcast ten
    million addresses that compress well into each executor's memory.
    """
    for threshold in ("autoBroadcastJoinThreshold", "adaptive.autoBroadcastJoinThreshold"):
        spark.conf.set(f"spark.sql.{threshold}", -1)


@contextmanager
def executors_errors() -> Iterator[None]:
    """Raise an executor's engine error in the driver as the same error."""
    try:
        yield
    except PySparkException as error:
        raised = _RAISED.findall(str(error))
        if not raised:
            raise
        kind, message = raised[-1]
        raise getattr(errors, kind)(message) from error
