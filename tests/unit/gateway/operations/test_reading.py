"""Reading objects: the bytes that were written, at any ref, under conditions and in ranges."""

import hashlib

import pytest
from msgspec.structs import replace

from graveler.operations import links, objects
from tests.support.checks.cases import for_each
from tests.support.worlds.gateway_stack import REPO, GatewayStack

CONTENT = b"0123456789"
ETAG = hashlib.md5(CONTENT).hexdigest()
EARLIER, LATER = "Tue, 14 Nov 2023 20:00:00 GMT", "Wed, 15 Nov 2023 20:00:00 GMT"


@pytest.fixture
def stack():
    made = GatewayStack()
    made.put("main/a", CONTENT, content_type="text/csv", x_amz_meta_owner="ann")
    return made


def read(stack, method="GET", path="/repo/main/a", **headers):
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return stack.ask(method, path, headers=named)


@for_each(
    "headers",
    [
        {},
        {"range": "bytes=2-4"},
        {"range": "bytes=20-"},
        {"range": "bytes=-3"},
        {"if_match": f'"{ETAG}"'},
        {"if_match": '"other"'},
        {"if_none_match": "*"},
        {"if_modified_since": LATER},
    ],
)
@for_each("key", ["a", "empty", "missing", ""])
def test_head_answers_the_headers_of_get(stack, headers, key):
    stack.put("main/empty", b"")
    path = f"/repo/main/{key}"
    got, head = read(stack, "GET", path, **headers), read(stack, "HEAD", path, **headers)
    assert head.content == b""
    assert head.status == got.status
    ids = {"x-amz-request-id", "x-amz-id-2"}
    assert {name: head.headers[name] for name in head.headers if name not in ids} == {
        name: got.headers[name] for name in got.headers if name not in ids
    }
    if got.status in {200, 206}:
        assert (head.length_bytes or 0) == len(got.content)


@for_each(
    ("header", "status", "content", "content_range"),
    [
        ("bytes=0-0", 206, b"0", "bytes 0-0/10"),
        ("bytes=2-4", 206, b"234", "bytes 2-4/10"),
        ("bytes=8-99", 206, b"89", "bytes 8-9/10"),
        ("bytes=7-", 206, b"789", "bytes 7-9/10"),
        ("bytes=-2", 206, b"89", "bytes 8-9/10"),
        ("bytes=-99", 206, CONTENT, "bytes 0-9/10"),
        ("bytes=10-", 416, None, "bytes */10"),
        ("bytes=-0", 416, None, "bytes */10"),
        ("bytes=4-2", 200, CONTENT, None),
        ("bytes=0-1,4-5", 200, CONTENT, None),
        ("items=0-1", 200, CONTENT, None),
    ],
)
def test_a_range_is_answered_as_on_s3(stack, header, status, content, content_range):
    reply = read(stack, range=header)
    assert (reply.status, reply.headers.get("content-range")) == (status, content_range)
    if content is None:
        assert reply.code == "InvalidRange"
    else:
        assert reply.content == content


@for_each(
    ("headers", "status"),
    [
        ({"if_match": f'"{ETAG}"'}, 200),
        ({"if_match": ETAG}, 200),
        ({"if_match": "*"}, 200),
        ({"if_match": '"other"'}, 412),
        ({"if_none_match": f'"{ETAG}"'}, 304),
        ({"if_none_match": f'"x", W/"{ETAG}"'}, 304),
        ({"if_none_match": '"other"'}, 200),
        ({"if_modified_since": EARLIER}, 200),
        ({"if_modified_since": LATER}, 304),
        ({"if_modified_since": "nonsense"}, 200),
        ({"if_unmodified_since": EARLIER}, 412),
        ({"if_unmodified_since": LATER}, 200),
        ({"if_match": f'"{ETAG}"', "if_unmodified_since": EARLIER}, 200),
        ({"if_none_match": '"other"', "if_modified_since": LATER}, 200),
    ],
)
@for_each("method", ["GET", "HEAD"])
def test_a_condition_decides_about_a_read(stack, method, headers, status):
    reply = read(stack, method, **headers)
    assert reply.status == status
    if status == 304:
        assert reply.headers["etag"] == f'"{ETAG}"'
        assert reply.content == b""
    if status == 412 and method == "GET":
        assert reply.code == "PreconditionFailed"


@pytest.mark.parametrize("ref", ["main", "v1", "{commit}", "main~0", "main@", "v1~0", "{short}"])
def test_an_object_is_read_at_any_ref(stack, ref):
    commit = stack.commit()
    stack.ask("PUT", "/repo/main/a", b"later")
    stack.tag("v1", commit)
    name = ref.format(commit=commit, short=commit[:12])
    expected = b"later" if ref == "main" else CONTENT
    assert stack.get(f"{name}/a") == expected


def test_an_object_of_the_commit_before_is_read(stack):
    stack.commit()
    stack.put("main/a", b"new")
    stack.commit()
    assert (stack.get("main~1/a"), stack.get("main/a")) == (CONTENT, b"new")


@for_each(
    "key", ["main", "main/", "missing/a", "main/missing", "main~9/a", "b d/a", "é/a", "main^x/a"]
)
def test_a_key_that_names_nothing_is_no_such_key(stack, key):
    reply = stack.ask("GET", f"/repo/{key}")
    assert (reply.status, reply.code) == (404, "NoSuchKey")


def test_a_first_part_is_the_object(stack):
    reply = stack.ask("GET", "/repo/main/a", query={"partNumber": "1"})
    assert (reply.status, reply.content) == (206, CONTENT)
    for number in ("2", "0", "10001", "x"):
        assert stack.ask("GET", "/repo/main/a", query={"partNumber": number}).status in {400, 416}


def test_answers_have_the_headers_that_the_query_asks_for(stack):
    reply = stack.presigned(
        "GET",
        "/repo/main/a",
        query={"response-content-type": "text/plain", "response-cache-control": "no-cache"},
    )
    assert reply.content == CONTENT
    assert reply.headers["content-type"] == "text/plain"
    assert reply.headers["cache-control"] == "no-cache"


@pytest.mark.parametrize("value", ["a\r\nSet-Cookie: b", "a\x00"])
def test_no_query_can_forge_a_header(stack, value):
    reply = stack.ask("GET", "/repo/main/a", query={"response-content-disposition": value})
    assert (reply.status, reply.code) == (400, "InvalidArgument")


@pytest.mark.parametrize("headers", [{}, {"range": "bytes=2-4"}])
def test_a_read_of_collected_data_is_gone_and_names_the_object(stack, headers):
    stack.world.objects.delete(objects.stat(stack.engine, REPO, "main", b"a").physical_address)
    reply = read(stack, **headers)
    assert (reply.status, reply.code) == (410, "NoSuchVersion")
    assert reply.text("Message") == (
        "s3://repo/main/a has no data: garbage collection, or the owner of imported data, has "
        "deleted it, or it was never stored"
    )


@pytest.mark.parametrize("headers", [{}, {"range": "bytes=5-6"}])
def test_a_read_of_data_that_are_shorter_than_recorded_is_gone(stack, headers):
    address = objects.stat(stack.engine, REPO, "main", b"a").physical_address
    stack.world.objects.put(address, CONTENT[:4], "text/csv")
    reply = read(stack, **headers)
    assert (reply.status, reply.code) == (410, "NoSuchVersion")
    assert "s3://repo/main/a were replaced" in reply.text("Message")


@pytest.fixture
def elsewhere(stack):
    """Stages an object at main/a that is somewhere else, and returns its URI."""

    def staged(**more):
        uri = "s3://elsewhere/a"
        info = stack.world.objects.put(uri, CONTENT, "text/csv")
        data = links.StoredData(uri, info.checksum, info.size_bytes, {}, mtime_s=0)
        links.stage(stack.engine, REPO, "main", b"a", replace(data, **more))
        return uri

    return staged


@pytest.mark.parametrize("headers", [{}, {"range": "bytes=2-4"}])
def test_a_read_of_replaced_data_is_gone_and_says_what_to_do(stack, elsewhere, headers):
    uri = elsewhere()
    assert read(stack).content == CONTENT
    stack.world.objects.put(uri, CONTENT[::-1], "text/csv")
    for more in ({}, {"user_agent": "any [s3RedirectionSupport]"}):
        reply = read(stack, **headers, **more)
        assert (reply.status, reply.code) == (410, "NoSuchVersion")
        assert "s3://repo/main/a: the data" in reply.text("Message")
        assert f"{uri} has the ETag" in reply.text("Message")
        assert "import or stage it again" in reply.text("Message")


def test_a_read_of_staged_data_whose_checksum_never_was_the_etag_succeeds(stack, elsewhere):
    elsewhere(checksum="0" * 32 + "-2", mtime_s=None)
    assert read(stack).content == CONTENT


def test_head_describes_an_object_whose_data_were_collected(stack):
    stack.world.objects.delete(objects.stat(stack.engine, REPO, "main", b"a").physical_address)
    stack.s3.requests.clear()
    reply = read(stack, "HEAD")
    assert (reply.status, reply.length_bytes, stack.s3.requests) == (200, len(CONTENT), [])


def test_a_redirect_leads_to_the_same_bytes(stack):
    reply = read(stack, user_agent="any [s3RedirectionSupport]")
    assert (reply.status, reply.content) == (307, b"")
    address = objects.stat(stack.engine, REPO, "main", b"a").physical_address
    assert reply.headers["location"].startswith(address.replace("s3:/", "http://s3.memory:9000"))
    assert reply.headers["cache-control"] == "no-store"
    other = stack.presigned("GET", "/repo/main/a", headers={"user-agent": "s3RedirectionSupport"})
    assert (other.status, other.content) == (200, CONTENT)
