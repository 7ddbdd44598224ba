"""Processor time of a call to DynamoDB and S3, in the calling process.

    AWS_ACCESS_KEY_ID=… AWS_SECRET_ACCESS_KEY=… \
        python -m bench.aws_clients DYNAMODB_ENDPOINT S3_ENDPOINT BUCKET

DynamoDB through our transport, PynamoDB and boto3; S3 directly, through boto3 as our adapter uses
it, and through boto3 without configuration. Prints milliseconds of processor and of waiting per
call: one thread, warm
connections, the median of several rounds in which the clients take turns.
"""

import sys
import time
from collections.abc import Callable, Mapping
from statistics import median
from uuid import uuid4

import boto3
from botocore.config import Config
from pynamodb.attributes import BinaryAttribute, UnicodeAttribute
from pynamodb.models import Model

from graveler.aws.connect import Clients
from graveler.aws.dynamodb.staging import DynamoStagingStore
from graveler.aws.dynamodb.tables import Tables
from graveler.aws.s3.client import S3
from graveler.aws.s3.objects import S3ObjectStore
from graveler.aws.s3.signed_requests import Endpoint, S3Requests
from graveler.aws.settings import DeploymentSettings
from graveler.limits import UPLOAD_PARTS_MAX
from graveler.model import StagingToken

ROUNDS = 7
TOKEN = StagingToken("repository-main:token")
PATH, VALUE, CONTENT = b"path/to/object", b"v" * 190, b"c" * 4096
REGION = "us-east-1"


def measure(what: str, clients: Mapping[str, Callable[[], object]], calls: int = 200) -> None:
    costs: dict[str, list[tuple[float, float]]] = {name: [] for name in clients}
    for _ in range(ROUNDS):
        for name, call in clients.items():
            call()
            cpu, wall = time.process_time(), time.perf_counter()
            for _ in range(calls):
                call()
            costs[name].append((time.process_time() - cpu, time.perf_counter() - wall))
    for name, rounds in costs.items():
        cpu, wall = (median(each) / calls * 1e3 for each in zip(*rounds, strict=True))
        print(f"{what + ': ' + name:34} {cpu:8.3f} {wall:8.3f}")


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
    staging.stage(TOKEN, [(b"many/%04d" % n, VALUE) for n in range(1_000)])
    measure(
        "put",
        {
            "ours": lambda: tables.dynamodb.call("PutItem", {"TableName": name, "Item": item}),
            "PynamoDB": lambda: Staged(TOKEN, PATH, value=VALUE).save(),
            "boto3": lambda: client.put_item(TableName=name, Item=item),
        },
    )
    measure(
        "get",
        {
            "ours": lambda: staging.get(TOKEN, PATH),
            "PynamoDB": lambda: Staged.get(TOKEN, PATH, consistent_read=True),
            "boto3": lambda: client.get_item(TableName=name, Key=key, ConsistentRead=True),
        },
    )
    query = Staged.path >= b"many"
    measure(
        "query of 1,000",
        {
            "ours": lambda: list(staging.scan(TOKEN, b"many", b"n")),
            "PynamoDB": lambda: list(Staged.query(TOKEN, query, consistent_read=True)),
        },
        calls=10,
    )


def measure_s3(endpoint: str, settings: DeploymentSettings, bucket: str) -> None:
    clients = Clients(settings)
    by_boto3 = S3(clients.s3)
    place = Endpoint(endpoint, REGION)
    directly = S3(by_boto3.client, directly=clients.direct_s3(place))
    signer = S3Requests(place, clients.credentials)
    objects = S3ObjectStore(directly, credentials=clients.credentials, signer=signer)
    # Without the credentials, boto3 signs every URL.
    alone = S3ObjectStore(by_boto3)
    config = Config(signature_version="s3v4", s3={"addressing_style": "path"})
    client = boto3.client("s3", endpoint_url=endpoint, region_name=REGION, config=config)
    uri = f"s3://{bucket}/bench"

    def read() -> bytes:
        return client.get_object(Bucket=bucket, Key="bench")["Body"].read()

    measure(
        "S3 put of 4 KB",
        {
            "ours": lambda: objects.put(uri, CONTENT, "a/b"),
            "boto3, as we set it": lambda: alone.put(uri, CONTENT, "a/b"),
            "boto3": lambda: client.put_object(
                Bucket=bucket, Key="bench", Body=CONTENT, ContentType="a/b"
            ),
        },
    )
    measure(
        "S3 get of 4 KB",
        {
            "ours": lambda: objects.get(uri),
            "boto3, as we set it": lambda: alone.get(uri),
            "boto3": read,
        },
    )
    measure(
        "presigned URL",
        {
            "ours": lambda: objects.presign_get(uri, 900, "bench"),
            "boto3": lambda: alone.presign_get(uri, 900, "bench"),
        },
    )
    measure(
        "presigned URLs of 10,000 parts",
        {
            "ours": lambda: objects.presign_parts(uri, "upload", UPLOAD_PARTS_MAX, 900),
            "boto3": lambda: alone.presign_parts(uri, "upload", UPLOAD_PARTS_MAX, 900),
        },
        calls=3,
    )


def main(dynamodb_endpoint: str, s3_endpoint: str, bucket: str) -> None:
    suffix = uuid4().hex[:8]
    settings = DeploymentSettings(
        region=REGION,
        refs_table=f"bench-refs-{suffix}",
        staging_table=f"bench-staging-{suffix}",
        dynamodb_endpoint=dynamodb_endpoint,
        s3_endpoint=s3_endpoint,
    )
    dynamodb = Clients(settings).dynamodb()
    tables = Tables(settings.refs_table, settings.staging_table, dynamodb)
    tables.create()
    print(f"{'ms per call':34} {'cpu':>8} {'wall':>8}")
    measure_dynamodb(dynamodb_endpoint, tables)
    measure_s3(s3_endpoint, settings, bucket)
    for name in (tables.refs, tables.staging):
        dynamodb.call("DeleteTable", {"TableName": name})


if __name__ == "__main__":
    main(*sys.argv[1:])
