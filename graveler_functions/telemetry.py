"""Logs one JSON line for each request, message or batch; the line carries its metrics, too.

Theory of operation. A `TelemetryRecord` collects the facts of a request, a message or a batch. At
its end they become one JSON line: the operation, the outcome, the duration, and the requests to the
stores (`graveler.aws.usage`). CloudWatch's embedded metric format marks the numbers that are
metrics, so metrics need no request of their own. A traced invocation gets a subsegment with the
same facts (`graveler.aws.traces`).

A line never holds headers, bodies, query strings, keys of objects, or anything decrypted or
signed. An error's message may hold any of these, so only messages of known modules are logged
(`_explained`). docs/operations.md lists all fields.
"""

import logging
import math
import os
import re
import time
import traceback
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

import msgspec
from aws_lambda_powertools import Logger
from aws_lambda_powertools.logging.formatter import LambdaPowertoolsFormatter

from graveler.aws import deadlines, traces, usage
from graveler.aws.environment import FromEnvironment
from graveler.aws.usage import Counted, Usage
from graveler.errors import GravelerError, StillRunningError

NAMESPACE = "Graveler"

# Clients choose names and user agents, and may send kilobytes.
_TEXT_CHARACTERS_MAX = 256
_EXPLANATION_CHARACTERS_MAX = 16_000

# In every line, even at zero, so that queries can average them.
_ALWAYS = {
    counted.value: 0
    for counted in (
        Counted.DYNAMODB_REQUESTS,
        Counted.S3_REQUESTS,
        Counted.CACHE_HITS,
        Counted.CACHE_MISSES,
    )
}
_UNITS = {
    "Latency": "Milliseconds",
    "CollectionAge": "Seconds",
    Counted.BYTES_COPIED.value: "Bytes",
}

# Errors of these modules have messages that are safe to log. Any other message may hold anything,
# such as the bytes that could not be parsed.
_MODULES_OF_KNOWN_MESSAGES = ("graveler.", "botocore.")
# A URL's path may hold the key of an object, and its query a signature.
_URL = re.compile(r"(https?://[^/?\s'\"]+)[^\s'\"]*", re.IGNORECASE)

# Kept for the end of an invocation: it answers, or stores its progress.
_END_S = 1.0

Fact = str | int | float | bool


class Metrics(StrEnum):
    """The dimensions of the metrics: GRAVELER_METRICS. CloudWatch bills each combination."""

    NONE = "none"
    SERVICE = "service"
    OPERATIONS = "operations"


@dataclass(frozen=True, slots=True)
class _TelemetrySettings(FromEnvironment):
    # Lambda's name of the function, which differs between deployments in one account.
    function_name: str = field(default="", metadata={"variables": ("AWS_LAMBDA_FUNCTION_NAME",)})
    metrics: Metrics = Metrics.NONE


class TelemetryRecord:
    """One request, message or batch, and the facts to log about it."""

    def __init__(self, **facts: Fact) -> None:
        self.operation = ""
        self.status: int | None = None  # of HTTP
        self.error: BaseException | None = None
        self._is_failed = False
        self._facts: dict[str, Fact] = {}
        self._measures: dict[str, float] = {}
        self._levels: dict[str, float] = {}
        self.is_idle = False  # True if there was nothing to do: then only levels are metrics
        self.add(**facts)

    def add(self, **facts: Fact) -> None:
        """Add facts to the line, by field name. Long texts are cut off."""
        for name, fact in facts.items():
            self._facts[name] = _bounded(fact) if isinstance(fact, str) else fact

    def fail(self, error: BaseException | None = None, **facts: Fact) -> None:
        """Mark the work as failed by our fault; add the error and more facts."""
        self._is_failed = True
        self.error = error or self.error
        self.add(**facts)

    def measure(self, name: str, amount: float) -> None:
        """Add an amount to the metric of that name."""
        self._measures[name] = self._measures.get(name, 0) + amount

    def level(self, name: str, value: float) -> None:
        """Set a metric that an alarm needs: it is sent at zero as well, and with `metrics=none`."""
        self._levels[name] = value

    @property
    def levels(self) -> Mapping[str, float]:
        """The metrics that are always sent, by name."""
        return self._levels

    @property
    def has_failed(self) -> bool:
        """Whether the work failed by our fault: clients' mistakes and 501 do not count.

        A request whose task continues has not failed either.
        """
        if self.status is None:
            return self._is_failed
        if isinstance(self.error, StillRunningError):
            return False
        return self.status >= 500 and self.status != 501

    def facts(self) -> dict[str, Fact]:
        """Return the fields that queries of the log filter by."""
        facts = dict(self._facts)
        if self.operation:
            facts["operation"] = self.operation
        if self.status is not None:
            facts["status"] = self.status
        if self.error is not None:
            facts["error"] = type(self.error).__name__
            if isinstance(self.error, GravelerError):
                facts["error_code"] = self.error.code
        return facts

    def measures(self, used: Usage, latency_ms: float) -> dict[str, float]:
        """Return all numbers of the line, by the name of the metric."""
        measures = {"Latency": round(latency_ms, 3), **_ALWAYS, **self._measures, **self._levels}
        for counted, amount in used.items():
            measures[counted.value] = amount
        if self.has_failed:
            measures["ServerErrors"] = 1
        elif self.status is not None and self.status >= 400:
            measures["ClientErrors"] = 1
        if self.status in (429, 503):
            measures["Throttled"] = 1
        return measures


class Telemetry:
    """Writes the log lines of one function."""

    def __init__(self, service: str, metrics: Metrics | None = None) -> None:
        settings = _TelemetrySettings.from_environment(os.environ)
        self._service = settings.function_name or service
        self._metrics = metrics or settings.metrics
        self._logger = Logger(service=self._service, logger_formatter=_LineFormatter(self._service))
        self._is_cold = True

    @contextmanager
    def record(self, kind: str, context: object, **facts: Fact) -> Iterator[TelemetryRecord]:
        """Log the work of the block when it ends, also when it raises.

        The block's calls to stores end before the invocation does.

        Args:
            kind: the line's message: `request`, `message`, `batch`, `slice` or `sweep`.
            context: Lambda's context of the invocation.
            facts: the first facts of the record.
        """
        started_s = time.perf_counter()
        record = TelemetryRecord(**facts, lambda_request_id=getattr(context, "aws_request_id", ""))
        trace = traces.of_invocation()
        with usage.measured() as used, traces.recorded(trace), deadlines.within(_left_s(context)):
            try:
                yield record
            except BaseException as error:
                record.fail(error)
                raise
            finally:
                latency_ms = (time.perf_counter() - started_s) * 1000
                self._write(kind, record, record.measures(used, latency_ms))
                if trace is not None:
                    name = record.operation or self._service
                    trace.send(name, record.facts(), record.status, is_fault=record.has_failed)

    def _write(self, kind: str, record: TelemetryRecord, measures: Mapping[str, float]) -> None:
        line: dict[str, Any] = {**record.facts(), "cold_start": self._is_cold, **measures}
        self._is_cold = False
        is_measured = self._metrics is not Metrics.NONE and (
            not record.is_idle or record.has_failed
        )
        sent = [name for name, amount in measures.items() if amount] if is_measured else []
        sent += [name for name in record.levels if name not in sent]
        if sent:
            line["_aws"] = self._embedded(record, sent)
        if not record.has_failed:
            self._logger.info(kind, extra={_LINE: line})
            return
        if record.error is not None:
            line["exception"] = _explained(record.error)
        self._logger.error(kind, extra={_LINE: line})

    def _embedded(self, record: TelemetryRecord, sent: Iterable[str]) -> Mapping[str, Any]:
        """Return the directive that marks which numbers are metrics, and their dimensions.

        Zeros are not sent, except those of levels: CloudWatch would bill an operation for errors
        that never occurred.
        """
        dimensions = [["service"]]
        if self._metrics is Metrics.OPERATIONS and record.operation:
            dimensions.append(["service", "operation"])
        return {
            "Timestamp": time.time_ns() // 1_000_000,
            "CloudWatchMetrics": [
                {
                    "Namespace": NAMESPACE,
                    "Dimensions": dimensions,
                    "Metrics": [{"Name": name, "Unit": _UNITS.get(name, "Count")} for name in sent],
                }
            ],
        }


# The attribute of a log record that holds the line's fields.
_LINE = "line"


class _LineFormatter(LambdaPowertoolsFormatter):
    """Writes Powertools' lines in a third of its time: the fields of all lines are fixed."""

    def __init__(self, service: str) -> None:
        super().__init__()
        self._service = service
        self._second: tuple[int, str, str] = (0, "", "")

    def format(self, record: logging.LogRecord) -> str:
        line = {
            "level": record.levelname,
            "message": record.msg,
            "timestamp": self._timestamp(record),
            "service": self._service,
            **getattr(record, _LINE),
        }
        if trace_id := traces.trace_id():
            line["xray_trace_id"] = trace_id
        return _encoded(line)

    def _timestamp(self, record: logging.LogRecord) -> str:
        """Return the time as Powertools writes it; the text of a second is kept for its lines."""
        second, before, after = self._second
        if second != int(record.created):
            second, moment = int(record.created), self.converter(record.created)
            before, after = time.strftime("%Y-%m-%d %H:%M:%S,", moment), time.strftime("%z", moment)
            self._second = second, before, after
        return f"{before}{int(record.msecs):03}{after}"


def _left_s(context: object) -> float:
    """Return the time left for an invocation's work; infinite without Lambda's context."""
    left_ms = getattr(context, "get_remaining_time_in_millis", None)
    return math.inf if left_ms is None else left_ms() / 1000 - _END_S


def _encoded(line: Mapping[str, Any]) -> str:
    return msgspec.json.encode(line, enc_hook=str).decode()


def _bounded(text: str, characters_max: int = _TEXT_CHARACTERS_MAX) -> str:
    """Return the beginning of the text; `?` replaces what UTF-8 cannot encode."""
    return text[:characters_max].encode("utf-8", "replace").decode()


def _explained(error: BaseException) -> str:
    """Return the error and its causes: types, places in the code, and messages safe to log.

    URLs are cut off after the host.
    """
    texts: list[str] = []
    cause: BaseException | None = error
    while cause is not None and len(texts) < 20:
        frames = "".join(traceback.format_tb(cause.__traceback__))
        texts.append(f"{frames}{type(cause).__qualname__}{_known_message(cause)}")
        cause = cause.__cause__ or (None if cause.__suppress_context__ else cause.__context__)
    text = _URL.sub(r"\1/…", "\n\nbecause of\n".join(texts))
    return _bounded(text, _EXPLANATION_CHARACTERS_MAX)


def _known_message(error: BaseException) -> str:
    if type(error).__module__.startswith(_MODULES_OF_KNOWN_MESSAGES):
        return f": {error}"
    if isinstance(error, OSError) and error.strerror:
        return f": {error.strerror}"
    return ""
