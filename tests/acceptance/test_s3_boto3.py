"""boto3 against a repository, unchanged: what S3's own SDK does with objects."""

import gzip
import hashlib
import io
import os
import zlib
from base64 import b64encode
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

import lakefs
import pytest
import requests
from boto3.s3.transfer import TransferConfig
from botocore.exceptions import ClientError

from tests.acceptance.s3 import S3Client, boto3_client
from tests.support.servers.stack import Stack

pytestmark = pytest.mark.server

MB = 1024**2
CONTENT = b"The quick brown fox jumps over the lazy dog"
ETAG = f'"{hashlib.md5(CONTENT, usedforsecurity=False).hexdigest()}"'
LONG_AGO = datetime(2001, 1, 1, tzinfo=UTC)
TOMORROW = datetime.now(UTC) + timedelta(days=1)


@pytest.fixture(scope="module")
def s3(stack: Stack) -> S3Client:
    return boto3_client(stack)


@pytest.fixture
def bucket(repository: lakefs.Repository) -> str:
    return repository.id


def refusal(error: pytest.ExceptionInfo[ClientError]) -> tuple[str, int]:
    """The code and the status of a refused request."""
    answer = error.value.response
    return answer["Error"]["Code"], answer["ResponseMetadata"]["HTTPStatusCode"]


def read(s3: S3Client, bucket: str, key: str) -> bytes:
    return s3.get_object(Bucket=bucket, Key=key)["Body"].read()


def keys(s3: S3Client, bucket: str, prefix: str) -> list[str]:
    listed = s3.list_objects_v2(Bucket=bucket, Prefix=prefix)
    return [row["Key"] for row in listed.get("Contents", [])]


def parts_of(s3: S3Client, bucket: str, key: str, upload_id: str, pieces: list[bytes]) -> list:
    return [
        {
            "PartNumber": number,
            "ETag": s3.upload_part(
                Bucket=bucket, Key=key, UploadId=upload_id, PartNumber=number, Body=piece
            )["ETag"],
        }
        for number, piece in enumerate(pieces, 1)
    ]


def test_an_object_comes_back_as_it_was_put(s3: S3Client, bucket: str) -> None:
    put = s3.put_object(
        Bucket=bucket,
        Key="main/a/fox.txt",
        Body=CONTENT,
        ContentType="text/plain",
        Metadata={"color": "brown", "Animal": "fox"},
    )
    assert put["ETag"] == ETAG
    got = s3.get_object(Bucket=bucket, Key="main/a/fox.txt")
    head = s3.head_object(Bucket=bucket, Key="main/a/fox.txt")
    assert got["Body"].read() == CONTENT
    for answer in (got, head):
        assert answer["ETag"] == ETAG
        assert answer["ContentLength"] == len(CONTENT)
        assert answer["ContentType"] == "text/plain"
        assert answer["Metadata"] == {"color": "brown", "animal": "fox"}
        assert abs(answer["LastModified"] - datetime.now(UTC)) < timedelta(minutes=5)


@pytest.mark.parametrize("size_bytes", [0, 1, 65_536, 65_537, 9 * MB + 1])
def test_objects_of_all_sizes_come_back(s3: S3Client, bucket: str, size_bytes: int) -> None:
    content = os.urandom(size_bytes)
    s3.put_object(Bucket=bucket, Key="main/bytes", Body=content)
    assert read(s3, bucket, "main/bytes") == content


@pytest.mark.parametrize(
    "path",
    ["ä ö/ü+%20.txt", "a//b/", "trailing/", "quotes'\"<>&.xml", "..a/...", "😀", "a=b&c?d#e"],
)
def test_odd_keys_are_taken_as_they_are(s3: S3Client, bucket: str, path: str) -> None:
    s3.put_object(Bucket=bucket, Key=f"main/{path}", Body=CONTENT)
    assert read(s3, bucket, f"main/{path}") == CONTENT
    assert keys(s3, bucket, "main/") == [f"main/{path}"]
    s3.delete_object(Bucket=bucket, Key=f"main/{path}")
    assert keys(s3, bucket, "main/") == []


@pytest.mark.parametrize(
    ("requested", "first", "last"),
    [
        ("bytes=0-0", 0, 0),
        ("bytes=4-8", 4, 8),
        ("bytes=40-", 40, 42),
        ("bytes=-3", 40, 42),
        ("bytes=40-1000", 40, 42),
        ("bytes=-1000", 0, 42),
    ],
)
def test_a_range_of_an_object_is_read(
    s3: S3Client, bucket: str, requested: str, first: int, last: int
) -> None:
    s3.put_object(Bucket=bucket, Key="main/fox", Body=CONTENT)
    got = s3.get_object(Bucket=bucket, Key="main/fox", Range=requested)
    assert got["Body"].read() == CONTENT[first : last + 1]
    assert got["ContentRange"] == f"bytes {first}-{last}/{len(CONTENT)}"
    assert got["ResponseMetadata"]["HTTPStatusCode"] == 206


def test_a_range_behind_the_end_is_refused(s3: S3Client, bucket: str) -> None:
    s3.put_object(Bucket=bucket, Key="main/fox", Body=CONTENT)
    with pytest.raises(ClientError) as error:
        s3.get_object(Bucket=bucket, Key="main/fox", Range="bytes=43-")
    assert refusal(error) == ("InvalidRange", 416)


@pytest.mark.parametrize(
    ("condition", "status"),
    [
        ({"IfMatch": ETAG}, 200),
        ({"IfMatch": '"0"'}, 412),
        ({"IfNoneMatch": '"0"'}, 200),
        ({"IfNoneMatch": ETAG}, 304),
        ({"IfModifiedSince": LONG_AGO}, 200),
        ({"IfModifiedSince": TOMORROW - timedelta(days=1)}, 304),
        ({"IfUnmodifiedSince": TOMORROW}, 200),
        ({"IfUnmodifiedSince": LONG_AGO}, 412),
    ],
)
def test_reads_on_conditions(s3: S3Client, bucket: str, condition: dict, status: int) -> None:
    s3.put_object(Bucket=bucket, Key="main/fox", Body=CONTENT)
    if "IfModifiedSince" in condition and status == 304:
        condition = {
            "IfModifiedSince": s3.head_object(Bucket=bucket, Key="main/fox")["LastModified"]
        }
    for ask in (s3.get_object, s3.head_object):
        try:
            answered = ask(Bucket=bucket, Key="main/fox", **condition)
        except ClientError as error:
            answered = error.response
        assert answered["ResponseMetadata"]["HTTPStatusCode"] == status


def test_writes_on_conditions(s3: S3Client, bucket: str) -> None:
    place = {"Bucket": bucket, "Key": "main/fox"}
    s3.put_object(**place, Body=CONTENT, IfNoneMatch="*")
    for condition in ({"IfNoneMatch": "*"}, {"IfMatch": '"0"'}):
        with pytest.raises(ClientError) as error:
            s3.put_object(**place, Body=b"other", **condition)
        assert refusal(error) == ("PreconditionFailed", 412)
        (name,) = condition
        answer: Any = error.value.response
        assert answer["Error"]["Condition"].replace("-", "") == name
    assert read(s3, bucket, "main/fox") == CONTENT
    s3.put_object(**place, Body=b"newer", IfMatch=ETAG)
    assert read(s3, bucket, "main/fox") == b"newer"


def test_a_missing_key_and_a_missing_bucket_differ(s3: S3Client, bucket: str) -> None:
    with pytest.raises(s3.exceptions.NoSuchKey):
        s3.get_object(Bucket=bucket, Key="main/nothing")
    with pytest.raises(s3.exceptions.NoSuchBucket):
        s3.get_object(Bucket="no-such-repository", Key="main/nothing")
    with pytest.raises(s3.exceptions.NoSuchBucket):
        s3.put_object(Bucket=bucket, Key="no-such-branch/a", Body=b"")
    with pytest.raises(ClientError) as error:
        s3.head_object(Bucket=bucket, Key="main/nothing")
    assert refusal(error) == ("404", 404)


@pytest.mark.parametrize("algorithm", ["CRC32", "SHA1", "SHA256", "SHA512"])
def test_a_checksum_of_any_algorithm_is_checked(s3: S3Client, bucket: str, algorithm: str) -> None:
    name = f"Checksum{algorithm}"
    put = s3.put_object(
        Bucket=bucket,
        Key="main/fox",
        Body=CONTENT,
        ChecksumAlgorithm=algorithm,
    )
    assert put[name]
    lengths_bytes = {"CRC32": 4, "SHA1": 20, "SHA256": 32, "SHA512": 64}
    wrong = b64encode(b"\0" * lengths_bytes[algorithm])
    with pytest.raises(ClientError) as error:
        s3.put_object(Bucket=bucket, Key="main/other", Body=CONTENT, **{name: wrong.decode()})
    assert refusal(error) == ("BadDigest", 400)
    assert keys(s3, bucket, "main/") == ["main/fox"]


def test_a_crc32_of_a_stream_is_what_boto3_computed(s3: S3Client, bucket: str) -> None:
    put = s3.put_object(Bucket=bucket, Key="main/stream", Body=io.BytesIO(CONTENT))
    assert put["ChecksumCRC32"] == b64encode(zlib.crc32(CONTENT).to_bytes(4, "big")).decode()


def test_copies_keep_or_replace_the_metadata(s3: S3Client, bucket: str) -> None:
    s3.put_object(
        Bucket=bucket, Key="main/ä b", Body=CONTENT, Metadata={"k": "v"}, ContentType="text/x"
    )
    source = {"Bucket": bucket, "Key": "main/ä b"}
    copied = s3.copy_object(Bucket=bucket, Key="main/copy", CopySource=source)
    assert copied["CopyObjectResult"]["ETag"] == ETAG
    s3.copy_object(
        Bucket=bucket,
        Key="main/renamed",
        CopySource=f"{bucket}/main/copy",
        MetadataDirective="REPLACE",
        Metadata={"new": "yes"},
        ContentType="text/y",
    )
    kept = s3.head_object(Bucket=bucket, Key="main/copy")
    replaced = s3.head_object(Bucket=bucket, Key="main/renamed")
    assert (kept["Metadata"], kept["ContentType"]) == ({"k": "v"}, "text/x")
    assert (replaced["Metadata"], replaced["ContentType"]) == ({"new": "yes"}, "text/y")
    assert read(s3, bucket, "main/renamed") == CONTENT


KEPT: Any = {
    "CacheControl": "max-age=60",
    "ContentDisposition": 'attachment; filename="a b"',
    "ContentEncoding": "gzip",
    "ContentLanguage": "de",
}


def kept(s3: S3Client, bucket: str, key: str) -> dict[str, str]:
    """The headers that a GET and a HEAD show."""
    answers = (s3.get_object(Bucket=bucket, Key=key), s3.head_object(Bucket=bucket, Key=key))
    got, head = ({name: each[name] for name in KEPT if name in each} for each in answers)
    assert got == head
    return got


def test_the_headers_that_s3_keeps_come_back(s3: S3Client, bucket: str) -> None:
    where: Any = {"Bucket": bucket, "Key": "main/a"}
    s3.put_object(**where, Body=gzip.compress(CONTENT), **KEPT, Expires="2030-01-01T00:00:00Z")
    assert kept(s3, bucket, "main/a") == KEPT
    headers = s3.head_object(**where)["ResponseMetadata"]["HTTPHeaders"]
    assert headers["expires"] == "Tue, 01 Jan 2030 00:00:00 GMT"
    s3.copy_object(Bucket=bucket, Key="main/copy", CopySource=where)
    assert kept(s3, bucket, "main/copy") == KEPT
    new: Any = {"MetadataDirective": "REPLACE", "ContentLanguage": "fr"}
    s3.copy_object(Bucket=bucket, Key="main/new", CopySource=where, **new)
    assert kept(s3, bucket, "main/new") == {"ContentLanguage": "fr"}
    upload = s3.create_multipart_upload(Bucket=bucket, Key="main/parts", **KEPT)["UploadId"]
    parts = parts_of(s3, bucket, "main/parts", upload, [CONTENT])
    s3.complete_multipart_upload(
        Bucket=bucket, Key="main/parts", UploadId=upload, MultipartUpload={"Parts": parts}
    )
    assert kept(s3, bucket, "main/parts") == KEPT


def test_any_http_client_decodes_what_was_put_by_a_url(s3: S3Client, bucket: str) -> None:
    where = {"Bucket": bucket, "Key": "main/a", "ContentEncoding": "gzip"}
    url = s3.generate_presigned_url("put_object", Params=where)
    sent = {"Content-Encoding": "gzip"}
    requests.put(url, gzip.compress(CONTENT), headers=sent, timeout=300).raise_for_status()
    del where["ContentEncoding"]
    url = s3.generate_presigned_url("get_object", Params=where)
    assert requests.get(url, timeout=300).content == CONTENT


def test_an_encryption_that_the_store_lacks_is_refused(s3: S3Client, bucket: str) -> None:
    for encryption in (
        {"ServerSideEncryption": "aws:kms"},
        {"SSECustomerAlgorithm": "AES256", "SSECustomerKey": "k" * 32},
    ):
        for write in (
            partial(s3.put_object, Body=CONTENT),
            s3.create_multipart_upload,
        ):
            with pytest.raises(ClientError) as error:
                write(Bucket=bucket, Key="main/a", **encryption)
            assert refusal(error) == ("NotImplemented", 501)
    assert keys(s3, bucket, "main/") == []


def test_a_copy_on_a_condition(s3: S3Client, bucket: str) -> None:
    s3.put_object(Bucket=bucket, Key="main/fox", Body=CONTENT)
    source = f"{bucket}/main/fox"
    with pytest.raises(ClientError) as error:
        s3.copy_object(Bucket=bucket, Key="main/b", CopySource=source, CopySourceIfMatch='"0"')
    assert refusal(error) == ("PreconditionFailed", 412)
    with pytest.raises(ClientError) as error:
        s3.copy_object(Bucket=bucket, Key="main/b", CopySource=f"{bucket}/main/none")
    assert refusal(error) == ("NoSuchKey", 404)


def test_deletions_of_one_and_of_many(s3: S3Client, bucket: str) -> None:
    for name in "abcd":
        s3.put_object(Bucket=bucket, Key=f"main/{name}", Body=b"")
    s3.delete_object(Bucket=bucket, Key="main/a")
    s3.delete_object(Bucket=bucket, Key="main/a")
    objects = [{"Key": f"main/{name}"} for name in ("b", "c", "never")]
    report = s3.delete_objects(Bucket=bucket, Delete={"Objects": objects})
    assert sorted(row["Key"] for row in report["Deleted"]) == ["main/b", "main/c", "main/never"]
    assert keys(s3, bucket, "main/") == ["main/d"]


def test_listings_of_both_versions_have_all_pages(s3: S3Client, bucket: str) -> None:
    names = [f"main/{folder}/{number:02}" for folder in ("x", "y") for number in range(7)]
    for name in names:
        s3.put_object(Bucket=bucket, Key=name, Body=CONTENT)
    for operation in ("list_objects", "list_objects_v2"):
        paginator = s3.get_paginator(operation)
        pages = list(
            paginator.paginate(Bucket=bucket, Prefix="main/", PaginationConfig={"PageSize": 3})
        )
        rows = [row for page in pages for row in page["Contents"]]
        assert len(pages) == 5
        assert [row["Key"] for row in rows] == names
        assert {(row["ETag"], row["Size"]) for row in rows} == {(ETAG, len(CONTENT))}
        folders = paginator.paginate(
            Bucket=bucket, Prefix="main/", Delimiter="/", PaginationConfig={"PageSize": 1}
        )
        found = [row["Prefix"] for page in folders for row in page.get("CommonPrefixes", [])]
        assert found == ["main/x/", "main/y/"]
    after = s3.list_objects_v2(Bucket=bucket, Prefix="main/", StartAfter="main/y/04")
    assert [row["Key"] for row in after["Contents"]] == ["main/y/05", "main/y/06"]


def test_the_first_level_lists_branches(
    s3: S3Client, repository: lakefs.Repository, stack: Stack
) -> None:
    repository.branch("feature").create("main")
    listed = s3.list_objects_v2(Bucket=repository.id, Delimiter="/")
    assert [row["Prefix"] for row in listed["CommonPrefixes"]] == ["feature/", "main/"]
    assert repository.id in [row["Name"] for row in s3.list_buckets()["Buckets"]]
    s3.head_bucket(Bucket=repository.id)


def test_a_large_file_is_uploaded_and_downloaded_in_parts(
    s3: S3Client, bucket: str, tmp_path: Path
) -> None:
    content = os.urandom(MB) * 40
    (tmp_path / "up").write_bytes(content)
    parts = TransferConfig(multipart_threshold=8 * MB, multipart_chunksize=8 * MB)
    extra = {"Metadata": {"k": "v"}, "ContentType": "text/x"}
    s3.upload_file(str(tmp_path / "up"), bucket, "main/large", ExtraArgs=extra, Config=parts)
    head = s3.head_object(Bucket=bucket, Key="main/large")
    assert head["ETag"].endswith('-5"')
    assert (head["Metadata"], head["ContentType"]) == ({"k": "v"}, "text/x")
    s3.download_file(bucket, "main/large", str(tmp_path / "down"), Config=parts)
    assert (tmp_path / "down").read_bytes() == content


def test_a_multipart_upload_shows_its_parts_until_it_is_completed(
    s3: S3Client, bucket: str
) -> None:
    place = {"Bucket": bucket, "Key": "main/parts"}
    pieces = [b"a" * 5 * MB, b"b" * 5 * MB, b"end"]
    upload_id = s3.create_multipart_upload(**place)["UploadId"]
    parts = parts_of(s3, bucket, "main/parts", upload_id, pieces)
    listed = s3.list_parts(**place, UploadId=upload_id)
    assert [(row["PartNumber"], row["Size"]) for row in listed["Parts"]] == [
        (1, 5 * MB),
        (2, 5 * MB),
        (3, 3),
    ]
    open_uploads = s3.list_multipart_uploads(Bucket=bucket)["Uploads"]
    assert [(row["Key"], row["UploadId"]) for row in open_uploads] == [("main/parts", upload_id)]
    assert keys(s3, bucket, "main/") == []
    s3.complete_multipart_upload(**place, UploadId=upload_id, MultipartUpload={"Parts": parts})
    assert read(s3, bucket, "main/parts") == b"".join(pieces)
    assert not s3.list_multipart_uploads(Bucket=bucket).get("Uploads")


def test_parts_are_copied_from_ranges(s3: S3Client, bucket: str) -> None:
    content = os.urandom(6 * MB)
    s3.put_object(Bucket=bucket, Key="main/source", Body=content)
    place = {"Bucket": bucket, "Key": "main/joined"}
    upload_id = s3.create_multipart_upload(**place)["UploadId"]
    parts = []
    for number, span in enumerate([f"bytes=0-{5 * MB - 1}", f"bytes={5 * MB}-{6 * MB - 1}"], 1):
        copied = s3.upload_part_copy(
            **place,
            UploadId=upload_id,
            PartNumber=number,
            CopySource=f"{bucket}/main/source",
            CopySourceRange=span,
        )
        parts.append({"PartNumber": number, "ETag": copied["CopyPartResult"]["ETag"]})
    s3.complete_multipart_upload(**place, UploadId=upload_id, MultipartUpload={"Parts": parts})
    assert read(s3, bucket, "main/joined") == content


def test_an_aborted_upload_leaves_nothing(s3: S3Client, bucket: str) -> None:
    place = {"Bucket": bucket, "Key": "main/parts"}
    upload_id = s3.create_multipart_upload(**place)["UploadId"]
    parts = parts_of(s3, bucket, "main/parts", upload_id, [CONTENT])
    s3.abort_multipart_upload(**place, UploadId=upload_id)
    with pytest.raises(s3.exceptions.NoSuchUpload):
        s3.complete_multipart_upload(**place, UploadId=upload_id, MultipartUpload={"Parts": parts})
    assert keys(s3, bucket, "main/") == []


def test_an_upload_with_another_part_than_was_sent_is_refused(s3: S3Client, bucket: str) -> None:
    place = {"Bucket": bucket, "Key": "main/parts"}
    upload_id = s3.create_multipart_upload(**place)["UploadId"]
    parts = parts_of(s3, bucket, "main/parts", upload_id, [CONTENT])
    wrong = [{**part, "ETag": '"0"'} for part in parts]
    with pytest.raises(ClientError) as error:
        s3.complete_multipart_upload(**place, UploadId=upload_id, MultipartUpload={"Parts": wrong})
    assert refusal(error) == ("InvalidPart", 400)


def test_tags_are_set_counted_and_removed(s3: S3Client, bucket: str) -> None:
    place = {"Bucket": bucket, "Key": "main/fox"}
    s3.put_object(**place, Body=CONTENT, Tagging="team=red&stage=1")
    tags = s3.get_object_tagging(**place)["TagSet"]
    assert {tag["Key"]: tag["Value"] for tag in tags} == {"team": "red", "stage": "1"}
    s3.put_object_tagging(**place, Tagging={"TagSet": [{"Key": "new", "Value": "ä"}]})
    assert s3.get_object_tagging(**place)["TagSet"] == [{"Key": "new", "Value": "ä"}]
    assert s3.get_object(**place)["TagCount"] == 1
    assert read(s3, bucket, "main/fox") == CONTENT
    s3.delete_object_tagging(**place)
    assert s3.get_object_tagging(**place)["TagSet"] == []
