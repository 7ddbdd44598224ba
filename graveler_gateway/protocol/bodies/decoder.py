"""The one decoder of all bodies: their content, checked against what the head promises."""

from collections.abc import Mapping
from dataclasses import dataclass

from graveler_gateway.protocol.bodies import algorithms
from graveler_gateway.protocol.bodies.algorithms import Accumulator
from graveler_gateway.protocol.bodies.chunk_signatures import ChunkSignatures
from graveler_gateway.protocol.bodies.framing import ChunkedFraming, Framing, PlainFraming
from graveler_gateway.protocol.bodies.payload import PayloadKind
from graveler_gateway.protocol.bodies.plan import BodyPlan
from graveler_gateway.protocol.errors import Code, S3ResponseError


@dataclass(frozen=True)
class VerifiedContent:
    """The verified size and checksum: a header's name and its base64 value, for the answer."""

    size_bytes: int
    checksum: tuple[str, str] | None


class Decoder:
    """A push decoder; its content is not verified until `finish` returns."""

    def __init__(self, plan: BodyPlan, *, check_sha256: bool, check_md5: bool) -> None:
        """Prepare the digests; those that S3 checks anyway are left out, as they are slow."""
        self._plan = plan
        self._framing = _framing(plan)
        self._size_bytes = 0
        self._checks_sha256 = check_sha256 and plan.payload.kind is PayloadKind.HASHED
        self._checks_md5 = check_md5 and plan.content_md5 is not None
        self._digests = self._start_digests()

    def feed(self, data: bytes) -> bytes:
        """Return the content in the data; it may be empty.

        Raises:
            S3ResponseError: The body is wrong already.
        """
        content = self._framing.feed(data)
        if content:
            self._size_bytes += len(content)
            for digest in self._digests.values():
                digest.update(content)
        return content

    def finish(self) -> VerifiedContent:
        """Return what was verified.

        Raises:
            S3ResponseError: The body is not complete, or its content is not what the head promises.
        """
        trailer = self._framing.finish()
        computed = {name: digest.digest() for name, digest in self._digests.items()}
        if self._checks_sha256 and computed["SHA256"].hex() != self._plan.payload.sha256:
            details = {
                "ClientComputedContentSHA256": self._plan.payload.sha256,
                "S3ComputedContentSHA256": computed["SHA256"].hex(),
            }
            raise S3ResponseError(Code.CONTENT_SHA256_MISMATCH, details=details)
        if self._checks_md5 and computed["MD5"] != self._plan.content_md5:
            raise S3ResponseError(
                Code.BAD_DIGEST, "The Content-MD5 you specified did not match what we received."
            )
        return VerifiedContent(self._size_bytes, self._verified_checksum(computed, trailer))

    def _start_digests(self) -> Mapping[str, Accumulator]:
        digests: dict[str, Accumulator] = {}
        if self._checks_sha256:
            digests["SHA256"] = algorithms.new_sha256()
        if self._checks_md5:
            digests["MD5"] = algorithms.new_md5()
        if self._plan.checksum and self._plan.checksum.algorithm.name not in digests:
            algorithm = self._plan.checksum.algorithm
            digests[algorithm.name] = algorithm.start()
        return digests

    def _verified_checksum(
        self, computed: Mapping[str, bytes], trailer: Mapping[str, str]
    ) -> tuple[str, str] | None:
        expected = self._plan.checksum
        named = {expected.algorithm.header} if expected and expected.value is None else set()
        if trailer.keys() != named:
            raise S3ResponseError(
                Code.INVALID_REQUEST, "The trailer of the body is not what x-amz-trailer names."
            )
        if expected is None:
            return None
        algorithm = expected.algorithm
        value = expected.value
        if value is None:
            value = algorithm.parse(trailer[algorithm.header])
        if value is None:
            raise algorithms.invalid_value(algorithm.header)
        if value != computed[algorithm.name]:
            raise S3ResponseError(
                Code.BAD_DIGEST,
                f"The {algorithm.name} you specified did not match the calculated checksum.",
            )
        return algorithm.header, algorithms.encode(value)


def _framing(plan: BodyPlan) -> Framing:
    if not plan.payload.has_chunks:
        return PlainFraming(plan.decoded_length_bytes)
    assert plan.decoded_length_bytes is not None, "body_plan requires it of chunks"
    signatures = ChunkSignatures(plan.seed) if plan.seed else None
    assert (signatures is not None) == plan.payload.has_signed_chunks, "body_plan requires a seed"
    return ChunkedFraming(plan.decoded_length_bytes, signatures)
