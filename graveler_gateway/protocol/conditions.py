"""Conditional requests, as RFC 9110 orders their headers and S3 evaluates them."""

from dataclasses import dataclass
from enum import Enum

from graveler_gateway.protocol import dates
from graveler_gateway.protocol.errors import Code, S3ResponseError
from graveler_gateway.protocol.head import RequestHead

_NS_PER_S = 1_000_000_000
_ANY = "*"
_WEAK = "W/"
_COPY_PREFIX = "x-amz-copy-source-"
# The headers that a 412 can be about, as S3's documents name them; other headers answer 304.
_READ_NAMES = ("If-Match", "If-Unmodified-Since")
_WRITE_NAMES = (
    "If-None-Match",
    "If-Match",
    f"{_COPY_PREFIX}If-Match",
    f"{_COPY_PREFIX}If-Unmodified-Since",
    f"{_COPY_PREFIX}If-None-Match",
    f"{_COPY_PREFIX}If-Modified-Since",
)


class ConditionVerdict(Enum):
    """The result of a read's conditions."""

    PROCEED = "proceed"
    # The answer is a 304 without body.
    NOT_MODIFIED = "not modified"
    PRECONDITION_FAILED = "precondition failed"


@dataclass(frozen=True, slots=True)
class WriteCondition:
    """A write's condition on the object at its path."""

    is_absent: bool = False
    is_present: bool = False
    # The object's entity tag is one of these, which have no quotes; None allows any.
    checksums: frozenset[str] | None = None


def read_verdict(head: RequestHead, etag: str, last_modified_ns: int) -> ConditionVerdict:
    """Return what the conditions of a GET or HEAD decide about this object.

    etag has no quotes.
    """
    return _verdict(head, "", etag, last_modified_ns // _NS_PER_S)


def copy_verdict(head: RequestHead, etag: str, last_modified_ns: int) -> ConditionVerdict:
    """Return what the conditions of a copy decide about its source: never NOT_MODIFIED."""
    verdict = _verdict(head, _COPY_PREFIX, etag, last_modified_ns // _NS_PER_S)
    return (
        ConditionVerdict.PROCEED
        if verdict is ConditionVerdict.PROCEED
        else ConditionVerdict.PRECONDITION_FAILED
    )


def write_condition(head: RequestHead) -> WriteCondition:
    """Return what If-Match or If-None-Match of a write requires.

    Raises:
        S3ResponseError: NOT_IMPLEMENTED for both together, or for an If-None-Match other than *.
    """
    if_match, if_none_match = head.header("if-match"), head.header("if-none-match")
    if if_none_match is not None:
        if if_none_match.strip() != _ANY or if_match is not None:
            raise S3ResponseError(Code.NOT_IMPLEMENTED, details={"Header": "If-None-Match"})
        return WriteCondition(is_absent=True)
    if if_match is None:
        return WriteCondition()
    tags = _strong_tags(if_match)
    return WriteCondition(is_present=True, checksums=None if _ANY in tags else tags)


def _verdict(head: RequestHead, prefix: str, etag: str, last_modified_s: int) -> ConditionVerdict:
    """Evaluate the entity tags first: if they are given, the dates they outrank do not count."""
    if_match = head.header(f"{prefix}if-match")
    if if_match is not None:
        if not {_ANY, etag} & _strong_tags(if_match):
            return ConditionVerdict.PRECONDITION_FAILED
    else:
        unmodified_since_s = _seconds(head, f"{prefix}if-unmodified-since")
        if unmodified_since_s is not None and last_modified_s > unmodified_since_s:
            return ConditionVerdict.PRECONDITION_FAILED
    if_none_match = head.header(f"{prefix}if-none-match")
    if if_none_match is not None:
        return (
            ConditionVerdict.NOT_MODIFIED
            if {_ANY, etag} & _tags(if_none_match)
            else ConditionVerdict.PROCEED
        )
    modified_since_s = _seconds(head, f"{prefix}if-modified-since")
    if modified_since_s is not None and last_modified_s <= modified_since_s:
        return ConditionVerdict.NOT_MODIFIED
    return ConditionVerdict.PROCEED


def details_of_refusal(head: RequestHead, error: S3ResponseError) -> dict[str, str]:
    """Return the header that a 412 is about; nothing for other errors.

    s3fs finds by it that a file exists.
    """
    if error.code is not Code.PRECONDITION_FAILED:
        return {}
    names = _READ_NAMES if head.method in {"GET", "HEAD"} else _WRITE_NAMES
    sent = [name for name in names if head.header(name.lower()) is not None]
    return {"Condition": sent[0]} if sent else {}


def _strong_tags(header: str) -> frozenset[str]:
    """Return the tags that promise equal bytes."""
    tags = (tag.strip() for tag in header.split(","))
    return frozenset(_unquoted(tag) for tag in tags if not tag.startswith(_WEAK))


def _tags(header: str) -> frozenset[str]:
    """Return all tags, weak ones as well."""
    return frozenset(_unquoted(tag.strip().removeprefix(_WEAK)) for tag in header.split(","))


def _unquoted(tag: str) -> str:
    return tag.removeprefix('"').removesuffix('"')


def _seconds(head: RequestHead, name: str) -> int | None:
    """Return a header's date in seconds, None if it is absent or no date, which S3 ignores."""
    text = head.header(name)
    return None if text is None else dates.seconds_of_http(text)
