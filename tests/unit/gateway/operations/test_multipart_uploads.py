"""Multipart uploads: begun, sent, listed, completed once and as often as asked, or aborted."""

import hashlib

import pytest

from graveler.operations import objects
from tests.support.checks.cases import for_each
from tests.support.worlds.gateway_calls import begun
from tests.support.worlds.gateway_stack import REPO, GatewayStack

FIRST, SECOND = b"first " * 10, b"second"


@pytest.fixture
def stack():
    return GatewayStack()


def send(stack, upload_id, number, content, key="main/up", **headers):
    query = {"uploadId": upload_id, "partNumber": str(number)}
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return stack.ask("PUT", f"/repo/{key}", content, query=query, headers=named)


def complete(stack, upload_id, parts, key="main/up", **headers):
    rows = "".join(
        f"<Part><PartNumber>{number}</PartNumber><ETag>{etag}</ETag></Part>"
        for number, etag in parts
    )
    body = f"<CompleteMultipartUpload>{rows}</CompleteMultipartUpload>".encode()
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return stack.ask("POST", f"/repo/{key}", body, query={"uploadId": upload_id}, headers=named)


def sent(stack, key="main/up", **headers):
    """An upload with two parts, and their entity tags."""
    upload_id = begun(stack, key, **headers)
    replies = [
        send(stack, upload_id, number, content, key)
        for number, content in [(1, FIRST), (3, SECOND)]
    ]
    return upload_id, [(1, replies[0].headers["etag"]), (3, replies[1].headers["etag"])]


def open_ids(stack):
    return stack.ask("GET", "/repo", query={"uploads": ""}).texts("Upload/UploadId")


def test_parts_become_the_object(stack):
    upload_id, parts = sent(
        stack, content_type="text/csv", x_amz_meta_owner="ann", x_amz_tagging="k=v"
    )
    reply = complete(stack, upload_id, parts)
    digests = b"".join(hashlib.md5(content).digest() for content in (FIRST, SECOND))
    etag = f'"{hashlib.md5(digests).hexdigest()}-2"'
    assert (reply.status, reply.headers["etag"], reply.text("ETag")) == (200, etag, etag)
    assert (reply.text("Bucket"), reply.text("Key")) == ("repo", "main/up")
    assert stack.get("main/up") == FIRST + SECOND
    head = stack.ask("HEAD", "/repo/main/up").headers
    assert (head["etag"], head["content-type"]) == (etag, "text/csv")
    assert (head["x-amz-meta-owner"], head["x-amz-tagging-count"]) == ("ann", "1")
    entry = objects.stat(stack.engine, REPO, "main", b"up").entry
    assert entry.metadata["X-Amz-Meta-owner"] == "ann"
    assert open_ids(stack) == []


@pytest.mark.parametrize("kind", ["hashed", "chunked", "presigned"])
def test_a_part_is_sent_in_any_way(stack, kind):
    upload_id = begun(stack, "main/up")
    query = {"uploadId": upload_id, "partNumber": "1"}
    if kind == "chunked":
        reply = stack.ask_chunked("/repo/main/up", FIRST, query=query, chunk_bytes=8)
    elif kind == "presigned":
        reply = stack.presigned("PUT", "/repo/main/up", FIRST, query=query)
    else:
        reply = send(stack, upload_id, 1, FIRST)
    assert reply.status == 200
    assert complete(stack, upload_id, [(1, reply.headers["etag"])]).status == 200
    assert stack.get("main/up") == FIRST


def test_a_part_may_be_sent_again(stack):
    upload_id = begun(stack, "main/up")
    old = send(stack, upload_id, 1, FIRST).headers["etag"]
    new = send(stack, upload_id, 1, SECOND).headers["etag"]
    assert complete(stack, upload_id, [(1, old)]).code == "InvalidPart"
    assert complete(stack, upload_id, [(1, new.strip('"'))]).status == 200
    assert stack.get("main/up") == SECOND


def test_a_repeated_completion_answers_the_same_and_changes_nothing(stack):
    upload_id, parts = sent(stack)
    first = complete(stack, upload_id, parts)
    stack.put("main/up", b"later")
    again = complete(stack, upload_id, parts)
    assert (again.status, again.content) == (200, first.content)
    assert stack.get("main/up") == b"later"


@pytest.mark.parametrize("number", [0, 1])
def test_a_completed_upload_is_not_completed_with_other_parts(stack, number):
    upload_id, parts = sent(stack)
    complete(stack, upload_id, parts)
    assert complete(stack, upload_id, [parts[number]]).code == "NoSuchUpload"
    assert send(stack, upload_id, 2, b"more").code == "NoSuchUpload"
    assert stack.get("main/up") == FIRST + SECOND


@pytest.mark.parametrize(
    ("change", "code"),
    [
        (lambda parts: parts[::-1], "InvalidPartOrder"),
        (lambda parts: [parts[0], parts[0]], "InvalidPartOrder"),
        (lambda parts: [(2, parts[0][1])], "InvalidPart"),
        (lambda _: [(1, '"other"')], "InvalidPart"),
        (lambda parts: [(0, parts[0][1])], "InvalidArgument"),
        (lambda parts: [(10_001, parts[0][1])], "InvalidPart"),
        (lambda parts: [("x", parts[0][1])], "MalformedXML"),
        (lambda _: [], "MalformedXML"),
    ],
)
def test_wrong_parts_are_refused_and_the_upload_goes_on(stack, change, code):
    upload_id, parts = sent(stack)
    reply = complete(stack, upload_id, change(parts))
    assert (reply.status, reply.code) == (400, code)
    assert open_ids(stack) == [upload_id]
    assert complete(stack, upload_id, parts).status == 200


def test_an_aborted_upload_is_gone(stack):
    upload_id, parts = sent(stack)
    query = {"uploadId": upload_id}
    assert stack.ask("DELETE", "/repo/main/up", query=query).status == 204
    assert stack.ask("DELETE", "/repo/main/up", query=query).code == "NoSuchUpload"
    assert complete(stack, upload_id, parts).code == "NoSuchUpload"
    assert send(stack, upload_id, 1, b"more").code == "NoSuchUpload"
    assert (open_ids(stack), list(stack.world.objects.list_uploads("s3://bucket/"))) == ([], [])
    assert stack.ask("HEAD", "/repo/main/up").status == 404


@pytest.mark.parametrize("key", ["main/other", "dev/up"])
def test_an_upload_belongs_to_its_key(stack, key):
    stack.branch("dev")
    upload_id, parts = sent(stack)
    assert send(stack, upload_id, 1, b"more", key).code == "NoSuchUpload"
    assert complete(stack, upload_id, parts, key).code == "NoSuchUpload"
    reply = stack.ask("DELETE", f"/repo/{key}", query={"uploadId": upload_id})
    assert reply.code == "NoSuchUpload"
    assert complete(stack, upload_id, parts).status == 200


@pytest.mark.parametrize(
    ("exists", "headers", "status"),
    [
        (True, {"if_none_match": "*"}, 412),
        (False, {"if_none_match": "*"}, 200),
        (True, {"if_match": '"other"'}, 412),
        (True, {"if_match": "*"}, 200),
        (False, {"if_match": "*"}, 404),
    ],
)
def test_a_completion_may_have_a_condition(stack, exists, headers, status):
    if exists:
        stack.put("main/up", b"old")
    upload_id, parts = sent(stack)
    assert complete(stack, upload_id, parts, **headers).status == status
    if status != 200:
        assert open_ids(stack) == [upload_id]
        assert not exists or stack.get("main/up") == b"old"


@for_each("number", ["0", "10001", "x", "-1", "", "1e3", "\u0661"])
def test_a_part_number_is_from_1_to_10000(stack, number):
    upload_id = begun(stack, "main/up")
    reply = send(stack, upload_id, number, b"part")
    assert (reply.status, reply.code, reply.reads) == (400, "InvalidArgument", 0)


@for_each("upload_id", ["", "x", "..", "é", "\x00", "a" * 5000])
def test_a_nonsense_upload_is_no_such_upload(stack, upload_id):
    for method, query in [("PUT", {"partNumber": "1"}), ("POST", {}), ("DELETE", {}), ("GET", {})]:
        body = b"<CompleteMultipartUpload><Part><PartNumber>1</PartNumber><ETag>x</ETag></Part></CompleteMultipartUpload>"
        reply = stack.ask(
            method,
            "/repo/main/up",
            body if method in {"PUT", "POST"} else b"",
            query={"uploadId": upload_id, **query},
        )
        assert (reply.status, reply.code) == (404, "NoSuchUpload")


# Copied parts


@pytest.mark.parametrize(
    ("header", "content"), [(None, FIRST), ("bytes=6-11", b"first "), ("bytes=0-0", b"f")]
)
def test_a_part_is_copied_from_an_object(stack, header, content):
    stack.put("main/source", FIRST)
    upload_id = begun(stack, "main/up")
    reply = copy_part(stack, upload_id, header)
    assert reply.status == 200
    assert complete(stack, upload_id, [(1, reply.text("ETag"))]).status == 200
    assert stack.get("main/up") == content


def copy_part(stack, upload_id, header, source="repo/main/source"):
    ranged = {} if header is None else {"x-amz-copy-source-range": header}
    return stack.ask(
        "PUT",
        "/repo/main/up",
        query={"uploadId": upload_id, "partNumber": "1"},
        headers={"x-amz-copy-source": source, **ranged},
    )


@for_each("header", ["bytes=5-4", "bytes=-3", "bytes=3-", "0-1", "x"])
def test_a_range_outside_of_the_source_is_refused(stack, header):
    stack.put("main/source", FIRST)
    reply = copy_part(stack, begun(stack, "main/up"), header)
    assert (reply.status, reply.code, reply.reads) == (400, "InvalidArgument", 0)


def test_a_range_past_the_end_of_the_source_is_refused(stack):
    stack.put("main/source", FIRST)
    reply = copy_part(stack, begun(stack, "main/up"), "bytes=0-60")
    assert (reply.status, reply.code, reply.reads) == (416, "InvalidRange", 0)


# Listings


def test_parts_are_listed_in_pages(stack):
    upload_id = begun(stack, "main/up")
    for number in (1, 2, 7, 10_000):
        send(stack, upload_id, number, b"x" * number)
    found, marker = [], "0"
    while True:
        query = {"uploadId": upload_id, "max-parts": "3", "part-number-marker": marker}
        reply = stack.ask("GET", "/repo/main/up", query=query)
        found.append(reply.texts("Part/PartNumber"))
        if reply.text("IsTruncated") == "false":
            break
        marker = reply.text("NextPartNumberMarker")
    assert found == [["1", "2", "7"], ["10000"]]
    none = stack.ask("GET", "/repo/main/up", query={"uploadId": upload_id, "max-parts": "0"})
    assert (none.texts("Part"), none.text("IsTruncated")) == ([], "false")


def test_a_listed_part_is_as_it_was_sent(stack):
    upload_id, parts = sent(stack)
    reply = stack.ask("GET", "/repo/main/up", query={"uploadId": upload_id})
    assert reply.texts("Part/ETag") == [etag for _, etag in parts]
    assert reply.texts("Part/Size") == [str(len(FIRST)), str(len(SECOND))]
    assert (reply.text("Key"), reply.text("UploadId")) == ("main/up", upload_id)


@pytest.fixture
def uploads(stack):
    """Keys and IDs of uploads that go on, in their order."""
    stack.branch("dev")
    keys = ["dev/a", "main/a", "main/a", "main/a", "main/d/1", "main/d/2", "main/é&"]
    return sorted((key, begun(stack, key)) for key in keys)


@for_each("amount", ["1", "2", "3", "1000"])
@for_each("delimiter", ["", "/", "a"])
@for_each("prefix", ["", "main/", "main/d"])
def test_uploads_are_listed_in_pages(stack, uploads, amount, delimiter, prefix):
    found, prefixes, more = [], [], {}
    while True:
        asked = {"max-uploads": amount, "delimiter": delimiter, "prefix": prefix, **more}
        reply = stack.ask("GET", "/repo", query={"uploads": "", **asked})
        rows = zip(reply.texts("Upload/Key"), reply.texts("Upload/UploadId"), strict=True)
        found += list(rows)
        prefixes += reply.texts("CommonPrefixes/Prefix")
        assert len(reply.texts("Upload")) + len(reply.texts("CommonPrefixes")) <= int(amount)
        if reply.text("IsTruncated") == "false":
            break
        more = {
            "key-marker": reply.text("NextKeyMarker"),
            "upload-id-marker": reply.text("NextUploadIdMarker"),
        }
    expected, folded = [], []
    for key, upload_id in uploads:
        at = key.find(delimiter, len(prefix)) if delimiter else -1
        if not key.startswith(prefix):
            continue
        if at < 0:
            expected.append((key, upload_id))
        elif key[: at + 1] not in folded:
            folded.append(key[: at + 1])
    assert (found, prefixes) == (expected, folded)


def test_a_marker_without_id_skips_the_key(stack):
    for key in ("main/a", "main/a", "main/b"):
        begun(stack, key)
    reply = stack.ask("GET", "/repo", query={"uploads": "", "key-marker": "main/a"})
    assert reply.texts("Upload/Key") == ["main/b"]


def test_uploads_of_other_repositories_are_not_listed(stack):
    stack.repository("other")
    begun(stack, "main/a")
    assert stack.ask("GET", "/other", query={"uploads": ""}).texts("Upload") == []


def test_a_reading_user_may_not_see_who_uploads(stack):
    upload_id, _ = sent(stack)
    stack.may()
    assert stack.ask("GET", "/repo", query={"uploads": ""}).code == "AccessDenied"
    reply = stack.ask("GET", "/repo/main/up", query={"uploadId": upload_id})
    assert reply.code == "AccessDenied"
