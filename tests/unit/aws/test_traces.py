"""Traces, against the test's own daemon."""

import json
import socket
from collections.abc import Iterator
from typing import Any

import pytest

from graveler.aws import traces
from graveler.aws.exchanges.buffered import BufferedResponse
from graveler.aws.s3.client import S3Error
from graveler.aws.s3.uris import Location
from graveler.errors import ThrottledError
from graveler.threads import ContextThreads
from tests.unit.aws.scripted_s3 import Answer, ScriptedS3, refusal
from tests.unit.aws.test_usage import dynamodb

ROOT = "1-5759e988-bd862e3fe1be46a994272793"
PARENT = "53995c3f42cd8ad8"
SAMPLED = f"Root={ROOT};Parent={PARENT};Sampled=1;Lineage=1:a87bd80c:1"
OK = BufferedResponse(200, {}, b"{}")


class Daemon:
    """Takes packets as X-Ray's does."""

    def __init__(self) -> None:
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.bind(("127.0.0.1", 0))
        self.socket.settimeout(5)
        self.address = f"127.0.0.1:{self.socket.getsockname()[1]}"

    def next(self) -> dict[str, Any]:
        """The next document."""
        header, _, document = self.socket.recv(65_536).partition(b"\n")
        assert json.loads(header) == {"format": "json", "version": 1}
        return json.loads(document)

    def is_silent(self) -> bool:
        self.socket.setblocking(False)
        try:
            self.socket.recv(1)
        except BlockingIOError:
            return True
        return False


@pytest.fixture
def daemon() -> Iterator[Daemon]:
    made = Daemon()
    yield made
    made.socket.close()


def environment(daemon: Daemon, header: str = SAMPLED) -> dict[str, str]:
    return {"_X_AMZN_TRACE_ID": header, "AWS_XRAY_DAEMON_ADDRESS": daemon.address}


def trace_of(daemon: Daemon) -> traces.Trace:
    trace = traces.of_invocation(environment(daemon))
    assert trace is not None
    return trace


def test_a_traced_request_is_a_subsegment_of_the_function_s(daemon: Daemon) -> None:
    trace = trace_of(daemon)
    trace.send("statObject", {"repository": "lake", "status": 200}, 200)
    sent = daemon.next()
    assert (sent["type"], sent["name"]) == ("subsegment", "statObject")
    assert (sent["trace_id"], sent["parent_id"]) == (ROOT, PARENT)
    assert len(sent["id"]) == 16
    assert 0 <= sent["end_time"] - sent["start_time"] < 60
    assert sent["annotations"] == {"repository": "lake", "status": 200}
    assert sent["http"] == {"response": {"status": 200}}


@pytest.mark.parametrize(
    ("status", "outcome"),
    [(200, ""), (404, "error"), (429, "error throttle"), (500, "fault"), (501, "error")],
)
def test_a_failure_is_a_fault_or_an_error(daemon: Daemon, status: int, outcome: str) -> None:
    trace_of(daemon).send("name", {}, status, is_fault=outcome == "fault")
    sent = daemon.next()
    told = [name for name in ("error", "throttle", "fault") if sent[name]]
    assert told == outcome.split()


def test_calls_of_all_threads_are_inside(daemon: Daemon) -> None:
    trace = trace_of(daemon)
    client = dynamodb(OK)
    aws = ScriptedS3(Answer(200, {"Content-Length": "1"}, b"x"), refusal(404, "NoSuchKey"))
    with traces.recorded(trace), ContextThreads(2) as pool:
        client.call("GetItem", {})
        pool.submit(aws.s3.call, "get_object", Location("bucket", "secret/key")).result()
        with pytest.raises(S3Error):
            aws.s3.call("get_object", Location("bucket", "secret/key"))
    client.call("PutItem", {})  # nobody's any more
    trace.send("commit", {})
    sent = daemon.next()
    calls = sent["subsegments"]
    assert [(each["name"], each["aws"]["operation"]) for each in calls] == [
        ("DynamoDB", "GetItem"),
        ("S3", "get_object"),
        ("S3", "get_object"),
    ]
    assert [each.get("error", False) for each in calls] == [False, False, True]
    assert {each["namespace"] for each in calls} == {"aws"}
    assert len({each["id"] for each in calls}) == 3
    assert all(each["end_time"] >= each["start_time"] for each in calls)
    assert sent["metadata"] == {"calls": 3}
    assert "secret" not in json.dumps(sent)


def test_a_throttled_call_is_marked(daemon: Daemon) -> None:
    trace = trace_of(daemon)
    refused = BufferedResponse(400, {}, b'{"__type": "#ThrottlingException"}')
    with traces.recorded(trace), pytest.raises(ThrottledError):
        dynamodb(refused).call("GetItem", {})
    trace.send("name", {})
    (call,) = daemon.next()["subsegments"]
    assert call["throttle"]


def test_the_largest_trace_fits_into_a_packet(daemon: Daemon) -> None:
    trace = trace_of(daemon)
    client = dynamodb(OK)
    with traces.recorded(trace):
        for _ in range(1000):
            client.call("TransactWriteItems", {})
    annotations: dict[str, traces.Annotation] = {f"name_{n}": "é" * 256 for n in range(12)}
    trace.send("n" * 100, annotations)
    sent = daemon.next()
    assert sent["metadata"] == {"calls": 1000}
    assert 0 < len(sent["subsegments"]) < 1000


@pytest.mark.parametrize(
    "header",
    [
        "",
        f"Root={ROOT};Parent={PARENT};Sampled=0",
        f"Root={ROOT};Parent={PARENT}",
        "Sampled=1",
        f"Root={ROOT};Sampled=1",
    ],
)
def test_an_untraced_request_sends_nothing(daemon: Daemon, header: str) -> None:
    trace = traces.of_invocation(environment(daemon, header))
    assert trace is None
    with traces.recorded(trace):
        dynamodb(OK).call("GetItem", {})
    assert daemon.is_silent()


@pytest.mark.parametrize("address", ["", "127.0.0.1", "127.0.0.1:x"])
def test_without_a_daemon_nothing_is_traced(address: str) -> None:
    given = {"_X_AMZN_TRACE_ID": SAMPLED, "AWS_XRAY_DAEMON_ADDRESS": address}
    assert traces.of_invocation(given) is None


def test_a_missing_daemon_does_no_harm(daemon: Daemon) -> None:
    trace = trace_of(daemon)
    daemon.socket.close()
    for _ in range(3):
        trace.send("name", {})
