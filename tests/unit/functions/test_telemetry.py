"""The log lines of functions: their fields, their metrics, and what they leave out."""

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

import pytest
from botocore.exceptions import EndpointConnectionError

from graveler.aws import usage
from graveler.aws.usage import Counted
from graveler.errors import CorruptDataError, ThrottledError
from graveler.threads import ContextThreads
from graveler_functions.telemetry import Metrics, Telemetry, TelemetryRecord
from tests.support.checks.lines import Lines, lines_of
from tests.unit.aws.test_traces import Daemon, daemon, environment

__all__ = ["daemon"]

CONTEXT = SimpleNamespace(aws_request_id="lambda-1")


def telemetry(metrics: Metrics | None = None) -> Telemetry:
    return Telemetry("graveler-test", metrics)


@pytest.fixture
def lines(monkeypatch: pytest.MonkeyPatch) -> Lines:
    telemetry()
    return lines_of(monkeypatch, "graveler-test")


def log_request(
    metrics: Metrics = Metrics.NONE,
    status: int = 200,
    do: Callable[[TelemetryRecord], object] = lambda _: None,
) -> None:
    """A request of an operation with that outcome."""
    with telemetry(metrics).record("request", CONTEXT) as record:
        record.operation = "statObject"
        record.status = status
        do(record)


def metrics_of(line: dict) -> dict[str, float]:
    """What CloudWatch takes of the line."""
    (directive,) = line["_aws"]["CloudWatchMetrics"]
    assert directive["Namespace"] == "Graveler"
    return {each["Name"]: line[each["Name"]] for each in directive["Metrics"]}


def test_a_line_says_what_was_done_and_what_it_took(lines: Lines) -> None:
    def use(record: TelemetryRecord) -> None:
        record.add(repository="lake")
        usage.count(Counted.DYNAMODB_REQUESTS, 2)
        with ContextThreads(1) as pool:
            pool.submit(usage.count, Counted.S3_REQUESTS).result()

    log_request(do=use)
    line = lines.last
    assert line.pop("timestamp")
    assert 0 <= line.pop("Latency") < 60_000
    assert line == {
        "level": "INFO",
        "message": "request",
        "service": "graveler-test",
        "operation": "statObject",
        "repository": "lake",
        "status": 200,
        "lambda_request_id": "lambda-1",
        "cold_start": True,
        "DynamoDBRequests": 2,
        "S3Requests": 1,
        "CacheHits": 0,
        "CacheMisses": 0,
    }


def test_only_the_first_piece_of_work_of_a_process_is_a_cold_start(lines: Lines) -> None:
    one = telemetry()
    for _ in range(3):
        with one.record("request", None):
            pass
    assert [line["cold_start"] for line in lines.all] == [True, False, False]


@pytest.mark.parametrize(
    ("status", "counted", "level"),
    [
        (204, set(), "INFO"),
        (302, set(), "INFO"),
        (404, {"ClientErrors"}, "INFO"),
        (429, {"ClientErrors", "Throttled"}, "INFO"),
        (500, {"ServerErrors"}, "ERROR"),
        (501, {"ClientErrors"}, "INFO"),
        (503, {"ServerErrors", "Throttled"}, "ERROR"),
    ],
)
def test_failures_count_as_the_clients_or_ours(
    lines: Lines, status: int, counted: set[str], level: str
) -> None:
    log_request(Metrics.SERVICE, status)
    assert lines.last["level"] == level
    assert metrics_of(lines.last).keys() == {"Latency"} | counted


def test_unused_counts_are_in_the_line_but_are_no_metrics(lines: Lines) -> None:
    log_request(Metrics.SERVICE, do=lambda _: usage.count(Counted.BYTES_COPIED, 7))
    assert lines.last["S3Requests"] == 0
    assert metrics_of(lines.last).keys() == {"Latency", "BytesCopied"}
    (directive,) = lines.last["_aws"]["CloudWatchMetrics"]
    assert directive["Metrics"] == [
        {"Name": "Latency", "Unit": "Milliseconds"},
        {"Name": "BytesCopied", "Unit": "Bytes"},
    ]


@pytest.mark.parametrize(
    ("metrics", "dimensions"),
    [
        (Metrics.SERVICE, [["service"]]),
        (Metrics.OPERATIONS, [["service"], ["service", "operation"]]),
    ],
)
def test_the_setting_decides_the_dimensions_of_metrics(
    lines: Lines, metrics: Metrics, dimensions: list[list[str]]
) -> None:
    log_request(metrics)
    (directive,) = lines.last["_aws"]["CloudWatchMetrics"]
    assert directive["Dimensions"] == dimensions
    assert all(isinstance(lines.last[name], str) for each in dimensions for name in each)
    assert lines.last["_aws"]["Timestamp"] > 1_600_000_000_000


def test_without_metrics_there_are_still_lines(lines: Lines) -> None:
    log_request(Metrics.NONE)
    assert "_aws" not in lines.last


@pytest.mark.parametrize("metrics", list(Metrics))
def test_a_level_that_an_alarm_needs_is_always_sent(lines: Lines, metrics: Metrics) -> None:
    with telemetry(metrics).record("sweep", CONTEXT) as record:
        record.is_idle = True
        record.level("CollectionAge", 0)
    assert metrics_of(lines.last) == {"CollectionAge": 0}


def test_idle_work_has_metrics_only_if_it_failed(lines: Lines) -> None:
    for is_failed in (False, True):
        with telemetry(Metrics.SERVICE).record("sweep", CONTEXT) as record:
            record.is_idle = True
            if is_failed:
                record.fail()
    idle, failed = lines.all
    assert "_aws" not in idle
    assert metrics_of(failed).keys() == {"Latency", "ServerErrors"}


def test_work_without_an_operation_has_no_metrics_of_one(lines: Lines) -> None:
    with telemetry(Metrics.OPERATIONS).record("batch", CONTEXT):
        pass
    (directive,) = lines.last["_aws"]["CloudWatchMetrics"]
    assert directive["Dimensions"] == [["service"]]


def test_the_environment_sets_the_metrics(monkeypatch: pytest.MonkeyPatch, lines: Lines) -> None:
    monkeypatch.setenv("GRAVELER_METRICS", "operations")
    log_request(metrics=None)  # type: ignore[arg-type] # as a handler leaves it
    assert "_aws" in lines.last
    monkeypatch.setenv("GRAVELER_METRICS", "everything")
    with pytest.raises(ValueError, match="everything"):
        telemetry()


def test_an_uncaught_error_is_logged_and_raised(lines: Lines) -> None:
    with pytest.raises(CorruptDataError), telemetry().record("batch", CONTEXT):
        raise CorruptDataError("s3://bucket/n/_lakefs/f is missing")
    assert (lines.last["level"], lines.last["error"]) == ("ERROR", "CorruptDataError")
    assert lines.last["error_code"] == "corrupt_data"
    assert lines.last["exception"].endswith("CorruptDataError: s3://bucket/n/_lakefs/f is missing")
    assert "test_telemetry.py" in lines.last["exception"]


def test_an_error_of_another_library_has_no_code(lines: Lines) -> None:
    log_request(status=500, do=lambda record: record.fail(OSError()))
    assert lines.last["error"] == "OSError"
    assert "error_code" not in lines.last


def test_messages_of_unknown_origin_are_not_logged(lines: Lines) -> None:
    def fail(record: TelemetryRecord) -> None:
        try:
            try:
                int("the content of an object")
            except ValueError as error:
                raise ThrottledError("S3 cannot serve this now") from error
        except ThrottledError as error:
            record.error = error

    log_request(status=503, do=fail)
    told = lines.last["exception"]
    assert "ThrottledError: S3 cannot serve this now" in told
    assert "because of" in told
    assert told.endswith("ValueError")
    assert "content of an object" not in told.replace('int("the content of an object")', "")


def test_urls_are_logged_by_their_host(lines: Lines) -> None:
    url = "https://bucket.s3.amazonaws.com/data/secret-key?X-Amz-Signature=abc&X-Amz-Credential=d"
    log_request(status=500, do=lambda r: r.fail(EndpointConnectionError(endpoint_url=url)))
    assert "https://bucket.s3.amazonaws.com/…" in lines.last["exception"]
    assert "secret-key" not in lines.text
    assert "X-Amz" not in lines.text


def test_other_failures_of_the_system_are_logged_with_their_reason(lines: Lines) -> None:
    log_request(status=500, do=lambda r: r.fail(OSError(28, os.strerror(28), "/tmp/secret")))
    assert lines.last["exception"].endswith("OSError: No space left on device")
    assert "secret" not in lines.text


def test_a_clients_error_is_logged_by_its_name(lines: Lines) -> None:
    def refuse(record: TelemetryRecord) -> None:
        record.error = CorruptDataError("names something")

    log_request(status=400, do=refuse)
    assert lines.last["error"] == "CorruptDataError"
    assert "names something" not in lines.text


def test_whatever_clients_send_is_one_short_line(lines: Lines) -> None:
    hostile = 'a"\n\r\x00\u2028\ud800' + "x" * 10_000
    log_request(do=lambda record: record.add(user_agent=hostile, repository="é"))
    assert len(lines.text.splitlines()) == 1 or "\u2028" in lines.text
    assert lines.text.count("\n") == 1
    assert len(lines.text.encode()) < 2_000


def test_requests_of_many_threads_do_not_mix(lines: Lines) -> None:
    one = telemetry()

    def work(number: int) -> None:
        with one.record("request", None, request_id=f"r-{number}"), ContextThreads(2) as pool:
            list(pool.map(usage.count, [Counted.S3_REQUESTS] * number))

    with ThreadPoolExecutor(8) as threads:
        list(threads.map(work, range(60)))
    assert {(line["request_id"], line["S3Requests"]) for line in lines.all} == {
        (f"r-{number}", number) for number in range(60)
    }


def test_a_traced_request_is_traced_with_what_its_line_says(
    lines: Lines, daemon: Daemon, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in environment(daemon).items():
        monkeypatch.setenv(name, value)
    log_request(status=404, do=lambda record: record.add(repository="lake"))
    sent = daemon.next()
    assert (sent["name"], sent["error"], sent["fault"]) == ("statObject", True, False)
    assert sent["annotations"]["repository"] == "lake"
    assert sent["annotations"]["status"] == 404
    assert lines.last["xray_trace_id"] == sent["trace_id"]
    with telemetry().record("batch", CONTEXT) as record:
        record.fail()
    assert daemon.next()["fault"]
