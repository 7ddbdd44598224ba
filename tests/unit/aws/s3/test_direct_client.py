"""S3 without boto3: odd answers mean what they mean to boto3."""

from collections.abc import Iterator

import pytest

from graveler.aws.retries import RetryPolicy
from graveler.aws.s3.client import S3, S3Error
from graveler.aws.s3.direct_client import DirectClient
from graveler.aws.s3.signed_requests import Endpoint, S3Requests
from graveler.aws.s3.uris import Location
from graveler.errors import ThrottledError
from tests.support.fakes.scripted_s3 import Act, ScriptedS3, answer_of
from tests.support.worlds.server_world import Keys, s3_client

KEYS = Keys("access", "secret")
AT = Location("bucket", "key")
REFUSED = b"<Error><Code>InternalError</Code><Message>again</Message></Error>"
STORED = Act(answer_of(200, b"", 'ETag: "e"'))
DATE = "Last-Modified: Fri, 15 Jan 2027 08:00:00 GMT"


@pytest.fixture
def server() -> Iterator[ScriptedS3]:
    server = ScriptedS3()
    yield server
    server.close()


@pytest.fixture
def s3(server: ScriptedS3) -> S3:
    port = server.put(0).port
    endpoint = f"http://127.0.0.1:{port}"
    requests = S3Requests(Endpoint(endpoint, "us-east-1"), lambda: KEYS)
    return S3(
        s3_client(endpoint, KEYS),
        RetryPolicy(total_s_max=1.0, first_pause_s=0.005),
        DirectClient(requests, signs_content=True),
    )


def test_a_put_that_fails_behind_the_status_of_a_success_is_sent_again(
    server: ScriptedS3, s3: S3
) -> None:
    server.acts += [Act(answer_of(200, REFUSED, 'ETag: "none"')), STORED]
    assert s3.call("put_object", AT, Body=b"content")["ETag"] == '"e"'
    assert [got.body for got in server.got] == [b"content", b"content"]


def test_a_put_that_landed_is_not_sent_again_whatever_its_answer_says_of_expiry(
    server: ScriptedS3, s3: S3
) -> None:
    server.acts += [Act(answer_of(200, b"", 'ETag: "e"', "Expires: 0")), Act(answer_of(412, b""))]
    assert s3.call("put_object", AT, Body=b"content", IfNoneMatch="*")["ETag"] == '"e"'
    assert len(server.got) == 1


def test_a_put_is_confirmed_by_an_answer_that_ends_with_its_connection(
    server: ScriptedS3, s3: S3
) -> None:
    answer = b'HTTP/1.1 200 OK\r\nETag: "e"\r\nConnection: close\r\n\r\n'
    server.acts += [Act(answer, closes=True)]
    assert s3.call("put_object", AT, Body=b"content")["ETag"] == '"e"'
    assert len(server.got) == 1


def test_content_without_a_length_is_not_trusted(server: ScriptedS3, s3: S3) -> None:
    answer = b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nhalf of"
    server.acts += [Act(answer, closes=True)] * 50
    with pytest.raises(ThrottledError):
        s3.call("get_object", AT)


def test_a_date_in_another_form_is_understood(server: ScriptedS3, s3: S3) -> None:
    answer = answer_of(200, b"content", 'ETag: "e"', "Last-Modified: 2027-01-15T08:00:00Z")
    server.acts += [Act(answer), Act(answer)]
    found = s3.call("get_object", AT)
    assert (found["Body"], found["LastModified"].year) == (b"content", 2027)


@pytest.mark.parametrize(
    "document",
    [b"", b"<html>", b'<?xml version="1.0" encoding="none"?><Error/>', b"<Error>\xff</Error>"],
)
def test_a_refusal_with_any_document_is_a_refusal(
    server: ScriptedS3, s3: S3, document: bytes
) -> None:
    server.acts += [Act(answer_of(400, document))]
    with pytest.raises(S3Error) as refused:
        s3.call("get_object", AT)
    assert refused.value.status == 400


@pytest.mark.parametrize(
    "first",
    [
        answer_of(200, b"content", DATE) + b"and more",
        answer_of(200, b"content", DATE) + answer_of(200, b"another"),
        b"HTTP/1.1 100 Continue\r\n\r\n" + answer_of(200, b"content", DATE),
        b"HTTP/1.1 103 Early Hints\r\nLink: a\r\n\r\n" + answer_of(200, b"content", DATE),
    ],
)
def test_what_surrounds_an_answer_is_not_part_of_any(
    server: ScriptedS3, s3: S3, first: bytes
) -> None:
    server.acts += [Act(first), Act(answer_of(200, b"second", DATE))]
    assert s3.call("get_object", AT)["Body"] == b"content"
    assert s3.call("get_object", AT)["Body"] == b"second"


def test_connections_go_on_after_answers_without_a_body(server: ScriptedS3, s3: S3) -> None:
    with_length = b"HTTP/1.1 %d X\r\nContent-Length: 7\r\n\r\n"
    server.acts += [Act(with_length % status) for status in (404, 200, 304)]
    server.acts += [Act(answer_of(200, b"content", DATE))]
    with pytest.raises(S3Error) as absent:
        s3.call("head_object", AT)
    assert absent.value.status == 404
    assert s3.call("head_object", AT)["ContentLength"] == 7
    with pytest.raises(S3Error) as unchanged:
        s3.call("get_object", AT)
    assert unchanged.value.status == 304
    assert s3.call("get_object", AT)["Body"] == b"content"
    assert server.connections == 1
