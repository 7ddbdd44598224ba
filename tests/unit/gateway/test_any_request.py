"""No request, however odd, is an internal error, and a refused one changes nothing."""

import contextlib
import io
import json
import re
from urllib.parse import quote

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from graveler_gateway.operations.table import _SUB_RESOURCES, OPERATIONS
from graveler_gateway.protocol.head import RequestHead
from tests.support.worlds.gateway_calls import REQUESTS, prepared
from tests.support.worlds.gateway_stack import UNSIGNED, UNSIGNED_CHUNKS, CutBody

HEADER_VALUE = re.compile("[ -~\xa0-\xff]*")
METHODS = ["GET", "HEAD", "PUT", "POST", "DELETE", "PATCH", "OPTIONS", "get", "X"]

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
# Percent-encoded as a client may send it, with bytes that are no text.
RAW = st.one_of(TEXT.map(lambda text: quote(text, safe="/")), st.binary(max_size=4).map(quote))
LATIN = st.text(st.characters(min_codepoint=0x20, max_codepoint=0xFF), max_size=12)
PATHS = st.one_of(
    st.sampled_from(
        [
            "/",
            "/repo",
            "/repo/",
            "/repo/main",
            "/repo/main/",
            "/repo/main/a",
            "/repo/main/up",
            "/repo/main~1/a",
            "/repo/main@/a",
            "/missing/main/a",
            "//",
            "//a",
            "/repo//a",
            "/_health",
        ]
    ),
    st.lists(RAW, max_size=4).map(lambda parts: "/" + "/".join(parts)),
    RAW.map("/repo/main/".__add__),
)
SIGNING = {"X-Amz-Algorithm", "X-Amz-Credential", "X-Amz-Signature", "AWSAccessKeyId", "Signature"}
SUB_RESOURCES = sorted(_SUB_RESOURCES | {name for row in OPERATIONS for name in row.parameters})
PARAMETERS = [
    *("prefix", "delimiter", "marker", "max-keys", "encoding-type", "list-type", "start-after"),
    *("continuation-token", "fetch-owner", "key-marker", "upload-id-marker", "max-uploads"),
    *("max-parts", "part-number-marker", "versionId", "x-id", "max-buckets"),
    *("response-content-type", "response-content-disposition"),
]
VALUES = st.one_of(
    RAW, st.sampled_from(["", "0", "1", "2", "-1", "1001", "main%2F", "main%2Fa", "%2F", "url"])
)
MILD_QUERIES = st.lists(st.tuples(st.sampled_from(PARAMETERS), VALUES), max_size=4)
QUERIES = MILD_QUERIES | st.lists(
    st.tuples(st.sampled_from(SUB_RESOURCES + PARAMETERS), VALUES), max_size=4
)
HEADERS = st.dictionaries(
    st.sampled_from(
        [
            "range",
            "if-match",
            "if-none-match",
            "if-modified-since",
            "if-unmodified-since",
            "content-type",
            "content-md5",
            "x-amz-tagging",
            "x-amz-meta-a",
            "x-amz-storage-class",
            "x-amz-acl",
            "expect",
            "x-amz-copy-source",
            "x-amz-copy-source-range",
            "x-amz-metadata-directive",
            "x-amz-tagging-directive",
            "x-amz-copy-source-if-match",
            "x-amz-object-attributes",
            "x-amz-checksum-crc32",
            "x-amz-checksum-sha256",
            "x-amz-trailer",
            "x-amz-sdk-checksum-algorithm",
            "x-amz-decoded-content-length",
            "transfer-encoding",
            "user-agent",
            "x-amz-checksum-type",
        ]
    ),
    st.one_of(
        LATIN,
        st.sampled_from(
            [
                "*",
                "bytes=0-1",
                "bytes=-1",
                "bytes=99-",
                "repo/main/a",
                "/repo/main/a?versionId=x",
                "REPLACE",
                "COPY",
                "ETag",
                "k=v",
                "AAAAAA==",
                "x-amz-checksum-crc32",
                "7",
                "chunked",
                "Mon, 23 Nov 2026 09:00:00 GMT",
                "s3RedirectionSupport",
                "STANDARD",
            ]
        ),
    ),
    max_size=4,
)
BODIES = st.one_of(
    st.binary(max_size=60),
    st.sampled_from([request.body for request in REQUESTS.values() if request.body]),
    st.sampled_from([b"3\r\nnew\r\n0\r\n\r\n", b"0\r\n\r\n", b"<Delete><Object><Key>x</Key>"]),
)


@pytest.fixture(scope="module")
def world():
    return prepared()


def check(stack, head, body):
    """Send the request; check what holds of every answer."""
    before = state(stack)
    line = io.StringIO()
    with contextlib.redirect_stdout(line):
        reply = stack.send(head, CutBody(body, 7))
        reply.record.write()
    assert (reply.error, reply.status < 500 or reply.status == 501) == ("", True), reply
    assert all(HEADER_VALUE.fullmatch(value) for value in reply.headers.values()), reply.headers
    assert line.getvalue().count("\n") == 1
    assert "error" not in json.loads(line.getvalue())
    if reply.content and reply.headers.get("content-type") == "application/xml":
        assert reply.document.tag
    if reply.status >= 300:
        assert state(stack) == before
        if reply.content:
            assert reply.code
    elif reply.status in {200, 204} and head.method in {"GET", "HEAD"}:
        assert state(stack) == before
    return reply


def state(stack):
    """What a refused request must not change: objects, uploads and their data."""
    branch = stack.world.refs
    found = stack.engine.refs.repository("repo")
    uploads = list(branch.uploads(found, b"", None))
    data = stack.world.objects.contents()
    entries = [(item.path, item.entry) for item in stack.listed_objects("main")]
    return entries, uploads, sorted(data)


@settings(max_examples=400, deadline=None)
@given(
    st.sampled_from(METHODS),
    PATHS,
    QUERIES,
    HEADERS,
    BODIES,
    st.sampled_from(["hash", UNSIGNED, UNSIGNED_CHUNKS, "chunks"]),
    st.booleans(),
)
@example("PUT", "/repo/main/a", [("versionId", "x")], {}, b"new", UNSIGNED, True)
@example("GET", "/repo", [("prefix", "%FF/"), ("delimiter", "%FF")], {}, b"", UNSIGNED, False)
def test_no_signed_request_is_an_internal_error(
    world, method, path, query, headers, body, kind, has_length
):
    stack = world.stack
    raw_query = "&".join(f"{name}={value}" for name, value in query)
    length = {"content-length": str(len(body))} if has_length else {}
    head = stack.signed_raw(method, path, raw_query, {**length, **headers}, body, kind)
    if kind == "chunks":
        body = stack.chunks(head, body, 16)
    check(stack, head, body)


REQUEST_NAMES = st.sampled_from(sorted(REQUESTS))


@settings(max_examples=200, deadline=None)
@given(REQUEST_NAMES, MILD_QUERIES, HEADERS, st.integers(0, 60), st.booleans())
def test_no_change_of_a_good_request_is_an_internal_error(world, name, query, headers, cut, is_cut):
    stack, request = world.stack, REQUESTS[name]

    def filled(text):
        return text.replace("{upload}", world.upload_id).replace("{part}", world.part)

    pairs = [*((key, filled(value)) for key, value in request.query.items()), *query]
    raw_query = "&".join(f"{key}={value}" for key, value in pairs)
    body = filled(request.body.decode()).encode()
    named = {"content-length": str(len(body)), **request.headers, **headers}
    head = stack.signed_raw(request.method, request.path, raw_query, named, body, "hash")
    check(stack, head, body[:cut] if is_cut else body)


@settings(max_examples=200, deadline=None)
@given(
    st.sampled_from(METHODS),
    PATHS,
    st.lists(st.tuples(st.sampled_from([*sorted(SIGNING), *PARAMETERS]), VALUES), max_size=4),
    st.lists(st.tuples(st.sampled_from(["authorization", "x-amz-date", "host"]), LATIN)),
)
def test_no_unsigned_request_does_anything(world, method, path, query, headers):
    raw_query = "&".join(f"{name}={value}" for name, value in query)
    reply = check(world.stack, RequestHead(method, path, raw_query, tuple(headers)), b"any")
    assert (400 <= reply.status < 500, reply.reads) == (True, 0) or reply.status == 501
