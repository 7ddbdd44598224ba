"""Sends X-Ray a trace of each sampled request and of its calls.

Theory of operation. Lambda decides which requests are traced, sets _X_AMZN_TRACE_ID, and creates
the function's segment. We add a subsegment to each traced request, with one more inside for each
call of a service. One packet carries all of it to the daemon that Lambda runs beside the function.
A lost packet loses a trace and nothing else. A request that is not traced costs one read of the
environment. Each of its calls costs one read of a context variable.

The format: https://docs.aws.amazon.com/xray/latest/devguide/xray-api-segmentdocuments.html.
docs/adr/0011-telemetry.md says why we do not use the X-Ray SDK.
"""

import os
import socket
import time
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from contextvars import ContextVar
from typing import Any

import msgspec

from graveler.errors import ContentionError, ThrottledError

_HEADER = b'{"format": "json", "version": 1}\n'
# Lambda sets it for each invocation: `Root=<trace ID>;Parent=…;Sampled=…`.
_INVOCATION = "_X_AMZN_TRACE_ID"
# The daemon takes packets of 64 KB; a call takes up to 250 bytes.
_CALLS_MAX = 200

Annotation = str | int | float | bool


class Trace:
    """One traced request: its position in a trace, and its calls; shared by its threads."""

    def __init__(self, trace_id: str, parent_id: str, daemon: tuple[str, int]) -> None:
        self._trace_id = trace_id
        self._parent_id = parent_id
        self._daemon = daemon
        self._started_s = time.time()
        self._calls: list[Mapping[str, Any]] = []
        self._calls_total = 0

    @contextmanager
    def call(self, service: str, operation: str) -> Iterator[None]:
        """Record the call of a service that the block makes."""
        started_s = time.time()
        outcome: Mapping[str, bool] = {}
        try:
            yield
        except BaseException as error:
            outcome = _outcome_of(error)
            raise
        finally:
            self._calls_total += 1
            if len(self._calls) < _CALLS_MAX:
                self._calls.append(
                    {
                        "id": _new_id(),
                        "name": service,
                        "namespace": "aws",
                        "start_time": started_s,
                        "end_time": time.time(),
                        **({"aws": {"operation": operation}} if operation else {}),
                        **outcome,
                    }
                )

    def send(
        self,
        name: str,
        annotations: Mapping[str, Annotation],
        status: int | None = None,
        *,
        is_fault: bool = False,
    ) -> None:
        """Send the recorded calls in a subsegment of that name that ends now.

        Args:
            name: the subsegment's name.
            annotations: searches filter by them. Names have letters, digits and underscores only.
            status: the HTTP status of the answer, if it has one.
            is_fault: whether the request failed by our fault.
        """
        document: dict[str, Any] = {
            "type": "subsegment",
            "trace_id": self._trace_id,
            "parent_id": self._parent_id,
            "id": _new_id(),
            "name": name,
            "start_time": self._started_s,
            "end_time": time.time(),
            "annotations": annotations,
            "metadata": {"calls": self._calls_total},
            "subsegments": self._calls,
            "fault": is_fault,
        }
        if status is not None:
            document["http"] = {"response": {"status": status}}
            document["error"] = status >= 400 and not is_fault
            document["throttle"] = status == 429
        packet = _HEADER + msgspec.json.encode(document)
        with suppress(OSError), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as daemon:
            daemon.setblocking(False)  # noqa: FBT003 - socket's own
            daemon.sendto(packet, self._daemon)


_NOT_TRACED = nullcontext()
_current: ContextVar[Trace | None] = ContextVar("trace", default=None)


def trace_id(environment: Mapping[str, str] = os.environ) -> str:
    """Return the ID of the current invocation's trace, sent or not; "" outside of Lambda."""
    return environment.get(_INVOCATION, "").partition(";")[0].removeprefix("Root=")


def of_invocation(environment: Mapping[str, str] = os.environ) -> Trace | None:
    """Return the trace of the current invocation; None if it is not traced."""
    header = environment.get(_INVOCATION, "")
    address = environment.get("AWS_XRAY_DAEMON_ADDRESS", "")
    if "Sampled=1" not in header or not address:
        return None
    parts = dict(part.strip().partition("=")[::2] for part in header.split(";"))
    host, _, port = address.rpartition(":")
    if not (parts.get("Root") and parts.get("Parent") and port.isdecimal()):
        return None
    return Trace(parts["Root"], parts["Parent"], (host, int(port)))


@contextmanager
def recorded(trace: Trace | None) -> Iterator[None]:
    """Record the calls of the block and its threads in the trace, if there is one."""
    token = _current.set(trace)
    try:
        yield
    finally:
        _current.reset(token)


def call(service: str, operation: str) -> AbstractContextManager[None]:
    """Record the call of a service that the block makes, if the request is traced."""
    trace = _current.get()
    return _NOT_TRACED if trace is None else trace.call(service, operation)


def _outcome_of(error: BaseException) -> Mapping[str, bool]:
    """Return the outcome of a failed call, without the error's message, which may name anything."""
    is_throttled = isinstance(error, ThrottledError | ContentionError)
    return {"error": True, "throttle": is_throttled}


def _new_id() -> str:
    return os.urandom(8).hex()
