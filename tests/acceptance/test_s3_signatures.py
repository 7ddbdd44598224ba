"""Signatures of boto3 in all forms: both versions, in headers, presigned URLs and forms."""

import lakefs
import pytest
import requests

from tests.acceptance.s3 import S3Client, boto3_client
from tests.support.servers.stack import Stack

pytestmark = pytest.mark.server

MB = 1024**2
CONTENT = b"The quick brown fox jumps over the lazy dog"


@pytest.fixture(scope="module")
def s3(stack: Stack) -> S3Client:
    return boto3_client(stack)


@pytest.fixture
def bucket(repository: lakefs.Repository) -> str:
    return repository.id


def read(s3: S3Client, bucket: str, key: str) -> bytes:
    return s3.get_object(Bucket=bucket, Key=key)["Body"].read()


def keys(s3: S3Client, bucket: str, prefix: str) -> list[str]:
    listed = s3.list_objects_v2(Bucket=bucket, Prefix=prefix)
    return [row["Key"] for row in listed.get("Contents", [])]


@pytest.mark.parametrize("version", ["s3v4", "s3"])
def test_objects_are_put_read_listed_and_deleted(stack: Stack, bucket: str, version: str) -> None:
    s3 = boto3_client(stack, signature_version=version)
    s3.put_object(Bucket=bucket, Key="main/ä b+c", Body=CONTENT, Metadata={"k": "v"})
    s3.copy_object(
        Bucket=bucket, Key="main/copy", CopySource={"Bucket": bucket, "Key": "main/ä b+c"}
    )
    assert read(s3, bucket, "main/copy") == CONTENT
    assert keys(s3, bucket, "main/") == ["main/copy", "main/ä b+c"]
    objects = [{"Key": name} for name in keys(s3, bucket, "main/")]
    s3.delete_objects(Bucket=bucket, Delete={"Objects": objects})
    assert keys(s3, bucket, "main/") == []
    assert bucket in [row["Name"] for row in s3.list_buckets()["Buckets"]]


@pytest.mark.parametrize("version", ["s3v4", "s3"])
def test_presigned_urls_read_and_write(stack: Stack, bucket: str, version: str) -> None:
    s3 = boto3_client(stack, signature_version=version)
    place = {"Bucket": bucket, "Key": "main/ä b+c"}
    put = s3.generate_presigned_url("put_object", place, ExpiresIn=60)
    assert requests.put(put, data=CONTENT, timeout=300).status_code == 200
    get = s3.generate_presigned_url(
        "get_object", {**place, "ResponseContentDisposition": "attachment"}, ExpiresIn=60
    )
    got = requests.get(get, timeout=300)
    assert (got.content, got.headers["content-disposition"]) == (CONTENT, "attachment")
    assert requests.put(get, data=b"other", timeout=300).status_code == 403
    altered = get.replace("main/", "main/x", 1)
    assert requests.get(altered, timeout=300).status_code == 403
    assert read(s3, bucket, place["Key"]) == CONTENT


def test_an_expired_presigned_url_is_refused(s3: S3Client, bucket: str) -> None:
    s3.put_object(Bucket=bucket, Key="main/fox", Body=CONTENT)
    url = s3.generate_presigned_url("get_object", {"Bucket": bucket, "Key": "main/fox"}, -1)
    refused = requests.get(url, timeout=300)
    assert refused.status_code == 403
    assert "AccessDenied" in refused.text or "AuthorizationQueryParametersError" in refused.text


@pytest.mark.parametrize("version", ["s3v4", "s3"])
@pytest.mark.parametrize("size_bytes", [len(CONTENT), 3 * MB])
def test_a_presigned_form_uploads_a_file(
    stack: Stack, bucket: str, size_bytes: int, version: str
) -> None:
    s3 = boto3_client(stack, signature_version=version)
    content = (CONTENT * (size_bytes // len(CONTENT) + 1))[:size_bytes]
    form = s3.generate_presigned_post(
        bucket,
        "main/forms/${filename}",
        Fields={"x-amz-meta-color": "red", "success_action_status": "201"},
        Conditions=[
            {"x-amz-meta-color": "red"},
            {"success_action_status": "201"},
            ["content-length-range", 1, 4 * MB],
        ],
    )
    files = {"file": ("fox.txt", content)}
    posted = requests.post(form["url"], data=form["fields"], files=files, timeout=300)
    assert posted.status_code == 201, posted.text
    assert read(s3, bucket, "main/forms/fox.txt") == content
    assert s3.head_object(Bucket=bucket, Key="main/forms/fox.txt")["Metadata"] == {"color": "red"}


@pytest.mark.parametrize(
    ("version", "signature"), [("s3v4", "x-amz-signature"), ("s3", "signature")]
)
def test_a_form_that_its_policy_does_not_allow_stores_nothing(
    stack: Stack, bucket: str, version: str, signature: str
) -> None:
    s3 = boto3_client(stack, signature_version=version)
    limits = [["content-length-range", 1, 10]]
    form = s3.generate_presigned_post(bucket, "main/form", Conditions=limits)
    files = {"file": CONTENT}
    too_large = requests.post(form["url"], data=form["fields"], files=files, timeout=300)
    elsewhere = {**form["fields"], "key": "main/other"}
    moved = requests.post(form["url"], data=elsewhere, files={"file": b"x"}, timeout=300)
    altered = {**form["fields"], signature: form["fields"][signature][::-1]}
    forged = requests.post(form["url"], data=altered, files={"file": b"x"}, timeout=300)
    assert (too_large.status_code, moved.status_code, forged.status_code) == (400, 403, 403)
    assert keys(s3, bucket, "main/") == []
