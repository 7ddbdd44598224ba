"""The places of the embedded stack: of requests that work, and of those that wait for tasks."""

import select
import threading
from contextlib import ExitStack

import pytest

from graveler_embedded import serving
from graveler_embedded.api_gateway import ApiRequest, GatewayAnswer
from graveler_embedded.serving import handler
from graveler_gateway.server.fairness import FairPlaces
from tests.support.servers.http_server import RawClient, running

REPOSITORY = "/api/v1/repositories/lake"
WAITING = f"/waits{REPOSITORY}"


class Application:
    """Answers when it may; below /waits, it says that a request has arrived."""

    def __init__(self) -> None:
        self.waiting = threading.Semaphore(0)
        self.may_answer = threading.Event()

    def __call__(self, request: ApiRequest) -> GatewayAnswer:
        if request.head.raw_path.startswith("/waits"):
            self.waiting.release()
            self.may_answer.wait()
        return 200, [], b"done"


def sent(client: RawClient, path: str) -> RawClient:
    client.send(f"GET {path} HTTP/1.1\r\nHost: h\r\n\r\n".encode())
    return client


def test_requests_that_wait_take_no_place_of_others_and_more_of_them_are_told_to_come_later() -> (
    None
):
    application = Application()
    with (
        running(handler(application, FairPlaces(1), FairPlaces(1))) as server,
        RawClient(server.port) as first,
        RawClient(server.port) as second,
        RawClient(server.port) as other,
    ):
        sent(first, WAITING)
        application.waiting.acquire()
        refused = sent(second, WAITING).answer()
        assert (refused.status, "Retry-After" in refused.headers) == (503, True)
        assert sent(other, REPOSITORY).answer().status == 200
        application.may_answer.set()
        assert first.answer().content == b"done"
        assert sent(second, WAITING).answer().status == 200


def test_a_user_who_sends_many_bodies_slowly_keeps_no_other_user_waiting() -> None:
    large = b"x" * 500_000
    with (
        running(handler(Application(), FairPlaces(1), FairPlaces(1))) as server,
        ExitStack() as stack,
    ):
        for _ in range(40):
            slow = stack.enter_context(RawClient(server.port))
            slow.send(posted("ann", large)[:-1])
        with RawClient(server.port) as other:
            assert other.ask(posted("bob", large)).content == b"done"


def test_more_slow_bodies_of_a_user_are_told_to_come_later(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(serving, "_LARGE_WAITING", 1)
    with (
        running(serving.handler(Application(), FairPlaces(1), FairPlaces(1))) as server,
        ExitStack() as stack,
    ):
        slow = {}
        for _ in range(26):  # at most 24 are read, and one waits
            client = stack.enter_context(RawClient(server.port))
            client.send(posted("ann", b"x" * 500_000)[:100_000])
            slow[client.socket] = client
        answered, _, _ = select.select(slow, (), (), 20)
        assert slow[answered[0]].answer().status == 503


def posted(user: str, body: bytes) -> bytes:
    head = f"POST / HTTP/1.1\r\nHost: h\r\nAuthorization: {user}\r\nContent-Length: {len(body)}"
    return f"{head}\r\n\r\n".encode() + body
