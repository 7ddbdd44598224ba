"""Tagging: the tags of an object or bucket."""

from collections.abc import Iterable, Mapping

from graveler_gateway.protocol.documents.markup import branch, document, leaf
from graveler_gateway.protocol.documents.reading import malformed, root_of
from graveler_gateway.protocol.errors import Code, S3ResponseError

# S3's limits.
_TAGS_MAX = 10
_KEY_CHARACTERS_MAX = 128
_VALUE_CHARACTERS_MAX = 256


def tagging(tags: Mapping[str, str]) -> bytes:
    """Return the document Tagging."""
    listed = (
        branch("Tag", [leaf("Key", key), leaf("Value", value)])
        for key, value in sorted(tags.items())
    )
    return document("Tagging", [branch("TagSet", listed)])


def parse_tagging(body: bytes) -> dict[str, str]:
    """Return the tags of the document.

    Raises:
        S3ResponseError: MALFORMED_XML; INVALID_TAG if S3's limits refuse a tag.
    """
    sets = list(root_of(body, "Tagging").named("TagSet"))
    if len(sets) != 1:
        raise malformed()
    pairs: list[tuple[str, str]] = []
    for tag in sets[0].named("Tag"):
        key, value = tag.value("Key"), tag.value("Value")
        if key is None or value is None:
            raise malformed()
        pairs.append((key, value))
    return checked(pairs)


def checked(pairs: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Return the tags of keys and values.

    Raises:
        S3ResponseError: INVALID_TAG if S3's limits refuse a tag.
    """
    tags: dict[str, str] = {}
    for key, value in pairs:
        if key in tags:
            raise _invalid("Cannot provide multiple Tags with the same key", key)
        _check(key, value)
        tags[key] = value
    if len(tags) > _TAGS_MAX:
        raise S3ResponseError(Code.INVALID_TAG, f"Object tags cannot be greater than {_TAGS_MAX}")
    return tags


def _check(key: str, value: str) -> None:
    if not 1 <= len(key) <= _KEY_CHARACTERS_MAX:
        raise _invalid("The TagKey you have provided is invalid", key)
    if len(value) > _VALUE_CHARACTERS_MAX:
        raise _invalid("The TagValue you have provided is invalid", key)


def _invalid(message: str, key: str) -> S3ResponseError:
    return S3ResponseError(Code.INVALID_TAG, message, details={"TagKey": key})
