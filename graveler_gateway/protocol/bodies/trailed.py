"""A content on its way to S3 whose checksum follows it: a body in chunks with a trailer.

The checksum of a stream is known at its end. In a trailer, S3 checks it and keeps it.

https://docs.aws.amazon.com/AmazonS3/latest/API/sigv4-streaming-trailers.html
"""

from collections.abc import Callable, Iterable, Iterator

from graveler_gateway.protocol.bodies.algorithms import Algorithm
from graveler_gateway.protocol.bodies.payload import PayloadKind
from graveler_gateway.protocol.errors import Code, S3ResponseError

PAYLOAD_HASH = PayloadKind.UNSIGNED_CHUNKS_AND_TRAILER.value

_CODING = "aws-chunked"
_CHUNK_BYTES = 1024 * 1024
_LINE_END = b"\r\n"


def headers_of(size_bytes: int, algorithm: Algorithm, coding: str = "") -> dict[str, str]:
    """Return the headers of the body of a content of this size and this coding."""
    chunks, rest_bytes = divmod(size_bytes, _CHUNK_BYTES)
    length_bytes = chunks * _framed_bytes(_CHUNK_BYTES)
    length_bytes += _framed_bytes(rest_bytes) if rest_bytes else 0
    checksum_length = 4 * -(-algorithm.length_bytes // 3)
    return {
        "content-encoding": f"{_CODING},{coding}" if coding else _CODING,
        "content-length": str(length_bytes + len(_end(algorithm, "=" * checksum_length))),
        "x-amz-decoded-content-length": str(size_bytes),
        "x-amz-trailer": algorithm.header,
    }


def framed(
    pieces: Iterable[bytes], size_bytes: int, algorithm: Algorithm, checksum: Callable[[], str]
) -> Iterator[bytes]:
    """Yield the body; checksum is called after the last piece.

    Raises:
        S3ResponseError: INCOMPLETE_BODY, if the content is longer than its size.
    """
    left_bytes = size_bytes
    of_chunk_bytes = 0
    for piece in pieces:
        rest = piece
        while rest:
            if not of_chunk_bytes:
                of_chunk_bytes = min(left_bytes, _CHUNK_BYTES)
                if not of_chunk_bytes:
                    raise S3ResponseError(Code.INCOMPLETE_BODY)
                yield _line(of_chunk_bytes)
            taken, rest = rest[:of_chunk_bytes], rest[of_chunk_bytes:]
            yield taken
            left_bytes -= len(taken)
            of_chunk_bytes -= len(taken)
            if not of_chunk_bytes:
                yield _LINE_END
    yield _end(algorithm, checksum())


def _framed_bytes(chunk_bytes: int) -> int:
    return len(_line(chunk_bytes)) + chunk_bytes + len(_LINE_END)


def _line(chunk_bytes: int) -> bytes:
    return b"%x%b" % (chunk_bytes, _LINE_END)


def _end(algorithm: Algorithm, checksum: str) -> bytes:
    return f"0\r\n{algorithm.header}:{checksum}\r\n\r\n".encode()
