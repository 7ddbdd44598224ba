"""What an attacker tries at the sidecar `graveler gateway`, or through it."""

import http.server
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from graveler_gateway.lake.api.transport import HttpTransport
from graveler_gateway.server import sidecar
from graveler_gateway.server.serving import GatewayHandler
from tests.support.checks.cases import for_each
from tests.support.clients.api import ACCESS_KEY_ID, SECRET
from tests.support.worlds.gateway_calls import REQUESTS, prepared
from tests.support.worlds.gateway_stack import REPO, CutBody, GatewayStack
from tests.support.worlds.sidecar import serve_over_the_api

VARIABLES = {
    "GRAVELER_GATEWAY_API_URL": "http://127.0.0.1:1/api/v1",
    "GRAVELER_GATEWAY_ACCESS_KEY_ID": ACCESS_KEY_ID,
    "GRAVELER_GATEWAY_SECRET_ACCESS_KEY": SECRET,
}
# Clients that a gateway of a deployment redirects, by their names and by lakeFS's mark.
REDIRECTED = ("aws-sdk-cpp/1.11", "object_store/0.12", "x s3RedirectionSupport")


@pytest.fixture(autouse=True)
def _over_the_api(monkeypatch: pytest.MonkeyPatch) -> None:
    serve_over_the_api(monkeypatch)


# Presigned URLs


@for_each("name", sorted(REQUESTS))
@for_each("agent", REDIRECTED)
def test_no_answer_shows_a_presigned_url(name: str, agent: str) -> None:
    world = prepared()
    request = REQUESTS[name]
    ask = world.stack.ask
    world.stack.ask = lambda *args, headers, **more: ask(  # type: ignore[method-assign]
        *args, headers={**headers, "user-agent": agent}, **more
    )
    reply = request.send(world)
    assert reply.status == request.status
    shown = f"{reply.headers} {reply.content!r}"
    assert "X-Amz-" not in shown
    assert "s3.memory" not in shown


def test_no_setting_turns_redirects_on(monkeypatch: pytest.MonkeyPatch) -> None:
    for variable, value in VARIABLES.items():
        monkeypatch.setenv(variable, value)
    monkeypatch.setenv("GRAVELER_GATEWAY_REDIRECTS", "true")
    gateway, _ = sidecar.handler()
    assert isinstance(gateway, GatewayHandler)
    settings = gateway._application._settings
    assert settings.operations.redirects is False


def test_a_store_that_fails_shows_no_presigned_url(capsys: pytest.CaptureFixture[str]) -> None:
    stack = GatewayStack()
    stack.put("main/a")
    stack.s3.answers.extend([b"HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n"] * 10)
    replies = [stack.ask("GET", f"/{REPO}/main/a"), stack.ask("PUT", f"/{REPO}/main/a", b"new")]
    assert all(reply.status >= 400 for reply in replies)
    capsys.readouterr()
    for reply in replies:
        reply.record.write()
    for text in (capsys.readouterr().out, *(reply.content.decode() for reply in replies)):
        assert "X-Amz-" not in text
        assert "s3.memory" not in text


# The key pair


@pytest.mark.parametrize("key_id", ["AKIAJOTHEROTHEROTHEQ", ACCESS_KEY_ID.lower(), ""])
def test_another_key_pair_opens_nothing_and_the_api_is_not_asked(key_id: str) -> None:
    stack = GatewayStack()
    head = stack.signed("GET", f"/{REPO}/main/a")
    sent = stack.lakes._requests._transport.sent  # type: ignore[attr-defined]
    before = len(sent)
    headers = [(name, value.replace(ACCESS_KEY_ID, key_id)) for name, value in head.headers]
    reply = stack.send(type(head)(head.method, head.raw_path, "", headers), CutBody(b""))
    assert 400 <= reply.status <= 403
    assert len(sent) == before


def test_the_key_pair_alone_opens_nothing_without_its_secret() -> None:
    stack = GatewayStack()
    stack.credentials.secret_key = "guess"
    assert stack.ask("GET", f"/{REPO}/main/a").code == "SignatureDoesNotMatch"


def test_nothing_prints_the_key_pair() -> None:
    deployment = sidecar.ApiAccess("http://127.0.0.1/api/v1", "AKIA", "secret-text")
    transport = HttpTransport("http://127.0.0.1/api/v1", "AKIA", "secret-text")
    held = (deployment, deployment.lakes(), deployment.lakes().key_pair, transport)
    assert all("secret-text" not in f"{each} {each!r}" for each in held)


@contextmanager
def serving(answer: tuple[int, dict[str, str]]) -> Iterator[tuple[str, list[dict[str, str]]]]:
    """Yield the URL of a server that gives one answer, and the headers of its requests."""
    asked: list[dict[str, str]] = []

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append({name.lower(): value for name, value in self.headers.items()})
            self.send_response(answer[0])
            for name, value in {**answer[1], "Content-Length": "0"}.items():
                self.send_header(name, value)
            self.end_headers()

        def log_message(self, *_args: object) -> None:
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield f"http://127.0.0.1:{server.server_address[1]}/api/v1", asked
        server.shutdown()
        thread.join()


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_an_api_that_redirects_passes_the_key_pair_to_nobody(status: int) -> None:
    with (
        serving((200, {})) as (elsewhere, stolen),
        serving((status, {"Location": elsewhere})) as (url, asked),
    ):
        reply = HttpTransport(url, ACCESS_KEY_ID, SECRET).send("GET", "/user", {}, b"")
    assert reply.status == status
    assert "authorization" in asked[0]
    assert stolen == []


def test_the_object_store_does_not_get_the_key_pair() -> None:
    stack = GatewayStack()
    stack.put("main/a", b"content")
    assert stack.get("main/a") == b"content"
    assert [head.method for head in stack.s3.requests] == ["PUT", "GET"]
    for head in stack.s3.requests:
        assert head.header("authorization") is None
        assert ACCESS_KEY_ID not in f"{head.raw_query} {head.headers}"
