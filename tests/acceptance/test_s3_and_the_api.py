"""The S3 gateway beside the API: the same branches, objects, users and rules, by two doors."""

import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import timedelta
from functools import partial
from uuid import uuid4

import lakefs
import lakefs_sdk
import pytest
from botocore.exceptions import ClientError
from lakefs_sdk import models

from graveler.http.auth import MEMORY_S
from graveler.user_metadata import s3_metadata
from tests.acceptance.s3 import S3Client, boto3_client
from tests.support.clients.raw_s3 import RawConnection, Signer
from tests.support.servers.stack import BUCKET, Stack

pytestmark = pytest.mark.server


@pytest.fixture(scope="module")
def s3(stack: Stack) -> S3Client:
    return boto3_client(stack)


@pytest.fixture
def reader(client: lakefs.Client) -> Iterator[models.CredentialsWithSecret]:
    """The key pair of a user who may only read."""
    auth = client.sdk_client.auth_api
    name = f"reader-{uuid4().hex[:8]}"
    auth.create_user(user_creation=models.UserCreation(id=name))
    auth.attach_policy_to_user(name, "FSReadAll")
    yield auth.create_credentials(name)
    with suppress(lakefs_sdk.exceptions.NotFoundException):
        auth.delete_user(name)


def read(s3: S3Client, repository: lakefs.Repository, key: str) -> bytes:
    return s3.get_object(Bucket=repository.id, Key=key)["Body"].read()


def code_of(ask: Callable[[], object]) -> str:
    """The code with which the request is refused."""
    with pytest.raises(ClientError) as error:
        ask()
    return str(error.value.response["Error"]["Code"])


def test_what_is_written_on_a_branch_reaches_main_by_a_merge(
    s3: S3Client, repository: lakefs.Repository, main: lakefs.Branch
) -> None:
    main.object("table").upload(b"before")
    before = main.commit("before").get_commit().id
    branch = repository.branch("etl").create("main")
    s3.put_object(Bucket=repository.id, Key="etl/table", Body=b"after")
    assert read(s3, repository, "etl/table") == b"after"
    assert read(s3, repository, "main/table") == b"before"
    branch.commit("after")
    assert read(s3, repository, "main/table") == b"before"
    branch.merge_into(main)
    repository.tag("v2").create("main")
    head = main.get_commit().id
    for ref in ("main", "v2", head, "etl"):
        assert read(s3, repository, f"{ref}/table") == b"after"
    for ref in ("main~1", before, f"{head}~1"):
        assert read(s3, repository, f"{ref}/table") == b"before"


def test_a_ref_that_is_no_branch_takes_no_writes(
    s3: S3Client, repository: lakefs.Repository, main: lakefs.Branch
) -> None:
    main.object("a").upload(b"1")
    commit = main.commit("a").get_commit().id
    repository.tag("v1").create("main")
    refusals = {"NoSuchBucket", "InvalidArgument", "AccessDenied"}
    for ref in ("v1", commit, "main~1"):
        place = {"Bucket": repository.id, "Key": f"{ref}/a"}
        assert code_of(partial(s3.put_object, **place, Body=b"")) in refusals
        assert code_of(partial(s3.create_multipart_upload, **place)) in refusals
    assert read(s3, repository, "v1/a") == b"1"


def test_both_doors_show_the_same_object(
    s3: S3Client, repository: lakefs.Repository, main: lakefs.Branch
) -> None:
    s3.put_object(
        Bucket=repository.id,
        Key="main/by-s3",
        Body=b"by S3",
        ContentType="text/x",
        Metadata={"color": "red"},
    )
    main.object("by-api").upload(b"by API", content_type="text/y", metadata={"color": "blue"})
    for path, content in (("by-s3", b"by S3"), ("by-api", b"by API")):
        here = s3.head_object(Bucket=repository.id, Key=f"main/{path}")
        there = main.object(path).stat()
        assert here["ETag"] == f'"{there.checksum}"'
        assert here["Metadata"] == s3_metadata(there.metadata or {})
        assert here["ContentType"] == there.content_type
        assert here["ContentLength"] == there.size_bytes == len(content)
        assert int(here["LastModified"].timestamp()) == there.mtime
        assert read(s3, repository, f"main/{path}") == content
        assert main.object(path).reader().read() == content
    assert main.object("by-s3").stat().metadata == {"X-Amz-Meta-color": "red"}  # as lakeFS


def test_what_one_door_deletes_the_other_does_not_find(
    s3: S3Client, repository: lakefs.Repository, main: lakefs.Branch
) -> None:
    for name in ("a", "b"):
        main.object(name).upload(b"x")
    main.commit("both")
    s3.delete_object(Bucket=repository.id, Key="main/a")
    main.object("b").delete()
    assert not main.object("a").exists()
    assert code_of(lambda: s3.head_object(Bucket=repository.id, Key="main/b")) == "404"
    assert {change.path for change in main.uncommitted()} == {"a", "b"}
    main.reset_changes()
    assert read(s3, repository, "main/b") == b"x"


def test_a_protected_branch_takes_no_writes(
    s3: S3Client, client: lakefs.Client, repository: lakefs.Repository, main: lakefs.Branch
) -> None:
    main.object("a").upload(b"before")
    client.sdk_client.repositories_api.set_branch_protection_rules(
        repository.id, [models.BranchProtectionRule(pattern="main")]
    )
    place = {"Bucket": repository.id, "Key": "main/a"}
    for ask in (
        lambda: s3.put_object(**place, Body=b"after"),
        lambda: s3.create_multipart_upload(**place),
        lambda: s3.copy_object(
            **place, CopySource=f"{repository.id}/main/a", MetadataDirective="REPLACE"
        ),
        lambda: s3.delete_object(**place),
    ):
        assert code_of(ask) == "AccessDenied"
    refused = s3.delete_objects(Bucket=repository.id, Delete={"Objects": [{"Key": "main/a"}]})
    assert [row["Code"] for row in refused["Errors"]] == ["AccessDenied"]
    assert read(s3, repository, "main/a") == b"before"


def test_a_read_only_repository_takes_no_writes(s3: S3Client, client: lakefs.Client) -> None:
    name = f"acceptance-{uuid4().hex[:12]}"
    client.sdk_client.repositories_api.create_repository(
        models.RepositoryCreation(
            name=name, storage_namespace=f"s3://{BUCKET}/{name}", read_only=True
        )
    )
    assert code_of(lambda: s3.put_object(Bucket=name, Key="main/a", Body=b"x")) == "AccessDenied"
    assert s3.list_objects_v2(Bucket=name, Prefix="main/")["KeyCount"] == 0


def test_a_reader_reads_and_is_refused_the_rest(
    stack: Stack, main: lakefs.Branch, reader: models.CredentialsWithSecret
) -> None:
    main.object("a").upload(b"content")
    s3 = boto3_client(stack, reader.access_key_id, reader.secret_access_key)
    place = {"Bucket": main.repo_id, "Key": "main/a"}
    assert s3.get_object(**place)["Body"].read() == b"content"
    assert s3.list_objects_v2(Bucket=main.repo_id, Prefix="main/")["KeyCount"] == 1
    for ask in (
        lambda: s3.put_object(**place, Body=b"other"),
        lambda: s3.delete_object(**place),
        lambda: s3.create_multipart_upload(**place),
        lambda: s3.put_object_tagging(**place, Tagging={"TagSet": []}),
    ):
        assert code_of(ask) == "AccessDenied"
    refused = s3.delete_objects(Bucket=main.repo_id, Delete={"Objects": [{"Key": "main/a"}]})
    assert [row["Code"] for row in refused["Errors"]] == ["AccessDenied"]
    assert main.object("a").reader().read() == b"content"


@pytest.mark.parametrize("size_bytes", [5, 10_000_000])
def test_a_refused_writer_sends_no_body(
    stack: Stack,
    repository: lakefs.Repository,
    reader: models.CredentialsWithSecret,
    size_bytes: int,
) -> None:
    signer = Signer(stack.endpoint, reader.access_key_id, reader.secret_access_key)
    headers = {"Content-Length": str(size_bytes), "Expect": "100-continue"}
    signed = signer.signed("PUT", f"/{repository.id}/main/a", headers)
    with RawConnection(stack.endpoint) as connection:
        connection.send(signed.head)
        assert connection.line().split()[1] == b"403"


def test_an_allowed_writer_is_asked_for_the_body(
    stack: Stack, repository: lakefs.Repository, main: lakefs.Branch
) -> None:
    signer = Signer(stack.endpoint, stack.access_key_id, stack.secret_access_key)
    headers = {"Content-Length": "5", "Expect": "100-continue"}
    signed = signer.signed("PUT", f"/{repository.id}/main/a", headers)
    with RawConnection(stack.endpoint) as connection:
        connection.send(signed.head)
        assert connection.line() == b"HTTP/1.1 100 Continue\r\n"
        assert connection.line() == b"\r\n"
        connection.send(b"hello")
        assert connection.answer("PUT").status == 200
    assert main.object("a").reader().read() == b"hello"


def test_a_deleted_key_pair_stops_working(
    stack: Stack, client: lakefs.Client, main: lakefs.Branch, reader: models.CredentialsWithSecret
) -> None:
    main.object("a").upload(b"content")
    s3 = boto3_client(stack, reader.access_key_id, reader.secret_access_key)
    s3.get_object(Bucket=main.repo_id, Key="main/a")
    auth = client.sdk_client.auth_api
    user = auth.list_users(prefix="reader-").results[-1].id
    auth.delete_credentials(user, reader.access_key_id)

    def refused() -> str:
        for _ in range(4 * MEMORY_S):
            try:
                s3.get_object(Bucket=main.repo_id, Key="main/a")
            except ClientError as error:
                return str(error.response["Error"]["Code"])
            time.sleep(0.5)
        return "never"

    assert refused() == "InvalidAccessKeyId"


def test_a_wrong_secret_or_key_is_refused(stack: Stack, repository: lakefs.Repository) -> None:
    wrong = boto3_client(stack, stack.access_key_id, "x" * 40)
    unknown = boto3_client(stack, "AKIAIOSFODNN7EXAMPLE", "x" * 40)
    ask = {"Bucket": repository.id, "Prefix": "main/"}
    assert code_of(lambda: wrong.list_objects_v2(**ask)) == "SignatureDoesNotMatch"
    assert code_of(lambda: unknown.list_objects_v2(**ask)) == "InvalidAccessKeyId"


@pytest.mark.parametrize("minutes", [-20, 20])
def test_a_wrong_clock_is_refused(
    stack: Stack, repository: lakefs.Repository, minutes: int
) -> None:
    signer = Signer(stack.endpoint, stack.access_key_id, stack.secret_access_key)
    target = f"/{repository.id}/?list-type=2&prefix=main%2F"
    answers = {}
    for later in (0, minutes):
        signed = signer.signed("GET", target, later=timedelta(minutes=later))
        with RawConnection(stack.endpoint) as connection:
            connection.send(signed.head)
            answer = connection.answer()
            answers[later] = (answer.status, answer.code)
    assert answers == {0: (200, ""), minutes: (403, "RequestTimeTooSkewed")}


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (b"GET ", b"HEAD "),
        (b"prefix=main", b"prefix=mai"),
        (b"x-amz-test: 1", b"x-amz-test: 2"),
        (b"UNSIGNED-PAYLOAD", b"0" * 64),
        (b"us-east-1", b"us-west-1"),
    ],
)
def test_an_altered_request_is_refused(
    stack: Stack, repository: lakefs.Repository, before: bytes, after: bytes
) -> None:
    signer = Signer(stack.endpoint, stack.access_key_id, stack.secret_access_key)
    target = f"/{repository.id}/?list-type=2&prefix=main%2F"
    signed = signer.signed("GET", target, {"x-amz-test": "1"})
    assert before in signed.head
    statuses = []
    for head in (signed.head, signed.head.replace(before, after, 1)):
        with RawConnection(stack.endpoint) as connection:
            connection.send(head)
            statuses.append(connection.answer(head.split()[0].decode()).status)
    assert statuses[0] == 200
    assert statuses[1] in {400, 403}
