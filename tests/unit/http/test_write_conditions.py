"""What If-Match and If-None-Match of a write require."""

import pytest

from graveler.errors import InvalidInputError, UnsupportedError
from graveler.http.write_conditions import required_checksum, requirement_of
from graveler.model import NO_REQUIREMENT, Requirement
from tests.support.checks.cases import for_each


@for_each(
    ("headers", "requirement"),
    [
        ({}, NO_REQUIREMENT),
        ({"if-none-match": "*"}, Requirement(is_absent=True)),
        ({"if-none-match": " * "}, Requirement(is_absent=True)),
        ({"if-match": "*"}, Requirement(is_present=True)),
        ({"if-match": '"abc"'}, Requirement(checksums=frozenset({"abc"}))),
        ({"if-match": '"a,b", "c" ,"d-2"'}, Requirement(checksums=frozenset({"a,b", "c", "d-2"}))),
        # Nothing is both absent and present, so such a write is always refused.
        ({"if-match": "*", "if-none-match": "*"}, Requirement(is_absent=True, is_present=True)),
        # If-Match compares strongly, so a weak tag equals none.
        ({"if-match": 'W/"abc"'}, Requirement(checksums=frozenset())),
        ({"if-match": 'W/"abc", "d"'}, Requirement(checksums=frozenset({"d"}))),
    ],
)
def test_a_write_requires_what_its_headers_say(headers, requirement):
    assert requirement_of(headers) == requirement


@for_each("tag", ['"abc"', "abc"])
def test_a_write_of_other_content_than_some_is_not_served(tag):
    with pytest.raises(UnsupportedError):
        requirement_of({"if-none-match": tag})


@for_each(
    "headers",
    [
        {"if-match": "abc"},
        {"if-match": ""},
        {"if-match": " "},
        {"if-none-match": ""},
        {"if-match": '"abc'},
        {"if-match": '"a" "b"'},
        {"if-match": '"a",'},
        {"if-match": '*, "a"'},
    ],
)
def test_malformed_conditions_are_refused_and_not_ignored(headers):
    with pytest.raises(InvalidInputError):
        requirement_of(headers)


@for_each(
    ("header", "checksum"),
    [(None, None), ('"abc"', "abc"), (" abc ", "abc"), ('""', ""), ('"0a-2"', "0a-2")],
)
def test_a_change_requires_the_checksum_that_was_read_with_and_without_quotes(header, checksum):
    headers = {} if header is None else {"if-match": header}
    assert required_checksum(headers) == checksum


@for_each("header", ["", " ", "*", '"abc', 'abc"', '"a", "b"', 'W/"abc"', "a b", "ü"])
def test_a_change_that_requires_anything_else_is_refused(header):
    with pytest.raises(InvalidInputError):
        required_checksum({"if-match": header})
