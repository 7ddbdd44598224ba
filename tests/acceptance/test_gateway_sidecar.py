"""`graveler gateway`: S3's clients on a machine that has only the API's endpoint and a key pair."""

import os
import signal
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator

import boto3
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from boto3.s3.transfer import TransferConfig
from botocore.config import Config
from botocore.exceptions import ClientError
from pyarrow.fs import FileSelector, S3FileSystem

from graveler_embedded.config import ROOT
from graveler_embedded.processes import Child, StartError
from graveler_embedded.tcp_ports import free_port

pytestmark = pytest.mark.server

COMMAND = (sys.executable, "-c", "from graveler_cli.__main__ import main; main()", "gateway")
MB = 1024 * 1024
LARGE = os.urandom(MB) * 12


def environment_of(stack, **variables: str) -> dict[str, str]:
    """Only lakectl's variables: no endpoint of a store, and no credentials of AWS."""
    return {
        "PATH": "",
        "HOME": "/nonexistent",
        "LAKECTL_SERVER_ENDPOINT_URL": stack.endpoint,
        "LAKECTL_CREDENTIALS_ACCESS_KEY_ID": stack.access_key_id,
        "LAKECTL_CREDENTIALS_SECRET_ACCESS_KEY": stack.secret_access_key,
        **variables,
    }


def answers(endpoint: str) -> bool:
    try:
        urllib.request.urlopen(endpoint, timeout=5)
    except urllib.error.HTTPError:
        return True  # an anonymous request is refused
    except OSError:
        return False
    return True


@pytest.fixture(scope="module")
def gateway(stack, tmp_path_factory) -> Iterator[str]:
    """The endpoint of a running `graveler gateway`."""
    port = free_port()
    log = tmp_path_factory.mktemp("sidecar") / "gateway.log"
    command = (*COMMAND, "--port", str(port))
    child = Child("the gateway", command, log, environment_of(stack), ROOT)
    endpoint = f"http://127.0.0.1:{port}"
    child.wait_until(lambda: answers(endpoint))
    assert endpoint in log.read_text()
    yield endpoint
    assert child.stop(signal.SIGINT, timeout_s=300) == 0


def client_of(endpoint: str, key_id: str, secret: str):
    return boto3.client(
        "s3",
        endpoint_url=endpoint,
        region_name="us-east-1",
        aws_access_key_id=key_id,
        aws_secret_access_key=secret,
        config=Config(s3={"addressing_style": "path"}, retries={"max_attempts": 1}),
    )


@pytest.fixture(scope="module")
def s3(stack, gateway):
    return client_of(gateway, stack.access_key_id, stack.secret_access_key)


def code_of(failure: pytest.ExceptionInfo[ClientError]) -> str:
    return failure.value.response["Error"]["Code"]


def test_an_object_comes_back_with_its_type_and_metadata(s3, repository, main):
    s3.put_object(
        Bucket=repository.id,
        Key="main/a b/ü%.txt",
        Body=b"hello",
        ContentType="text/x-greeting",
        Metadata={"who": "ann"},
    )
    found = s3.get_object(Bucket=repository.id, Key="main/a b/ü%.txt")
    assert found["Body"].read() == b"hello"
    assert (found["ContentType"], found["Metadata"]) == ("text/x-greeting", {"who": "ann"})
    assert [each.path for each in main.objects()] == ["a b/ü%.txt"]


def test_the_headers_that_s3_keeps_come_back(s3, repository):
    kept = {"ContentEncoding": "gzip", "CacheControl": "a", "ContentDisposition": "inline"}
    where = {"Bucket": repository.id, "Key": "main/kept"}
    s3.put_object(**where, Body=b"content", **kept)
    for found in (s3.get_object(**where), s3.head_object(**where)):
        assert kept.items() <= found.items()
    with pytest.raises(ClientError) as failure:
        s3.put_object(**where, Body=b"other", ServerSideEncryption="aws:kms")
    assert code_of(failure) == "NotImplemented"


def test_a_range_of_a_large_object_is_read(s3, repository):
    s3.put_object(Bucket=repository.id, Key="main/large", Body=LARGE)
    found = s3.get_object(Bucket=repository.id, Key="main/large", Range="bytes=5000000-5000099")
    assert found["Body"].read() == LARGE[5_000_000:5_000_100]
    assert found["ContentRange"] == f"bytes 5000000-5000099/{len(LARGE)}"


def test_a_large_file_is_uploaded_in_parts_and_downloaded_in_ranges(s3, repository, tmp_path):
    (tmp_path / "up").write_bytes(LARGE)
    parts = TransferConfig(multipart_threshold=5 * MB, multipart_chunksize=5 * MB)
    s3.upload_file(str(tmp_path / "up"), repository.id, "main/parts", Config=parts)
    s3.download_file(repository.id, "main/parts", str(tmp_path / "down"), Config=parts)
    assert (tmp_path / "down").read_bytes() == LARGE
    assert s3.head_object(Bucket=repository.id, Key="main/parts")["ETag"].endswith('-3"')


def test_a_commit_of_the_api_is_read_by_its_id(s3, repository, main):
    s3.put_object(Bucket=repository.id, Key="main/o", Body=b"old")
    commit = main.commit("old").get_commit().id
    s3.put_object(Bucket=repository.id, Key="main/o", Body=b"new")
    assert s3.get_object(Bucket=repository.id, Key=f"{commit}/o")["Body"].read() == b"old"
    assert s3.get_object(Bucket=repository.id, Key="main/o")["Body"].read() == b"new"


def test_listings_have_branches_folders_and_pages(s3, repository):
    for name in ("a/1", "a/2", "b"):
        s3.put_object(Bucket=repository.id, Key=f"main/{name}", Body=b"x")
    top = s3.list_objects_v2(Bucket=repository.id, Delimiter="/")
    assert [each["Prefix"] for each in top["CommonPrefixes"]] == ["main/"]
    below = s3.list_objects_v2(Bucket=repository.id, Prefix="main/", Delimiter="/")
    assert [each["Prefix"] for each in below["CommonPrefixes"]] == ["main/a/"]
    assert [each["Key"] for each in below["Contents"]] == ["main/b"]
    pages = s3.get_paginator("list_objects_v2").paginate(
        Bucket=repository.id, Prefix="main/", PaginationConfig={"PageSize": 2}
    )
    keys = [[each["Key"] for each in page["Contents"]] for page in pages]
    assert keys == [["main/a/1", "main/a/2"], ["main/b"]]
    assert repository.id in [each["Name"] for each in s3.list_buckets()["Buckets"]]


def test_a_conditional_write_fails_if_the_object_exists_or_has_changed(s3, repository):
    key = {"Bucket": repository.id, "Key": "main/once"}
    tag = s3.put_object(**key, Body=b"1", IfNoneMatch="*")["ETag"]
    for condition in ({"IfNoneMatch": "*"}, {"IfMatch": '"0123"'}):
        with pytest.raises(ClientError) as failure:
            s3.put_object(**key, Body=b"2", **condition)
        assert code_of(failure) == "PreconditionFailed"
    s3.put_object(**key, Body=b"3", IfMatch=tag)
    with pytest.raises(ClientError) as failure:
        s3.put_object(Bucket=repository.id, Key="main/nothing", Body=b"4", IfMatch=tag)
    assert code_of(failure) == "NoSuchKey"
    with pytest.raises(ClientError) as failure:
        s3.delete_object(**key, IfMatch=tag)
    assert code_of(failure) == "PreconditionFailed"
    assert s3.get_object(**key)["Body"].read() == b"3"


def test_a_copy_keeps_or_replaces_what_describes_the_object(s3, repository):
    bucket = repository.id
    s3.put_object(Bucket=bucket, Key="main/from", Body=b"x", Metadata={"k": "v"})
    source = {"Bucket": bucket, "Key": "main/from"}
    s3.copy_object(Bucket=bucket, Key="main/same", CopySource=source)
    s3.copy_object(
        Bucket=bucket,
        Key="main/other",
        CopySource=source,
        MetadataDirective="REPLACE",
        Metadata={"k": "w"},
        ContentType="text/plain",
    )
    assert s3.head_object(Bucket=bucket, Key="main/same")["Metadata"] == {"k": "v"}
    other = s3.head_object(Bucket=bucket, Key="main/other")
    assert (other["Metadata"], other["ContentType"]) == ({"k": "w"}, "text/plain")


def test_an_upload_that_one_request_began_is_listed_continued_and_aborted(s3, repository):
    key = {"Bucket": repository.id, "Key": "main/parts"}
    upload = s3.create_multipart_upload(**key)["UploadId"]
    s3.upload_part(**key, UploadId=upload, PartNumber=2, Body=b"second")
    found = s3.list_multipart_uploads(Bucket=repository.id)["Uploads"]
    assert [(each["Key"], each["UploadId"]) for each in found] == [("main/parts", upload)]
    parts = s3.list_parts(**key, UploadId=upload)["Parts"]
    assert [(each["PartNumber"], each["Size"]) for each in parts] == [(2, 6)]
    s3.abort_multipart_upload(**key, UploadId=upload)
    with pytest.raises(ClientError) as failure:
        s3.upload_part(**key, UploadId=upload, PartNumber=3, Body=b"late")
    assert code_of(failure) == "NoSuchUpload"


def test_a_part_is_copied_from_an_object(s3, repository):
    s3.put_object(Bucket=repository.id, Key="main/from", Body=LARGE)
    key = {"Bucket": repository.id, "Key": "main/to"}
    upload = s3.create_multipart_upload(**key)["UploadId"]
    source = {"Bucket": repository.id, "Key": "main/from"}
    copied = s3.upload_part_copy(
        **key, UploadId=upload, PartNumber=1, CopySource=source, CopySourceRange="bytes=1-9"
    )
    part = {"PartNumber": 1, "ETag": copied["CopyPartResult"]["ETag"]}
    s3.complete_multipart_upload(**key, UploadId=upload, MultipartUpload={"Parts": [part]})
    assert s3.get_object(**key)["Body"].read() == LARGE[1:10]


def test_tags_are_kept_and_many_objects_are_deleted(s3, repository):
    key = {"Bucket": repository.id, "Key": "main/tagged"}
    s3.put_object(**key, Body=b"x", Tagging="a=1")
    s3.put_object_tagging(**key, Tagging={"TagSet": [{"Key": "b", "Value": "2"}]})
    assert s3.get_object_tagging(**key)["TagSet"] == [{"Key": "b", "Value": "2"}]
    gone = s3.delete_objects(
        Bucket=repository.id,
        Delete={"Objects": [{"Key": "main/tagged"}, {"Key": "main/never"}, {"Key": "no/branch"}]},
    )
    assert [each["Key"] for each in gone["Deleted"]] == ["main/tagged", "main/never"]
    assert [each["Key"] for each in gone["Errors"]] == ["no/branch"]


@pytest.mark.parametrize(
    ("bucket", "key", "code"),
    [("nothing", "main/o", "NoSuchBucket"), ("", "main/o", "NoSuchKey"), ("", "no/o", "NoSuchKey")],
)
def test_what_does_not_exist_has_s3s_code(s3, repository, bucket, key, code):
    with pytest.raises(ClientError) as failure:
        s3.get_object(Bucket=bucket or repository.id, Key=key)
    assert code_of(failure) == code


def test_a_write_to_a_branch_that_does_not_exist_is_refused(s3, repository):
    with pytest.raises(ClientError) as failure:
        s3.put_object(Bucket=repository.id, Key="none/o", Body=LARGE)
    assert code_of(failure) == "NoSuchBucket"


def test_only_the_key_pair_of_the_configuration_opens_it(stack, gateway, repository):
    other = client_of(gateway, "AKIAJOTHEROTHEROTHEQ", stack.secret_access_key)
    with pytest.raises(ClientError) as failure:
        other.list_objects_v2(Bucket=repository.id)
    assert code_of(failure) == "InvalidAccessKeyId"
    wrong = client_of(gateway, stack.access_key_id, "wrong")
    with pytest.raises(ClientError) as failure:
        wrong.list_objects_v2(Bucket=repository.id)
    assert code_of(failure) == "SignatureDoesNotMatch"


def test_pyarrow_writes_and_reads_a_dataset(stack, gateway, repository):
    lake = S3FileSystem(
        access_key=stack.access_key_id,
        secret_key=stack.secret_access_key,
        endpoint_override=gateway.removeprefix("http://"),
        scheme="http",
        region="us-east-1",
    )
    table = pa.table({"day": ["mon", "tue"] * 50_000, "value": list(range(100_000))})
    root = f"{repository.id}/main/table"
    pq.write_to_dataset(table, root, partition_cols=["day"], filesystem=lake)
    files = lake.get_file_info(FileSelector(root, recursive=True))
    assert {each.path.split("/")[3] for each in files} == {"day=mon", "day=tue"}
    read = pq.read_table(root, filesystem=lake).sort_by("value")
    assert read["value"].to_pylist() == list(range(100_000))


def refusal(stack, tmp_path, port: int, **variables: str) -> str:
    """What a gateway prints that cannot begin."""
    command = (*COMMAND, "--port", str(port))
    log = tmp_path / "log"
    child = Child("the gateway", command, log, environment_of(stack, **variables), ROOT)
    with pytest.raises(StartError):
        child.wait_until(lambda: False)
    return log.read_text()


def test_a_wrong_key_pair_is_reported_before_anything_is_served(stack, tmp_path):
    wrong = {"LAKECTL_CREDENTIALS_SECRET_ACCESS_KEY": "wrong"}
    shown = refusal(stack, tmp_path, free_port(), **wrong)
    assert "error authenticating request" in shown
    assert "Traceback" not in shown


def test_an_address_in_use_is_reported(stack, gateway, tmp_path):
    assert "cannot listen on" in refusal(stack, tmp_path, int(gateway.rpartition(":")[2]))
