"""Writing objects: whole, as it was sent and under conditions, or not at all."""

import base64
import binascii
import hashlib
from urllib.parse import quote, quote_plus, unquote

import pytest

from graveler.operations import objects
from tests.support.checks.cases import for_each
from tests.support.worlds.gateway_stack import (
    REPO,
    UNSIGNED,
    UNSIGNED_CHUNKS,
    CutBody,
    GatewayStack,
)

CONTENT = b"0123456789"
ETAG = hashlib.md5(CONTENT).hexdigest()


@pytest.fixture
def stack():
    made = GatewayStack()
    made.put("main/a", CONTENT, content_type="text/csv", x_amz_meta_owner="ann")
    return made


ODD_KEYS = [
    "a b", "a+b", "a%2Bb", "a&b=c", "a%20b", "é/ü", "a//b", "a/../b", "./a", "a?b=c#d", "a&b;c=d,e:f@g$h!i'(j)*",
    "a\\b", 'a"b<c>d', "a\tb", "a\nb", "\x7f", "~a", "日本", "😀", "a/", " a ", "[a]{b}|`^",
]  # fmt: skip


@for_each("key", ODD_KEYS)
def test_any_key_is_written_read_listed_copied_and_deleted(key):
    stack = GatewayStack()
    stack.put(f"main/{key}", b"odd")
    assert stack.get(f"main/{key}") == b"odd"
    assert stack.presigned("GET", f"/repo/main/{key}").content == b"odd"
    assert stack.keys({"prefix": "main/"}) == [f"main/{key}"]
    encoded = stack.keys({"prefix": "main/", "encoding-type": "url"})
    assert [unquote(each) for each in encoded] == [f"main/{key}"]
    for encode in (quote, quote_plus):
        source = encode(f"{REPO}/main/{key}", safe="")
        reply = stack.ask("PUT", "/repo/main/copy", headers={"x-amz-copy-source": source})
        assert (reply.status, stack.get("main/copy")) == (200, b"odd")
    assert stack.ask("DELETE", f"/repo/main/{key}").status == 204
    assert stack.keys({"prefix": "main/"}) == ["main/copy"]


def test_the_api_has_the_entry_that_was_written(stack):
    found = objects.stat(stack.engine, REPO, "main", b"a").entry
    assert (found.checksum, found.size_bytes, found.content_type) == (ETAG, 10, "text/csv")
    assert found.metadata == {"X-Amz-Meta-owner": "ann"}


@for_each("name", ["owner", "a-b_c.d"])
@for_each(
    ("sent", "stored"),
    [
        ("plain", "plain"),
        ("=?UTF-8?B?w6k=?=", "é"),
        ("=?UTF-8?Q?=C3=A9_a?=", "é a"),
        ("two  blanks", "two blanks"),
    ],
)
def test_metadata_are_the_same_through_the_api_and_s3(stack, name, sent, stored):
    stack.ask("PUT", "/repo/main/b", b"", headers={f"x-amz-meta-{name}": sent})
    found = objects.stat(stack.engine, REPO, "main", b"b").entry.metadata
    assert {key: " ".join(value.split()) for key, value in found.items()} == {
        f"X-Amz-Meta-{name}": stored
    }
    header = stack.ask("HEAD", "/repo/main/b").headers[f"x-amz-meta-{name}"]
    again = stack.ask("PUT", "/repo/main/c", b"", headers={f"x-amz-meta-{name}": header})
    assert again.status == 200
    assert objects.stat(stack.engine, REPO, "main", b"c").entry.metadata == found


def test_metadata_of_more_than_two_kilobytes_are_refused(stack):
    reply = stack.ask("PUT", "/repo/main/a", b"new", headers={"x-amz-meta-a": "x" * 2048})
    assert (reply.status, reply.code, reply.reads) == (400, "MetadataTooLarge", 0)
    assert stack.get("main/a") == CONTENT


SIZES = [0, 1, 8191, 256 * 1024, 256 * 1024 + 1, 700_000]


@for_each("size_bytes", SIZES)
@for_each("piece_bytes", [997, 65_536, 10**6])
@for_each("kind", ["hashed", "plain", "chunks", "trailer"])
def test_content_of_any_size_is_stored_however_it_is_sent(stack, size_bytes, piece_bytes, kind):
    content = bytes(range(256)) * (size_bytes // 256 + 1)
    content = content[:size_bytes]
    stack.ask("DELETE", "/repo/main/b")
    put(stack, content, kind, piece_bytes)
    assert stack.get("main/b") == content
    stat = objects.stat(stack.engine, REPO, "main", b"b").entry
    assert (stat.size_bytes, stat.checksum) == (size_bytes, hashlib.md5(content).hexdigest())


def put(stack, content, kind, piece_bytes=65_536, wrong="", **headers):
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    if kind == "chunks":
        return stack.ask_chunked("/repo/main/b", content, piece_bytes=piece_bytes, headers=named)
    if kind == "trailer":
        crc = base64.b64encode(binascii.crc32(content + wrong.encode()).to_bytes(4, "big"))
        framed = f"{len(content):x}\r\n".encode() + content + b"\r\n0\r\n" if content else b"0\r\n"
        return stack.ask(
            "PUT",
            "/repo/main/b",
            framed + b"x-amz-checksum-crc32:" + crc + b"\r\n\r\n",
            headers={
                "x-amz-decoded-content-length": str(len(content)),
                "x-amz-trailer": "x-amz-checksum-crc32",
                **named,
            },
            content_sha256=UNSIGNED_CHUNKS,
            piece_bytes=piece_bytes,
        )
    digest = UNSIGNED if kind == "plain" else hashlib.sha256(content + wrong.encode()).hexdigest()
    return stack.ask(
        "PUT", "/repo/main/b", content, headers=named, content_sha256=digest,
        piece_bytes=piece_bytes,
    )  # fmt: skip


@for_each("size_bytes", SIZES[1:])
@for_each("kind", ["hashed", "trailer", "md5"])
def test_content_that_is_not_what_was_promised_changes_nothing(stack, size_bytes, kind):
    stack.put("main/b", b"old")
    content = b"x" * size_bytes
    if kind == "md5":
        wrong_md5 = base64.b64encode(hashlib.md5(b"other").digest()).decode()
        reply = put(stack, content, "plain", content_md5=wrong_md5)
    else:
        reply = put(stack, content, kind, wrong="other")
    expected = "XAmzContentSHA256Mismatch" if kind == "hashed" else "BadDigest"
    assert (reply.status, reply.code, reply.error) == (400, expected, "")
    assert stack.get("main/b") == b"old"
    stored = [len(each) for each in stack.world.objects.contents().values()]
    assert size_bytes not in stored or size_bytes in {3, 10}


@for_each("size_bytes", [10, 300_000])
@for_each("missing_bytes", [1, 9, -1])
def test_content_of_another_length_changes_nothing(stack, size_bytes, missing_bytes):
    head = stack.signed(
        "PUT", "/repo/main/a", headers={"content-length": str(size_bytes)}, content_sha256=UNSIGNED
    )
    reply = stack.send(head, CutBody(b"x" * (size_bytes - missing_bytes)))
    assert (reply.status, reply.code) == (400, "IncompleteBody")
    assert stack.get("main/a") == CONTENT


@for_each(
    ("headers", "status", "code"),
    [
        ({}, 411, "MissingContentLength"),
        ({"content-length": "x"}, 400, "InvalidArgument"),
        ({"content-length": str(5 * 1024**3 + 1)}, 400, "EntityTooLarge"),
        ({"content-length": "3", "content-md5": "x"}, 400, "InvalidDigest"),
        ({"content-length": "3", "x-amz-storage-class": "OTHER"}, 400, "InvalidStorageClass"),
        ({"content-length": "3", "x-amz-tagging": "a=b&a=c"}, 400, "InvalidTag"),
        ({"content-length": "3", "x-amz-checksum-crc32": "x"}, 400, "InvalidRequest"),
    ],
)
def test_a_malformed_head_is_refused_before_the_body_is_read(stack, headers, status, code):
    head = stack.signed("PUT", "/repo/main/a", headers=headers)
    reply = stack.send(head, CutBody(b"new"))
    assert (reply.status, reply.code, reply.reads) == (status, code, 0)


@for_each(
    ("key", "headers", "code"),
    [
        ("a", {"if-none-match": "*"}, "PreconditionFailed"),
        ("a", {"if-match": '"other"'}, "PreconditionFailed"),
        ("missing", {"if-match": f'"{ETAG}"'}, "NoSuchKey"),
        ("missing", {"if-match": "*"}, "NoSuchKey"),
        ("a", {"if-none-match": f'"{ETAG}"'}, "NotImplemented"),
    ],
)
def test_a_write_whose_condition_does_not_hold_is_refused_unread(stack, key, headers, code):
    before = stack.world.objects.contents()
    reply = stack.ask("PUT", f"/repo/main/{key}", b"new", headers=headers)
    assert (reply.code, reply.reads) == (code, 0)
    assert stack.world.objects.contents() == before


@pytest.mark.parametrize(
    ("key", "headers"),
    [
        ("new", {"if-none-match": "*"}),
        ("a", {"if-match": f'"{ETAG}"'}),
        ("a", {"if-match": f'"x", "{ETAG}"'}),
        ("a", {"if-match": "*"}),
    ],
)
def test_a_write_whose_condition_holds_is_done(stack, key, headers):
    reply = stack.ask("PUT", f"/repo/main/{key}", b"new", headers=headers)
    assert (reply.status, stack.get(f"main/{key}")) == (200, b"new")


def test_a_condition_is_checked_again_when_the_content_is_there(stack):
    head = stack.signed(
        "PUT", "/repo/main/b", headers={"content-length": "3", "if-none-match": "*"}
    )

    class Racing(CutBody):
        def read(self):
            if self.reads == 0:
                stack.put("main/b", b"first")
            return super().read()

    reply = stack.send(head, Racing(b"new"))
    assert (reply.status, reply.code) == (412, "PreconditionFailed")
    assert stack.get("main/b") == b"first"


@pytest.mark.parametrize("size_bytes", [1024, 1025])
def test_a_path_has_at_most_1024_bytes(stack, size_bytes):
    reply = stack.ask("PUT", f"/repo/main/{'k' * size_bytes}", b"new")
    assert (reply.status, reply.reads) == ((200, 2) if size_bytes == 1024 else (400, 0))
    assert size_bytes == 1024 or reply.code == "KeyTooLongError"


def test_a_protected_branch_is_not_written(stack):
    stack.commit()
    stack.branch("dev")
    before = stack.world.objects.contents()
    stack.protect("main")
    for method, query, headers in [
        ("PUT", {}, {}),
        ("PUT", {"tagging": ""}, {}),
        ("POST", {"uploads": ""}, {}),
        ("DELETE", {}, {}),
        ("DELETE", {"tagging": ""}, {}),
        ("PUT", {}, {"x-amz-copy-source": "repo/dev/a"}),
    ]:
        body = b"<Tagging><TagSet></TagSet></Tagging>" if method == "PUT" else b""
        reply = stack.ask(method, "/repo/main/a", body, query=query, headers=headers)
        assert (reply.status, reply.code) == (403, "AccessDenied"), (method, query, headers)
        if not query and not headers:
            assert reply.reads == 0
    assert stack.get("main/a") == CONTENT
    assert stack.world.objects.contents() == before


# Folders that clients make


@pytest.mark.parametrize("method", ["PUT", "DELETE"])
def test_a_folder_of_a_branch_is_taken_silently(stack, method):
    reply = stack.ask(method, "/repo/main/")
    assert reply.status in {200, 204}
    assert stack.keys({"prefix": "main/"}) == ["main/a"]


def test_a_folder_of_a_branch_has_no_content(stack):
    assert stack.ask("PUT", "/repo/main/", b"x").code == "NoSuchKey"
    reply = stack.ask("PUT", "/repo/missing/", b"x")
    assert (reply.code, reply.reads) == ("NoSuchBucket", 0)


@for_each("method", ["PUT", "DELETE"])
@for_each("branch", ["main", "missing"])
def test_a_user_without_rights_learns_nothing_from_folders(stack, method, branch):
    stack.may()
    reply = stack.ask(method, f"/repo/{branch}/")
    assert (reply.status, reply.code, reply.reads) == (403, "AccessDenied", 0)


def test_a_folder_below_a_branch_is_an_object(stack):
    stack.put("main/dir/", b"")
    assert stack.get("main/dir/") == b""
    assert stack.keys({"prefix": "main/dir/"}) == ["main/dir/"]
