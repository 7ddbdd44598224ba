"""Checksums of objects: S3 checks them, keeps them, and tells readers who ask."""

import hashlib

import pytest

from graveler_gateway.protocol.bodies.algorithms import ALGORITHMS
from tests.support.checks.cases import for_each
from tests.support.fakes.part_checksums import checksum_of
from tests.support.worlds.gateway_stack import UNSIGNED_CHUNKS, GatewayStack

CRC32 = ALGORITHMS["x-amz-checksum-crc32"]
ASKED = {"x-amz-checksum-mode": "ENABLED"}
SMALL, LARGE = b"content", b"content " * 40_000


@pytest.fixture
def stack():
    return GatewayStack()


def put_with_trailer(stack, content, algorithm, checksum, **headers):
    chunk = b"%x\r\n%b\r\n" % (len(content), content) if content else b""
    trailer = f"{algorithm.header}:{checksum}\r\n\r\n".encode()
    named = {
        "content-encoding": "aws-chunked",
        "x-amz-decoded-content-length": str(len(content)),
        "x-amz-trailer": algorithm.header,
        **{name.replace("_", "-"): value for name, value in headers.items()},
    }
    return stack.ask(
        "PUT",
        "/repo/main/a",
        chunk + b"0\r\n" + trailer,
        headers=named,
        content_sha256=UNSIGNED_CHUNKS,
    )


def asked(stack, method="GET", key="main/a", headers=ASKED):
    reply = stack.ask(method, f"/repo/{key}", headers=headers)
    assert reply.status in {200, 206}, reply
    return reply.headers


@for_each("content", [b"", SMALL, LARGE], ids=len)
@for_each("is_trailer", [False, True])
@for_each("algorithm", ALGORITHMS.values(), ids=lambda each: each.name)
def test_a_checksum_stays_with_the_object(content, is_trailer, algorithm):
    stack, checksum = GatewayStack(), checksum_of(algorithm, content)
    if is_trailer:
        reply = put_with_trailer(stack, content, algorithm, checksum)
    else:
        headers = {algorithm.header: checksum}
        reply = stack.ask("PUT", "/repo/main/a", content, headers=headers)
    assert (reply.status, reply.headers[algorithm.header]) == (200, checksum)
    assert reply.headers["x-amz-checksum-type"] == "FULL_OBJECT"
    assert stack.get("main/a") == content
    for method in ("GET", "HEAD"):
        told = asked(stack, method)
        assert (told[algorithm.header], told["x-amz-checksum-type"]) == (checksum, "FULL_OBJECT")


def test_only_readers_of_the_whole_object_who_ask_are_told(stack):
    stack.put("main/a", SMALL, x_amz_checksum_crc32=checksum_of(CRC32, SMALL))
    for headers in ({}, {"x-amz-checksum-mode": "off"}, {**ASKED, "range": "bytes=0-1"}):
        for method in ("GET", "HEAD"):
            assert CRC32.header not in asked(stack, method, headers=headers)


def test_a_coding_stays_beside_a_checksum_that_comes_behind(stack):
    checksum = checksum_of(CRC32, LARGE)
    put_with_trailer(stack, LARGE, CRC32, checksum, content_encoding="aws-chunked,gzip")
    told = asked(stack)
    assert (told["content-encoding"], told[CRC32.header]) == ("gzip", checksum)


@for_each("content", [SMALL, LARGE], ids=len)
def test_a_wrong_checksum_behind_the_content_stores_nothing(content):
    stack = GatewayStack()
    reply = put_with_trailer(stack, content, CRC32, "AAAAAA==")
    assert (reply.status, reply.code) == (400, "BadDigest")
    assert not [uri for uri in stack.world.objects.contents() if "/data/" in uri]


def test_an_md5_of_the_content_is_checked_beside_a_checksum_behind_it(stack):
    md5 = "1B2M2Y8AsgTpgAmY7PhCfg=="  # of nothing
    reply = put_with_trailer(stack, LARGE, CRC32, checksum_of(CRC32, LARGE), content_md5=md5)
    assert reply.code == "BadDigest"


def test_a_copy_has_the_checksum_of_its_source_or_a_declared_one(stack):
    stack.put("main/a", SMALL, x_amz_checksum_crc32=checksum_of(CRC32, SMALL))
    source = {"x-amz-copy-source": "repo/main/a"}
    reply = stack.ask("PUT", "/repo/main/b", headers=source)
    assert reply.text("ChecksumCRC32") == asked(stack, key="main/b")[CRC32.header]
    assert CRC32.header not in reply.headers
    declared = {**source, "x-amz-checksum-algorithm": "SHA256"}
    reply = stack.ask("PUT", "/repo/main/b", headers=declared)
    sha256 = checksum_of(ALGORITHMS["x-amz-checksum-sha256"], SMALL)
    assert (reply.status, reply.text("ChecksumSHA256")) == (200, sha256)
    assert asked(stack, key="main/b")["x-amz-checksum-sha256"] == sha256


def test_attributes_have_the_checksum(stack):
    stack.put("main/a", SMALL, x_amz_checksum_crc32=checksum_of(CRC32, SMALL))
    wanted = {"x-amz-object-attributes": "ETag,Checksum,ObjectParts"}
    reply = stack.ask("GET", "/repo/main/a", query={"attributes": ""}, headers=wanted)
    assert reply.text("Checksum/ChecksumCRC32") == checksum_of(CRC32, SMALL)
    assert reply.text("ETag") == hashlib.md5(SMALL).hexdigest()
    assert not reply.texts("ObjectParts")
