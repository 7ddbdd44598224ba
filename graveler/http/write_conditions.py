"""The conditions of a write's request: If-Match and If-None-Match (RFC 9110, section 13.1)."""

import re
from collections.abc import Mapping

from graveler.errors import InvalidInputError
from graveler.messages import Refusal
from graveler.model import Requirement

_ANY = "*"
# A weak tag is well-formed, but never equals a strong one, as If-Match demands.
_TAG = r'(W/)?"([\x21\x23-\x7e\x80-\xff]*)"'
_TAGS = re.compile(rf"\s*{_TAG}\s*(?:,\s*{_TAG}\s*)*")
# lakeFS's clients send it without quotes as well.
_CHECKSUM = re.compile(r'\s*("?)([\x21\x23-\x29\x2b-\x7e]*)\1\s*')


def requirement_of(headers: Mapping[str, str]) -> Requirement:
    """Return what the headers, with names in lower case, require of the object at the path.

    Raises:
        InvalidInputError: If-Match is not a list of entity tags, or a header is empty.
        UnsupportedError: If-None-Match has another value than `*`.
    """
    match = non_empty_header(headers, "If-Match")
    none_match = non_empty_header(headers, "If-None-Match")
    if none_match is not None and none_match.strip() != _ANY:
        raise Refusal.NOT_SERVED.error(f"If-None-Match: {none_match} of writes; use *")
    is_absent = none_match is not None
    if match is None:
        return Requirement(is_absent)
    if match.strip() == _ANY:
        return Requirement(is_absent, is_present=True)
    return Requirement(is_absent, checksums=_checksums_of(match))


def required_tags(headers: Mapping[str, str]) -> tuple[str, ...] | None:
    """Return the ETags of which If-Match requires one, sorted; None if any will do.

    Raises:
        InvalidInputError: If-Match is not a list of entity tags, or is empty.
    """
    match = non_empty_header(headers, "If-Match")
    if match is None or match.strip() == _ANY:
        return None
    one = _CHECKSUM.fullmatch(match)
    return (one[2],) if one else tuple(sorted(_checksums_of(match)))


def required_checksum(headers: Mapping[str, str]) -> str | None:
    """Return the checksum that If-Match requires of what is changed; None without the header.

    It is "" if nothing must be stored.

    Raises:
        InvalidInputError: the header is not one entity tag.
    """
    match = non_empty_header(headers, "If-Match")
    if match is None:
        return None
    found = _CHECKSUM.fullmatch(match)
    if found is None:
        raise InvalidInputError(f'If-Match: {match} is not one ETag: write "<ETag>"')
    return found[2]


def non_empty_header(headers: Mapping[str, str], name: str) -> str | None:
    """Return the header; None if it is absent.

    Raises:
        InvalidInputError: it is empty, so the condition is not known.
    """
    value = headers.get(name.lower())
    if value is not None and not value.strip():
        raise Refusal.BAD_HEADER.error(name=name, problem="empty value is not allowed")
    return value


def _checksums_of(match: str) -> frozenset[str]:
    if not _TAGS.fullmatch(match):
        raise InvalidInputError(f'If-Match: {match} is no list of ETags: write "<ETag>" or *')
    return frozenset(tag for weak, tag in re.findall(_TAG, match) if not weak)
