from base64 import b64encode

import pytest

from graveler_gateway.protocol.bodies.payload import UNSIGNED, Payload, PayloadKind, parse_payload
from graveler_gateway.protocol.bodies.plan import body_plan
from graveler_gateway.protocol.errors import Code, S3ResponseError
from graveler_gateway.protocol.signatures.verified import ChunkSeed, VerifiedSignature
from tests.support.checks.cases import for_each
from tests.support.clients.signed_heads import head

UNSIGNED_CHUNKS = Payload(PayloadKind.UNSIGNED_CHUNKS_AND_TRAILER)


def plan(payload=UNSIGNED, method="PUT", seed=None, has_checksum_of_body=True, **headers):
    return body_plan(
        head(method, "/repo/main/key", **headers),
        VerifiedSignature("key", payload, seed),
        has_checksum_of_body=has_checksum_of_body,
    )


def refusal(*args, **kwargs):
    with pytest.raises(S3ResponseError) as caught:
        plan(*args, **kwargs)
    return caught.value.code, caught.value.message


@for_each(
    ("text", "code"),
    [
        ("STREAMING-AWS4-ECDSA-P256-SHA256-PAYLOAD", Code.NOT_IMPLEMENTED),
        ("STREAMING-AWS4-ECDSA-P256-SHA256-PAYLOAD-TRAILER", Code.NOT_IMPLEMENTED),
        ("unsigned-payload", Code.INVALID_ARGUMENT),
        ("a SHA-256", Code.INVALID_ARGUMENT),
        ("", Code.INVALID_ARGUMENT),
        ("0" * 63, Code.INVALID_ARGUMENT),
        ("g" * 64, Code.INVALID_ARGUMENT),
    ],
)
def test_an_unknown_payload_is_refused(text, code):
    with pytest.raises(S3ResponseError) as caught:
        parse_payload(text)
    assert caught.value.code is code


def test_a_hash_is_compared_in_lower_case():
    assert parse_payload("AB" * 32) == Payload(PayloadKind.HASHED, "ab" * 32)


def test_the_length_is_that_of_the_content():
    assert plan(content_length="5").decoded_length_bytes == 5
    headers = {"content_length": "99", "x_amz_decoded_content_length": "5"}
    assert plan(UNSIGNED_CHUNKS, **headers).decoded_length_bytes == 5


def test_a_body_in_http_chunks_has_no_length():
    assert plan(transfer_encoding="chunked").decoded_length_bytes is None


def test_a_request_without_a_body_has_an_empty_one():
    assert plan(method="GET").decoded_length_bytes == 0


def test_a_put_must_have_a_length():
    assert refusal()[0] is Code.MISSING_CONTENT_LENGTH
    assert refusal(UNSIGNED_CHUNKS, content_length="5")[0] is Code.MISSING_CONTENT_LENGTH


def test_a_copy_needs_no_length():
    assert plan(method="PUT", x_amz_copy_source="/bucket/key").decoded_length_bytes == 0


@for_each("text", ["", "-1", "1.0", "0x1", "1,1", "\u00b2", "9" * 20])
def test_a_length_is_a_number(text):
    assert refusal(content_length=text)[0] is Code.INVALID_ARGUMENT
    decoded = refusal(UNSIGNED_CHUNKS, x_amz_decoded_content_length=text)
    assert decoded[0] is Code.INVALID_ARGUMENT


def test_signed_chunks_need_a_signature_to_begin_with():
    signed = Payload(PayloadKind.SIGNED_CHUNKS)
    headers = {"x_amz_decoded_content_length": "5"}
    assert refusal(signed, **headers)[0] is Code.INVALID_REQUEST
    seed = ChunkSeed(b"key", "time", "scope", "signature")
    assert plan(signed, seed=seed, **headers).seed is seed


def test_an_md5_is_sixteen_bytes_of_base64():
    value = "1B2M2Y8AsgTpgAmY7PhCfg=="
    assert plan(content_length="0", content_md5=value).content_md5.hex() == (
        "d41d8cd98f00b204e9800998ecf8427e"
    )
    for invalid in ("", "abc", value[:-2], value + "AA==", "1B2M2Y8AsgTpgAmY7PhCfh==", "é" * 24):
        assert refusal(content_length="0", content_md5=invalid)[0] is Code.INVALID_DIGEST


@for_each(
    ("name", "length_bytes"),
    [
        ("crc32", 4),
        ("crc32c", 4),
        ("crc64nvme", 8),
        ("sha1", 20),
        ("sha256", 32),
        ("sha512", 64),
        ("md5", 16),
    ],
)
def test_a_checksum_is_read_from_its_header(name, length_bytes):
    header = f"x-amz-checksum-{name}"
    value = bytes(range(length_bytes))
    given = {header: b64encode(value).decode()}
    expected = plan(content_length="0", **given).checksum
    assert (expected.algorithm.header, expected.value) == (header, value)
    wrong = {header: b64encode(value + b"0").decode()}
    assert refusal(content_length="0", **wrong) == (
        Code.INVALID_REQUEST,
        f"Value for {header} header is invalid.",
    )
    assert plan(content_length="0", has_checksum_of_body=False, **wrong).checksum is None


def test_the_trailer_names_the_checksum():
    expected = plan(
        UNSIGNED_CHUNKS,
        x_amz_decoded_content_length="0",
        x_amz_trailer="X-Amz-Checksum-CRC64NVME",
        x_amz_sdk_checksum_algorithm="CRC64NVME",
    ).checksum
    assert (expected.algorithm.name, expected.value) == ("CRC64NVME", None)


@for_each(
    ("payload", "headers"),
    [
        (UNSIGNED, {"x_amz_checksum_crc32": "AAAAAA==", "x_amz_checksum_crc32c": "AAAAAA=="}),
        (
            UNSIGNED_CHUNKS,
            {"x_amz_checksum_crc32": "AAAAAA==", "x_amz_trailer": "x-amz-checksum-crc32"},
        ),
        (UNSIGNED_CHUNKS, {"x_amz_trailer": "x-amz-checksum-crc32,x-amz-checksum-crc32c"}),
        (UNSIGNED_CHUNKS, {"x_amz_trailer": "x-amz-meta-a"}),
        (UNSIGNED, {"x_amz_trailer": "x-amz-checksum-crc32"}),
    ],
)
def test_two_checksums_or_an_unknown_trailer_are_refused(payload, headers):
    lengths = {"content_length": "9", "x_amz_decoded_content_length": "0"}
    assert refusal(payload, **lengths, **headers)[0] is Code.INVALID_REQUEST
