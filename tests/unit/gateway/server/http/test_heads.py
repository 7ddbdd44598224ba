"""Heads of requests: whatever two parsers could understand differently is refused."""

import pytest

from graveler_gateway.server.http.heads import (
    HEAD_BYTES_MAX,
    HeadRefusedError,
    check_begun,
    parse_head,
)
from tests.support.checks.cases import for_each

HOST = "Host: any\r\n"


def opening(text):
    return parse_head(text.encode("latin-1"))


def status_of(text):
    with pytest.raises(HeadRefusedError) as caught:
        opening(text)
    return caught.value.status


@for_each(
    "line",
    [
        "GET /",  # HTTP/0.9
        "GET / HTTP/0.9",
        "GET / HTTP/1.2",
        "GET / HTTP/2.0",
        "GET / HTTP/1.1 ",
        "GET /a b HTTP/1.1",
        "GET /\0 HTTP/1.1",
        "GET /\x7f HTTP/1.1",
        "GET /\xe9 HTTP/1.1",
        "GET / HTTP/1.1\n" + "X: bare newline",
        "GET / http/1.1",
        "get / HTTP/1.1",
        "FOO / HTTP/1.1",
        " GET / HTTP/1.1",
        "GET ?query HTTP/1.1",
        "GET ftp://host/ HTTP/1.1",
        "GET any:80 HTTP/1.1",
        "CONNECT any:80 HTTP/1.1",
        "PRI * HTTP/2.0",
        "",
    ],
)
def test_a_malformed_request_line_is_refused(line):
    assert status_of(f"{line}\r\n{HOST}\r\n") in {400, 505}


@for_each(
    "header",
    [
        "X: a\r\n folded",
        "X: a\r\n\tfolded",
        " X: a",
        "X : a",
        "X\t: a",
        "X: a\0b",
        "X: a\rb",
        "X: a\nY: b",
        "\xe9: a",
        ": a",
        "X\r\nY: b",
        "X Y: b",
        "Host: other",
        "Content-Length: 5\r\nTransfer-Encoding: chunked",
        "Transfer-Encoding: chunked\r\nContent-Length: 5",
        "Content-Length: 5\r\nContent-Length: 5",
        "Content-Length: 5\r\nContent-Length: 6",
        "Content-Length: 5, 5",
        "Content-Length: +5",
        "Content-Length: -5",
        "Content-Length: 0x5",
        "Content-Length: 5 5",
        "Content-Length: 5.0",
        "Content-Length: ",
        "Content-Length: \xb2",
        "Content-Length: " + "9" * 30,
        "Content-Length: " + "0" * 30 + "5",
        "Transfer-Encoding: chunked, chunked",
        "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked",
        "Transfer-Encoding: chunked, identity",
        "Transfer-Encoding: identity",
        "Transfer-Encoding: xchunked",
        "Transfer-Encoding: \x0bchunked",
        "Transfer-Encoding: chunked;a=b",
        "Transfer-Encoding: ",
        "Transfer-Encoding : chunked",
        "Transfer-Encoding:\r\n chunked",
    ],
)
def test_a_malformed_or_ambiguous_header_is_refused(header):
    assert status_of(f"POST / HTTP/1.1\r\n{HOST}{header}\r\n\r\n") == 400


def test_another_coding_than_chunks_is_not_served():
    assert status_of(f"POST / HTTP/1.1\r\n{HOST}Transfer-Encoding: gzip, chunked\r\n\r\n") == 501


def test_chunks_in_http_1_0_are_refused():
    assert status_of("POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n") == 400


def test_a_request_names_its_host_once():
    assert status_of("GET / HTTP/1.1\r\n\r\n") == 400
    assert opening("GET / HTTP/1.0\r\n\r\n").version == "1.0"


def test_very_many_or_very_long_headers_are_refused():
    many = "".join(f"a{number}: b\r\n" for number in range(1001))
    assert status_of(f"GET / HTTP/1.1\r\n{HOST}{many}\r\n") == 431
    assert status_of(f"GET / HTTP/1.1\r\n{HOST}a: {'b' * HEAD_BYTES_MAX}\r\n\r\n") == 431
    longest = "b" * (HEAD_BYTES_MAX - 100)
    assert opening(f"GET / HTTP/1.1\r\n{HOST}a: {longest}\r\n\r\n").head.header("a") == longest


@for_each(
    ("data", "status"),
    [
        (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", 400),  # TLS
        (b"\0", 400),
        (b"GET / HTTP/1.1\nHost: any\n\n", 400),
        (b"\nGET / HTTP/1.1\r\n", 400),
        (b"GET /" + b"a" * HEAD_BYTES_MAX, 431),
    ],
)
def test_what_cannot_become_a_head_is_refused_before_it_ends(data, status):
    with pytest.raises(HeadRefusedError) as caught:
        check_begun(data)
    assert caught.value.status == status


@for_each("data", [b"G", b"GET / HTTP/1.1\r", b"GET / HTTP/1.1\r\nHost: any\r\n\r"])
def test_what_may_become_a_head_is_waited_for(data):
    check_begun(data)


@for_each(
    ("target", "path", "query"),
    [
        ("/", "/", ""),
        ("/a%2Fb//c/../d?x=%20&y", "/a%2Fb//c/../d", "x=%20&y"),
        ("/a?b?c", "/a", "b?c"),
        ("http://any/a?b", "/a", "b"),
        ("HTTPS://any:8000", "/", ""),
        ("http://any?a=/b", "/", "a=/b"),
        ("*", "*", ""),
    ],
)
def test_the_target_stays_as_it_was_sent(target, path, query):
    head = opening(f"OPTIONS {target} HTTP/1.1\r\n{HOST}\r\n").head
    assert (head.method, head.raw_path, head.raw_query) == ("OPTIONS", path, query)


def test_headers_keep_their_order_and_every_byte():
    text = f"GET / HTTP/1.1\r\n{HOST}B: \t\xe9\xff \r\nA:1\r\nb: 2\r\nC:\r\n\r\n"
    headers = (("host", "any"), ("b", "\xe9\xff"), ("a", "1"), ("b", "2"), ("c", ""))
    assert opening(text).head.headers == headers


@for_each(
    ("version", "header", "keeps_alive"),
    [
        ("1.1", "", True),
        ("1.1", "Connection: close\r\n", False),
        ("1.1", "Connection: X, Close\r\n", False),
        ("1.1", "Connection: keep-alive\r\nConnection: close\r\n", False),
        ("1.0", "", False),
        ("1.0", "Connection: Keep-Alive\r\n", True),
        ("1.0", "Connection: keep-alive, close\r\n", False),
    ],
)
def test_the_connection_is_kept_as_the_client_wishes(version, header, keeps_alive):
    assert opening(f"GET / HTTP/{version}\r\n{HOST}{header}\r\n").keeps_alive is keeps_alive


@for_each(
    ("header", "length_bytes", "has_length"),
    [
        ("", 0, False),
        ("Content-Length: 0\r\n", 0, True),
        ("Content-Length: 007\r\n", 7, True),
        ("Transfer-Encoding: Chunked\r\n", None, False),
        ("Content_Length: 5\r\n", 0, False),
    ],
)
def test_the_length_of_the_body_is_what_the_head_says(header, length_bytes, has_length):
    made = opening(f"PUT / HTTP/1.1\r\n{HOST}{header}\r\n")
    assert (made.length_bytes, made.has_length) == (length_bytes, has_length)


def test_a_wish_for_another_protocol_is_not_granted():
    wish = "Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: \r\n"
    made = opening(f"POST /a HTTP/1.1\r\n{HOST}{wish}Content-Length: 5\r\n\r\n")
    assert (made.head.raw_path, made.length_bytes, made.keeps_alive) == ("/a", 5, True)


@for_each(
    ("method", "version", "defers_continue"),
    [("PUT", "1.1", True), ("POST", "1.1", False), ("PUT", "1.0", False)],
)
def test_only_a_put_waits_for_the_checks_of_its_head(method, version, defers_continue):
    length = "Content-Length: 5\r\n"
    made = opening(f"{method} / HTTP/{version}\r\n{HOST}{length}Expect: 100-Continue\r\n\r\n")
    assert made.defers_continue is defers_continue
    assert made.ahead_bytes == (0 if defers_continue else 5)
