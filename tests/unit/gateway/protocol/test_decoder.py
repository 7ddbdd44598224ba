import hashlib
import tracemalloc
from base64 import b64encode

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graveler_gateway.protocol.bodies.algorithms import ALGORITHMS
from graveler_gateway.protocol.bodies.chunk_signatures import ChunkSignatures
from graveler_gateway.protocol.bodies.decoder import Decoder
from graveler_gateway.protocol.bodies.payload import Payload, PayloadKind
from graveler_gateway.protocol.bodies.plan import BodyPlan, ExpectedChecksum
from graveler_gateway.protocol.errors import Code, S3ResponseError
from graveler_gateway.protocol.signatures import keys
from graveler_gateway.protocol.signatures.verified import ChunkSeed
from tests.support.checks.cases import for_each

SEED = ChunkSeed(b"k" * 32, "20130524T000000Z", "20130524/r/s3/aws4_request", "0" * 64)
KINDS = [kind for kind in PayloadKind if Payload(kind).has_chunks]
CRC32 = ALGORITHMS["x-amz-checksum-crc32"]


class Client:
    """Frames contents as clients do, written from AWS's description."""

    def __init__(self, kind, seed=SEED):
        self.payload = Payload(kind)
        self.seed = seed
        self.previous = seed.signature

    def chunk(self, content):
        line = f"{len(content):x}"
        if self.payload.has_signed_chunks:
            covered = f"{keys.sha256_hex(b'')}\n{keys.sha256_hex(content)}"
            line += f";chunk-signature={self.sign('AWS4-HMAC-SHA256-PAYLOAD', covered)}"
        return f"{line}\r\n".encode() + content + (b"\r\n" if content else b"")

    def trailer(self, checksum, end="\r\n"):
        lines = f"{checksum.algorithm.header}:{computed(checksum.algorithm, self.content)}"
        text = lines + end
        if self.payload.has_signed_chunks:
            hashed = keys.sha256_hex(f"{lines}\n".encode())
            signature = self.sign("AWS4-HMAC-SHA256-TRAILER", hashed)
            text += f"x-amz-trailer-signature:{signature}{end}"
        return text.encode()

    def sign(self, algorithm, covered):
        text = "\n".join((algorithm, self.seed.timestamp, self.seed.scope, self.previous, covered))
        self.previous = keys.signature(self.seed.signing_key, text)
        return self.previous

    def body(self, chunks, checksum=None, end="\r\n"):
        self.content = b"".join(chunks)
        framed = b"".join(self.chunk(chunk) for chunk in [*filter(None, chunks), b""])
        return framed + (self.trailer(checksum, end) if checksum else b"") + b"\r\n"


def computed(algorithm, content):
    accumulator = algorithm.start()
    accumulator.update(content)
    return b64encode(accumulator.digest()).decode()


def plan(kind, length_bytes, checksum=None):
    payload = Payload(kind)
    seed = SEED if payload.has_signed_chunks else None
    return BodyPlan(payload, length_bytes, checksum=checksum, seed=seed)


def decode(body_plan, *pieces, **checks):
    decoder = Decoder(body_plan, check_sha256=True, check_md5=True)
    content = b"".join([decoder.feed(piece) for piece in pieces])
    return content, decoder.finish()


def refusal(body_plan, *pieces):
    with pytest.raises(S3ResponseError) as caught:
        decode(body_plan, *pieces)
    return caught.value.code


def cuts(data, body):
    places = data.draw(st.lists(st.integers(0, len(body)), max_size=8).map(sorted))
    return [body[a:b] for a, b in zip([0, *places], [*places, len(body)], strict=True)]


TRAILERS = st.sampled_from(list(ALGORITHMS.values())).map(lambda a: ExpectedChecksum(a, None))
CHUNKS = st.lists(st.binary(max_size=40), max_size=4)


@given(
    st.data(), st.sampled_from(KINDS), CHUNKS, TRAILERS | st.none(), st.sampled_from(["\n", "\r\n"])
)
def test_content_is_the_same_however_the_body_is_cut(data, kind, chunks, checksum, end):
    checksum = checksum if Payload(kind).has_trailer else None
    body = Client(kind).body(chunks, checksum, end)
    content, done = decode(plan(kind, len(b"".join(chunks)), checksum), *cuts(data, body))
    assert content == b"".join(chunks)
    assert done.size_bytes == len(content)
    if checksum:
        header = checksum.algorithm.header
        assert done.checksum == (header, computed(checksum.algorithm, content))


@given(st.data(), st.sampled_from(KINDS), CHUNKS)
def test_a_body_that_is_cut_off_is_refused(data, kind, chunks):
    checksum = ExpectedChecksum(CRC32, None) if Payload(kind).has_trailer else None
    body = Client(kind).body(chunks, checksum)
    kept = data.draw(st.integers(0, len(body) - 1))
    expected = plan(kind, len(b"".join(chunks)), checksum)
    assert refusal(expected, *cuts(data, body[:kept])) in {
        Code.INCOMPLETE_BODY,
        Code.INVALID_REQUEST,
    }


@given(st.data(), st.sampled_from(KINDS), st.lists(st.binary(min_size=1, max_size=9), min_size=1))
def test_an_altered_body_never_yields_other_content(data, kind, chunks):
    checksum = ExpectedChecksum(CRC32, None) if Payload(kind).has_trailer else None
    body = bytearray(Client(kind).body(chunks, checksum))
    at = data.draw(st.integers(0, len(body) - 1))
    body[at] ^= data.draw(st.integers(1, 255))
    try:
        content, _ = decode(plan(kind, len(b"".join(chunks)), checksum), bytes(body))
    except S3ResponseError:
        return
    assert content == b"".join(chunks)  # the case of a hex digit, for example


@given(
    st.sampled_from(KINDS), st.lists(st.binary() | st.sampled_from([b"0\r\n", b"5\r\n", b"\r\n"]))
)
def test_random_bytes_raise_nothing_but_errors_of_s3(kind, pieces):
    try:
        content, _ = decode(plan(kind, 5), *pieces)
    except S3ResponseError:
        return
    assert len(content) == 5


@for_each("kind", KINDS)
def test_content_that_is_longer_or_shorter_than_promised_is_refused(kind):
    body = Client(kind).body([b"abc", b"defg"])
    assert decode(plan(kind, 7), body)[0] == b"abcdefg"
    assert refusal(plan(kind, 6), body) is Code.INCOMPLETE_BODY
    assert refusal(plan(kind, 8), body) is Code.INCOMPLETE_BODY


@for_each("length_bytes", [4, 6])
def test_a_plain_body_has_the_promised_length(length_bytes):
    assert refusal(plan(PayloadKind.UNSIGNED, length_bytes), b"ab", b"cde") is Code.INCOMPLETE_BODY


def test_a_plain_body_without_length_ends_where_it_ends():
    content, done = decode(plan(PayloadKind.UNSIGNED, None), b"ab", b"", b"cde")
    assert (content, done.size_bytes, done.checksum) == (b"abcde", 5, None)


def test_a_chunk_that_is_larger_than_the_content_is_refused_at_its_first_line():
    decoder = Decoder(
        plan(PayloadKind.UNSIGNED_CHUNKS_AND_TRAILER, 9), check_sha256=False, check_md5=False
    )
    with pytest.raises(S3ResponseError) as caught:
        decoder.feed(b"ffffffffffffffff\r\n")
    assert caught.value.code is Code.INCOMPLETE_BODY


@for_each("kind", KINDS)
@pytest.mark.parametrize(
    "endless",
    [b"0" * 100, b"1;" + b"a" * 100, b"\n" * 100, b"\r" * 100, b" " * 100],
    ids=["digits", "extension", "line feeds", "carriage returns", "blanks"],
)
def test_an_endless_line_is_refused_early(kind, endless):
    decoder = Decoder(plan(kind, 9), check_sha256=False, check_md5=False)
    with pytest.raises(S3ResponseError) as caught:
        b"".join(map(decoder.feed, [endless] * 3))
    assert caught.value.code is Code.INVALID_REQUEST


def test_an_endless_trailer_is_refused_early():
    decoder = Decoder(
        plan(PayloadKind.UNSIGNED_CHUNKS_AND_TRAILER, 0), check_sha256=False, check_md5=False
    )
    decoder.feed(b"0\r\n")
    with pytest.raises(S3ResponseError) as caught:
        b"".join(map(decoder.feed, [b"a:b\r\n" * 200] * 5))
    assert caught.value.code is Code.INVALID_REQUEST


@for_each(
    "line",
    [b"+1", b"-1", b" 1", b"0x1", b"1_0", b"1;chunk-signature=" + b"0" * 64, b"", b"g", b"1\r"],
)
def test_a_chunk_has_a_size_in_hex_and_nothing_else(line):
    kind = PayloadKind.UNSIGNED_CHUNKS_AND_TRAILER
    assert refusal(plan(kind, 1), line + b"\r\na\r\n0\r\n\r\n") is Code.INVALID_REQUEST


@for_each("body", [b"1\na\r\n0\r\n\r\n", b"1\r\na\n0\r\n\r\n", b"1\r\nab\r\n0\r\n\r\n"])
def test_chunks_end_where_their_size_says(body):
    assert refusal(plan(PayloadKind.UNSIGNED_CHUNKS_AND_TRAILER, 1), body) is Code.INVALID_REQUEST


@for_each("kind", KINDS)
@for_each(
    "more", [b"more", b"more\r\n\r\n", b"a:b\r\n\r\n", b"x-amz-checksum-crc32:AAAAAA==\r\n\r\n"]
)
def test_what_follows_the_end_is_refused(kind, more):
    body = Client(kind).body([b"abc"])
    decode(plan(kind, 3), body)
    assert refusal(plan(kind, 3), body + more) in {
        Code.INVALID_REQUEST,
        Code.INCOMPLETE_BODY,
        Code.SIGNATURE_DOES_NOT_MATCH,
    }


@for_each("kind", [kind for kind in KINDS if Payload(kind).has_trailer])
def test_a_promised_trailer_cannot_be_absent(kind):
    body = Client(kind).body([b"abc"])
    assert refusal(plan(kind, 3, ExpectedChecksum(CRC32, None)), body) is Code.INVALID_REQUEST


@for_each(
    ("trailer", "code"),
    [
        (b"X-Amz-Checksum-Crc32 : NSRBwg== \r\n\r\n", None),
        (b"x-amz-checksum-crc32:NSRBwg==\n\r\n", None),
        (b"x-amz-checksum-crc32:AAAAAA==\r\n\r\n", Code.BAD_DIGEST),
        (b"x-amz-checksum-crc32:NSRBw\r\n\r\n", Code.INVALID_REQUEST),
        (b"x-amz-checksum-crc32\r\n\r\n", Code.INVALID_REQUEST),
        (b"x-amz-checksum-crc32c:NSRBwg==\r\n\r\n", Code.INVALID_REQUEST),
        (b"x-amz-checksum-crc32:NSRBwg==\r\nx-amz-meta-a:b\r\n\r\n", Code.INVALID_REQUEST),
        (b"x-amz-checksum-crc32:NSRBwg==\r\n" * 2 + b"\r\n", Code.INVALID_REQUEST),
        (b"x-amz-checksum-crc32:NSRBwg==\r\n", Code.INCOMPLETE_BODY),
    ],
)
def test_a_trailer_is_read_as_clients_write_it(trailer, code):
    expected = plan(PayloadKind.UNSIGNED_CHUNKS_AND_TRAILER, 3, ExpectedChecksum(CRC32, None))
    body = b"3\r\nabc\r\n0\r\n" + trailer
    if code is None:
        assert decode(expected, body)[1].checksum == ("x-amz-checksum-crc32", "NSRBwg==")
    else:
        assert refusal(expected, body) is code


def test_a_signed_trailer_may_have_an_empty_line_before_its_signature():
    kind, checksum = PayloadKind.SIGNED_CHUNKS_AND_TRAILER, ExpectedChecksum(CRC32, None)
    body = Client(kind).body([b"abc"], checksum, end="\n\r\n")
    assert decode(plan(kind, 3, checksum), body)[1].checksum == ("x-amz-checksum-crc32", "NSRBwg==")


def test_a_signed_trailer_needs_its_signature():
    kind, checksum = PayloadKind.SIGNED_CHUNKS_AND_TRAILER, ExpectedChecksum(CRC32, None)
    body = Client(kind).body([b"abc"], checksum)
    unsigned = body[: body.index(b"x-amz-trailer-signature")] + b"\r\n"
    assert refusal(plan(kind, 3, checksum), unsigned) is Code.SIGNATURE_DOES_NOT_MATCH


def test_a_chunk_of_another_body_does_not_verify():
    kind = PayloadKind.SIGNED_CHUNKS
    other = Client(kind, ChunkSeed(SEED.signing_key, SEED.timestamp, SEED.scope, "1" * 64))
    assert refusal(plan(kind, 3), other.body([b"abc"])) is Code.SIGNATURE_DOES_NOT_MATCH


# Checksums of "123456789", from the catalogue of CRCs, FIPS 180 and RFC 1321.
@for_each(
    ("name", "value"),
    [
        ("crc32", bytes.fromhex("cbf43926")),
        ("crc32c", bytes.fromhex("e3069283")),
        ("crc64nvme", bytes.fromhex("ae8b14860a799888")),
        ("sha1", bytes.fromhex("f7c3bc1d808e04732adf679965ccc34ca7ae3441")),
        ("sha256", hashlib.sha256(b"123456789").digest()),
        ("sha512", hashlib.sha512(b"123456789").digest()),
        ("md5", bytes.fromhex("25f9e794323b453885f5181f1b624d0b")),
    ],
)
def test_a_checksum_in_a_header_is_checked_and_repeated(name, value):
    algorithm = ALGORITHMS[f"x-amz-checksum-{name}"]
    expected = plan(PayloadKind.UNSIGNED, 9, ExpectedChecksum(algorithm, value))
    _, done = decode(expected, b"1234", b"56789")
    assert done.checksum == (algorithm.header, b64encode(value).decode())
    assert refusal(expected, b"1234", b"56780") is Code.BAD_DIGEST


@for_each("check", [True, False])
def test_digests_are_checked_only_if_asked(check):
    hashed = Payload(PayloadKind.HASHED, "0" * 64)
    wrong_sha256 = Decoder(BodyPlan(hashed, 3), check_sha256=check, check_md5=True)
    wrong_md5 = Decoder(
        BodyPlan(Payload(PayloadKind.UNSIGNED), 3, content_md5=b"0" * 16),
        check_sha256=True,
        check_md5=check,
    )
    for decoder, code in (
        (wrong_sha256, Code.CONTENT_SHA256_MISMATCH),
        (wrong_md5, Code.BAD_DIGEST),
    ):
        decoder.feed(b"abc")
        if check:
            with pytest.raises(S3ResponseError) as caught:
                decoder.finish()
            assert caught.value.code is code
        else:
            assert decoder.finish().size_bytes == 3


def test_right_digests_are_accepted():
    checksum = ExpectedChecksum(
        ALGORITHMS["x-amz-checksum-sha256"], hashlib.sha256(b"abc").digest()
    )
    right = BodyPlan(
        Payload(PayloadKind.HASHED, hashlib.sha256(b"abc").hexdigest()),
        3,
        hashlib.md5(b"abc").digest(),
        checksum,
    )
    assert decode(right, b"abc")[1].checksum[0] == "x-amz-checksum-sha256"


def test_content_is_handed_on_without_a_copy():
    decoder = Decoder(
        plan(PayloadKind.UNSIGNED_CHUNKS_AND_TRAILER, 1 << 20), check_sha256=False, check_md5=False
    )
    decoder.feed(b"100000\r\n")
    data = b"a" * (1 << 20)
    assert decoder.feed(data) is data


def test_memory_does_not_grow_with_the_body():
    kind = PayloadKind.SIGNED_CHUNKS
    client = Client(kind)
    pieces = [client.chunk(b"a" * 65536) for _ in range(3)]
    decoder = Decoder(plan(kind, 1 << 30), check_sha256=False, check_md5=False)
    decoder.feed(pieces[0])
    tracemalloc.start()
    for piece in pieces[1:]:
        for at in range(0, len(piece), 1000):
            decoder.feed(piece[at : at + 1000])
    # Other threads allocate as well, elsewhere.
    places = (__file__, "*/graveler_gateway/protocol/*")
    only = [tracemalloc.Filter(inclusive=True, filename_pattern=each) for each in places]
    kept = tracemalloc.take_snapshot().filter_traces(only).traces
    tracemalloc.stop()
    assert sum(trace.size for trace in kept) < 8192


def test_a_chain_accepts_only_its_next_signature():
    client = Client(PayloadKind.SIGNED_CHUNKS)
    first = client.chunk(b"a").partition(b"=")[2][:64].decode()
    chain = ChunkSignatures(SEED)
    chain.begin(first)
    chain.update(b"a")
    chain.end()
    chain.begin(first)
    chain.update(b"a")
    with pytest.raises(S3ResponseError):
        chain.end()
