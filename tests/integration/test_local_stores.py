"""The stores of the embedded stack are real ones, and nobody else's business."""

import contextlib
import socket
import urllib.error
import urllib.request
from threading import Thread
from urllib.parse import urlsplit

import boto3
import pytest
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError

from graveler_embedded.stores import start_dynamodb
from graveler_embedded.tcp_ports import free_port
from tests.support.servers.stack import BUCKET, KEYS

pytestmark = pytest.mark.server


def s3_client(endpoint: str, secret: str = KEYS.secret_access_key):
    return boto3.client(
        "s3",
        endpoint_url=endpoint,
        region_name="us-east-1",
        aws_access_key_id=KEYS.access_key_id,
        aws_secret_access_key=secret,
        config=Config(signature_version="s3v4", s3={"addressing_style": "path"}),
    )


def other_addresses() -> list[str]:
    """Addresses of this machine outside of 127.0.0.1."""
    return [
        "127.0.0.2",
        *{str(info[4][0]) for info in socket.getaddrinfo(socket.gethostname(), None)},
    ]


def test_objects_are_stored_with_their_metadata(s3_endpoint):
    s3 = s3_client(s3_endpoint)
    put = s3.put_object(
        Bucket=BUCKET,
        Key="stored/b c+d",
        Body=b"content",
        ContentType="text/x",
        Metadata={"k": "v"},
    )
    got = s3.get_object(Bucket=BUCKET, Key="stored/b c+d")
    assert got["Body"].read() == b"content"
    assert (got["ETag"], got["ContentType"], got["Metadata"]) == (put["ETag"], "text/x", {"k": "v"})


def answer_to(method: str, url: str, content: bytes | None = None, **headers: str):
    """The status and the headers of an answer; underscores in names stand for hyphens."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    request = urllib.request.Request(url, content, named, method=method)
    try:
        with urllib.request.urlopen(request, timeout=300) as answer:
            return answer.status, answer.headers
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.headers


def test_a_page_of_this_machine_uploads_and_reads_by_presigned_url(s3_endpoint):
    """As a browser does: it asks first, and shows the page what the server exposes."""
    s3 = s3_client(s3_endpoint)
    upload = s3.create_multipart_upload(Bucket=BUCKET, Key="shown")["UploadId"]
    one = {"Bucket": BUCKET, "Key": "shown", "UploadId": upload, "PartNumber": 1}
    part = s3.generate_presigned_url("upload_part", Params=one)
    for origin in ("http://127.0.0.1:8000", "http://localhost:5173"):
        status, asked = answer_to(
            "OPTIONS",
            part,
            Origin=origin,
            Access_Control_Request_Method="PUT",
            Access_Control_Request_Headers="content-type",
        )
        assert (status, asked["Access-Control-Allow-Origin"]) == (200, origin)
        assert "PUT" in asked["Access-Control-Allow-Methods"]
        assert asked["Access-Control-Allow-Headers"] == "content-type"
        kind = "application/octet-stream"
        status, put = answer_to("PUT", part, b"content", Origin=origin, Content_Type=kind)
        assert (status, put["Access-Control-Allow-Origin"]) == (200, origin)
        assert put["ETag"]
        assert "ETag" in put["Access-Control-Expose-Headers"]
    parts = {"Parts": [{"PartNumber": 1, "ETag": put["ETag"]}]}
    s3.complete_multipart_upload(Bucket=BUCKET, Key="shown", UploadId=upload, MultipartUpload=parts)
    url = s3.generate_presigned_url("get_object", Params={"Bucket": BUCKET, "Key": "shown"})
    status, got = answer_to("GET", url, Origin=origin, Range="bytes=1-2")
    assert (status, got["Content-Range"]) == (206, "bytes 1-2/7")
    assert "Content-Range" in got["Access-Control-Expose-Headers"]


@pytest.mark.parametrize(
    ("origin", "method"),
    [
        ("https://example.com", "PUT"),
        ("http://127.0.0.1.example.com:80", "PUT"),
        ("http://127.0.0.1:8000", "DELETE"),
    ],
)
def test_other_pages_and_methods_are_not_let_in(s3_endpoint, origin, method):
    url = f"{s3_endpoint}/{BUCKET}/shown"
    status, headers = answer_to("OPTIONS", url, Origin=origin, Access_Control_Request_Method=method)
    assert status in (400, 403)
    assert "Access-Control-Allow-Origin" not in headers


def test_an_object_is_not_overwritten_when_it_must_be_absent(s3_endpoint):
    s3 = s3_client(s3_endpoint)
    s3.put_object(Bucket=BUCKET, Key="once", Body=b"1", IfNoneMatch="*")
    with pytest.raises(ClientError, match="PreconditionFailed"):
        s3.put_object(Bucket=BUCKET, Key="once", Body=b"2", IfNoneMatch="*")


def test_a_wrong_secret_is_refused(s3_endpoint):
    with pytest.raises(ClientError, match=r"SignatureDoesNotMatch|Forbidden"):
        s3_client(s3_endpoint, secret="wrong").list_objects_v2(Bucket=BUCKET)


@pytest.mark.parametrize("endpoint", ["dynamodb_endpoint", "s3_endpoint"])
def test_servers_answer_on_127_0_0_1_only(endpoint, request):
    port = urlsplit(request.getfixturevalue(endpoint)).port
    for address in {*other_addresses()} - {"127.0.0.1"}:
        with socket.socket(socket.AF_INET6 if ":" in address else socket.AF_INET) as probe:
            assert probe.connect_ex((address, port)) != 0, f"listens on {address}"


def dynamodb_client(endpoint):
    return boto3.client(
        "dynamodb",
        endpoint_url=endpoint,
        region_name="us-east-1",
        aws_access_key_id="any",
        aws_secret_access_key="any",
        config=Config(retries={"total_max_attempts": 1}),
    )


def create_table(dynamodb, name):
    dynamodb.create_table(
        TableName=name,
        AttributeDefinitions=[{"AttributeName": "id", "AttributeType": "S"}],
        KeySchema=[{"AttributeName": "id", "KeyType": "HASH"}],
        BillingMode="PAY_PER_REQUEST",
    )


def test_conditional_writes_have_one_winner(dynamodb_endpoint):
    dynamodb = dynamodb_client(dynamodb_endpoint)
    create_table(dynamodb, "local-stores")
    item = {"Item": {"id": {"S": "x"}}, "ConditionExpression": "attribute_not_exists(id)"}
    dynamodb.put_item(TableName="local-stores", **item)
    with pytest.raises(dynamodb.exceptions.ConditionalCheckFailedException):
        dynamodb.put_item(TableName="local-stores", **item)


def transact(dynamodb, name):
    """Put two items in one transaction; their IDs."""
    ids = [f"{name}-{part}" for part in "ab"]
    puts = [{"Put": {"TableName": "durable", "Item": {"id": {"S": id_}}}} for id_ in ids]
    dynamodb.transact_write_items(TransactItems=puts)
    return ids


def keep_busy(dynamodb, writer, acknowledged):
    """Write until the database is gone; note what was acknowledged."""
    with contextlib.suppress(BotoCoreError, ClientError):
        for number in range(100_000):
            acknowledged.extend(transact(dynamodb, f"{writer}-{number}"))


@pytest.mark.long
def test_every_acknowledged_write_survives_kill_9_of_the_database(tmp_path):
    """DynamoDB Local by itself answers a transaction before its database has committed it."""
    acknowledged = []
    for round_ in range(3):
        server = start_dynamodb(free_port(), tmp_path / "data", tmp_path / "log")
        server.wait_until_ready()
        dynamodb = dynamodb_client(server.endpoint)
        if not round_:
            create_table(dynamodb, "durable")
        others = [
            Thread(target=keep_busy, args=(dynamodb, f"{round_}-{writer}", acknowledged))
            for writer in range(6)
        ]
        for other in others:
            other.start()
        for number in range(20):
            acknowledged.extend(transact(dynamodb, f"{round_}-{number}"))
        server.child.kill()
        for other in others:
            other.join()

    again = start_dynamodb(free_port(), tmp_path / "data", tmp_path / "log")
    again.wait_until_ready()
    pages = dynamodb_client(again.endpoint).get_paginator("scan").paginate(TableName="durable")
    stored = {item["id"]["S"] for page in pages for item in page["Items"]}
    again.child.kill()
    assert set(acknowledged) - stored == set()
