"""What users of S3 do, with boto3 through the gateway: `make actions` records what it needs."""

from base64 import b64encode
from collections.abc import Iterator
from typing import Any
from zlib import crc32

import boto3
import lakefs
import pytest
from botocore.config import Config

from tests.support.servers.stack import Stack

pytestmark = pytest.mark.server

PART_BYTES = 5 * 1024 * 1024


@pytest.fixture(scope="module")
def s3(stack: Stack) -> Iterator[Any]:
    client = boto3.client(
        "s3",
        endpoint_url=stack.endpoint,
        region_name="us-east-1",
        aws_access_key_id=stack.access_key_id,
        aws_secret_access_key=stack.secret_access_key,
        config=Config(s3={"addressing_style": "path"}, retries={"max_attempts": 1}),
    )
    yield client
    client.close()


@pytest.fixture
def bucket(repository: lakefs.Repository) -> str:
    return repository.id


def content(s3: Any, bucket: str, key: str, **parameters: str) -> bytes:
    body: bytes = s3.get_object(Bucket=bucket, Key=key, **parameters)["Body"].read()
    return body


def test_a_written_object_is_read_listed_and_deleted(s3: Any, bucket: str):
    s3.put_object(Bucket=bucket, Key="main/a/b.txt", Body=b"hello", Metadata={"who": "me"})
    assert content(s3, bucket, "main/a/b.txt") == b"hello"
    assert content(s3, bucket, "main/a/b.txt", Range="bytes=1-2") == b"el"
    assert s3.head_object(Bucket=bucket, Key="main/a/b.txt")["Metadata"] == {"who": "me"}
    listed = s3.list_objects_v2(Bucket=bucket, Prefix="main/")["Contents"]
    assert [each["Key"] for each in listed] == ["main/a/b.txt"]
    s3.delete_object(Bucket=bucket, Key="main/a/b.txt")
    assert "Contents" not in s3.list_objects_v2(Bucket=bucket, Prefix="main/")


def test_committed_objects_are_read_by_branch_and_by_commit(
    s3: Any, repository: lakefs.Repository, bucket: str
):
    s3.put_object(Bucket=bucket, Key="main/kept", Body=b"kept")
    commit = repository.branch("main").commit("Keep it").get_commit().id
    for ref in ("main", commit):
        assert content(s3, bucket, f"{ref}/kept") == b"kept"
    s3.delete_objects(Bucket=bucket, Delete={"Objects": [{"Key": "main/kept"}]})
    assert content(s3, bucket, f"{commit}/kept") == b"kept"
    assert bucket in [each["Name"] for each in s3.list_buckets()["Buckets"]]


def test_a_put_that_wants_no_object_there_is_refused_if_there_is_one(s3: Any, bucket: str):
    s3.put_object(Bucket=bucket, Key="main/once", Body=b"1", IfNoneMatch="*")
    with pytest.raises(s3.exceptions.ClientError, match="PreconditionFailed"):
        s3.put_object(Bucket=bucket, Key="main/once", Body=b"2", IfNoneMatch="*")
    assert content(s3, bucket, "main/once") == b"1"


def test_an_object_is_copied(s3: Any, bucket: str):
    s3.put_object(Bucket=bucket, Key="main/source", Body=b"copied")
    source = {"Bucket": bucket, "Key": "main/source"}
    s3.copy_object(Bucket=bucket, Key="main/target", CopySource=source)
    assert content(s3, bucket, "main/target") == b"copied"


def test_an_upload_in_parts_becomes_an_object(s3: Any, bucket: str):
    s3.put_object(Bucket=bucket, Key="main/source", Body=b"s" * PART_BYTES)
    place = {"Bucket": bucket, "Key": "main/large"}
    upload = {**place, "UploadId": s3.create_multipart_upload(**place)["UploadId"]}
    assert s3.list_multipart_uploads(Bucket=bucket)["Uploads"][0]["Key"] == "main/large"
    copied = s3.upload_part_copy(
        **upload, PartNumber=1, CopySource={"Bucket": bucket, "Key": "main/source"}
    )
    sent = s3.upload_part(**upload, PartNumber=2, Body=b"end")
    assert [each["Size"] for each in s3.list_parts(**upload)["Parts"]] == [PART_BYTES, 3]
    tags = [copied["CopyPartResult"]["ETag"], sent["ETag"]]
    parts = [{"PartNumber": number, "ETag": tag} for number, tag in enumerate(tags, start=1)]
    s3.complete_multipart_upload(**upload, MultipartUpload={"Parts": parts})
    assert content(s3, bucket, "main/large") == b"s" * PART_BYTES + b"end"


def test_an_upload_that_was_given_up_leaves_nothing(s3: Any, bucket: str):
    place = {"Bucket": bucket, "Key": "main/never"}
    upload = {**place, "UploadId": s3.create_multipart_upload(**place)["UploadId"]}
    s3.upload_part(**upload, PartNumber=1, Body=b"part")
    s3.abort_multipart_upload(**upload)
    assert "Uploads" not in s3.list_multipart_uploads(Bucket=bucket)
    with pytest.raises(s3.exceptions.ClientError, match="NoSuchKey"):
        content(s3, bucket, "main/never")


def test_the_size_and_the_checksum_of_an_object_in_parts_are_checked_and_kept(s3: Any, bucket: str):
    place = {"Bucket": bucket, "Key": "main/parts"}
    declared = {"ChecksumAlgorithm": "CRC32", "ChecksumType": "FULL_OBJECT"}
    contents = (b"1" * PART_BYTES, b"2")
    place["UploadId"] = s3.create_multipart_upload(**place, **declared)["UploadId"]
    parts = []
    for number, body in enumerate(contents, 1):
        sent = s3.upload_part(**place, PartNumber=number, Body=body, ChecksumAlgorithm="CRC32")
        parts.append({"PartNumber": number, **{k: sent[k] for k in ("ETag", "ChecksumCRC32")}})
    checksum = b64encode(crc32(b"".join(contents)).to_bytes(4, "big")).decode()
    joined = {"MultipartUpload": {"Parts": parts}}
    with pytest.raises(s3.exceptions.ClientError, match="BadDigest"):
        s3.complete_multipart_upload(**place, **joined, ChecksumCRC32="AAAAAA==")
    with pytest.raises(s3.exceptions.ClientError, match="InvalidRequest"):
        s3.complete_multipart_upload(**place, **joined, MpuObjectSize=99)
    right = {"MpuObjectSize": PART_BYTES + 1, "ChecksumCRC32": checksum}
    made = s3.complete_multipart_upload(**place, **joined, **right)
    assert (made["ChecksumCRC32"], made["ChecksumType"]) == (checksum, "FULL_OBJECT")
    del place["UploadId"]
    assert s3.head_object(**place, ChecksumMode="ENABLED")["ChecksumCRC32"] == checksum
    # boto3 compares what it reads with the checksum.
    assert content(s3, **{k.lower(): v for k, v in place.items()}) == b"".join(contents)
