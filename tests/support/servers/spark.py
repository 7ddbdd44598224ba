"""One Spark for all tests of jobs, and deployments over the local servers that it works on."""

import gc
from collections.abc import Iterator
from typing import Any

import pytest
from pyspark.sql import SparkSession

from graveler.aws.dynamodb.job_records import DynamoJobStore
from graveler.aws.settings import DeploymentSettings
from graveler_jobs.session import JobDeployment, local_spark
from tests.support.servers.stack import KEYS
from tests.support.worlds.server_world import REGION, ServerWorld

# pyspark checks library versions with distutils, which Python removed.
IGNORED = "ignore:.*distutils.*:DeprecationWarning"
UNCLOSED = "ignore:unclosed:ResourceWarning"


@pytest.fixture(scope="session")
def spark_session() -> Iterator[SparkSession]:
    """A Spark whose executors have the keys of the local servers."""
    credentials = {
        "AWS_ACCESS_KEY_ID": KEYS.access_key_id,
        "AWS_SECRET_ACCESS_KEY": KEYS.secret_access_key,
        "AWS_EC2_METADATA_DISABLED": "true",
    }
    options: dict[str, Any] = {
        f"spark.executorEnv.{name}": value for name, value in credentials.items()
    }
    # Nothing here runs long enough to be worth the optimizing compiler.
    options["spark.driver.extraJavaOptions"] = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
    session = local_spark("tests", **options)
    yield session
    session.stop()


@pytest.fixture
def spark(spark_session: SparkSession) -> Iterator[SparkSession]:
    """The session's Spark."""
    yield spark_session
    gc.collect()  # what pyspark leaves open is to be told of here, where that is ignored


def deployment(world: ServerWorld) -> JobDeployment:
    """The world's stores, for a job's driver and for its executors."""
    tables = world.tables()
    settings = DeploymentSettings(
        region=REGION,
        refs_table=tables.refs,
        staging_table=tables.staging,
        dynamodb_endpoint=world.dynamodb_endpoint,
        s3_endpoint=world.s3_endpoint,
    )
    return JobDeployment(world.engine(), DynamoJobStore(tables), settings)
