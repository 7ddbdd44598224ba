"""Work ends at its deadline, whatever the stores do; a connection that hangs costs an attempt."""

import socket
import time
from collections.abc import Iterator
from urllib.parse import urlsplit

import boto3
import pytest
from botocore.config import Config

from graveler.aws import boto3_timeouts, connect, deadlines, retries
from graveler.aws.boto3_timeouts import bounded
from graveler.aws.dynamodb import http_client
from graveler.aws.dynamodb.client import DynamoDB, DynamoDBCall
from graveler.aws.dynamodb.http_client import DynamoDBHttpClient
from graveler.aws.errors import repeated
from graveler.aws.exchanges import time_budget
from graveler.aws.exchanges.buffered import ResponseLostError
from graveler.aws.exchanges.time_budget import BYTES_PER_S_MIN, TimeBudget
from graveler.aws.retries import RetryPolicy
from graveler.aws.s3 import client as s3_module
from graveler.aws.s3.client import S3
from graveler.aws.s3.uris import Location
from graveler.aws.signing import Signer
from graveler.errors import ThrottledError, UnknownOutcomeError
from graveler.threads import ContextThreads
from tests.support.faults.faulty_server import Fault, FaultyServer, answering
from tests.unit.aws.scripted import Keys

AT = Location("bucket", "key")
ITEM = b'{"Item":{"a":{"S":"b"}}}'
OBJECT = b"content"
COPIED = b"<CopyObjectResult><ETag>e</ETag></CopyObjectResult>"
# An attempt of these tests, and the end of their work. No test depends on how fast anything is.
ATTEMPT_S = 0.15
WORK_S = 0.6
FOREVER = 10**6

FAULTS = [fault for fault in Fault if fault is not Fault.CUT]


@pytest.fixture(autouse=True)
def short_attempts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http_client, "DYNAMODB_ATTEMPT_S", ATTEMPT_S)
    monkeypatch.setattr(s3_module, "LONG_READ_TIMEOUT_S", ATTEMPT_S)
    monkeypatch.setattr(boto3_timeouts, "READ_TIMEOUT_S", ATTEMPT_S)


@pytest.fixture
def table_server() -> Iterator[FaultyServer]:
    server = FaultyServer(answering(ITEM))
    yield server
    server.close()


@pytest.fixture
def table(table_server: FaultyServer) -> DynamoDB:
    return DynamoDB(DynamoDBHttpClient(table_server.endpoint), Signer("eu-west-1", Keys))


@pytest.fixture
def bucket_server() -> Iterator[FaultyServer]:
    got, done = answering(OBJECT), answering(COPIED)
    server = FaultyServer(lambda arrived: (got if arrived.operation == "GET" else done)(arrived))
    yield server
    server.close()


@pytest.fixture
def bucket(bucket_server: FaultyServer) -> S3:
    endpoint = bucket_server.endpoint
    config = connect.s3_config(endpoint).merge(Config(read_timeout=ATTEMPT_S))
    client = boto3.client(
        "s3",
        region_name="eu-west-1",
        endpoint_url=endpoint,
        aws_access_key_id="key",
        aws_secret_access_key="secret",
        config=config,
    )
    return S3(bounded(client))


@pytest.mark.parametrize("fault", Fault)
def test_a_connection_that_fails_does_not_fail_a_read_of_a_table(
    table_server: FaultyServer, table: DynamoDB, fault: Fault
) -> None:
    table_server.fail("GetItem", fault)
    assert table.call("GetItem", {}) == {"Item": {"a": {"S": "b"}}}
    assert table_server.connections > 1


@pytest.mark.parametrize("fault", Fault)
def test_a_connection_that_fails_does_not_fail_two_reads_together(
    table_server: FaultyServer, table: DynamoDB, fault: Fault
) -> None:
    item = {"Item": {"a": {"S": "b"}}}
    table_server.fail("Query", fault)
    assert table.call_together(DynamoDBCall("GetItem", {}), DynamoDBCall("Query", {})) == (
        item,
        item,
    )


@pytest.mark.parametrize("fault", Fault)
def test_a_connection_that_fails_does_not_fail_a_write_to_a_table(
    table_server: FaultyServer, table: DynamoDB, fault: Fault
) -> None:
    table_server.fail("PutItem", fault)
    table.call("PutItem", {})
    assert len(table_server.arrived) > 1


@pytest.mark.parametrize("fault", [*FAULTS, Fault.CUT])
def test_a_connection_that_fails_does_not_fail_a_read_of_an_object(
    bucket_server: FaultyServer, bucket: S3, fault: Fault
) -> None:
    bucket_server.fail("GET", fault)
    assert bucket.call("get_object", AT)["Body"] == OBJECT
    assert bucket_server.connections > 1


@pytest.mark.parametrize("fault", [*FAULTS, Fault.CUT])
def test_a_connection_that_fails_does_not_fail_a_write_of_an_object(
    bucket_server: FaultyServer, bucket: S3, fault: Fault
) -> None:
    bucket_server.fail("PUT", fault)
    bucket.call("put_object", AT, Body=OBJECT)
    assert len(bucket_server.arrived) > 1
    assert {each.body for each in bucket_server.arrived} == {OBJECT}


@pytest.mark.parametrize("fault", [Fault.IGNORED, Fault.SILENT, Fault.CUT])
def test_a_connection_that_fails_does_not_fail_a_copy(
    bucket_server: FaultyServer, bucket: S3, fault: Fault
) -> None:
    bucket_server.fail("PUT", fault)
    bucket.call("copy_object", AT, CopySource=AT.parameters)
    assert len(bucket_server.arrived) > 1


@pytest.mark.parametrize("fault", FAULTS)
def test_reads_of_stores_that_fail_end_with_the_work(
    table_server: FaultyServer,
    bucket_server: FaultyServer,
    table: DynamoDB,
    bucket: S3,
    fault: Fault,
) -> None:
    for server in (table_server, bucket_server):
        server.fail("", fault, FOREVER)
    with deadlines.within(WORK_S), pytest.raises(ThrottledError):
        table.call("GetItem", {})
    with deadlines.within(WORK_S), pytest.raises(ThrottledError):
        bucket.call("get_object", AT)


@pytest.mark.parametrize("fault", FAULTS)
def test_a_write_without_an_answer_has_an_unknown_outcome(
    table_server: FaultyServer,
    bucket_server: FaultyServer,
    table: DynamoDB,
    bucket: S3,
    fault: Fault,
) -> None:
    for server in (table_server, bucket_server):
        server.fail("", fault, FOREVER)
    with deadlines.within(WORK_S) as work, pytest.raises(UnknownOutcomeError):
        table.call("PutItem", {})
    assert work.has_written
    with deadlines.within(WORK_S), pytest.raises(UnknownOutcomeError):
        bucket.call("put_object", AT, Body=OBJECT)


def test_a_trickling_copy_ends_with_the_work(bucket_server: FaultyServer, bucket: S3) -> None:
    """S3 sends blanks while it copies, so only the deadline ends it."""
    bucket_server.fail("PUT", Fault.TRICKLING_BODY, FOREVER)
    with deadlines.within(WORK_S), pytest.raises(UnknownOutcomeError):
        bucket.call("copy_object", AT, CopySource=AT.parameters)


def test_what_a_write_did_can_be_read_back_before_the_work_ends(
    table_server: FaultyServer, table: DynamoDB
) -> None:
    table_server.fail("PutItem", Fault.SILENT, FOREVER)
    with deadlines.within(3.0):
        with pytest.raises(UnknownOutcomeError):
            table.call("PutItem", {})
        assert table.call("GetItem", {})


def test_nothing_is_sent_after_the_deadline(
    table_server: FaultyServer, bucket_server: FaultyServer, table: DynamoDB, bucket: S3
) -> None:
    with deadlines.within(0) as work:
        for call in (
            lambda: table.call("PutItem", {}),
            lambda: table.call("GetItem", {}),
            lambda: bucket.call("put_object", AT, Body=OBJECT),
            lambda: repeated("KMS", bucket.client.list_buckets),
        ):
            with pytest.raises(ThrottledError):
                call()
    assert table_server.arrived == bucket_server.arrived == []
    assert not work.has_written


def test_a_server_that_takes_no_bytes_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    content = bytes(20 * 1024 * 1024)  # more than the buffers of both sides
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        client = DynamoDBHttpClient(f"http://127.0.0.1:{port}")
        monkeypatch.setattr(time_budget, "BYTES_PER_S_MIN", 10**12)
        with pytest.raises(ResponseLostError):
            client.begin({"host": client.host}, content)


def test_an_address_of_a_kind_that_the_machine_lacks_costs_no_request(
    table: DynamoDB, table_server: FaultyServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A name may have IPv6 addresses where the kernel has no IPv6."""
    port = urlsplit(table_server.endpoint).port
    found = socket.getaddrinfo("127.0.0.1", port, type=socket.SOCK_STREAM)
    lacking = (10_000, *found[0][1:])
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: [lacking, *found])
    assert table.call("GetItem", {}) == {"Item": {"a": {"S": "b"}}}


def test_services_are_asked_again_while_there_is_time(
    bucket_server: FaultyServer, bucket: S3
) -> None:
    bucket_server.fail("GET", Fault.IGNORED)
    assert repeated("KMS", lambda: bucket.client.get_object(Bucket="bucket", Key="key"))
    bucket_server.fail("GET", Fault.IGNORED, FOREVER)
    with deadlines.within(WORK_S), pytest.raises(ThrottledError, match="KMS"):
        repeated("KMS", lambda: bucket.client.get_object(Bucket="bucket", Key="key"))


def test_work_that_has_read_only_has_written_nothing(table: DynamoDB) -> None:
    with deadlines.within(60) as work:
        table.call("GetItem", {})
        assert not deadlines.may_have_written()
        with deadlines.unseen():
            table.call("UpdateItem", {})
        assert not deadlines.may_have_written()
        table.call("UpdateItem", {})
        assert deadlines.may_have_written()
    assert work.has_written
    assert not deadlines.may_have_written()


def test_worker_threads_share_the_deadline() -> None:
    with ContextThreads(1) as threads, deadlines.within(60) as work:
        assert threads.submit(deadlines.left_s).result() <= 60
        threads.submit(deadlines.write_landed).result()
    assert work.has_written


def test_a_deadline_inside_another_extends_nothing_and_reports_its_writes() -> None:
    with deadlines.within(10) as outer:
        with deadlines.within(60):
            assert deadlines.left_s() <= 10
            deadlines.write_landed()
        assert outer.has_written


def test_what_is_kept_is_half_of_the_time_at_most() -> None:
    with deadlines.within(60), deadlines.keeping(2):
        assert 50 < deadlines.left_s() <= 58
    with deadlines.within(2), deadlines.keeping(2):
        assert 0 < deadlines.left_s() <= 1
    with deadlines.within(-1), deadlines.keeping(2):
        assert deadlines.left_s() < 0


class Time:
    """A clock that a test sets."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now_s = 100.0
        monkeypatch.setattr(time, "monotonic", lambda: self.now_s)


def test_patience_is_filled_by_bytes_that_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Time(monkeypatch)
    budget = TimeBudget(2.0)
    clock.now_s += 1.5
    budget.passed(BYTES_PER_S_MIN)
    assert budget.left_s() == pytest.approx(1.5)
    budget.passed(10**9)
    assert budget.left_s() == pytest.approx(2.0)
    clock.now_s += 2
    with pytest.raises(TimeoutError):
        budget.left_s()


def test_patience_with_silence_begins_anew_at_each_byte(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Time(monkeypatch)
    budget = TimeBudget(2.0, is_silence=True)
    clock.now_s += 1.5
    budget.passed(1)
    assert budget.left_s() == pytest.approx(2.0)


def test_the_pauses_between_attempts_end_with_the_work() -> None:
    slept: list[float] = []
    patient = RetryPolicy(total_s_max=3600, first_pause_s=1.0, sleep=slept.append)
    with deadlines.within(1.0):
        for _ in patient.attempts():
            time.sleep(0.05)
    assert sum(each > 1.0 for each in slept) == 0
    assert list(RetryPolicy(total_s_max=0).attempts()) == [1, 2]


def test_an_attempt_is_so_short_that_another_one_follows() -> None:
    assert retries.CONNECT_TIMEOUT_S + retries.READ_TIMEOUT_S < retries.RETRY_S_MAX
    assert retries.CONNECT_TIMEOUT_S + retries.DYNAMODB_ATTEMPT_S < retries.RETRY_S_MAX
