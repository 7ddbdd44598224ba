"""Work ends at its deadline, whatever the stores do; a connection that hangs costs an attempt."""

import re
import socket
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field

import boto3
import pytest

from graveler.aws import connect, deadlines, retries
from graveler.aws.dynamodb import http_client
from graveler.aws.dynamodb.client import DynamoDB
from graveler.aws.dynamodb.http_client import HttpClient
from graveler.aws.retries import Retries, attempt_s
from graveler.aws.s3 import client as s3_module
from graveler.aws.s3.client import S3, Location
from graveler.aws.signing import Signer
from graveler.aws.timeouts import bounded
from graveler.errors import ThrottledError, UnknownOutcomeError
from graveler.threads import ContextThreads
from tests.unit.aws.scripted import Keys

AT = Location("bucket", "key")
ITEM = b'{"Item":{"a":{"S":"b"}}}'
OBJECT = b"content"
# An attempt of these tests, and the end of their work. Nothing below depends on either.
ATTEMPT_S = 0.1
WORK_S = 0.5


def answer(body: bytes) -> bytes:
    return b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body)


@dataclass
class Hanging:
    """A server that answers no request on its first connections, or byte by byte; then it works."""

    body: bytes
    hanging: int = 10**6
    drips: bool = False
    connections: int = 0
    requests: list[bytes] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._closing = threading.Event()
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._thread = threading.Thread(target=self._accept, daemon=True)
        self._thread.start()

    @property
    def endpoint(self) -> str:
        return f"http://127.0.0.1:{self._listener.getsockname()[1]}"

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            self.connections += 1
            hangs = self.connections <= self.hanging
            threading.Thread(target=self._serve, args=(connection, hangs), daemon=True).start()

    def _serve(self, connection: socket.socket, hangs: bool) -> None:
        with connection, connection.makefile("rb") as reader:
            while head := b"".join(iter(reader.readline, b"\r\n")).lower():
                length = re.search(rb"\r\ncontent-length: (\d+)", head)
                reader.read(int(length[1]) if length else 0)
                self.requests.append(head)
                if not hangs:
                    connection.sendall(answer(b"" if head.startswith(b"put") else self.body))
                elif self.drips:
                    self._drip(connection)
                    return
                else:
                    self._closing.wait()
                    return

    def _drip(self, connection: socket.socket) -> None:
        while not self._closing.wait(ATTEMPT_S / 5):
            try:
                connection.sendall(b"HTTP/1.1 200 OK\r\nA: "[: len(self.requests)] or b"H")
            except OSError:
                return

    def close(self) -> None:
        self._closing.set()
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self._thread.join()


@pytest.fixture
def servers() -> Iterator[list[Hanging]]:
    made: list[Hanging] = []
    yield made
    for each in made:
        each.close()


@pytest.fixture(autouse=True)
def short_attempts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http_client, "DYNAMODB_ATTEMPT_S", ATTEMPT_S)
    monkeypatch.setattr(s3_module, "READ_TIMEOUT_S", ATTEMPT_S)


def dynamodb(servers: list[Hanging], **how: object) -> DynamoDB:
    servers.append(Hanging(ITEM, **how))  # type: ignore[arg-type]
    return DynamoDB(HttpClient(servers[-1].endpoint), Signer("eu-west-1", Keys))


def s3(servers: list[Hanging], **how: object) -> S3:
    servers.append(Hanging(OBJECT, **how))  # type: ignore[arg-type]
    endpoint = servers[-1].endpoint
    client = boto3.client(
        "s3",
        region_name="eu-west-1",
        endpoint_url=endpoint,
        aws_access_key_id="key",
        aws_secret_access_key="secret",
        config=connect.s3_config(endpoint),
    )
    return S3(bounded(client))


def test_a_connection_that_hangs_does_not_fail_a_read(servers: list[Hanging]) -> None:
    assert dynamodb(servers, hanging=1).call("GetItem", {}) == {"Item": {"a": {"S": "b"}}}
    assert s3(servers, hanging=1).call("get_object", AT)["Body"] == OBJECT
    assert [each.connections for each in servers] == [2, 2]


def test_a_connection_that_hangs_does_not_fail_a_write(servers: list[Hanging]) -> None:
    dynamodb(servers, hanging=1).call("PutItem", {})
    s3(servers, hanging=1).call("put_object", AT, Body=OBJECT)
    assert [each.connections for each in servers] == [2, 2]


@pytest.mark.parametrize("drips", [False, True])
def test_reads_of_stores_that_hang_end_with_the_work(servers: list[Hanging], drips: bool) -> None:
    table = dynamodb(servers, drips=drips)
    with deadlines.within(WORK_S), pytest.raises(ThrottledError):
        table.call("GetItem", {})
    objects = s3(servers)
    with deadlines.within(WORK_S), pytest.raises(ThrottledError):
        objects.call("get_object", AT)


@pytest.mark.parametrize("drips", [False, True])
def test_a_write_without_an_answer_has_an_unknown_outcome(
    servers: list[Hanging], drips: bool
) -> None:
    table = dynamodb(servers, drips=drips)
    with deadlines.within(WORK_S) as work, pytest.raises(UnknownOutcomeError):
        table.call("PutItem", {})
    assert work.has_written
    objects = s3(servers)
    with deadlines.within(WORK_S), pytest.raises(UnknownOutcomeError):
        objects.call("put_object", AT, Body=OBJECT)


def test_nothing_is_sent_after_the_deadline(servers: list[Hanging]) -> None:
    table, objects = dynamodb(servers, hanging=0), s3(servers, hanging=0)
    with deadlines.within(0) as work:
        for call in (
            lambda: table.call("PutItem", {}),
            lambda: table.call("GetItem", {}),
            lambda: objects.call("put_object", AT, Body=OBJECT),
        ):
            with pytest.raises(ThrottledError):
                call()
    assert [each.requests for each in servers] == [[], []]
    assert not work.has_written


def test_work_that_has_read_only_has_written_nothing(servers: list[Hanging]) -> None:
    table = dynamodb(servers, hanging=0)
    with deadlines.within(60) as work:
        table.call("GetItem", {})
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


def test_an_attempt_has_what_is_left_and_never_no_limit() -> None:
    assert attempt_s(2.0) == 2.0
    with deadlines.within(1.0):
        assert 0 < attempt_s(2.0) <= 1.0
    with deadlines.within(-1.0):
        assert 0 < attempt_s(2.0) < 0.01


def test_the_pauses_between_attempts_end_with_the_work() -> None:
    slept: list[float] = []
    patient = Retries(total_s_max=3600, first_pause_s=1.0, sleep=slept.append)
    with deadlines.within(1.0):
        for _ in patient.attempts():
            time.sleep(0.05)
    assert sum(each > 1.0 for each in slept) == 0
    assert list(Retries(total_s_max=0).attempts()) == [1]


def test_an_attempt_is_so_short_that_another_one_follows() -> None:
    assert retries.CONNECT_TIMEOUT_S + retries.READ_TIMEOUT_S < retries.RETRY_S_MAX
    assert retries.CONNECT_TIMEOUT_S + retries.DYNAMODB_ATTEMPT_S < retries.RETRY_S_MAX
