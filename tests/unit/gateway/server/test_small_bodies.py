"""Bodies that are read before their requests get a thread: only small ones that are on their way."""

import asyncio

import pytest

from gateway.protocol.errors import Code, S3Error
from gateway.protocol.head import Head
from gateway.server.asgi import _small_body


def arriving(*messages, idle_s=1.0, **headers):
    """What is read of a body that comes in these messages."""
    waiting = list(messages)

    async def receive():
        if not waiting:
            await asyncio.sleep(60)
        message = waiting.pop(0)
        if isinstance(message, Exception):
            raise message
        return message

    named = tuple((name.replace("_", "-"), value) for name, value in headers.items())
    return asyncio.run(_small_body(Head("PUT", "/a/b/c", "", named), receive, idle_s))


def piece(body, *, more_body=False):
    return {"type": "http.request", "body": body, "more_body": more_body}


@pytest.mark.parametrize(
    "headers",
    [
        {"content_length": "65537"},
        {"content_length": "00000000001000000000"},
        {"content_length": "9" * 5000},
        {"content_length": "-1"},
        {"content_length": "5", "expect": "100-continue"},
        {"transfer_encoding": "chunked"},
    ],
)
def test_a_body_that_is_large_or_not_sent_yet_is_left_to_the_thread(headers):
    assert arriving(piece(b"12345"), **headers) is None


def test_a_small_body_is_read_whole():
    body = arriving(piece(b"12", more_body=True), piece(b"345"), content_length="5")
    assert (body.read(), body.read()) == (b"12345", b"")
    assert arriving(content_length="0").read() == b""
    assert arriving().read() == b""


@pytest.mark.parametrize(
    ("end", "code"),
    [
        ({"type": "http.disconnect"}, Code.INCOMPLETE_BODY),
        (RuntimeError("a broken chunk"), Code.INCOMPLETE_BODY),
        (None, Code.REQUEST_TIMEOUT),
    ],
)
def test_a_small_body_that_breaks_off_is_refused_when_it_is_read(end, code):
    ends = [] if end is None else [end]
    body = arriving(piece(b"12", more_body=True), *ends, content_length="5", idle_s=0.05)
    with pytest.raises(S3Error) as caught:
        body.read()
    assert caught.value.code is code
