"""The checksums of objects in parts, computed from the contents."""

from collections.abc import Mapping, Sequence

from graveler_gateway.protocol.bodies.algorithms import ALGORITHMS, Algorithm, encode

_FULL, _COMPOSITE = "FULL_OBJECT", "COMPOSITE"
_BY_NAME = {algorithm.name: algorithm for algorithm in ALGORITHMS.values()}


def algorithm_of(element: str) -> Algorithm | None:
    """Return the algorithm of an element such as ChecksumCRC32; None if it is none."""
    return _BY_NAME.get(element.removeprefix("Checksum"))


def checksum_of(algorithm: Algorithm, content: bytes) -> str:
    """Return the checksum of a content that comes in one piece."""
    return encode(_digest(algorithm, content))


def composite_of(algorithm: Algorithm, contents: Sequence[bytes]) -> str:
    """Return the checksum of the parts' checksums, with their number."""
    digests = b"".join(_digest(algorithm, content) for content in contents)
    return f"{checksum_of(algorithm, digests)}-{len(contents)}"


def declared_algorithm(headers: Mapping[str, str]) -> Algorithm | None:
    """Return the algorithm that an upload was begun with."""
    return _BY_NAME.get(headers.get("x-amz-checksum-algorithm", ""))


def of_part(headers: Mapping[str, str], content: bytes) -> dict[str, str]:
    """Return the elements of a part of an upload that was begun with the headers."""
    algorithm = declared_algorithm(headers)
    return {f"Checksum{algorithm.name}": checksum_of(algorithm, content)} if algorithm else {}


def checksums_of_parts(headers: Mapping[str, str], contents: Sequence[bytes]) -> dict[str, str]:
    """Return the headers of the object that an upload makes, which was begun with the headers."""
    algorithm = declared_algorithm(headers)
    if algorithm is None:
        return {}
    default = _FULL if algorithm.name == "CRC64NVME" else _COMPOSITE
    kind = headers.get("x-amz-checksum-type", default)
    whole = checksum_of(algorithm, b"".join(contents))
    text = whole if kind == _FULL else composite_of(algorithm, contents)
    return {algorithm.header: text, "x-amz-checksum-type": kind}


def _digest(algorithm: Algorithm, content: bytes) -> bytes:
    accumulator = algorithm.start()
    accumulator.update(content)
    return accumulator.digest()
