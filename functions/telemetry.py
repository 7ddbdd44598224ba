"""What a function tells of each piece of its work: one line of log, which is its metrics as well.

Theory of operation. A request, a message or a batch is a `Record` while it lasts. At its end it
becomes one JSON line, with what it was, how it ended, how long it took, and what it used of the
stores (`graveler.aws.usage`). The line also says, in CloudWatch's embedded metric format, which of
its numbers are metrics: nothing is sent anywhere, and no request waits. What Lambda traces gets a
subsegment with the same facts (`graveler.aws.traces`).

A line never holds what others must not read: no headers, no bodies, no query strings, no keys of
objects, nothing that was decrypted or signed. So of an error it holds a message only where we know
who wrote it (`_explained`). docs/operations.md has all the fields.
"""

import os
import re
import time
import traceback
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

import msgspec
from aws_lambda_powertools import Logger

from graveler.aws import traces, usage
from graveler.aws.environment import FromEnvironment
from graveler.aws.usage import Counted, Usage
from graveler.errors import GravelerError

NAMESPACE = "Graveler"

# Names come from clients, who may send kilobytes of them.
_TEXT_CHARACTERS_MAX = 256
_EXPLANATION_CHARACTERS_MAX = 16_000

# In every line, so that averages can be taken of it.
_ALWAYS = {
    counted.value: 0
    for counted in (
        Counted.DYNAMODB_REQUESTS,
        Counted.S3_REQUESTS,
        Counted.CACHE_HITS,
        Counted.CACHE_MISSES,
    )
}
_UNITS = {"Latency": "Milliseconds", Counted.BYTES_COPIED.value: "Bytes"}

# Whose messages name things and remedies; any other message may hold anything, such as the bytes
# that could not be parsed.
_MODULES_OF_KNOWN_MESSAGES = ("graveler.", "botocore.")
# Their paths hold keys of objects, and their queries signatures.
_URL = re.compile(r"(https?://[^/?\s'\"]+)[^\s'\"]*", re.IGNORECASE)

Fact = str | int | float | bool


class Metrics(StrEnum):
    """For what CloudWatch keeps metrics: GRAVELER_METRICS. Each one costs, for each operation."""

    NONE = "none"
    SERVICE = "service"
    OPERATIONS = "operations"


@dataclass(frozen=True, slots=True)
class _Settings(FromEnvironment):
    # Lambda's name of the function, which differs between deployments in one account.
    function_name: str = field(default="", metadata={"variables": ("AWS_LAMBDA_FUNCTION_NAME",)})
    metrics: Metrics = Metrics.NONE


class Record:
    """One request, message or batch, and what is to be told of it."""

    def __init__(self, **facts: Fact) -> None:
        self.operation = ""
        self.status: int | None = None  # of HTTP
        self.error: BaseException | None = None
        self._is_failed = False
        self._facts: dict[str, Fact] = {}
        self._measures: dict[str, float] = {}
        self.tell(**facts)

    def tell(self, **facts: Fact) -> None:
        """Add what the work can be found by."""
        for name, fact in facts.items():
            self._facts[name] = _bounded(fact) if isinstance(fact, str) else fact

    def fail(self, error: BaseException | None = None, **facts: Fact) -> None:
        """Say that the work failed by our fault, by which error, and what there is to know."""
        self._is_failed = True
        self.error = error or self.error
        self.tell(**facts)

    def measure(self, name: str, amount: float) -> None:
        """Add what CloudWatch is to sum up; by the name of the metric."""
        self._measures[name] = self._measures.get(name, 0) + amount

    @property
    def has_failed(self) -> bool:
        """Whether it is our failure; what clients do wrong, or we do not serve, is none."""
        if self.status is None:
            return self._is_failed
        return self.status >= 500 and self.status != 501

    def facts(self) -> dict[str, Fact]:
        """What the work can be found by."""
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
        """All that can be summed up, by the name of the metric."""
        measures = {"Latency": round(latency_ms, 3), **_ALWAYS, **self._measures}
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
    """Writes the lines of one function."""

    def __init__(self, service: str, metrics: Metrics | None = None) -> None:
        settings = _Settings.from_environment(os.environ)
        self._service = settings.function_name or service
        self._metrics = metrics or settings.metrics
        self._logger = Logger(service=self._service, location=None, json_serializer=_encoded)
        self._is_cold = True

    @contextmanager
    def record(self, kind: str, context: object, **facts: Fact) -> Iterator[Record]:
        """Tell of the work in the block when it ends, however it ends.

        kind is the line's message: what one line stands for. context is Lambda's.
        """
        started_s = time.perf_counter()
        record = Record(**facts, lambda_request_id=getattr(context, "aws_request_id", ""))
        trace = traces.of_invocation()
        with usage.measured() as used, traces.recorded(trace):
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

    def _write(self, kind: str, record: Record, measures: Mapping[str, float]) -> None:
        line: dict[str, Any] = {**record.facts(), "cold_start": self._is_cold, **measures}
        self._is_cold = False
        if self._metrics is not Metrics.NONE:
            line["_aws"] = self._embedded(record, measures)
        if not record.has_failed:
            self._logger.info(kind, **line)
            return
        if record.error is not None:
            line["exception"] = _explained(record.error)
        self._logger.error(kind, **line)

    def _embedded(self, record: Record, measures: Mapping[str, float]) -> Mapping[str, Any]:
        """Which of the numbers are metrics, of what.

        Zeros are none: CloudWatch would bill an operation for errors that it never had.
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
                    "Metrics": [
                        {"Name": name, "Unit": _UNITS.get(name, "Count")}
                        for name, amount in measures.items()
                        if amount
                    ],
                }
            ],
        }


def _encoded(line: Mapping[str, Any]) -> str:
    return msgspec.json.encode(line, enc_hook=str).decode()


def _bounded(text: str, characters_max: int = _TEXT_CHARACTERS_MAX) -> str:
    """The beginning of the text, without what UTF-8 does not have."""
    return text[:characters_max].encode("utf-8", "replace").decode()


def _explained(error: BaseException) -> str:
    """The error and what led to it: types, places in the code, and the messages that are ours.

    Of a URL there is no more than the host.
    """
    told: list[str] = []
    cause: BaseException | None = error
    while cause is not None and len(told) < 20:
        frames = "".join(traceback.format_tb(cause.__traceback__))
        told.append(f"{frames}{type(cause).__qualname__}{_known_message(cause)}")
        cause = cause.__cause__ or (None if cause.__suppress_context__ else cause.__context__)
    text = _URL.sub(r"\1/…", "\n\nbecause of\n".join(told))
    return _bounded(text, _EXPLANATION_CHARACTERS_MAX)


def _known_message(error: BaseException) -> str:
    if type(error).__module__.startswith(_MODULES_OF_KNOWN_MESSAGES):
        return f": {error}"
    if isinstance(error, OSError) and error.strerror:
        return f": {error.strerror}"
    return ""
