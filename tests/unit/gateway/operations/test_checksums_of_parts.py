"""Sizes and checksums of objects in parts: declared, expected, checked, answered."""

import pytest

from graveler_gateway.protocol.bodies.algorithms import ALGORITHMS
from tests.support.checks.cases import for_each
from tests.support.fakes.part_checksums import checksum_of, composite_of
from tests.support.worlds.gateway_calls import begun
from tests.support.worlds.gateway_stack import GatewayStack

CONTENTS = (b"first " * 10, b"second")
WHOLE = b"".join(CONTENTS)
CRC32 = ALGORITHMS["x-amz-checksum-crc32"]
SHA256 = ALGORITHMS["x-amz-checksum-sha256"]


@pytest.fixture
def stack():
    return GatewayStack()


def send(stack, upload_id, number, content, headers=None):
    query = {"uploadId": upload_id, "partNumber": str(number)}
    return stack.ask("PUT", "/repo/main/up", content, query=query, headers=headers or {})


def complete(stack, upload_id, rows, headers=None):
    body = "".join(
        f"<Part><PartNumber>{number}</PartNumber>{elements}</Part>"
        for number, elements in enumerate(rows, 1)
    )
    document = f"<CompleteMultipartUpload>{body}</CompleteMultipartUpload>".encode()
    query = {"uploadId": upload_id}
    return stack.ask("POST", "/repo/main/up", document, query=query, headers=headers or {})


def sent(stack):
    """An upload with two parts, and their elements in a completion."""
    upload_id = begun(stack, "main/up")
    replies = [send(stack, upload_id, number, each) for number, each in enumerate(CONTENTS, 1)]
    return upload_id, [f"<ETag>{reply.headers['etag']}</ETag>" for reply in replies]


@for_each(
    ("headers", "code"),
    [
        ({"x-amz-mp-object-size": "99"}, "InvalidRequest"),
        ({"x-amz-mp-object-size": "-1"}, "InvalidRequest"),
        ({"x-amz-checksum-crc32": "AAAAA"}, "InvalidRequest"),
        ({"x-amz-checksum-crc32": "AAAAAA==-0"}, "InvalidRequest"),
        ({"x-amz-checksum-crc32": "AAAAAA==", "x-amz-checksum-sha1": "x"}, "InvalidRequest"),
        ({"x-amz-checksum-type": "PARTIAL"}, "InvalidRequest"),
    ],
)
def test_an_expectation_that_does_not_hold_is_refused_and_may_be_corrected(headers, code):
    stack = GatewayStack()
    upload_id, rows = sent(stack)
    reply = complete(stack, upload_id, rows, headers)
    assert (reply.status, reply.code) == (400, code)
    assert stack.ask("GET", "/repo/main/up").code == "NoSuchKey"
    right = {"x-amz-mp-object-size": str(len(WHOLE))}
    assert complete(stack, upload_id, rows, right).status == 200
    assert stack.get("main/up") == WHOLE


@for_each(
    ("headers", "message"),
    [
        ({"x-amz-checksum-algorithm": "CRC31"}, "unsupported"),
        ({"x-amz-checksum-type": "COMPOSITE"}, "can only be used with"),
        ({"x-amz-checksum-algorithm": "CRC32", "x-amz-checksum-type": "PARTIAL"}, "is invalid"),
        (
            {"x-amz-checksum-algorithm": "SHA256", "x-amz-checksum-type": "FULL_OBJECT"},
            "cannot be used with the sha256",
        ),
        (
            {"x-amz-checksum-algorithm": "CRC64NVME", "x-amz-checksum-type": "COMPOSITE"},
            "cannot be used with the crc64nvme",
        ),
    ],
)
def test_a_declaration_that_s3_does_not_know_is_refused(headers, message):
    reply = GatewayStack().ask("POST", "/repo/main/up", query={"uploads": ""}, headers=headers)
    assert (reply.status, reply.code) == (400, "InvalidRequest")
    assert message in reply.text("Message")


def declared(stack, algorithm, kind=""):
    """An upload of a declared checksum with two parts, and their elements in a completion."""
    headers = {"x-amz-checksum-algorithm": algorithm.name, "x-amz-checksum-type": kind}
    reply = stack.ask("POST", "/repo/main/up", query={"uploads": ""}, headers=headers)
    assert reply.headers["x-amz-checksum-algorithm"] == algorithm.name
    upload_id, rows = reply.text("UploadId"), []
    for number, content in enumerate(CONTENTS, 1):
        checksum = checksum_of(algorithm, content)
        part = send(stack, upload_id, number, content, {algorithm.header: checksum})
        assert part.headers[algorithm.header] == checksum
        element = f"Checksum{algorithm.name}"
        rows.append(f"<ETag>{part.headers['etag']}</ETag><{element}>{checksum}</{element}>")
    return upload_id, rows


@for_each(
    ("algorithm", "kind"),
    [
        ("crc32", "FULL_OBJECT"),
        ("crc32", "COMPOSITE"),
        ("crc32c", "FULL_OBJECT"),
        ("crc64nvme", "FULL_OBJECT"),
        ("sha1", "COMPOSITE"),
        ("sha256", "COMPOSITE"),
    ],
)
def test_s3_combines_the_checksums_of_parts(algorithm, kind):
    stack, algorithm = GatewayStack(), ALGORITHMS[f"x-amz-checksum-{algorithm}"]
    upload_id, rows = declared(stack, algorithm, kind)
    element = f"Checksum{algorithm.name}"
    listed = stack.ask("GET", "/repo/main/up", query={"uploadId": upload_id})
    assert listed.texts(f"Part/{element}") == [checksum_of(algorithm, each) for each in CONTENTS]
    full, composite = checksum_of(algorithm, WHOLE), composite_of(algorithm, CONTENTS)
    right = full if kind == "FULL_OBJECT" else composite
    expected = {algorithm.header: right, "x-amz-checksum-type": kind}
    reply = complete(stack, upload_id, rows, expected)
    assert (reply.text(element), reply.text("ChecksumType")) == (right, kind)
    assert complete(stack, upload_id, rows, expected).content == reply.content
    head = stack.ask("HEAD", "/repo/main/up", headers={"x-amz-checksum-mode": "ENABLED"}).headers
    assert (head[algorithm.header], head["x-amz-checksum-type"]) == (right, kind)
    wanted = {"x-amz-object-attributes": "Checksum,ObjectParts"}
    reply = stack.ask("GET", "/repo/main/up", query={"attributes": ""}, headers=wanted)
    assert reply.text(f"Checksum/{element}") == right.removesuffix("-2")
    assert reply.text("ObjectParts/PartsCount") == "2"


@for_each(
    ("headers", "change", "code"),
    [
        ({"x-amz-checksum-crc32": "AAAAAA=="}, str, "BadDigest"),
        ({"x-amz-checksum-crc32": "AAAAAA==-2"}, str, "BadDigest"),
        ({}, lambda rows: rows.replace("<ChecksumCRC32>", "<ChecksumCRC32>AAAA"), "InvalidPart"),
        ({}, lambda rows: rows.replace("ChecksumCRC32", "Other"), "InvalidRequest"),
    ],
)
def test_a_wrong_checksum_of_parts_is_refused_and_may_be_corrected(headers, change, code):
    stack = GatewayStack()
    upload_id, rows = declared(stack, CRC32)
    assert complete(stack, upload_id, [change(row) for row in rows], headers).code == code
    assert stack.ask("GET", "/repo/main/up").code == "NoSuchKey"
    assert complete(stack, upload_id, rows).status == 200


def test_another_checksum_than_the_declared_one_is_refused(stack):
    upload_id, _ = declared(stack, CRC32)
    reply = send(stack, upload_id, 3, b"x", {SHA256.header: checksum_of(SHA256, b"x")})
    assert (reply.status, reply.code) == (400, "InvalidRequest")


def test_checksums_of_parts_need_no_declaration(stack):
    """Clients that declare none are taken as ever, though S3 would refuse them."""
    upload_id = begun(stack, "main/up")
    checksum = checksum_of(CRC32, WHOLE)
    part = send(stack, upload_id, 1, WHOLE, {CRC32.header: checksum})
    assert part.headers[CRC32.header] == checksum
    row = f"<ETag>{part.headers['etag']}</ETag><ChecksumCRC32>{checksum}</ChecksumCRC32>"
    assert complete(stack, upload_id, [row]).status == 200


def test_a_copied_part_tells_its_checksum(stack):
    stack.put("main/source", b"content")
    upload_id, rows = declared(stack, CRC32)
    query = {"uploadId": upload_id, "partNumber": "3"}
    headers = {"x-amz-copy-source": "repo/main/source", "x-amz-copy-source-range": "bytes=1-3"}
    copied = stack.ask("PUT", "/repo/main/up", query=query, headers=headers)
    checksum = checksum_of(CRC32, b"ont")
    assert copied.text("ChecksumCRC32") == checksum
    row = f"<ETag>{copied.text('ETag')}</ETag><ChecksumCRC32>{checksum}</ChecksumCRC32>"
    reply = complete(stack, upload_id, [*rows, row])
    assert reply.text("ChecksumCRC32") == composite_of(CRC32, [*CONTENTS, b"ont"])
