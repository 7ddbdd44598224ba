"""Lambda's runtime API on loopback, for the real runtime client.

https://docs.aws.amazon.com/lambda/latest/dg/runtimes-api.html
"""

import json
import queue
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, ClassVar
from uuid import uuid4

_PREFIX = "/2018-06-01/runtime/"
_ANSWER_S_MAX = 60


class FailedError(Exception):
    """The handler or its start failed; the message is what the client reported."""


@dataclass
class RuntimeApi:
    """Events for one function, and the answers to them."""

    timeout_s: int = 30
    address: str = ""
    events: queue.Queue[tuple[str, bytes]] = field(default_factory=queue.Queue)
    answers: queue.Queue[tuple[str, str, bytes]] = field(default_factory=queue.Queue)
    restores: int = 0
    polls: threading.Semaphore = field(default_factory=lambda: threading.Semaphore(0))

    def send(self, event: Any) -> str:
        """Queue an event for the next process that asks; return its request ID."""
        request_id = str(uuid4())
        self.events.put((request_id, json.dumps(event).encode()))
        return request_id

    def receive(self) -> Any:
        """Wait for the next answer.

        Raises:
            FailedError: the client reported an error.
        """
        _, kind, body = self.answers.get(timeout=_ANSWER_S_MAX)
        if kind != "response":
            raise FailedError(f"{kind}: {body.decode()}")
        return json.loads(body)

    def invoke(self, event: Any) -> Any:
        """Send one event and wait for its answer."""
        self.send(event)
        return self.receive()

    def wait_for_polls(self, count: int) -> None:
        """Wait until processes have asked for so many events since the last call."""
        for _ in range(count):
            if not self.polls.acquire(timeout=_ANSWER_S_MAX):
                raise FailedError("no process asks for an event")


@contextmanager
def runtime_api() -> Iterator[RuntimeApi]:
    """Serve the runtime API of one function."""
    api = RuntimeApi()
    handler = type("_Requests", (_Handler,), {"api": api})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        server.daemon_threads = True
        api.address = f"127.0.0.1:{server.server_address[1]}"
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield api
        finally:
            api.events.put(("", b""))  # a waiting request ends
            server.shutdown()
            thread.join()


class _Handler(BaseHTTPRequestHandler):
    api: ClassVar[RuntimeApi]
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        path = self.path.removeprefix(_PREFIX)
        if path == "invocation/next":
            self.api.polls.release()
            request_id, body = self.api.events.get()
            deadline_ms = round((time.time() + self.api.timeout_s) * 1000)
            arn = "arn:aws:lambda:eu-west-1:123456789012:function:graveler"
            self._answer(
                200,
                body,
                {
                    "Lambda-Runtime-Aws-Request-Id": request_id,
                    "Lambda-Runtime-Deadline-Ms": str(deadline_ms),
                    "Lambda-Runtime-Invoked-Function-Arn": arn,
                    "Lambda-Runtime-Trace-Id": "Root=1-5759e988-bd862e3fe1be46a994272793",
                    "Content-Type": "application/json",
                },
            )
        elif path == "restore/next":
            self.api.restores += 1
            self._answer(200, b"", {})
        else:
            self._answer(404, b"", {})

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        match self.path.removeprefix(_PREFIX).split("/"):
            case ["invocation", request_id, "response" | "error" as kind]:
                self.api.answers.put((request_id, kind, body))
            case ["init" | "restore" as phase, "error"]:
                self.api.answers.put(("", f"{phase} error", body))
            case _:
                self._answer(404, b"", {})
                return
        self._answer(202, b"{}", {})

    def _answer(self, status: int, body: bytes, headers: dict[str, str]) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        with suppress(ConnectionError):  # the process was killed while it waited
            self.end_headers()
            self.wfile.write(body)

    def handle(self) -> None:
        with suppress(ConnectionError):
            super().handle()

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the base class's name
        """Write nothing."""
