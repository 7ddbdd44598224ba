"""Requests: which are repeated, where they are redirected, and through which proxy they go."""

import json
import socket
import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from urllib3 import HTTPResponse

from graveler_cli.client import ApiRefusedError, LakeClient
from graveler_cli.configuration import RequestRetries
from graveler_cli.errors import CommandError
from graveler_cli.transport import ANSWER_S, KeptConnections, proxy_of
from tests.support.servers.certificates import write_self_signed

OK = (200, {}, b"{}")
PAIR = ("AKIA", "secret")


@dataclass
class Seen:
    """A request as it reached a host."""

    method: str
    target: str
    headers: dict[str, str]
    body: bytes


@dataclass
class Host:
    """A host that answers with its script, the last answer again and again; None hangs up."""

    script: list[tuple[int, dict[str, str], bytes] | None]
    port: int = 0
    seen: list[Seen] = field(default_factory=list)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def methods(self) -> list[str]:
        return [each.method for each in self.seen]


@pytest.fixture
def host() -> Iterator[Callable[..., Host]]:
    """Starts hosts, which end with the test."""
    with ExitStack() as started:

        def start(*script) -> Host:
            made = Host([*script])
            server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(made))
            made.port = server.server_address[1]
            threading.Thread(target=server.serve_forever, args=(0.01,)).start()
            started.callback(server.server_close)
            started.callback(server.shutdown)
            return made

        yield start


def _handler(made: Host) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def answer(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            made.seen.append(
                Seen(
                    self.command,
                    self.path,
                    {name.lower(): text for name, text in self.headers.items()},
                    body,
                )
            )
            said = made.script.pop(0) if len(made.script) > 1 else made.script[0]
            if said is None:
                self.connection.shutdown(socket.SHUT_RDWR)
                return
            status, headers, content = said
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        do_GET = do_HEAD = do_PUT = do_POST = do_DELETE = answer  # noqa: N815 - http.server's names

        def log_message(self, *_args: object) -> None:
            pass

    return Handler


@pytest.fixture
def waits(monkeypatch) -> list[float]:
    """The waits between attempts, which take no time."""
    found: list[float] = []
    monkeypatch.setattr("graveler_cli.client.time.sleep", found.append)
    return found


@pytest.fixture(autouse=True)
def _without_proxies(monkeypatch) -> None:
    for name in ("http_proxy", "https_proxy", "no_proxy", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)


def server_at(url: str, attempts_max: int = 2) -> LakeClient:
    return LakeClient(f"{url}/api/v1", PAIR, RequestRetries(attempts_max, 0.1, 0.3))


def send(server: LakeClient, method: str = "GET", body: object = None) -> object:
    return server.ask(method, "/x/{name}", {"name": "a/b"}, dict, body)


# Repeating

REPEATABLE = ["GET", "HEAD", "PUT", "DELETE"]


@pytest.mark.parametrize("method", [*REPEATABLE, "POST"])
@pytest.mark.parametrize("status", [429, 503])
def test_what_the_server_has_not_begun_is_sent_again(host, waits, method, status):
    busy = host((status, {"Retry-After": "1"}, b""), OK)
    server_at(busy.url).request(method, "/x", {})
    assert busy.methods == [method, method]
    assert len(waits) == 1


@pytest.mark.parametrize(
    "headers", [{}, {"Retry-After": "1", "X-Graveler-Error": "unknown_outcome"}]
)
def test_a_post_whose_outcome_is_unknown_is_not_sent_again(host, waits, headers):
    unsure = host((503, headers, b'{"message": "Service Unavailable"}'), OK)
    with pytest.raises(ApiRefusedError):
        send(server_at(unsure.url), "POST", {})
    assert (unsure.methods, waits) == (["POST"], [])


@pytest.mark.parametrize("status", [500, 502, 504])
def test_a_post_that_may_have_had_its_effect_is_not_sent_again(host, waits, status):
    failing = host((status, {}, b""), OK)
    with pytest.raises(ApiRefusedError):
        send(server_at(failing.url), "POST", {})
    assert (failing.methods, waits) == (["POST"], [])


@pytest.mark.parametrize("method", REPEATABLE)
@pytest.mark.parametrize("said", [None, (500, {}, b""), (502, {}, b""), (504, {}, b"")])
def test_what_has_the_same_effect_twice_is_sent_again(host, waits, method, said):
    failing = host(said, OK)
    server_at(failing.url).request(method, "/x", {})
    assert failing.methods == [method, method]


def test_a_post_whose_answer_was_lost_is_not_sent_again(host, waits):
    lost = host(None, OK)
    with pytest.raises(CommandError, match="cannot reach"):
        send(server_at(lost.url), "POST", {})
    assert (lost.methods, waits) == (["POST"], [])


def test_a_post_that_never_left_is_sent_again(waits):
    with socket.create_server(("127.0.0.1", 0)) as unused:
        port = unused.getsockname()[1]
    with pytest.raises(CommandError, match="connection refused"):
        send(server_at(f"http://127.0.0.1:{port}"), "POST", {})
    assert len(waits) == 2


def test_a_post_whose_redirect_leads_nowhere_is_not_sent_again(host, waits):
    with socket.create_server(("127.0.0.1", 0)) as unused:
        port = unused.getsockname()[1]
    done = host((303, {"Location": f"http://127.0.0.1:{port}/"}, b""))
    with pytest.raises(CommandError, match="cannot reach"):
        send(server_at(done.url), "POST", {})
    assert (done.methods, waits) == (["POST"], [])


@pytest.mark.parametrize("status", [400, 401, 403, 404, 409, 410, 412, 501])
def test_a_refusal_is_final(host, waits, status):
    refusing = host((status, {}, b'{"message": "no"}'))
    with pytest.raises(ApiRefusedError):
        send(server_at(refusing.url))
    assert len(refusing.seen) == 1


def test_waits_double_up_to_the_longest(host, waits):
    busy = host((503, {}, b""))
    with pytest.raises(ApiRefusedError):
        send(server_at(busy.url, attempts_max=4))
    assert len(busy.seen) == 5
    for wait_s, longest_s in zip(waits, [0.1, 0.2, 0.3, 0.3], strict=True):
        assert longest_s / 2 <= wait_s <= longest_s


def test_the_server_says_how_long_to_wait(host, waits):
    busy = host((503, {"Retry-After": "7"}, b""), (503, {"Retry-After": "soon"}, b""), OK)
    send(server_at(busy.url))
    assert waits[0] == 7
    assert waits[1] < 1


def test_retries_can_be_switched_off(host, waits):
    busy = host((503, {}, b""))
    with pytest.raises(ApiRefusedError):
        send(server_at(busy.url, attempts_max=0))
    assert len(busy.seen) == 1


# Redirects


def test_a_request_that_takes_long_goes_on_where_the_server_says(host):
    slow = host((307, {"Location": "/api/v1/again?n=1"}, b""), OK)
    send(server_at(slow.url), "POST", {"a": 1})
    assert [(each.method, each.target) for each in slow.seen] == [
        ("POST", "/api/v1/x/a%2Fb"),
        ("POST", "/api/v1/again?n=1"),
    ]
    assert [json.loads(each.body) for each in slow.seen] == [{"a": 1}, {"a": 1}]
    assert all("authorization" in each.headers for each in slow.seen)


def test_after_a_post_303_is_read(host):
    done = host((303, {"Location": "/result"}, b""), OK)
    send(server_at(done.url), "POST", {"a": 1})
    last = done.seen[1]
    assert (last.method, last.target, last.body) == ("GET", "/result", b"")
    assert "content-type" not in last.headers
    assert "authorization" in last.headers


@pytest.mark.parametrize("status", [301, 302])
def test_a_put_that_has_moved_stays_a_put(host, status):
    moved = host((status, {"Location": "/there"}, b""), OK)
    send(server_at(moved.url), "PUT", {"a": 1})
    last = moved.seen[1]
    assert (last.method, last.target, json.loads(last.body)) == ("PUT", "/there", {"a": 1})


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_credentials_go_to_no_other_host(host, status):
    store = host((200, {}, b'{"bytes": 1}'))
    api = host((status, {"Location": f"{store.url}/signed?X-Amz-Signature=1"}, b""))
    assert send(server_at(api.url)) == {"bytes": 1}
    [seen] = store.seen
    assert seen.target == "/signed?X-Amz-Signature=1"
    assert "authorization" not in seen.headers


def test_the_keys_are_not_sent_without_tls_after_a_redirect(monkeypatch):
    sent = []
    moved = HTTPResponse(b"", {"Location": "http://lake.example.com/x"}, 302)
    answers = [moved, HTTPResponse(b"", {}, 200)]

    def send(_self, _method, url, _body, headers):
        sent.append((url, dict(headers)))
        return answers.pop(0)

    monkeypatch.setattr(KeptConnections, "send", send)
    KeptConnections().open("GET", "https://lake.example.com/x", None, {"Authorization": "Basic k"})
    assert sent[1] == ("http://lake.example.com/x", {})


def test_a_redirect_may_lead_to_a_key_with_dots(host):
    """urllib3 would resolve them, and the signature would be that of another key."""
    store = host(OK)
    api = host((307, {"Location": f"{store.url}/lake/a/../b/./c?X-Amz-Signature=1"}, b""))
    send(server_at(api.url))
    assert store.seen[0].target == "/lake/a/../b/./c?X-Amz-Signature=1"


def test_redirects_end(host, waits):
    endless = host((307, {"Location": "/again"}, b""))
    with pytest.raises(CommandError, match="more than 5 redirects"):
        send(server_at(endless.url))
    assert len(endless.seen) == 6


@pytest.mark.parametrize("location", ["http://[", "http://h:port/", "ftp://h/"])
def test_a_redirect_to_no_url_is_one_line(host, waits, location):
    wrong = host((307, {"Location": location}, b""))
    with pytest.raises(CommandError, match="cannot reach"):
        send(server_at(wrong.url, attempts_max=0))


# Proxies


def test_the_environment_names_the_proxy(host, monkeypatch):
    proxy = host(OK)
    monkeypatch.setenv("HTTP_PROXY", f"http://me:p%40ss@127.0.0.1:{proxy.port}")
    send(server_at("http://lakefs.example:8000"))
    [seen] = proxy.seen
    assert seen.target == "http://lakefs.example:8000/api/v1/x/a%2Fb"
    assert seen.headers["proxy-authorization"] == "Basic bWU6cEBzcw=="


def test_a_proxy_gets_a_key_with_dots_as_it_is(host, monkeypatch):
    proxy = host(OK)
    monkeypatch.setenv("HTTP_PROXY", f"http://127.0.0.1:{proxy.port}")
    url = "http://store.example/lake/a/../b%2f/./c?X-Amz-Signature=1"
    assert KeptConnections().open("GET", url).read() == b"{}"
    assert proxy.seen[0].target == url


@pytest.mark.parametrize(
    ("url", "variables", "proxy"),
    [
        ("https://h", {"HTTPS_PROXY": "http://p:1"}, "http://p:1"),
        ("https://h", {"https_proxy": "p:1"}, "http://p:1"),
        ("http://h", {"HTTPS_PROXY": "http://p:1"}, ""),
        ("https://h", {}, ""),
        ("https://h:8443", {"HTTPS_PROXY": "http://p:1", "NO_PROXY": "h"}, ""),
        ("https://h:8443", {"HTTPS_PROXY": "http://p:1", "NO_PROXY": "h:8443"}, ""),
        ("https://h:9443", {"HTTPS_PROXY": "http://p:1", "NO_PROXY": "h:8443"}, "http://p:1"),
        ("https://a.example", {"HTTPS_PROXY": "http://p:1", "NO_PROXY": "x,.example"}, ""),
        ("https://h", {"HTTPS_PROXY": "http://p:1", "NO_PROXY": "*"}, ""),
        ("https://h", {"HTTPS_PROXY": "http://p:1", "NO_PROXY": "other"}, "http://p:1"),
        # As Go: programs of this machine are no business of a proxy.
        ("http://localhost:8000", {"HTTP_PROXY": "http://p:1"}, ""),
        ("http://127.0.0.1:8000", {"HTTP_PROXY": "http://p:1"}, ""),
        ("http://[::1]:8000", {"HTTP_PROXY": "http://p:1"}, ""),
    ],
)
def test_each_url_has_its_proxy(monkeypatch, url, variables, proxy):
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert proxy_of(url) == proxy


def test_tls_goes_through_a_tunnel_of_the_proxy(tmp_path, monkeypatch):
    """The proxy learns the host's name, and neither the path nor the keys."""
    certificate = write_self_signed(tmp_path, "lake.example")
    asked = []
    with tls_server(certificate) as port, socket.create_server(("127.0.0.1", 0)) as proxy:

        def tunnel():
            client = proxy.accept()[0]
            with client, socket.create_connection(("127.0.0.1", port)) as behind:
                asked.append(client.recv(10_000))
                client.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
                back = threading.Thread(target=copied, args=(behind, client), daemon=True)
                back.start()
                copied(client, behind)
                back.join()

        thread = threading.Thread(target=tunnel, daemon=True)
        thread.start()
        monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
        monkeypatch.setenv("HTTPS_PROXY", f"http://me:pass@127.0.0.1:{proxy.getsockname()[1]}")
        server = server_at("https://lake.example")
        assert send(server) == {}
        server._connections.close()
        thread.join()
    first, *headers = asked[0].lower().split(b"\r\n")
    assert first.startswith(b"connect lake.example:443 http/1.")
    assert b"proxy-authorization: basic bwu6cgfzcw==" in headers


def copied(source, target):
    """Send what comes from one socket to another, until the first one ends."""
    with suppress(OSError):
        while block := source.recv(10_000):
            target.sendall(block)
        target.shutdown(socket.SHUT_WR)


def test_a_proxy_that_does_not_answer_is_named(monkeypatch, waits):
    with socket.create_server(("127.0.0.1", 0)) as unused:
        port = unused.getsockname()[1]
    monkeypatch.setenv("HTTP_PROXY", f"http://127.0.0.1:{port}")
    with pytest.raises(CommandError, match="through the proxy of the environment"):
        send(server_at("http://lakefs.example"))


# Certificates


def test_a_certificate_of_nobody_is_refused_and_ssl_cert_file_trusts_it(
    certificate, tls_host, waits, monkeypatch
):
    with pytest.raises(CommandError, match="certificate verify failed"):
        send(server_at(tls_host))
    assert waits == []  # it would fail again
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    assert send(server_at(tls_host)) == {}


@pytest.fixture(scope="module")
def certificate(tmp_path_factory):
    """A private authority's certificate, which is the server's as well."""
    return write_self_signed(tmp_path_factory.mktemp("tls"))


@pytest.fixture
def tls_host(certificate) -> Iterator[str]:
    with tls_server(certificate) as port:
        yield f"https://localhost:{port}"


@contextmanager
def tls_server(certificate) -> Iterator[int]:
    """A host with a certificate; yields its port."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    made = Host([OK])
    with ThreadingHTTPServer(("127.0.0.1", 0), _handler(made)) as server:
        server.socket = context.wrap_socket(server.socket, server_side=True)
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield server.server_address[1]
        server.shutdown()
        thread.join()


# Connections


def test_threads_share_connections_that_stay_open(lake):
    connections, url = KeptConnections(), f"{lake.endpoint}/api/v1/config"
    for _ in range(3):
        threads = [
            threading.Thread(target=lambda: connections.open("GET", url).read()) for _ in range(4)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert len(lake.asked) == 12
    assert 1 <= len(connections._opened) <= 4
    connections.close()
    assert connections._opened == set()
    assert connections.open("GET", url).status == 200  # it opens another one


def test_a_connection_that_the_server_closed_while_it_was_idle_is_no_failure():
    """Without repetitions."""
    ok = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}"
    is_closed = threading.Event()

    def serve(listening):
        for _ in range(2):
            with listening.accept()[0] as client:
                client.recv(10_000)
                client.sendall(ok)
            is_closed.set()

    with socket.create_server(("127.0.0.1", 0)) as listening:
        thread = threading.Thread(target=serve, args=(listening,), daemon=True)
        thread.start()
        server = server_at(f"http://127.0.0.1:{listening.getsockname()[1]}", attempts_max=0)
        send(server)
        is_closed.wait(20)
        send(server)
        thread.join()


def test_a_block_of_a_body_may_take_as_long_as_an_answer(host):
    """And not only as long as a connection may take to be made, as urllib3 would have it."""
    store = host(OK)
    connections = KeptConnections()
    timeouts = []

    def body():
        timeouts.extend(each.sock.gettimeout() for each in connections._opened)
        yield b"12"
        yield memoryview(b"34")

    for _ in range(2):
        answer = connections.open("PUT", store.url, body, {"Content-Length": "4"})
        assert answer.read() == b"{}"
    assert timeouts == [ANSWER_S] * 2
    assert [each.body for each in store.seen] == [b"1234"] * 2


# Answers


@pytest.mark.parametrize("text", [b"<html>", b"{", b"\xff", b"[]", b"1"])
def test_an_answer_that_is_no_json_names_the_endpoint(host, text):
    other = host((200, {}, text))
    with pytest.raises(CommandError, match="does not answer like lakeFS"):
        send(server_at(other.url))


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (b"SSH-2.0-OpenSSH_9.6\r\n", "the answer is not HTTP: 'SSH-2.0-OpenSSH_9.6'"),
        (
            b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf",
            "IncompleteRead(4 bytes read, 5 more",
        ),
        (
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n{\r\nzz\r\n",
            "IncompleteRead(1 bytes read)",
        ),
    ],
)
def test_a_malformed_answer_is_described_in_words_of_http(answer, reason):
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def serve() -> None:
            connection, _ = listening.accept()
            with connection:
                connection.recv(65536)
                connection.sendall(answer)

        thread = threading.Thread(target=serve)
        thread.start()
        client = LakeClient(
            f"http://127.0.0.1:{listening.getsockname()[1]}", PAIR, RequestRetries(0, 0, 0)
        )
        with pytest.raises(CommandError) as caught:
            client.ask("GET", "/user", {}, dict)
        thread.join()
    assert f": {reason}" in str(caught.value)
