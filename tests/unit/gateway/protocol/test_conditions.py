import pytest
from hypothesis import given
from hypothesis import strategies as st

from graveler_gateway.protocol import dates
from graveler_gateway.protocol.conditions import (
    ConditionVerdict,
    WriteCondition,
    copy_verdict,
    details_of_refusal,
    read_verdict,
    write_condition,
)
from graveler_gateway.protocol.errors import Code, S3ResponseError
from graveler_gateway.protocol.head import RequestHead
from tests.support.checks.cases import for_each

ETAG = "abc"
# The object changed within this second.
MODIFIED_NS = 1_795_424_746_999_999_999
BEFORE = "Mon, 23 Nov 2026 09:05:45 GMT"
AT = "Mon, 23 Nov 2026 09:05:46 GMT"
AFTER = "Mon, 23 Nov 2026 09:05:47 GMT"

PROCEED, NOT_MODIFIED, FAILED = (
    ConditionVerdict.PROCEED,
    ConditionVerdict.NOT_MODIFIED,
    ConditionVerdict.PRECONDITION_FAILED,
)

TABLE = [
    ({}, PROCEED),
    ({"if-match": '"abc"'}, PROCEED),
    ({"if-match": "abc"}, PROCEED),
    ({"if-match": "*"}, PROCEED),
    ({"if-match": '"x", "abc"'}, PROCEED),
    ({"if-match": '"x"'}, FAILED),
    ({"if-match": '"ABC"'}, FAILED),
    ({"if-match": 'W/"abc"'}, FAILED),
    ({"if-match": ""}, PROCEED),
    ({"if-none-match": ""}, PROCEED),
    ({"if-match": "", "if-unmodified-since": BEFORE}, FAILED),
    ({"if-none-match": '"abc"'}, NOT_MODIFIED),
    ({"if-none-match": "abc"}, NOT_MODIFIED),
    ({"if-none-match": 'W/"abc"'}, NOT_MODIFIED),
    ({"if-none-match": '"x","abc"'}, NOT_MODIFIED),
    ({"if-none-match": "*"}, NOT_MODIFIED),
    ({"if-none-match": '"x"'}, PROCEED),
    ({"if-unmodified-since": BEFORE}, FAILED),
    ({"if-unmodified-since": AT}, PROCEED),
    ({"if-unmodified-since": AFTER}, PROCEED),
    ({"if-unmodified-since": "yesterday"}, PROCEED),
    ({"if-modified-since": BEFORE}, PROCEED),
    ({"if-modified-since": AT}, NOT_MODIFIED),
    ({"if-modified-since": AFTER}, NOT_MODIFIED),
    ({"if-modified-since": "yesterday"}, PROCEED),
    # A tag outranks the date of its kind.
    ({"if-match": '"abc"', "if-unmodified-since": BEFORE}, PROCEED),
    ({"if-match": '"x"', "if-unmodified-since": AFTER}, FAILED),
    ({"if-none-match": '"abc"', "if-modified-since": BEFORE}, NOT_MODIFIED),
    ({"if-none-match": '"x"', "if-modified-since": AFTER}, PROCEED),
    # What must hold outranks what saves a transfer.
    ({"if-match": '"x"', "if-none-match": '"abc"'}, FAILED),
    ({"if-match": '"abc"', "if-none-match": '"abc"'}, NOT_MODIFIED),
    ({"if-match": '"abc"', "if-modified-since": AFTER}, NOT_MODIFIED),
    ({"if-unmodified-since": BEFORE, "if-modified-since": AFTER}, FAILED),
    ({"if-unmodified-since": BEFORE, "if-none-match": '"x"'}, FAILED),
    ({"if-unmodified-since": AFTER, "if-modified-since": AFTER}, NOT_MODIFIED),
]


def head(headers: dict[str, str]) -> RequestHead:
    return RequestHead("GET", "/lake/main/a", "", list(headers.items()))


@for_each(("headers", "verdict"), TABLE)
def test_a_read_is_decided_by_its_conditions(headers, verdict):
    assert read_verdict(head(headers), ETAG, MODIFIED_NS) is verdict


@for_each(("headers", "verdict"), TABLE)
def test_a_copy_proceeds_if_a_read_would_and_fails_otherwise(headers, verdict):
    of_source = head({f"x-amz-copy-source-{name}": text for name, text in headers.items()})
    expected = PROCEED if verdict is PROCEED else FAILED
    assert copy_verdict(of_source, ETAG, MODIFIED_NS) is expected
    assert read_verdict(of_source, ETAG, MODIFIED_NS) is PROCEED


def test_the_conditions_of_a_copys_target_say_nothing_of_its_source():
    assert copy_verdict(head({"if-match": '"x"'}), ETAG, MODIFIED_NS) is PROCEED


@for_each(
    ("headers", "condition"),
    [
        ({}, WriteCondition()),
        ({"if-none-match": "*"}, WriteCondition(is_absent=True)),
        ({"if-none-match": " * "}, WriteCondition(is_absent=True)),
        ({"if-match": "*"}, WriteCondition(is_present=True)),
        ({"if-match": '"a"'}, WriteCondition(is_present=True, checksums=frozenset({"a"}))),
        ({"if-match": 'a, "b"'}, WriteCondition(is_present=True, checksums=frozenset({"a", "b"}))),
        ({"if-match": 'W/"a", "b"'}, WriteCondition(is_present=True, checksums=frozenset({"b"}))),
        ({"if-match": 'W/"a"'}, WriteCondition(is_present=True, checksums=frozenset())),
        ({"if-match": '"a", *'}, WriteCondition(is_present=True)),
        ({"if-modified-since": AFTER}, WriteCondition()),
    ],
)
def test_a_write_requires_what_its_headers_say(headers, condition):
    assert write_condition(head(headers)) == condition


@for_each(
    "headers",
    [
        {"if-none-match": '"a"'},
        {"if-none-match": "*, *"},
        {"if-none-match": "*", "if-match": "*"},
        {"if-none-match": "*", "if-match": '"a"'},
    ],
)
def test_other_conditions_of_writes_are_not_implemented(headers):
    with pytest.raises(S3ResponseError) as caught:
        write_condition(head(headers))
    assert caught.value.code is Code.NOT_IMPLEMENTED


def test_dates_are_those_of_headers_and_documents():
    assert dates.http(MODIFIED_NS) == AT
    assert dates.iso(MODIFIED_NS) == "2026-11-23T09:05:46.000Z"
    assert dates.iso(0) == "1970-01-01T00:00:00.000Z"


@given(st.integers(0, 253_402_300_799))
def test_a_headers_date_is_read_back_to_the_second(time_s):
    assert dates.seconds_of_http(dates.http(time_s * 1_000_000_000)) == time_s


@for_each(
    "text",
    [
        AT,
        "Mon, 23 Nov 2026 10:05:46 +0100",
        "Monday, 23-Nov-26 09:05:46 GMT",
        "Mon Nov 23 09:05:46 2026",
    ],
)
def test_all_spellings_of_http_dates_are_read(text):
    assert dates.seconds_of_http(text) == MODIFIED_NS // 1_000_000_000


@given(st.text() | st.text("0123456789 :,+-GMTNov"))
def test_no_text_breaks_the_reading_of_dates(text):
    assert isinstance(dates.seconds_of_http(text), int | None)


@for_each(
    ("method", "headers", "named"),
    [
        ("PUT", {"if-none-match": "*"}, "If-None-Match"),
        ("PUT", {"if-match": ETAG}, "If-Match"),
        ("PUT", {"x-amz-copy-source-if-match": ETAG}, "x-amz-copy-source-If-Match"),
        ("GET", {"if-none-match": "*", "if-unmodified-since": AT}, "If-Unmodified-Since"),
        ("GET", {"if-match": ETAG, "if-unmodified-since": AT}, "If-Match"),
    ],
)
def test_a_failed_condition_is_named(method, headers, named):
    head = RequestHead(method, "/", "", tuple(headers.items()))
    failed, missing = S3ResponseError(Code.PRECONDITION_FAILED), S3ResponseError(Code.NO_SUCH_KEY)
    assert details_of_refusal(head, failed) == {"Condition": named}
    assert details_of_refusal(head, missing) == {}
