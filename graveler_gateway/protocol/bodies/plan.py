"""The plan of a body: its framing, length and checksums, as the head promises them.

An empty header of these is wrong, as on S3: if it counted as absent, nothing would be checked.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from graveler_gateway.protocol.bodies import algorithms
from graveler_gateway.protocol.bodies.algorithms import ALGORITHMS, Algorithm
from graveler_gateway.protocol.bodies.payload import Payload
from graveler_gateway.protocol.errors import Code, S3ResponseError
from graveler_gateway.protocol.head import RequestHead
from graveler_gateway.protocol.signatures.verified import ChunkSeed, VerifiedSignature

_LENGTH = re.compile("[0-9]{1,19}")


@dataclass(frozen=True)
class ExpectedChecksum:
    """A checksum that the content must have; value is None if it comes in the trailer."""

    algorithm: Algorithm
    value: bytes | None


@dataclass(frozen=True)
class BodyPlan:
    """The framing of a body, and the checks of its content.

    decoded_length_bytes is the content's length; None if only the end of the body will say it.
    seed is set if chunks are signed.
    """

    payload: Payload
    decoded_length_bytes: int | None
    content_md5: bytes | None = None
    checksum: ExpectedChecksum | None = None
    seed: ChunkSeed | None = None

    @property
    def checksums(self) -> Mapping[str, str]:
        """The checksum that is known already, by its header."""
        if self.checksum is None or self.checksum.value is None:
            return {}
        return {self.checksum.algorithm.header: algorithms.encode(self.checksum.value)}


def body_plan(
    head: RequestHead, verified: VerifiedSignature, *, has_checksum_of_body: bool = True
) -> BodyPlan:
    """Return the plan of the body that the head promises.

    has_checksum_of_body is False where x-amz-checksum-* describe something else, such as the
    object that CompleteMultipartUpload makes: then they are not read.

    Raises:
        S3ResponseError: A promise is missing, malformed or contradicts another.
    """
    payload = verified.payload
    if payload.has_signed_chunks and verified.seed is None:
        raise S3ResponseError(
            Code.INVALID_REQUEST, "Signed chunks need a request signed with AWS4-HMAC-SHA256."
        )
    return BodyPlan(
        payload,
        _decoded_length_bytes(head, payload),
        _content_md5(head),
        _checksum(head, payload) if has_checksum_of_body else None,
        verified.seed,
    )


def _decoded_length_bytes(head: RequestHead, payload: Payload) -> int | None:
    if payload.has_chunks:
        name = "x-amz-decoded-content-length"
        if head.sent_header(name) is None:
            raise S3ResponseError(
                Code.MISSING_CONTENT_LENGTH, f"You must provide the {name} HTTP header."
            )
        return _length(head, name)
    if head.sent_header("content-length") is not None:
        return _length(head, "content-length")
    if head.sent_header("transfer-encoding") is not None:
        return None
    # A copy has no content, and object_store sends no length of none.
    if head.method == "PUT" and head.sent_header("x-amz-copy-source") is None:
        raise S3ResponseError(Code.MISSING_CONTENT_LENGTH)
    return 0


def _length(head: RequestHead, name: str) -> int:
    text = head.sent_header(name) or ""
    if not _LENGTH.fullmatch(text):
        raise S3ResponseError(
            Code.INVALID_ARGUMENT,
            f"{name} must be a number of bytes",
            details={"ArgumentName": name, "ArgumentValue": text},
        )
    return int(text)


def _content_md5(head: RequestHead) -> bytes | None:
    text = head.sent_header("content-md5")
    if text is None:
        return None
    value = algorithms.decode_exactly(text, 16)
    if value is None:
        raise S3ResponseError(Code.INVALID_DIGEST, "The Content-MD5 you specified is not valid.")
    return value


def _checksum(head: RequestHead, payload: Payload) -> ExpectedChecksum | None:
    given = [
        _in_header(algorithm, text)
        for algorithm in ALGORITHMS.values()
        if (text := head.sent_header(algorithm.header)) is not None
    ]
    trailer = head.sent_header("x-amz-trailer")
    if trailer is not None:
        given += [_in_trailer(name, payload) for name in trailer.split(",")]
    if len(given) > 1:
        raise S3ResponseError(
            Code.INVALID_REQUEST,
            "Expecting a single x-amz-checksum- header. Multiple checksum Types are not allowed.",
        )
    return given[0] if given else None


def _in_header(algorithm: Algorithm, text: str) -> ExpectedChecksum:
    value = algorithm.parse(text)
    if value is None:
        raise algorithms.invalid_value(algorithm.header)
    return ExpectedChecksum(algorithm, value)


def _in_trailer(name: str, payload: Payload) -> ExpectedChecksum:
    algorithm = ALGORITHMS.get(name.strip().lower())
    if algorithm is None:
        raise S3ResponseError(
            Code.INVALID_REQUEST, "The value specified in the x-amz-trailer header is not supported"
        )
    if not payload.has_trailer:
        raise S3ResponseError(
            Code.INVALID_REQUEST, "x-amz-trailer needs an x-amz-content-sha256 that has a trailer."
        )
    return ExpectedChecksum(algorithm, None)
