"""Requests of hooks reach real servers, and no address that is not public."""

import socket
import threading
from collections.abc import Iterator
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from ipaddress import ip_address

import pytest

from graveler.aws.outgoing import OutgoingHttp, is_public, networks
from graveler.errors import HookFailedError
from graveler.limits import HOOK_ANSWER_BYTES_MAX
from graveler.ports import HttpRequest

LOOPBACK = networks(("127.0.0.0/8",))


class Server(ThreadingHTTPServer):
    """A server on loopback that remembers what it got."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.got: list[tuple[str, str, dict[str, str], bytes]] = []

    @property
    def port(self) -> int:
        return int(self.server_address[1])


class _Handler(BaseHTTPRequestHandler):
    server: Server

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self.server.got.append((self.command, self.path, dict(self.headers.items()), body))
        if self.path == "/elsewhere":
            self.send_response(302)
            self.send_header("Location", "/stolen")
            self.end_headers()
        elif self.path == "/large":
            self.send_response(200)
            self.end_headers()
            self.wfile.write(b"x" * (HOOK_ANSWER_BYTES_MAX + 1000))
        elif self.path == "/drip":
            self.send_response(200)
            self.end_headers()
            with suppress(OSError):  # the client has gone
                while True:
                    self.wfile.write(b"x")
                    threading.Event().wait(0.02)
        else:
            self.send_response(418, "Teapot")
            self.end_headers()
            self.wfile.write(b"short and stout")

    do_GET = do_POST  # noqa: N815 - http.server's

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def server() -> Iterator[Server]:
    with Server() as made:
        thread = threading.Thread(target=made.serve_forever, args=(0.01,), daemon=True)
        thread.start()
        yield made
        made.shutdown()


def post(url: str, client: OutgoingHttp | None = None, timeout_s: float = 20, **more):
    return (client or OutgoingHttp(LOOPBACK)).send(
        HttpRequest("POST", url, [("X-Key", "value")], b"{}"), timeout_s
    )


def test_a_request_arrives_and_its_answer_comes_back(server):
    answer = post(f"http://127.0.0.1:{server.port}/a b?q=1")
    assert (answer.status, answer.reason, answer.body) == (418, "Teapot", b"short and stout")
    ((method, path, headers, body),) = server.got
    assert (method, path, body) == ("POST", "/a%20b?q=1", b"{}")
    assert (headers["Host"], headers["X-Key"]) == (f"127.0.0.1:{server.port}", "value")


def test_redirects_are_not_followed(server):
    assert post(f"http://127.0.0.1:{server.port}/elsewhere").status == 302
    assert [path for _, path, _, _ in server.got] == ["/elsewhere"]


def test_a_long_answer_is_cut(server):
    assert len(post(f"http://127.0.0.1:{server.port}/large").body) == HOOK_ANSWER_BYTES_MAX


def test_a_server_that_answers_slowly_for_ever_is_left_in_time(server):
    with pytest.raises(HookFailedError, match=r"no answer in 0.3 s|no answer from"):
        post(f"http://127.0.0.1:{server.port}/drip", timeout_s=0.3)


def test_nobody_listening_is_a_failure():
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        with pytest.raises(HookFailedError, match=r"no answer from '127\.0\.0\.1'"):
            post(f"http://127.0.0.1:{unused.getsockname()[1]}/")


@pytest.mark.parametrize(
    "host",
    [
        "127.0.0.1",
        "127.1.2.3",
        "0.0.0.0",
        "10.0.0.1",
        "172.16.0.1",
        "192.168.1.1",
        "100.64.0.1",
        "169.254.169.254",
        "224.0.0.1",
        "255.255.255.255",
        "::",
        "::1",
        "fe80::1",
        "fd00:ec2::254",
        "ff02::1",
        "::ffff:127.0.0.1",
        "::ffff:169.254.169.254",
        "::127.0.0.1",
        "64:ff9b::a9fe:a9fe",
        "64:ff9b:1:a9fe:a9:fe00:808:808",
        "fec0::1",
        "2002:7f00:1::",
        "2001:0:4136:e378:8000:63bf:80ff:fffe",
    ],
)
def test_an_address_that_is_not_public_is_refused(host):
    assert not is_public(ip_address(host))
    url = f"http://[{host}]/" if ":" in host else f"http://{host}/"
    with pytest.raises(HookFailedError, match="not public"):
        post(url, OutgoingHttp())


@pytest.mark.parametrize("host", ["8.8.8.8", "2606:4700::1111", "::ffff:8.8.8.8"])
def test_public_addresses_are_public(host):
    assert is_public(ip_address(host))


@pytest.mark.parametrize("host", ["2130706433", "0x7f.1", "127.1", "localhost"])
def test_other_spellings_of_loopback_are_refused(host):
    with pytest.raises(HookFailedError, match=r"not public|has no address"):
        post(f"http://{host}/", OutgoingHttp())


def test_a_name_is_refused_if_any_of_its_addresses_is_not_public():
    client = OutgoingHttp(resolve=lambda _host, _port: ["8.8.8.8", "10.0.0.1"])
    with pytest.raises(HookFailedError, match=r"10\.0\.0\.1, which is not public"):
        post("http://mixed.example.com/", client)


def test_a_name_that_changes_its_address_is_asked_at_the_checked_one(server):
    """The second answer of the resolver is never asked for."""
    answers = iter([["127.0.0.1"], ["127.0.0.2"]])
    client = OutgoingHttp(LOOPBACK, lambda _host, _port: next(answers))
    assert post(f"http://rebinding.example.com:{server.port}/", client).status == 418
    assert server.got[0][2]["Host"] == f"rebinding.example.com:{server.port}"
    assert next(answers) == ["127.0.0.2"]


def test_an_allowed_network_allows_its_mapped_addresses_and_no_others():
    client = OutgoingHttp(networks(("10.0.0.0/8",)), lambda host, _port: [host])
    with pytest.raises(HookFailedError, match="not public"):
        post("http://[::ffff:127.0.0.1]/", client)
    with pytest.raises(HookFailedError, match="not public"):
        post("http://[fd00::1]/", client)


@pytest.mark.parametrize(
    "url",
    [
        "",
        "ftp://example.com",
        "file:///etc/passwd",
        "http://",
        "http://user:x@example.com/",
        "http://exa mple.com/",
        "http://example.com:99999/",
        "http://[::1",
        "//example.com",
    ],
)
def test_other_urls_are_refused(url):
    with pytest.raises(HookFailedError, match="url"):
        post(url, OutgoingHttp(resolve=lambda _host, _port: ["8.8.8.8"]))


def send_header(server: Server, name: str, value: str) -> None:
    request = HttpRequest("POST", f"http://127.0.0.1:{server.port}/", [(name, value)], b"")
    OutgoingHttp(LOOPBACK).send(request, 5)


@pytest.mark.parametrize("value", ["b\r\nC: d", "b\nC: d", "b\n folded", "b\0"])
def test_a_header_cannot_begin_another_one(server, value):
    with pytest.raises(HookFailedError) as refused:
        send_header(server, "A", value)
    assert refused.value.message == "invalid header field value for 'A'"
    assert server.got == []


@pytest.mark.parametrize("name", ["", "two words", "A:", "A\nB", "é"])
def test_a_header_needs_a_valid_name(server, name):
    with pytest.raises(HookFailedError) as refused:
        send_header(server, name, "value")
    assert refused.value.message == f"invalid header field name {name!r}"
    assert server.got == []


def test_a_header_may_have_any_letters(server):
    send_header(server, "A", "caf\u00e9 \u65e5")
    ((_, _, headers, _),) = server.got
    assert headers["A"].encode("latin-1").decode() == "caf\u00e9 \u65e5"


def test_a_hook_may_choose_its_user_agent(server):
    send_header(server, "user-agent", "checks/1")
    ((_, _, headers, _),) = server.got
    agents = [value for name, value in headers.items() if name.lower() == "user-agent"]
    assert agents == ["checks/1"]
