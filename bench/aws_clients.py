"""What a call to DynamoDB and S3 costs the caller's own processor: our clients, PynamoDB, boto3.

    AWS_ACCESS_KEY_ID=… AWS_SECRET_ACCESS_KEY=… \
        python -m bench.aws_clients DYNAMODB_ENDPOINT S3_ENDPOINT BUCKET

Prints milliseconds of processor and of waiting per call, one thread, connections warm.
"""

import sys
import time
from collections.abc import Callable
from uuid import uuid4

import boto3
from botocore.config import Config
from pynamodb.attributes import BinaryAttribute, UnicodeAttribute
from pynamodb.models import Model

from graveler.aws import connect
from graveler.aws.objects import S3ObjectStore
from graveler.aws.settings import Settings
from graveler.aws.staging import DynamoStagingStore
from graveler.aws.tables import Tables

CALLS = 1_000
TOKEN, PATH, VALUE, CONTENT = "repository-main:token", b"path/to/object", b"v" * 190, b"c" * 4096
REGION = "us-east-1"


def measure(name: str, call: Callable[[], object], calls: int = CALLS) -> None:
    for _ in range(calls // 10):
        call()
    cpu, wall = time.process_time(), time.perf_counter()
    for _ in range(calls):
        call()
    cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
    print(f"{name:34} {cpu / calls * 1e3:8.3f} {wall / calls * 1e3:8.3f}")


def measure_dynamodb(endpoint: str, tables: Tables) -> None:
    class Staged(Model):
        class Meta:
            table_name = tables.staging
            host = endpoint
            region = REGION

        token = UnicodeAttribute(hash_key=True)
        path = BinaryAttribute(range_key=True, legacy_encoding=False)
        value = BinaryAttribute(null=True, legacy_encoding=False)

    staging = DynamoStagingStore(tables)
    client = boto3.client("dynamodb", endpoint_url=endpoint, region_name=REGION)
    key = {"token": {"S": TOKEN}, "path": {"B": PATH}}
    item = {**key, "value": {"B": VALUE}}
    name = tables.staging
    staging.put_many(TOKEN, [(b"many/%04d" % n, VALUE) for n in range(1_000)])
    measure("put: ours", lambda: staging.put(TOKEN, PATH, VALUE))
    measure("put: PynamoDB", lambda: Staged(TOKEN, PATH, value=VALUE).save())
    measure("put: boto3", lambda: client.put_item(TableName=name, Item=item))
    measure("get: ours", lambda: staging.get(TOKEN, PATH))
    measure("get: PynamoDB", lambda: Staged.get(TOKEN, PATH, consistent_read=True))
    measure("get: boto3", lambda: client.get_item(TableName=name, Key=key, ConsistentRead=True))
    measure("query of 1,000: ours", lambda: list(staging.scan(TOKEN, b"many", b"n")), 30)
    measure(
        "query of 1,000: PynamoDB",
        lambda: list(Staged.query(TOKEN, Staged.path >= b"many", consistent_read=True)),
        30,
    )


def measure_s3(endpoint: str, settings: Settings, bucket: str) -> None:
    objects = S3ObjectStore(connect.s3(settings))
    config = Config(signature_version="s3v4", s3={"addressing_style": "path"})
    client = boto3.client("s3", endpoint_url=endpoint, region_name=REGION, config=config)
    uri, at = f"s3://{bucket}/bench", {"Bucket": bucket, "Key": "bench"}

    def read() -> bytes:
        return client.get_object(**at)["Body"].read()

    measure("S3 put of 4 KB: ours", lambda: objects.put(uri, CONTENT, "a/b"), 300)
    measure("S3 put of 4 KB: boto3", lambda: client.put_object(**at, Body=CONTENT), 300)
    measure("S3 get of 4 KB: ours", lambda: objects.get(uri), 300)
    measure("S3 get of 4 KB: boto3", read, 300)
    measure("presigned URL: ours", lambda: objects.presign_get(uri, 900, "bench"))
    measure("presigned URL: boto3", lambda: client.generate_presigned_url("get_object", at))


def main(dynamodb_endpoint: str, s3_endpoint: str, bucket: str) -> None:
    suffix = uuid4().hex[:8]
    settings = Settings(
        region=REGION,
        refs_table=f"bench-refs-{suffix}",
        staging_table=f"bench-staging-{suffix}",
        dynamodb_endpoint=dynamodb_endpoint,
        s3_endpoint=s3_endpoint,
    )
    dynamodb = connect.dynamodb(settings)
    tables = Tables(settings.refs_table, settings.staging_table, dynamodb)
    tables.create()
    print(f"{'ms per call':34} {'cpu':>8} {'wall':>8}")
    measure_dynamodb(dynamodb_endpoint, tables)
    measure_s3(s3_endpoint, settings, bucket)
    for name in (tables.refs, tables.staging):
        dynamodb.call("DeleteTable", {"TableName": name})


if __name__ == "__main__":
    main(*sys.argv[1:])
