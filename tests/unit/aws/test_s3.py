"""What S3 itself does and the local endpoint does not: regions, slowness, errors with status 200."""

from datetime import UTC, datetime
from hashlib import md5

import pytest

from graveler.aws import s3 as s3_module
from graveler.aws.committed_files import S3CommittedFiles
from graveler.aws.http_client import Answer, NoAnswerError, NotSentError
from graveler.aws.objects import S3ObjectStore
from graveler.aws.s3 import S3, Location, S3Error, S3Request
from graveler.errors import (
    GoneError,
    InvalidInputError,
    NotFoundError,
    PreconditionFailedError,
    ThrottledError,
    UnknownOutcomeError,
)
from graveler.ports import UploadedPart
from tests.unit.aws.scripted import FakeTime, Keys, ScriptedHttp, Step

DATE = datetime(2027, 1, 15, 8, tzinfo=UTC)
HTTP_DATE = "Fri, 15 Jan 2027 08:00:00 GMT"
STORED = Answer(200, {"etag": '"e1"', "date": HTTP_DATE}, b"")
FOUND = Answer(
    200,
    {"etag": '"e1"', "last-modified": HTTP_DATE, "content-length": "7", "content-type": "a/b"},
    b"",
)


def error(status: int, code: str, **headers: str) -> Answer:
    body = f"<?xml version='1.0'?><Error><Code>{code}</Code><Message>why</Message></Error>"
    return Answer(status, {name.replace("_", "-"): v for name, v in headers.items()}, body.encode())


class Aws:
    """S3 whose every host plays the same script; `asked` has endpoint, method and target."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, *steps: Step) -> None:
        self._script = ScriptedHttp(list(steps))
        self.hosts: list[str] = []
        monkeypatch.setattr(s3_module, "HttpClient", self._client)
        self.s3 = S3("eu-west-1", Keys, retries=FakeTime().retries())

    def _client(self, endpoint: str) -> "Aws._Host":
        return Aws._Host(self, endpoint)

    class _Host:
        def __init__(self, aws: "Aws", endpoint: str) -> None:
            self._aws = aws
            self.host = endpoint.removeprefix("https://")

        def begin(self, *request: object) -> object:
            self._aws.hosts.append(self.host)
            return self._aws._script.begin(*request)  # type: ignore[arg-type] # passed through

    @property
    def requests(self) -> list:
        return self._script.requests

    @property
    def objects(self) -> S3ObjectStore:
        return S3ObjectStore(self.s3)


GET = S3Request("GET", Location("bucket", "a b/c"))
PUT = S3Request("PUT", Location("bucket", "key"), body=b"content")


def test_a_bucket_has_a_host_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    aws = Aws(monkeypatch, STORED)
    aws.s3.request(GET)
    aws.s3.request(S3Request("GET", Location("dotted.bucket", "key")))
    assert aws.hosts == ["bucket.s3.eu-west-1.amazonaws.com", "s3.eu-west-1.amazonaws.com"]
    assert [r.target for r in aws.requests] == ["/a%20b/c", "/dotted.bucket/key"]


@pytest.mark.parametrize(
    "answer",
    [
        error(301, "PermanentRedirect", x_amz_bucket_region="us-west-2"),
        error(400, "AuthorizationHeaderMalformed", x_amz_bucket_region="us-west-2"),
        Answer(301, {"x-amz-bucket-region": "us-west-2"}, b""),
    ],
)
def test_a_bucket_of_another_region_is_found_and_remembered(
    monkeypatch: pytest.MonkeyPatch, answer: Answer
) -> None:
    aws = Aws(monkeypatch, answer, STORED)
    aws.s3.request(GET)
    aws.s3.request(GET)
    assert aws.hosts == [
        "bucket.s3.eu-west-1.amazonaws.com",
        "bucket.s3.us-west-2.amazonaws.com",
        "bucket.s3.us-west-2.amazonaws.com",
    ]
    assert "/us-west-2/s3/" in aws.requests[-1].headers["authorization"]
    assert ".us-west-2." in aws.s3.presigned_url("GET", GET.location, 60)


@pytest.mark.parametrize(
    "step",
    [
        error(503, "SlowDown"),
        error(503, "ServiceUnavailable"),
        error(500, "InternalError"),
        error(409, "OperationAborted"),
        error(409, "ConditionalRequestConflict"),
        NoAnswerError,
        NotSentError,
    ],
    ids=repr,
)
def test_slowness_is_waited_out_and_then_told(monkeypatch: pytest.MonkeyPatch, step: Step) -> None:
    assert Aws(monkeypatch, step, step, STORED).s3.request(PUT) == STORED
    with pytest.raises(ThrottledError):
        Aws(monkeypatch, step).s3.request(GET)


@pytest.mark.parametrize(
    ("step", "expected"),
    [
        (error(503, "SlowDown"), ThrottledError),
        (NotSentError, ThrottledError),
        (NoAnswerError, UnknownOutcomeError),
        (error(500, "InternalError"), UnknownOutcomeError),
    ],
)
def test_a_write_that_is_never_confirmed(
    monkeypatch: pytest.MonkeyPatch, step: Step, expected: type[Exception]
) -> None:
    with pytest.raises(expected):
        Aws(monkeypatch, step).s3.request(PUT)


@pytest.mark.parametrize(
    "answer", [error(404, "NoSuchBucket"), error(403, "AccessDenied"), Answer(403, {}, b"")]
)
def test_a_bucket_that_refuses_is_named(monkeypatch: pytest.MonkeyPatch, answer: Answer) -> None:
    with pytest.raises(InvalidInputError, match="bucket bucket"):
        Aws(monkeypatch, answer).s3.request(GET)


def test_wrong_credentials_are_nobodys_input(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(S3Error, match="InvalidAccessKeyId"):
        Aws(monkeypatch, error(403, "InvalidAccessKeyId")).s3.request(GET)


def test_an_object_may_look_like_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    content = error(200, "SlowDown")
    assert Aws(monkeypatch, content).s3.request(GET) == content


def test_a_copy_that_fails_after_its_status_is_tried_again(monkeypatch: pytest.MonkeyPatch) -> None:
    copied = Answer(200, {}, b"<CopyObjectResult><ETag>e</ETag></CopyObjectResult>")
    aws = Aws(monkeypatch, error(200, "InternalError"), copied, FOUND)
    assert aws.objects.copy("s3://bucket/a b", "s3://bucket/c", 7).size_bytes == 7
    assert [r.method for r in aws.requests] == ["PUT", "PUT", "HEAD"]
    assert aws.requests[0].headers["x-amz-copy-source"] == "/bucket/a%20b"


def test_a_put_if_absent_recognizes_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    aws = Aws(monkeypatch, NoAnswerError, error(412, "PreconditionFailed"), FOUND)

    def found() -> Answer:
        mark = "x-amz-meta-graveler-write"
        return Answer(200, {**FOUND.headers, mark: aws.requests[0].headers[mark]}, b"")

    # The object that stands there bears the mark that the first attempt put on it.
    original = ScriptedHttp.begin

    def begin(self: ScriptedHttp, method: str, *rest: object) -> object:
        if method == "HEAD":
            self.steps = [found()]
        return original(self, method, *rest)  # type: ignore[arg-type] # passed through

    monkeypatch.setattr(ScriptedHttp, "begin", begin)
    info = aws.objects.put("s3://bucket/key", b"content", "a/b", if_absent=True)
    assert info.last_modified_ns == int(DATE.timestamp()) * 10**9


def test_a_put_if_absent_does_not_take_anothers_object_for_its_own(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    aws = Aws(monkeypatch, NoAnswerError, error(412, "PreconditionFailed"), FOUND)
    with pytest.raises(PreconditionFailedError):
        aws.objects.put("s3://bucket/key", b"content", "a/b", if_absent=True)


def test_an_upload_that_an_earlier_attempt_completed_is_complete(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # What S3 makes of parts "a" and "b": the digest of their digests.
    parts = [UploadedPart(n, md5(text).hexdigest()) for n, text in ((1, b"a"), (2, b"b"))]
    whole = md5(md5(b"a").digest() + md5(b"b").digest()).hexdigest() + "-2"
    found = Answer(200, {**FOUND.headers, "etag": f'"{whole}"'}, b"")
    aws = Aws(monkeypatch, NoAnswerError, error(404, "NoSuchUpload"), found)
    assert aws.objects.complete_upload("s3://bucket/key", "u", parts).checksum == whole
    aws = Aws(monkeypatch, error(404, "NoSuchUpload"), FOUND)
    with pytest.raises(NotFoundError):
        aws.objects.complete_upload("s3://bucket/key", "u", parts)


def test_an_upload_that_an_earlier_attempt_aborted_is_aborted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    aws = Aws(monkeypatch, NoAnswerError, error(404, "NoSuchUpload"))
    aws.objects.abort_upload("s3://bucket/key", "u")
    aws = Aws(monkeypatch, error(404, "NoSuchUpload"))
    with pytest.raises(NotFoundError):
        aws.objects.abort_upload("s3://bucket/key", "u")


def test_a_copy_in_parts_that_fails_leaves_no_upload(monkeypatch: pytest.MonkeyPatch) -> None:
    begun = Answer(200, {}, b"<R><UploadId>u1</UploadId></R>")
    gone = error(404, "NoSuchKey")
    aws = Aws(monkeypatch, FOUND, begun, gone, Answer(204, {}, b""))
    with pytest.raises(GoneError):
        S3ObjectStore(aws.s3, copy_bytes_max=6).copy("s3://bucket/a", "s3://bucket/b", 7)
    assert (aws.requests[-1].method, aws.requests[-1].target) == ("DELETE", "/b?uploadId=u1")


def test_a_file_that_another_stored_is_not_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    files = S3CommittedFiles(Aws(monkeypatch, error(412, "PreconditionFailed")).s3)
    assert files.store("s3://bucket/ns", "id", b"content") is False
    files = S3CommittedFiles(Aws(monkeypatch, STORED).s3)
    assert files.store("s3://bucket/ns", "id", b"content") is True
