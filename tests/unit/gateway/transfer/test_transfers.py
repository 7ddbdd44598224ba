"""Reads and writes of bytes: whole or refused, whatever S3 and the network do to them."""

import base64
import binascii
import hashlib
import socket
import threading

import pytest

from graveler_gateway.operations.content import RequestContent
from graveler_gateway.protocol.bodies.algorithms import ALGORITHMS
from graveler_gateway.protocol.bodies.payload import UNSIGNED, Payload, PayloadKind
from graveler_gateway.protocol.bodies.plan import BodyPlan, ExpectedChecksum
from graveler_gateway.protocol.errors import Code, S3ResponseError
from graveler_gateway.transfer.store import DataMissingError, Transfers
from graveler_gateway.transfer.store_exchange import (
    StoreNoResponseError,
    StoreUnreachableError,
    send,
    store_pool,
)
from tests.support.fakes.scripted_s3 import Act, ScriptedS3, answer_of, refusal
from tests.support.worlds.gateway_stack import CutBody

CONTENT = bytes(range(256)) * 16
LARGE = bytes(range(256)) * 8192  # 2 MB: more than sockets take ahead


@pytest.fixture
def s3():
    made = ScriptedS3(CONTENT)
    yield made
    made.close()


@pytest.fixture
def pool():
    made = store_pool(5)
    yield made
    made.close()


@pytest.fixture
def pauses():
    return []


@pytest.fixture
def transfers(pool, pauses):
    return Transfers(pool, sleep=pauses.append)


def read(transfers, s3, first=0, last=4095):
    with transfers.read(s3.request, first, last) as reading:
        return b"".join(reading.pieces())


def refused(transfers, call):
    with pytest.raises(S3ResponseError) as caught:
        call()
    return caught.value.code


# Pool


def test_a_connection_whose_answer_was_read_is_used_again(transfers, s3):
    for _ in range(3):
        assert read(transfers, s3) == CONTENT
    assert s3.connections == 1


def test_a_connection_whose_answer_was_not_read_is_dropped(transfers, s3):
    s3.content = LARGE
    with transfers.read(s3.request, 0, len(LARGE) - 1) as reading:
        next(reading.pieces())
    assert read(transfers, s3, 0, 9) == LARGE[:10]
    assert s3.connections == 2


def test_a_connection_that_s3_closed_is_not_used(transfers, s3, pauses):
    assert read(transfers, s3) == CONTENT
    s3.drop_connections()
    assert read(transfers, s3) == CONTENT
    assert (s3.connections, pauses) == (2, [])


def test_a_stream_is_not_sent_over_a_closed_connection(transfers, s3):
    read(transfers, s3)
    s3.drop_connections()
    written = transfers.write(lambda: s3.put(6), iter([b"one", b"two"]))
    assert (written.checksum, s3.got[-1].body) == ("etag", b"onetwo")


def test_a_connection_is_dropped_if_s3_says_so(transfers, s3):
    s3.acts.append(Act(answer_of(206, CONTENT, "Connection: close")))
    assert read(transfers, s3) == read(transfers, s3) == CONTENT
    assert s3.connections == 2


@pytest.mark.parametrize("cut_bytes", [0, 10, 60, 500])
def test_a_connection_whose_answer_was_cut_is_not_kept(pool, s3, cut_bytes):
    s3.acts.append(Act(cut_bytes=cut_bytes))
    with pytest.raises(StoreNoResponseError), send(pool, s3.request(0, 4095)) as answer:
        b"".join(answer.pieces())
    assert not any(pool._idle.values())


def test_each_request_has_a_connection_of_its_own(transfers, s3):
    readings = [transfers.read(s3.request, 0, len(CONTENT) - 1) for _ in range(3)]
    assert s3.connections == 3
    for reading in readings:
        assert b"".join(reading.pieces()) == CONTENT
        reading.close()


def test_a_server_that_is_not_there_got_nothing(pool, s3):
    request = s3.request()
    s3.close()
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        request = type(request)(
            "GET", "http", "127.0.0.1", taken.getsockname()[1], "/", request.headers
        )
        with pytest.raises(StoreUnreachableError):
            send(pool, request)


# Reads


@pytest.mark.parametrize(("first", "last"), [(0, 0), (0, 4095), (7, 4000), (4095, 4095)])
def test_the_bytes_of_a_range_are_read(transfers, s3, first, last):
    assert read(transfers, s3, first, last) == CONTENT[first : last + 1]


def test_a_read_is_resumed_after_each_byte(transfers, s3, pauses):
    s3.content = bytes(range(40))
    head = len(answer_of(206, b"")) + 1  # a length of two digits
    for at in range(1, 40):
        s3.acts.append(Act(cut_bytes=head + 1 if at <= 31 else head))
    assert read(transfers, s3, 0, 39) == s3.content
    assert len(pauses) >= 30


@pytest.mark.parametrize("cut_bytes", [0, 1, 30, 44, 45, 46, 300, 4000])
@pytest.mark.parametrize("resets", [False, True])
def test_a_cut_answer_is_continued(transfers, s3, cut_bytes, resets):
    s3.acts.append(Act(cut_bytes=cut_bytes, resets=resets))
    assert read(transfers, s3) == CONTENT


@pytest.mark.parametrize("sent", [b"", CONTENT[:100]])
def test_an_answer_without_length_that_ends_early_is_continued(transfers, s3, sent):
    s3.acts.append(Act(b"HTTP/1.1 206 Partial Content\r\n\r\n" + sent, closes=True))
    assert read(transfers, s3) == CONTENT
    assert s3.wait_for(2)[-1].headers["range"] == f"bytes={len(sent)}-4095"


@pytest.mark.parametrize("status", [429, 500, 502, 503, 504])
def test_a_passing_failure_is_tried_again(transfers, s3, pauses, status):
    s3.acts.extend([Act(refusal(status, "SlowDown"))] * 4)
    assert read(transfers, s3) == CONTENT
    assert len(pauses) == 4
    assert pauses == sorted(pauses) or all(pause < 2 for pause in pauses)


@pytest.mark.parametrize(
    ("answer", "code"),
    [
        (refusal(503, "SlowDown"), Code.SLOW_DOWN),
        (refusal(500, "InternalError"), Code.SERVICE_UNAVAILABLE),
        (b"", Code.SERVICE_UNAVAILABLE),
    ],
)
def test_a_lasting_failure_is_passed_on(transfers, s3, pauses, answer, code):
    s3.acts.extend([Act(answer, closes=not answer)] * 5)
    assert refused(transfers, lambda: read(transfers, s3)) is code
    assert (len(s3.wait_for(5)), len(pauses)) == (5, 4)


def test_a_read_that_never_goes_on_is_given_up(transfers, s3):
    s3.acts.extend([Act(cut_bytes=len(answer_of(206, CONTENT[:1000])) - 1000)] * 100)
    assert refused(transfers, lambda: read(transfers, s3)) is Code.SERVICE_UNAVAILABLE
    assert len(s3.got) <= 10


@pytest.mark.parametrize(
    "answer",
    [refusal(404, "NoSuchKey"), refusal(416, "InvalidRange"), answer_of(206, CONTENT[:-1])],
)
def test_missing_data_are_said_to_be_so(transfers, s3, answer):
    s3.acts.append(Act(answer))
    with pytest.raises(DataMissingError):
        read(transfers, s3)


@pytest.mark.parametrize(
    ("status", "code"), [(403, "AccessDenied"), (404, "NoSuchBucket"), (403, "AllAccessDisabled")]
)
def test_a_bucket_that_refuses_us_is_named_without_its_message(transfers, s3, status, code):
    s3.acts.append(Act(refusal(status, code)))
    with pytest.raises(S3ResponseError) as caught:
        read(transfers, s3)
    assert caught.value.code is Code.ACCESS_DENIED
    assert "why" not in caught.value.message


@pytest.mark.parametrize("answer", [refusal(404, "MethodNotFound"), answer_of(404, b"")])
def test_a_404_without_the_code_of_missing_data_is_a_failure_of_the_store(transfers, s3, answer):
    s3.acts.append(Act(answer))
    assert refused(transfers, lambda: read(transfers, s3)) is Code.INTERNAL_ERROR


def test_the_whole_object_may_be_an_answer_of_status_200(transfers, s3):
    s3.acts.append(Act(answer_of(200, CONTENT)))
    assert read(transfers, s3) == CONTENT
    s3.acts.append(Act(answer_of(200, CONTENT)))
    assert refused(transfers, lambda: read(transfers, s3, 5, 9)) is Code.INTERNAL_ERROR


# Writes


def test_a_content_in_memory_is_sent_again(transfers, s3, pauses):
    s3.acts.extend([Act(refusal(503, "SlowDown")), Act(b"", closes=True), Act(resets=True)])
    made = []

    def request():
        made.append(s3.put(3))
        return made[-1]

    written = transfers.write(request, b"new")
    assert written.checksum == "etag"
    assert [got.body for got in s3.got] == [b"new"] * len(s3.got)
    assert len(made) == len(pauses) + 1 >= 3


@pytest.mark.parametrize(
    ("status", "text", "code"),
    [
        (400, "BadDigest", Code.BAD_DIGEST),
        (400, "XAmzContentSHA256Mismatch", Code.CONTENT_SHA256_MISMATCH),
        (404, "NoSuchUpload", Code.NO_SUCH_UPLOAD),
        (400, "EntityTooLarge", Code.ENTITY_TOO_LARGE),
        (400, "Other", Code.INTERNAL_ERROR),
        (403, "SignatureDoesNotMatch", Code.ACCESS_DENIED),
    ],
)
@pytest.mark.parametrize("is_stream", [True, False])
def test_a_refusal_of_the_content_is_the_clients(transfers, s3, status, text, code, is_stream):
    s3.acts.append(Act(refusal(status, text)))
    content = iter([b"one", b"two"]) if is_stream else b"onetwo"
    assert refused(transfers, lambda: transfers.write(lambda: s3.put(6), content)) is code
    assert len(s3.got) == 1


@pytest.mark.parametrize(
    "act",
    [Act(refusal(503, "SlowDown")), Act(b"", closes=True), Act(cut_bytes=9), Act(b"", resets=True)],
)
def test_a_stream_is_sent_once(transfers, s3, pauses, act):
    s3.acts.append(act)
    code = refused(transfers, lambda: transfers.write(lambda: s3.put(6), iter([b"one", b"two"])))
    assert code in {Code.SERVICE_UNAVAILABLE, Code.SLOW_DOWN}
    assert (len(s3.got), pauses) == (1, [])


@pytest.mark.parametrize(
    ("status", "text", "code"),
    [(403, "AccessDenied", Code.ACCESS_DENIED), (503, "SlowDown", Code.SLOW_DOWN)],
)
def test_an_early_refusal_ends_an_upload(transfers, s3, status, text, code):
    s3.acts.append(Act(refusal(status, text), reads_body=False))
    taken = []

    def content():
        for _ in range(200):
            s3.wait_for(1)
            taken.append(1)
            yield LARGE

    put = s3.put(200 * len(LARGE))
    found = refused(transfers, lambda: transfers.write(lambda: put, content()))
    # The answer may be lost with the connection.
    assert found in {code, Code.SERVICE_UNAVAILABLE}
    assert len(taken) < 200


@pytest.mark.parametrize("at", [0, 1, 2])
def test_a_stream_that_breaks_off_stores_nothing(transfers, s3, at):
    def content():
        for number in range(3):
            if number == at:
                raise S3ResponseError(Code.INCOMPLETE_BODY)
            yield b"xx"

    code = refused(transfers, lambda: transfers.write(lambda: s3.put(6), content()))
    assert code is Code.INCOMPLETE_BODY
    assert [got.is_whole for got in s3.wait_for(1)] == [False]


# What the client promised


CRC32 = ALGORITHMS["x-amz-checksum-crc32"]


def planned(content, **promises):
    return BodyPlan(promises.pop("payload", UNSIGNED), len(content), **promises)


def crc32(content):
    return binascii.crc32(content).to_bytes(4, "big")


PROMISES = {
    "crc32": lambda content: planned(content, checksum=ExpectedChecksum(CRC32, crc32(content))),
    "md5": lambda content: planned(content, content_md5=hashlib.md5(content).digest()),
    "sha256": lambda content: planned(
        content, payload=Payload(PayloadKind.HASHED, hashlib.sha256(content).hexdigest())
    ),
}


@pytest.mark.parametrize("promise", PROMISES)
@pytest.mark.parametrize("piece_bytes", [1000, 100_000, 10**7])
@pytest.mark.parametrize("change", ["nothing", "first", "last", "missing", "more"])
def test_s3_gets_the_last_piece_once_all_is_checked(transfers, s3, promise, piece_bytes, change):
    content = LARGE[:300_000]
    changed = {
        "nothing": content,
        "first": b"\xff" + content[1:],
        "last": content[:-1] + b"\x00",
        "missing": content[:-1],
        "more": content + b"x",
    }[change]
    body = RequestContent(PROMISES[promise](content), CutBody(changed, piece_bytes))
    pieces = body.pieces(checks_digests=True)
    if change == "nothing":
        transfers.write(lambda: s3.put(len(content)), pieces)
        assert s3.got[0].body == content
        assert body.checksums == (
            {"x-amz-checksum-crc32": base64.b64encode(crc32(content)).decode()}
            if promise == "crc32"
            else {}
        )
        return
    code = refused(transfers, lambda: transfers.write(lambda: s3.put(len(content)), pieces))
    assert code in {Code.BAD_DIGEST, Code.CONTENT_SHA256_MISMATCH, Code.INCOMPLETE_BODY}
    assert [got.is_whole for got in s3.wait_for(1)] == [False]


def test_a_trailer_is_checked_before_the_last_piece(transfers, s3):
    content = LARGE[:300_000]
    payload = Payload(PayloadKind.UNSIGNED_CHUNKS_AND_TRAILER)
    plan = planned(content, payload=payload, checksum=ExpectedChecksum(CRC32, None))
    wrong = base64.b64encode(crc32(b"other")).decode()
    framed = b"%x\r\n%s\r\n0\r\nx-amz-checksum-crc32:%s\r\n\r\n"
    body = framed % (len(content), content, wrong.encode())
    pieces = RequestContent(plan, CutBody(body)).pieces(checks_digests=False)
    code = refused(transfers, lambda: transfers.write(lambda: s3.put(len(content)), pieces))
    assert code is Code.BAD_DIGEST
    assert [got.is_whole for got in s3.wait_for(1)] == [False]


def test_threads_share_transfers(transfers, s3):
    outcomes = []

    def work():
        outcomes.append(all(read(transfers, s3) == CONTENT for _ in range(20)))

    threads = [threading.Thread(target=work) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert outcomes == [True] * 6
    assert s3.connections <= 6
