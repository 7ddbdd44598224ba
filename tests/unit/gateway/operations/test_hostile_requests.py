"""Requests that once did more, less or something else than they say."""

import base64
import hashlib
import json
import zlib
from dataclasses import replace

import pytest

from graveler_gateway.protocol.head import RequestHead
from graveler_gateway.protocol.signatures.version2 import sign
from tests.support.checks.cases import for_each
from tests.support.clients.api import ACCESS_KEY_ID, SECRET
from tests.support.worlds.gateway_stack import HOST, REPO, CutBody, GatewayStack

TAGGING = b"<Tagging><TagSet><Tag><Key>k</Key><Value>v</Value></Tag></TagSet></Tagging>"

DIGESTS = {
    "content-md5": lambda data: hashlib.md5(data).digest(),
    "x-amz-checksum-sha256": lambda data: hashlib.sha256(data).digest(),
    "x-amz-checksum-crc32": lambda data: zlib.crc32(data).to_bytes(4, "big"),
}


@pytest.fixture
def stack():
    made = GatewayStack()
    for key in ("main/a", "main/b"):
        made.put(key)
    return made


def form(stack, fields, content, *, covers_bucket=True, end=b"--\r\n"):
    covered = [["starts-with", f"${name}", ""] for name in fields]
    conditions = [*covered, *([{"bucket": REPO}] if covers_bucket else [])]
    document = {"expiration": "2099-01-01T00:00:00Z", "conditions": conditions}
    policy = base64.b64encode(json.dumps(document).encode())
    signed = {
        "AWSAccessKeyId": ACCESS_KEY_ID,
        "policy": policy.decode(),
        "signature": sign(SECRET, policy),
        **fields,
    }
    lead = '--B\r\nContent-Disposition: form-data; name="{}"\r\n\r\n'
    parts = [lead.format(name) + value + "\r\n" for name, value in signed.items()]
    body = "".join([*parts, lead.format("file")]).encode() + content + b"\r\n--B" + end
    headers = {
        "host": HOST,
        "content-type": "multipart/form-data; boundary=B",
        "content-length": str(len(body)),
    }
    return stack.send(RequestHead("POST", f"/{REPO}", "", list(headers.items())), CutBody(body))


@pytest.mark.parametrize(
    "query",
    [
        {"list-type": "2", "prefix": "main/", "start-after": "a/zzzzzz"},
        {"prefix": "main/", "marker": "lake/zzzzz"},
        {"prefix": "main/", "marker": "main"},
    ],
)
def test_a_marker_before_the_ref_leaves_no_object_out(stack, query):
    assert stack.keys(query) == ["main/a", "main/b"]


def test_deleting_a_version_that_does_not_exist_deletes_no_object(stack):
    rows = "".join(
        f"<Object><Key>main/{key}</Key><VersionId>{version}</VersionId></Object>"
        for key, version in (("a", "another"), ("b", "null"))
    )
    reply = stack.ask("POST", f"/{REPO}", f"<Delete>{rows}</Delete>".encode(), query="delete")
    assert (reply.text("Error/Key"), reply.text("Error/Code")) == ("main/a", "NoSuchVersion")
    assert stack.keys({"prefix": "main/"}) == ["main/a"]


@pytest.mark.parametrize(("method", "body"), [("PUT", TAGGING), ("DELETE", b"")])
def test_changing_tags_keeps_the_metadata_of_an_object_that_is_written_meanwhile(
    stack, method, body, monkeypatch
):
    stack.put("main/a", b"old", x_amz_meta_v="old")
    stat = type(stack.lakes.lake("user", "")).stat

    def overtaken(lake, place):
        monkeypatch.undo()
        found = stat(lake, place)
        stack.put("main/a", b"new", x_amz_meta_v="new")
        return found

    monkeypatch.setattr(type(stack.lakes.lake("user", "")), "stat", overtaken)
    assert stack.ask(method, f"/{REPO}/main/a", body, query="tagging").status < 300
    reply = stack.ask("GET", f"/{REPO}/main/a")
    assert (reply.content, reply.headers["x-amz-meta-v"]) == (b"new", "new")


def test_a_form_whose_policy_names_no_bucket_is_refused(stack):
    assert form(stack, {"key": "main/c"}, b"content").status == 204
    assert form(stack, {"key": "main/d"}, b"content", covers_bucket=False).status == 403


def test_a_form_with_a_larger_file_than_s3_takes_at_once_is_refused(stack, monkeypatch):
    monkeypatch.setattr("graveler_gateway.operations.post_object.PUT_BYTES_MAX", 6)
    assert form(stack, {"key": "main/c"}, b"content").code == "EntityTooLarge"
    assert form(stack, {"key": "main/c"}, b"conten").status == 204


def test_a_large_form_without_its_last_line_break_stores_nothing(stack):
    content = bytes(300_000)
    assert form(stack, {"key": "main/c"}, content).status == 204
    assert form(stack, {"key": "main/d"}, content, end=b"--").code == "IncompleteBody"
    assert stack.keys({"prefix": "main/"}) == ["main/a", "main/b", "main/c"]


@pytest.mark.parametrize("size_bytes", [5, 300_000])
@pytest.mark.parametrize(("name", "new_digest"), DIGESTS.items())
def test_a_form_is_stored_if_its_file_has_the_checksum_of_its_fields(
    stack, size_bytes, name, new_digest
):
    content = b"c" * size_bytes
    right, wrong = (base64.b64encode(new_digest(data)).decode() for data in (content, b"other"))
    assert form(stack, {"key": "main/c", name: right}, content).status == 204
    assert form(stack, {"key": "main/d", name: wrong}, content).code == "BadDigest"
    assert form(stack, {"key": "main/e", name: "wrong"}, content).status == 400
    assert stack.keys({"prefix": "main/"}) == ["main/a", "main/b", "main/c"]
    assert stack.get("main/c") == content


def test_the_location_of_a_form_is_a_url_path(stack):
    reply = form(stack, {"key": "main/é\r\nSet-Cookie: a"}, b"content")
    assert reply.headers["location"] == f"/{REPO}/main/%C3%A9%0D%0ASet-Cookie%3A%20a"


def test_scripts_of_an_object_do_not_run_in_the_origin_of_the_api(stack):
    stack.put("main/page", b"<script>", content_type="text/html")
    headers = stack.presigned("GET", f"/{REPO}/main/page").headers
    assert "default-src 'none'" in headers["content-security-policy"]
    assert headers["x-content-type-options"] == "nosniff"


@for_each(
    ("sent", "header"), [("%FF", "\xff"), ("%C3%A9", "\xc3\xa9"), ("a+b", "a b"), ("%25", "%")]
)
def test_hoisted_headers_have_a_character_for_each_byte(sent, header):
    head = RequestHead("PUT", "/", f"X-Amz-Meta-a={sent}", ())
    assert head.with_hoisted_headers().header("x-amz-meta-a") == header


def test_an_empty_header_counts_as_absent_and_its_signature_covers_it(stack):
    empty = dict.fromkeys(
        ["if-match", "if-none-match", "x-amz-storage-class", "x-amz-tagging", "x-amz-object-lock-mode",
         "x-amz-metadata-directive", "x-amz-copy-source-if-match", "x-amz-copy-source-range", "range"],
        "",
    )  # fmt: skip
    source = {"x-amz-copy-source": f"{REPO}/main/a"}
    kept = {"x-amz-meta-empty": ""}
    assert stack.ask("PUT", f"/{REPO}/main/c", b"c", headers=empty | kept).status == 200
    assert stack.ask("PUT", f"/{REPO}/main/d", headers=empty | source).status == 200
    reply = stack.ask("GET", f"/{REPO}/main/c", headers=empty)
    assert (reply.status, reply.content, reply.headers["x-amz-meta-empty"]) == (200, b"c", "")
    assert form(stack, {"key": "main/e", **empty}, b"e").status == 204
    head = stack.signed("GET", f"/{REPO}/main/c", headers={"x-amz-storage-class": ""})
    without = [pair for pair in head.headers if pair[0] != "x-amz-storage-class"]
    assert stack.send(replace(head, headers=without)).code == "SignatureDoesNotMatch"


def test_an_empty_checksum_is_a_wrong_one(stack):
    for name in ("content-md5", "x-amz-checksum-crc32", "x-amz-trailer"):
        assert stack.ask("PUT", f"/{REPO}/main/c", b"c", headers={name: ""}).status == 400


def test_a_client_whose_endpoint_is_the_url_of_the_api_is_told_so(stack):
    for method, query in (("GET", ""), ("GET", "list-type=2"), ("GET", "location"), ("PUT", "")):
        for path in ("/api/v1", "/api/v1/", "/api/v1/lake", "/api/v1/lake/main/a"):
            reply = stack.ask(method, path, query=query)
            assert (reply.status, reply.code) == (404, "ErrNoSuchBucketPossibleAPIEndpoint")
            assert 'your endpoint URL mistakenly ends in "/api/v1"' in reply.text("Message")
    assert stack.ask("GET", "/api/v2/lake").code == "NoSuchBucket"


def test_a_repository_may_have_the_name_of_the_api(stack):
    stack.repository("api")
    stack.branch("v1", repository="api")
    assert stack.ask("PUT", "/api/v1/a", b"a").status == 200
    assert stack.ask("GET", "/api/v1/a").content == b"a"
