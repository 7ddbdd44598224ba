"""Behaviour of S3 that the local endpoint lacks: regions, slowness, errors with status 200."""

from collections.abc import Callable
from datetime import UTC, datetime
from hashlib import md5
from time import sleep
from typing import Any
from urllib.parse import urlsplit

import pytest
from botocore.config import Config
from botocore.exceptions import (
    ConnectionClosedError,
    EndpointConnectionError,
    ReadTimeoutError,
    SSLError,
)

from graveler.aws import connect
from graveler.aws.background_work import patient, patient_reads
from graveler.aws.retries import CONNECT_TIMEOUT_S, LONG_READ_TIMEOUT_S, RetryPolicy
from graveler.aws.s3 import direct_client
from graveler.aws.s3.client import S3, S3Error
from graveler.aws.s3.committed_files import S3CommittedFiles
from graveler.aws.s3.direct_client import DirectClient
from graveler.aws.s3.objects import S3ObjectStore
from graveler.aws.s3.signed_requests import Endpoint, S3Requests
from graveler.aws.s3.uris import Location
from graveler.errors import (
    BadPartsError,
    GoneError,
    InvalidInputError,
    NotFoundError,
    PreconditionFailedError,
    ThrottledError,
    UnknownOutcomeError,
)
from graveler.export.lifecycle import (
    CLOCKS_DIFFER_S,
    LEASE_MARGIN_S,
    LEASE_S,
    RENEWAL_S,
)
from graveler.ports import UploadedPart
from tests.support.faults.faulty_server import Arrived, FaultyServer, answering
from tests.support.worlds.server_world import Keys, s3_client
from tests.unit.aws.scripted_s3 import Answer, ScriptedS3, Step, refusal

DATE = datetime(2027, 1, 15, 8, tzinfo=UTC)
HTTP_DATE = "Fri, 15 Jan 2027 08:00:00 GMT"
STORED = Answer(200, {"ETag": '"e1"', "Date": HTTP_DATE})
FOUND = Answer(
    200,
    {"ETag": '"e1"', "Last-Modified": HTTP_DATE, "Content-Length": "7", "Content-Type": "a/b"},
)
CONTENT = Answer(200, {"Content-Length": "7"}, b"content")

URL = "https://bucket.example"
NOT_SENT = EndpointConnectionError(endpoint_url=URL)
HUNG_UP = ConnectionClosedError(endpoint_url=URL)
TIMED_OUT = ReadTimeoutError(endpoint_url=URL)

AT = Location("bucket", "a b/c")


def put(aws: ScriptedS3) -> dict:
    return aws.s3.call("put_object", AT, Body=b"content")


def get(aws: ScriptedS3) -> dict:
    return aws.s3.call("get_object", AT)


def hosts(aws: ScriptedS3) -> list[str]:
    return [urlsplit(request.url).netloc for request in aws.requests]


def test_a_bucket_has_a_host_of_its_own() -> None:
    aws = ScriptedS3(CONTENT)
    get(aws)
    aws.s3.call("get_object", Location("dotted.bucket", "key"))
    assert [request.url for request in aws.requests] == [
        "https://bucket.s3.eu-west-1.amazonaws.com/a%20b/c",
        "https://s3.eu-west-1.amazonaws.com/dotted.bucket/key",
    ]
    for url in (
        aws.objects.presign_get("s3://bucket/a b/c", 60, "c"),
        aws.objects.presign_put("s3://bucket/a b/c", 60),
        aws.objects.presign_part("s3://bucket/a b/c", "u", 7, 60),
    ):
        assert url.startswith("https://bucket.s3.eu-west-1.amazonaws.com/a%20b/c?")


def test_a_bucket_of_another_region_is_found_and_remembered() -> None:
    moved = refusal(301, "PermanentRedirect", x_amz_bucket_region="us-west-2")
    aws = ScriptedS3(moved, CONTENT)
    get(aws)
    get(aws)
    there = "bucket.s3.us-west-2.amazonaws.com"
    assert hosts(aws) == ["bucket.s3.eu-west-1.amazonaws.com", there, there]
    assert there in aws.objects.presign_put("s3://bucket/key", 60)


@pytest.mark.parametrize("content", [b"", b"content"])
def test_content_is_sent_without_asking_first(content: bytes) -> None:
    aws = ScriptedS3(STORED)
    aws.objects.put("s3://bucket/key", content, "a/b")
    (request,) = aws.requests
    assert "Expect" not in request.headers
    assert request.headers["Content-Length"] == str(len(content))
    assert (request.body or b"") == content


@pytest.mark.parametrize("bucket", ["", "a:b", "arn:aws:s3:::x", "é", "a b", "x" * 256])
def test_an_invalid_bucket_is_bad_input(bucket: str) -> None:
    with pytest.raises(InvalidInputError):
        ScriptedS3(CONTENT).objects.get(f"s3://{bucket}/key")


SLOWNESS = [
    refusal(503, "SlowDown"),
    refusal(503, "ServiceUnavailable"),
    refusal(500, "InternalError"),
    refusal(409, "OperationAborted"),
    refusal(409, "ConditionalRequestConflict"),
    Answer(503, {}, b"<html>"),
    HUNG_UP,
    TIMED_OUT,
    NOT_SENT,
    SSLError(endpoint_url=URL, error=OSError("broken")),
]


@pytest.mark.parametrize("step", SLOWNESS, ids=repr)
def test_a_passing_failure_is_retried_and_a_lasting_one_is_reported(step: Step) -> None:
    aws = ScriptedS3(step, step, STORED)
    assert put(aws)["ETag"] == '"e1"'
    assert len(aws.requests) == 3
    for operation in ("get_object", "head_object"):
        with pytest.raises(ThrottledError):
            ScriptedS3(step).s3.call(operation, AT)


def test_half_a_content_is_none() -> None:
    half = Answer(200, {"Content-Length": "7"}, b"con")
    assert get(ScriptedS3(half, CONTENT))["Body"] == b"content"
    with pytest.raises(ThrottledError):
        get(ScriptedS3(half))


@pytest.mark.parametrize(
    ("steps", "expected"),
    [
        ([refusal(503, "SlowDown")], ThrottledError),
        ([refusal(409, "OperationAborted")], ThrottledError),
        ([NOT_SENT], ThrottledError),
        ([HUNG_UP], UnknownOutcomeError),
        ([TIMED_OUT], UnknownOutcomeError),
        ([refusal(500, "InternalError")], UnknownOutcomeError),
        # What came before the throttling may have landed.
        ([TIMED_OUT, refusal(503, "SlowDown")], UnknownOutcomeError),
    ],
)
def test_a_write_that_is_never_confirmed(steps: list[Step], expected: type[Exception]) -> None:
    with pytest.raises(expected):
        put(ScriptedS3(*steps))


@pytest.mark.parametrize(
    "answer", [refusal(404, "NoSuchBucket"), refusal(403, "AccessDenied"), Answer(403)]
)
def test_a_bucket_that_refuses_is_named(answer: Answer) -> None:
    with pytest.raises(InvalidInputError, match="bucket bucket"):
        ScriptedS3(answer).s3.call("head_object", AT)


def test_wrong_credentials_are_not_bad_input() -> None:
    with pytest.raises(S3Error, match="InvalidAccessKeyId"):
        get(ScriptedS3(refusal(403, "InvalidAccessKeyId")))


def test_an_object_may_look_like_an_error() -> None:
    content = refusal(200, "SlowDown")
    assert get(ScriptedS3(content))["Body"] == content.body


def test_a_copy_that_fails_after_its_status_is_tried_again() -> None:
    copied = Answer(200, {}, b"<CopyObjectResult><ETag>e</ETag></CopyObjectResult>")
    aws = ScriptedS3(refusal(200, "InternalError"), copied, FOUND)
    assert aws.objects.copy("s3://bucket/a b", "s3://bucket/c", 7).size_bytes == 7
    assert [request.method for request in aws.requests] == ["PUT", "PUT", "HEAD"]
    assert aws.requests[0].headers["x-amz-copy-source"] == b"bucket/a%20b"


CONDITIONS: list[tuple[dict[str, Any], str, bytes]] = [
    ({"if_absent": True}, "if-none-match", b"*"),
    ({"if_match": "abc"}, "if-match", b'"abc"'),
]


@pytest.mark.parametrize(("condition", "name", "value"), CONDITIONS)
def test_a_put_with_a_condition_recognizes_itself(
    condition: dict[str, Any], name: str, value: object
) -> None:
    mark = "x-amz-meta-graveler-write"

    def found(aws: ScriptedS3) -> Answer:
        # The object that stands there bears the mark that the first attempt put on it.
        return Answer(200, {**FOUND.headers, mark: aws.requests[0].headers[mark].decode()})

    aws = ScriptedS3(TIMED_OUT, refusal(412, "PreconditionFailed"), found)
    info = aws.objects.put("s3://bucket/key", b"content", "a/b", **condition)
    assert aws.requests[0].headers[name] == value
    assert info.last_modified_ns == int(DATE.timestamp()) * 10**9


@pytest.mark.parametrize("condition", [condition for condition, *_ in CONDITIONS])
def test_a_put_with_a_condition_does_not_take_anothers_object_for_its_own(
    condition: dict[str, Any],
) -> None:
    aws = ScriptedS3(TIMED_OUT, refusal(412, "PreconditionFailed"), FOUND)
    with pytest.raises(PreconditionFailedError):
        aws.objects.put("s3://bucket/key", b"content", "a/b", **condition)


def test_an_upload_that_an_earlier_attempt_completed_is_complete() -> None:
    # What S3 makes of parts "a" and "b": the digest of their digests.
    parts = [UploadedPart(n, md5(text).hexdigest()) for n, text in ((1, b"a"), (2, b"b"))]
    whole = md5(md5(b"a").digest() + md5(b"b").digest()).hexdigest() + "-2"
    found = Answer(200, {**FOUND.headers, "ETag": f'"{whole}"'})
    aws = ScriptedS3(TIMED_OUT, refusal(404, "NoSuchUpload"), found)
    assert aws.objects.complete_upload("s3://bucket/key", "u", parts).checksum == whole
    # The store may refuse a repetition in any way while it deletes the parts that it joined.
    aws = ScriptedS3(TIMED_OUT, refusal(400, "InvalidPart"), found)
    assert aws.objects.complete_upload("s3://bucket/key", "u", parts).checksum == whole

    def by_method(get: Answer) -> Callable[[ScriptedS3], Answer]:
        failed = refusal(500, "InternalError")
        return lambda aws: failed if aws.requests[-1].method == "POST" else get

    aws = ScriptedS3(TIMED_OUT, by_method(found))
    assert aws.objects.complete_upload("s3://bucket/key", "u", parts).checksum == whole
    for other in (FOUND, Answer(404), Answer(403), refusal(503, "SlowDown")):
        with pytest.raises(UnknownOutcomeError):
            ScriptedS3(TIMED_OUT, by_method(other)).objects.complete_upload(
                "s3://bucket/key", "u", parts
            )
    aws = ScriptedS3(TIMED_OUT, refusal(400, "InvalidPart"), FOUND)
    with pytest.raises(BadPartsError):
        aws.objects.complete_upload("s3://bucket/key", "u", parts)
    aws = ScriptedS3(refusal(404, "NoSuchUpload"), FOUND)
    with pytest.raises(NotFoundError):
        aws.objects.complete_upload("s3://bucket/key", "u", parts)


def test_an_upload_that_an_earlier_attempt_aborted_is_aborted() -> None:
    ScriptedS3(TIMED_OUT, refusal(404, "NoSuchUpload")).objects.abort_upload("s3://bucket/k", "u")
    with pytest.raises(NotFoundError):
        ScriptedS3(refusal(404, "NoSuchUpload")).objects.abort_upload("s3://bucket/k", "u")


def test_a_copy_in_parts_that_fails_leaves_no_upload() -> None:
    begun = Answer(200, {}, b"<R><UploadId>u1</UploadId></R>")
    # In parts for what it is said to hold; one part for what it holds.
    aws = ScriptedS3(FOUND, begun, refusal(404, "NoSuchKey"), Answer(204))
    with pytest.raises(GoneError):
        S3ObjectStore(aws.s3, copy_bytes_max=7).copy("s3://bucket/a", "s3://bucket/b", 8)
    last = aws.requests[-1]
    assert (last.method, urlsplit(last.url).query) == ("DELETE", "uploadId=u1")


def test_a_file_that_another_stored_is_not_ours() -> None:
    files = S3CommittedFiles(ScriptedS3(refusal(412, "PreconditionFailed")).s3)
    assert files.write("s3://bucket/ns", "id", b"content") is False
    assert S3CommittedFiles(ScriptedS3(STORED).s3).write("s3://bucket/ns", "id", b"content") is True


@pytest.mark.parametrize("content_type", ["a/b\r\nx-amz-acl: public-read", "\n", "é", "\0"])
def test_a_content_type_that_no_header_can_carry_is_bad_input(content_type: str) -> None:
    objects = ScriptedS3(STORED).objects
    with pytest.raises(InvalidInputError):
        objects.put("s3://bucket/key", b"content", content_type)
    with pytest.raises(InvalidInputError):
        objects.create_upload("s3://bucket/key", content_type)


@pytest.mark.parametrize("refused_for_s", [0.0, 7.99])
def test_a_request_of_an_export_has_ended_when_its_lease_ends(
    monkeypatch: pytest.MonkeyPatch, refused_for_s: float
) -> None:
    """Attempts are refused at once for some time, and the last one takes as long as it may."""
    passed = [0.0]

    def wait(seconds: float) -> None:
        passed.append(passed[-1] + seconds)

    def attempt(**_: object) -> None:
        if passed[-1] < refused_for_s:
            raise NOT_SENT
        wait(CONNECT_TIMEOUT_S + LONG_READ_TIMEOUT_S)
        raise TIMED_OUT

    s3 = S3(ScriptedS3().s3.client, RetryPolicy(sleep=wait, monotonic_s=lambda: passed[-1]))
    monkeypatch.setattr(s3.client, "put_object", attempt)
    with pytest.raises((UnknownOutcomeError, ThrottledError)):
        s3.call("put_object", AT, Body=b"content")
    assert passed[-1] + CLOCKS_DIFFER_S + 10 < LEASE_MARGIN_S
    assert RENEWAL_S < LEASE_S - LEASE_MARGIN_S


def test_work_that_outlives_requests_waits_for_a_slow_store() -> None:
    slow = [TIMED_OUT] * 20
    with pytest.raises(ThrottledError):
        get(ScriptedS3(*slow, CONTENT))
    with patient_reads():
        assert get(ScriptedS3(*slow[:6], CONTENT))["Body"] == b"content"
        with pytest.raises(UnknownOutcomeError):
            put(ScriptedS3(*slow, STORED))  # the right to write may end with a lease
    with patient():
        assert get(ScriptedS3(*slow, CONTENT))["Body"] == b"content"
        put(ScriptedS3(*slow, STORED))


@pytest.mark.parametrize("is_direct", [True, False])
def test_a_patient_read_waits_for_an_answer_that_others_give_up(
    monkeypatch: pytest.MonkeyPatch, is_direct: bool
) -> None:
    brief = connect._CONFIG.merge(Config(read_timeout=0.02))
    monkeypatch.setattr(connect, "_CONFIG", brief)
    monkeypatch.setattr(direct_client, "READ_TIMEOUT_S", 0.02)

    def answer(_: Arrived) -> bytes:
        sleep(0.2)
        return answering(b"content")(_)

    server = FaultyServer(answer)
    keys = Keys()
    requests = S3Requests(Endpoint(server.endpoint, "us-east-1"), lambda: keys)
    directly = DirectClient(requests, signs_content=True) if is_direct else None
    s3 = S3(s3_client(server.endpoint, keys), RetryPolicy(total_s_max=0.0), directly)
    with pytest.raises(ThrottledError):
        s3.call("get_object", AT)
    server.arrived.clear()
    with patient():
        assert s3.call("get_object", AT)["Body"] == b"content"
    assert len(server.arrived) == 1
    server.close()
