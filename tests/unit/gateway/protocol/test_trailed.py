"""Contents that are sent on with their checksum behind them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graveler_gateway.protocol.bodies import trailed
from graveler_gateway.protocol.bodies.algorithms import ALGORITHMS
from graveler_gateway.protocol.bodies.decoder import Decoder
from graveler_gateway.protocol.bodies.payload import parse_payload
from graveler_gateway.protocol.bodies.plan import body_plan
from graveler_gateway.protocol.errors import Code, S3ResponseError
from graveler_gateway.protocol.head import RequestHead
from graveler_gateway.protocol.signatures.verified import VerifiedSignature
from tests.support.fakes.part_checksums import checksum_of

CRC32 = ALGORITHMS["x-amz-checksum-crc32"]


@given(
    st.sampled_from(list(ALGORITHMS.values())),
    st.integers(0, 2**21 + 2**16),
    st.integers(2**14, 2**21),
)
def test_the_body_is_as_long_as_its_head_says_and_has_the_content(algorithm, size, piece):
    content = b"c" * size
    pieces = [content[at : at + piece] for at in range(0, size, piece)]
    headers = trailed.headers_of(size, algorithm)
    body = b"".join(
        trailed.framed(pieces, size, algorithm, lambda: checksum_of(algorithm, content))
    )
    assert len(body) == int(headers["content-length"])
    head = RequestHead("PUT", "/b/k", "", tuple(headers.items()))
    plan = body_plan(head, VerifiedSignature("", parse_payload(trailed.PAYLOAD_HASH)))
    decoder = Decoder(plan, check_sha256=True, check_md5=True)
    assert decoder.feed(body) == content
    assert decoder.finish().checksum == (algorithm.header, checksum_of(algorithm, content))


def test_a_content_that_is_longer_than_its_size_is_not_sent():
    with pytest.raises(S3ResponseError) as error:
        list(trailed.framed([b"abc", b"d"], 3, CRC32, lambda: ""))
    assert error.value.code is Code.INCOMPLETE_BODY
