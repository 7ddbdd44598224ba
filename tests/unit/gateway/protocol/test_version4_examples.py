"""The examples of AWS's documentation verify.

https://docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-header-based-auth.html
https://docs.aws.amazon.com/AmazonS3/latest/API/sigv4-query-string-auth.html
https://docs.aws.amazon.com/AmazonS3/latest/API/sigv4-streaming.html
https://docs.aws.amazon.com/AmazonS3/latest/API/sigv4-streaming-trailers.html
"""

from dataclasses import replace

import pytest

from graveler_gateway.protocol.bodies.decoder import Decoder
from graveler_gateway.protocol.bodies.payload import PayloadKind
from graveler_gateway.protocol.bodies.plan import body_plan
from graveler_gateway.protocol.errors import Code, S3ResponseError
from graveler_gateway.protocol.signatures.presented import parse
from graveler_gateway.protocol.signatures.verified import SignatureKind
from tests.support.clients.signed_heads import (
    ACCESS_KEY_ID,
    EXAMPLE_TIME,
    EXAMPLE_TIME_S,
    SECRET,
    example_head,
    head,
    version4_header,
)

SCOPE = "20130524/us-east-1/s3/aws4_request"
GET = example_head(
    "/test.txt",
    "host;range;x-amz-content-sha256;x-amz-date",
    "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41",
    range="bytes=0-9",
)
PUT = head(
    "PUT",
    "/test%24file.text",
    date="Fri, 24 May 2013 00:00:00 GMT",
    authorization=version4_header(
        SCOPE,
        "date;host;x-amz-content-sha256;x-amz-date;x-amz-storage-class",
        "98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd",
    ),
    x_amz_date=EXAMPLE_TIME,
    x_amz_storage_class="REDUCED_REDUNDANCY",
    x_amz_content_sha256="44ce7dd67c959e0d3524ffac1771dfbba87d2b6b4b4e99e42034a8b803f8b072",
)
LIFECYCLE = example_head(
    "/?lifecycle",
    "host;x-amz-content-sha256;x-amz-date",
    "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543",
)
LIST = example_head(
    "/?max-keys=2&prefix=J",
    "host;x-amz-content-sha256;x-amz-date",
    "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7",
)
PRESIGNED = head(
    "GET",
    "/test.txt?X-Amz-Algorithm=AWS4-HMAC-SHA256"
    "&X-Amz-Credential=AKIAIOSFODNN7EXAMPLE%2F20130524%2Fus-east-1%2Fs3%2Faws4_request"
    "&X-Amz-Date=20130524T000000Z&X-Amz-Expires=86400&X-Amz-SignedHeaders=host"
    "&X-Amz-Signature=aeeed9bbccd4d02ee5c0109b86d86835f995330da4c265957d157751f604d404",
)
CHUNKED = head(
    "PUT",
    "/examplebucket/chunkObject.txt",
    host="s3.amazonaws.com",
    x_amz_date=EXAMPLE_TIME,
    x_amz_storage_class="REDUCED_REDUNDANCY",
    x_amz_content_sha256="STREAMING-AWS4-HMAC-SHA256-PAYLOAD",
    x_amz_decoded_content_length="66560",
    content_encoding="aws-chunked",
    content_length="66824",
    authorization=version4_header(
        SCOPE,
        "content-encoding;content-length;host;x-amz-content-sha256;x-amz-date;"
        "x-amz-decoded-content-length;x-amz-storage-class",
        "4f232c4386841ef735655705268965c44a0e4690baa4adea153f7db9fa80a0a9",
    ),
)
CHUNKS = (
    b"10000;chunk-signature=ad80c730a21e5b8d04586a2213dd63b9a0e99e0e2307b0ade35a65485a288648\r\n"
    + b"a" * 65536
    + b"\r\n400;chunk-signature="
    b"0055627c9e194cb4542bae2aa5492e3c1575bbb81b612b7d234b86a503ef5497\r\n"
    + b"a"
    * 1024
    + b"\r\n0;chunk-signature="
    b"b6c6ea8a5354eaf15b3cb7646744f4275b71ea724fed81ceb9323e279d449df9\r\n\r\n"
)
TRAILED = head(
    "PUT",
    "/examplebucket/chunkObject.txt",
    host="s3.amazonaws.com",
    x_amz_date=EXAMPLE_TIME,
    x_amz_storage_class="REDUCED_REDUNDANCY",
    x_amz_content_sha256="STREAMING-AWS4-HMAC-SHA256-PAYLOAD-TRAILER",
    x_amz_decoded_content_length="66560",
    x_amz_trailer="x-amz-checksum-crc32c",
    content_encoding="aws-chunked",
    authorization=version4_header(
        SCOPE,
        "content-encoding;host;x-amz-content-sha256;x-amz-date;x-amz-decoded-content-length;"
        "x-amz-storage-class;x-amz-trailer",
        "106e2a8a18243abcf37539882f36619c00e2dfc72633413f02d3b74544bfeb8e",
    ),
)
TRAILED_CHUNKS = (
    b"10000;chunk-signature=b474d8862b1487a5145d686f57f013e54db672cee1c953b3010fb58501ef5aa2\r\n"
    + b"a" * 65536
    + b"\r\n400;chunk-signature="
    b"1c1344b170168f8e65b41376b44b20fe354e373826ccbbe2c1d40a8cae51e5c7\r\n"
    + b"a"
    * 1024
    + b"\r\n0;chunk-signature="
    b"2ca2aba2005185cf7159c6277faf83795951dd77a3a99e6e65d5c9f85863f992\r\n"
    b"x-amz-checksum-crc32c:sOO8/Q==\n"
    b"x-amz-trailer-signature:d81f82fc3505edab99d459891051a732e8730629a2e4a59689829ca17fe2e435\r\n"
    b"\r\n"
)
BODIES = [pytest.param(CHUNKED, CHUNKS, None, id="chunks")]
BODIES += [
    pytest.param(TRAILED, TRAILED_CHUNKS, ("x-amz-checksum-crc32c", "sOO8/Q=="), id="trailer")
]


@pytest.mark.parametrize(
    ("request_head", "kind"),
    [
        pytest.param(GET, SignatureKind.VERSION_4_HEADER, id="get"),
        pytest.param(PUT, SignatureKind.VERSION_4_HEADER, id="put"),
        pytest.param(LIFECYCLE, SignatureKind.VERSION_4_HEADER, id="lifecycle"),
        pytest.param(LIST, SignatureKind.VERSION_4_HEADER, id="list"),
        pytest.param(PRESIGNED, SignatureKind.VERSION_4_QUERY, id="presigned"),
    ],
)
def test_a_published_signature_verifies(request_head, kind):
    presented = parse(request_head)
    assert (presented.access_key_id, presented.kind) == (ACCESS_KEY_ID, kind)
    assert presented.verify(request_head, SECRET, EXAMPLE_TIME_S).access_key_id == ACCESS_KEY_ID


@pytest.mark.parametrize("request_head", [GET, PUT, LIFECYCLE, LIST, PRESIGNED])
def test_another_secret_does_not_verify(request_head):
    with pytest.raises(S3ResponseError) as caught:
        parse(request_head).verify(request_head, SECRET[::-1], EXAMPLE_TIME_S)
    assert caught.value.code is Code.SIGNATURE_DOES_NOT_MATCH


def test_what_is_hashed_is_said_of_the_body():
    verified = parse(PUT).verify(PUT, SECRET, EXAMPLE_TIME_S)
    assert verified.payload.kind is PayloadKind.HASHED
    assert verified.payload.sha256 == PUT.header("x-amz-content-sha256")
    assert parse(PRESIGNED).verify(PRESIGNED, SECRET, EXAMPLE_TIME_S).payload.kind is (
        PayloadKind.UNSIGNED
    )


def decoder(request_head):
    verified = parse(request_head).verify(request_head, SECRET, EXAMPLE_TIME_S)
    return Decoder(body_plan(request_head, verified), check_sha256=True, check_md5=True)


@pytest.mark.parametrize(("request_head", "body", "checksum"), BODIES)
@pytest.mark.parametrize("piece_bytes", [1, 7, 1024, 65_623, 1 << 20])
def test_published_chunks_verify_however_they_are_cut(request_head, body, checksum, piece_bytes):
    chunks = decoder(request_head)
    pieces = (body[at : at + piece_bytes] for at in range(0, len(body), piece_bytes))
    assert b"".join(map(chunks.feed, pieces)) == b"a" * 66560
    done = chunks.finish()
    assert (done.size_bytes, done.checksum) == (66560, checksum)


@pytest.mark.parametrize(("request_head", "body", "checksum"), BODIES)
@pytest.mark.parametrize("changed_at", [100, 65_800, 66_000, -200, -90, -60, -30, -5])
def test_a_changed_byte_of_published_chunks_is_refused(request_head, body, checksum, changed_at):
    changed = bytearray(body)
    changed[changed_at] ^= 1
    chunks = decoder(request_head)
    with pytest.raises(S3ResponseError):  # noqa: PT012 - either call may find it
        chunks.feed(bytes(changed))
        chunks.finish()


def test_chunks_cannot_change_places():
    second_at, last_at = CHUNKS.index(b"400;"), CHUNKS.rindex(b"0;chunk")
    first, second = CHUNKS[:second_at], CHUNKS[second_at:last_at]
    with pytest.raises(S3ResponseError) as caught:
        decoder(CHUNKED).feed(second + first)
    assert caught.value.code is Code.SIGNATURE_DOES_NOT_MATCH


@pytest.mark.parametrize("request_head", [GET, PUT, LIFECYCLE, LIST, PRESIGNED, CHUNKED, TRAILED])
def test_a_changed_method_path_query_or_host_is_refused(request_head):
    presented = parse(request_head)
    without_host = [pair for pair in request_head.headers if pair[0] != "host"]
    for changed in (
        replace(request_head, method="DELETE"),
        replace(request_head, raw_path=request_head.raw_path + "/"),
        replace(request_head, raw_query=request_head.raw_query + "&acl"),
        replace(request_head, headers=[("host", "other.example"), *without_host]),
    ):
        with pytest.raises(S3ResponseError) as caught:
            presented.verify(changed, SECRET, EXAMPLE_TIME_S)
        assert caught.value.code is Code.SIGNATURE_DOES_NOT_MATCH
