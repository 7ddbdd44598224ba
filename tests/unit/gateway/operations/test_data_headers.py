"""The headers that stay with an object's data: what the client sent is what its readers get."""

import pytest

from graveler.data_headers import DataHeaders
from graveler.identity import entry_identity
from graveler.model import AddressType
from graveler.operations import links
from tests.support.checks.cases import for_each
from tests.support.fakes.scripted_s3 import refusal
from tests.support.worlds.gateway_calls import begun
from tests.support.worlds.gateway_stack import REPO, GatewayStack

KEPT = {
    "cache-control": "max-age=60, public",
    "content-disposition": 'attachment; filename="a b.csv"',
    "content-encoding": "gzip",
    "content-language": "de, en",
    "expires": "never",  # S3 takes any text
}
ENCRYPTION = {
    "x-amz-server-side-encryption": "aws:kms",
    "x-amz-server-side-encryption-aws-kms-key-id": "arn:aws:kms:eu-west-1:123456789012:key/1-2",
    "x-amz-server-side-encryption-bucket-key-enabled": "true",
    "x-amz-server-side-encryption-context": "eyJhIjoiYiJ9",
}
OTHERS = {"content-language": "fr"}


@pytest.fixture
def stack():
    return GatewayStack()


def put(stack, key="main/a", content=b"content", **more):
    reply = stack.ask("PUT", f"/{REPO}/{key}", content, **more)
    assert reply.status == 200, reply
    return reply


def copy(stack, source, target, **headers):
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    sent = {"x-amz-copy-source": f"{REPO}/{source}", **named}
    return stack.ask("PUT", f"/{REPO}/{target}", headers=sent)


def kept(stack, key="main/a", **more):
    """Those of a GET, which a HEAD and a part of the bytes must have as well."""
    found = [
        {name: reply.headers[name] for name in KEPT if name in reply.headers}
        for reply in (
            stack.ask("GET", f"/{REPO}/{key}", **more),
            stack.ask("GET", f"/{REPO}/{key}", **more, headers={"range": "bytes=1-2"}),
            stack.ask("HEAD", f"/{REPO}/{key}", **more),
        )
    ]
    assert found[0] == found[1] == found[2]
    return found[0]


def told(reply):
    return {name: value for name, value in reply.headers.items() if name in ENCRYPTION}


def in_parts(stack, key, headers):
    """Store an object of one part; return the answers to each request."""
    place = f"/{REPO}/{key}"
    first = stack.ask("POST", place, query={"uploads": ""}, headers=headers)
    upload = {"uploadId": first.text("UploadId")}
    part = stack.ask("PUT", place, b"part", query={**upload, "partNumber": "1"})
    copied = stack.ask(
        "PUT",
        place,
        query={**upload, "partNumber": "2"},
        headers={"x-amz-copy-source": f"{REPO}/main/source"},
    )
    etag = part.headers["etag"]
    document = (
        "<CompleteMultipartUpload><Part><PartNumber>1</PartNumber>"
        f"<ETag>{etag}</ETag></Part></CompleteMultipartUpload>"
    ).encode()
    return first, part, copied, stack.ask("POST", place, document, query=upload)


def test_an_object_keeps_the_headers_that_s3_keeps(stack):
    put(stack, headers=KEPT)
    assert kept(stack) == KEPT
    put(stack, "main/plain")
    assert kept(stack, "main/plain") == {}
    put(stack, "main/empty", b"", headers=KEPT)
    for method in ("GET", "HEAD"):
        assert KEPT.items() <= stack.ask(method, f"/{REPO}/main/empty").headers.items()


def test_equal_content_is_equal_whatever_its_headers(stack):
    put(stack, headers=KEPT)
    put(stack, "main/b")
    first, second = (found.entry for found in stack.listed_objects("main"))
    assert entry_identity(first) == entry_identity(second)


@for_each(
    ("sent", "stored"),
    [
        ("aws-chunked", None),
        ("aws-chunked,gzip", "gzip"),
        ("gzip, aws-chunked", "gzip"),
        ("AWS-Chunked, br, gzip", "br, gzip"),
    ],
)
def test_the_coding_of_the_request_is_not_the_objects(stack, sent, stored):
    stack.ask_chunked(f"/{REPO}/main/a", b"content" * 100, headers={"content-encoding": sent})
    assert stack.get("main/a") == b"content" * 100
    assert kept(stack).get("content-encoding") == stored


def test_an_upload_in_parts_keeps_the_headers_of_its_beginning(stack):
    put(stack, "main/source")
    in_parts(stack, "main/a", KEPT)
    assert kept(stack) == KEPT


def test_a_copy_keeps_the_headers_of_its_source_or_has_those_of_its_request(stack):
    put(stack, headers=KEPT)
    copy(stack, "main/a", "main/copied")
    assert kept(stack, "main/copied") == KEPT
    copy(stack, "main/a", "main/ignored", **OTHERS)  # S3 as well takes them with REPLACE only
    assert kept(stack, "main/ignored") == KEPT
    copy(stack, "main/a", "main/tagged", x_amz_tagging_directive="REPLACE", x_amz_tagging="a=b")
    assert kept(stack, "main/tagged") == KEPT
    copy(stack, "main/a", "main/replaced", x_amz_metadata_directive="REPLACE", **OTHERS)
    assert kept(stack, "main/replaced") == OTHERS
    copy(stack, "main/a", "main/none", x_amz_metadata_directive="REPLACE")
    assert kept(stack, "main/none") == {}


def test_an_object_described_anew_has_data_of_its_own_and_committed_ones_stay(stack):
    put(stack, headers=KEPT)
    commit = stack.commit()
    copy(stack, "main/a", "main/a", x_amz_metadata_directive="REPLACE", **OTHERS)
    assert kept(stack) == OTHERS
    assert kept(stack, f"{commit}/a") == KEPT


def test_a_reader_may_ask_for_other_headers(stack):
    put(stack, headers=KEPT)
    wanted = {"response-content-encoding": "identity", "response-expires": "0"}
    assert kept(stack, query=wanted) == {**KEPT, "content-encoding": "identity", "expires": "0"}


def test_head_asks_s3_once_for_data_that_never_change(stack, home):
    put(stack, headers=KEPT)
    address = stack.listed_objects("main")[0].physical_address
    asked = []
    head = stack.engine.objects.head

    def counted(uri, **more):
        asked.append(uri)
        return head(uri, **more)

    stack.engine.objects.head = counted
    for _ in range(3):
        assert KEPT.items() <= stack.ask("HEAD", f"/{REPO}/main/a").headers.items()
    assert asked == [address] if home == "engine" else set(asked) == {address}


def test_head_of_imported_data_shows_what_s3_keeps_now(stack):
    objects = stack.engine.objects
    objects.put("s3://others/a", b"old", "a/b")
    data = links.StoredData("s3://others/a", "0", 3)
    links.stage(stack.engine, REPO, "main", b"a", data, check_foreign=lambda _: None)
    assert stack.listed_objects("main")[0].entry.address_type is AddressType.FULL
    assert "expires" not in stack.ask("HEAD", f"/{REPO}/main/a").headers
    objects.put("s3://others/a", b"new", "a/b", headers=DataHeaders(KEPT))
    assert stack.ask("HEAD", f"/{REPO}/main/a").headers["expires"] == "never"


@for_each(
    "headers",
    [
        {"cache-control": "x" * 5000},
        {"x-amz-server-side-encryption": "aws:other"},
        {"x-amz-server-side-encryption-aws-kms-key-id": "key"},
    ],
    ids=list,
)
def test_headers_that_s3_cannot_keep_are_refused_and_nothing_is_stored(stack, headers):
    for method, key, query, more in (
        ("PUT", "a", {}, {}),
        ("POST", "a", {"uploads": ""}, {}),
        ("PUT", "b", {}, {"x-amz-copy-source": f"{REPO}/main/source"}),
    ):
        put(stack, "main/source")
        reply = stack.ask(
            method,
            f"/{REPO}/main/{key}",
            query=query,
            headers={**headers, **more, "x-amz-metadata-directive": "REPLACE"},
        )
        assert (reply.status, reply.code) == (400, "InvalidArgument"), reply
    assert stack.keys({"prefix": "main/"}) == ["main/source"]


def test_writers_and_readers_are_told_how_data_are_encrypted(stack):
    put(stack, "main/source", headers={"x-amz-server-side-encryption": "AES256"})
    assert told(put(stack, headers=ENCRYPTION)) == ENCRYPTION
    for reply in in_parts(stack, "main/parts", ENCRYPTION):
        assert reply.status == 200
        assert told(reply) == ENCRYPTION
    copied = copy(stack, "main/source", "main/copy", **ENCRYPTION)
    assert told(copied) == ENCRYPTION
    for key in ("a", "parts", "copy"):
        for method in ("GET", "HEAD"):
            assert told(stack.ask(method, f"/{REPO}/main/{key}")) == ENCRYPTION


def test_an_answer_with_a_document_has_no_header_of_the_object(stack):
    put(stack, "main/source", headers=KEPT)
    replies = [*in_parts(stack, "main/a", KEPT), copy(stack, "main/source", "main/b")]
    assert [KEPT.keys() & reply.headers.keys() for reply in replies] == [set()] * len(replies)


def test_an_object_can_be_encrypted_in_another_way_in_its_place(stack):
    put(stack, headers=KEPT)
    assert copy(stack, "main/a", "main/a").status == 400
    assert copy(stack, "main/a", "main/a", **ENCRYPTION).status == 200
    assert told(stack.ask("HEAD", f"/{REPO}/main/a")) == ENCRYPTION
    assert kept(stack) == KEPT


@for_each("start", ["x-amz-", "x-amz-copy-source-"])
@for_each("part", ["algorithm", "key", "key-md5"])
def test_encryption_with_the_clients_keys_is_refused(stack, start, part):
    header = {f"{start}server-side-encryption-customer-{part}": "AES256"}
    for method, query in (
        ("GET", {}),
        ("HEAD", {}),
        ("PUT", {}),
        ("POST", {"uploads": ""}),
        ("PUT", {"uploadId": "x", "partNumber": "1"}),
    ):
        reply = stack.ask(method, f"/{REPO}/main/a", query=query, headers=header)
        assert reply.status == 501
    assert stack.keys({"prefix": "main/"}) == []


def test_a_request_that_encrypts_nothing_cannot_choose_an_encryption(stack):
    upload = begun(stack, "main/a")
    for method, query in (
        ("GET", {}),
        ("PUT", {"uploadId": upload, "partNumber": "1"}),
        ("POST", {"uploadId": upload}),
    ):
        reply = stack.ask(method, f"/{REPO}/main/a", b"", query=query, headers=ENCRYPTION)
        assert (reply.status, reply.code) == (400, "InvalidArgument")


@for_each(
    ("status", "code", "told"),
    [
        (400, "KMS.NotFoundException", (400, "InvalidArgument")),
        (400, "InvalidArgument", (400, "InvalidArgument")),
        (403, "AccessDenied", (403, "AccessDenied")),
        (501, "NotImplemented", (501, "NotImplemented")),
        (400, "ExpiredToken", (500, "InternalError")),  # of the gateway's own signature
    ],
)
def test_a_header_that_s3_refuses_is_the_clients(stack, status, code, told):
    stack.s3.answers.append(refusal(status, code))
    reply = stack.ask("PUT", f"/{REPO}/main/a", b"content", headers=ENCRYPTION)
    assert (reply.status, reply.code) == told
    assert stack.keys({"prefix": "main/"}) == []
