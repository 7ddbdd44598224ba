"""Checksums of uploads in parts: those that a client declares or expects.

S3 combines the parts' checksums. A full object's checksum is as if the content had come in one
piece. A composite one is the checksum of the parts' checksums, with a hyphen and their number.

https://docs.aws.amazon.com/AmazonS3/latest/userguide/checking-object-integrity-upload.html
"""

import re
from collections.abc import Mapping

from graveler_gateway.protocol.bodies.algorithms import ALGORITHMS, invalid_value
from graveler_gateway.protocol.errors import Code, S3ResponseError
from graveler_gateway.protocol.head import RequestHead

ALGORITHM, TYPE = "x-amz-checksum-algorithm", "x-amz-checksum-type"
MODE = "x-amz-checksum-mode"
_SIZE = "x-amz-mp-object-size"

_FULL, _COMPOSITE = "FULL_OBJECT", "COMPOSITE"
# The types of the algorithms that can combine parts; the others are composite.
_TYPES: Mapping[str, frozenset[str]] = {
    "CRC32": frozenset({_FULL, _COMPOSITE}),
    "CRC32C": frozenset({_FULL, _COMPOSITE}),
    "CRC64NVME": frozenset({_FULL}),
}
_NAMES = {algorithm.name: algorithm for algorithm in ALGORITHMS.values()}

# Headers of S3, and their names in documents.
ELEMENTS: Mapping[str, str] = {
    **{header: f"Checksum{algorithm.name}" for header, algorithm in ALGORITHMS.items()},
    TYPE: "ChecksumType",
}

_PARTS_SUFFIX = re.compile("-[1-9][0-9]{0,4}$")
_SIZE_TEXT = re.compile("[0-9]{1,15}")


def declared(head: RequestHead) -> dict[str, str]:
    """Return the headers by which CreateMultipartUpload declares a checksum, as S3 takes them.

    Raises:
        S3ResponseError: INVALID_REQUEST for an unknown algorithm or type, or those that do not fit.
    """
    name, kind = (head.header(ALGORITHM) or "").upper(), (head.header(TYPE) or "").upper()
    if not name:
        if kind:
            raise S3ResponseError(
                Code.INVALID_REQUEST,
                f"The {TYPE} header can only be used with the {ALGORITHM} header.",
            )
        return {}
    if name not in _NAMES:
        raise S3ResponseError(
            Code.INVALID_REQUEST,
            "Checksum algorithm provided is unsupported. Please try again with any of the valid "
            f"types: [{', '.join(sorted(_NAMES))}]",
        )
    if kind and _type(kind) not in _TYPES.get(name, {_COMPOSITE}):
        raise S3ResponseError(
            Code.INVALID_REQUEST,
            f"The {kind} checksum type cannot be used with the {name.lower()} checksum algorithm.",
        )
    return {ALGORITHM: name, **({TYPE: kind} if kind else {})}


def expected(head: RequestHead) -> tuple[int | None, dict[str, str]]:
    """Return the size that CompleteMultipartUpload expects, and its headers of checksums.

    Raises:
        S3ResponseError: INVALID_REQUEST for a malformed checksum, type or size.
    """
    given = {name: text for name in ELEMENTS if (text := head.header(name))}
    if len(given.keys() - {TYPE}) > 1:
        raise S3ResponseError(
            Code.INVALID_REQUEST,
            "Expecting a single x-amz-checksum- header. Multiple checksum Types are not allowed.",
        )
    for name, text in given.items():
        if name == TYPE:
            _type(text)
        elif ALGORITHMS[name].parse(_PARTS_SUFFIX.sub("", text)) is None:
            raise invalid_value(name)
    size = head.header(_SIZE)
    if size and not _SIZE_TEXT.fullmatch(size):
        raise S3ResponseError(Code.INVALID_REQUEST, f"Value for {_SIZE} header is invalid.")
    return int(size) if size else None, given


def as_elements(headers: Mapping[str, str]) -> dict[str, str]:
    """Return the checksums among the headers by their names in documents."""
    return {ELEMENTS[name]: text for name, text in headers.items() if name in ELEMENTS}


def without(headers: Mapping[str, str]) -> dict[str, str]:
    """Return the headers that are not checksums."""
    return {name: text for name, text in headers.items() if name not in ELEMENTS}


def of_attributes(headers: Mapping[str, str]) -> dict[str, str]:
    """Return the checksums as GetObjectAttributes has them: the number of parts is elsewhere."""
    elements = as_elements(headers)
    return {name: _PARTS_SUFFIX.sub("", text) for name, text in elements.items()}


def _type(text: str) -> str:
    if text not in {_FULL, _COMPOSITE}:
        raise S3ResponseError(Code.INVALID_REQUEST, f"Value for {TYPE} header is invalid.")
    return text
