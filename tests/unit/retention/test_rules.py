"""Retention rules: what may be said, and the file that holds it."""

import pytest

from graveler.errors import CorruptDataError, InvalidInputError
from graveler.retention.rules import (
    RETENTION_DAYS_MAX,
    RetentionRules,
    decode_rules,
    encode_rules,
    make_rules,
)
from tests.support.checks.cases import for_each

URI = "s3://bucket/lake/rules"


@for_each(
    ("rules", "content"),
    [
        (RetentionRules(14, {}), b"\x08\x0e"),
        # Fields 1 (varint) and 2 (map: key 1, value 2), as protobuf writes them, in their order.
        (
            RetentionRules(14, {"main": 21, "dev": 7, "a": 0}),
            b"\x08\x0e\x12\x08\x0a\x04main\x10\x15\x12\x07\x0a\x03dev\x10\x07\x12\x05\x0a\x01a\x10\x00",
        ),
        (RetentionRules(0, {"main": 0}), b"\x12\x08\x0a\x04main\x10\x00"),
        (
            RetentionRules(RETENTION_DAYS_MAX, {"a": RETENTION_DAYS_MAX}),
            b"\x08\xff\xff\xff\xff\x07\x12\x09\x0a\x01a\x10\xff\xff\xff\xff\x07",
        ),
    ],
)
def test_the_file_is_lakefss_message(rules: RetentionRules, content: bytes) -> None:
    assert encode_rules(rules) == content
    decoded = decode_rules(content, URI)
    assert decoded == rules
    assert list(decoded.branch_days) == list(rules.branch_days)


def test_an_empty_file_and_rules_of_nothing_are_no_rules() -> None:
    assert decode_rules(b"", URI) is None
    assert decode_rules(encode_rules(make_rules(0, [])), URI) is None


@for_each(
    "content",
    [
        b'{"default_retention_days": 14, "branches": []}',
        b"\x08",
        b"\x12\x09\x0a\x04main",
        b"\x18\x05",  # a field 3
        b"\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01",  # -1 days
        b"\x12\x0c\x0a\x01a\x10\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01",  # -1 for a branch
    ],
)
def test_a_file_that_is_not_understood_is_corrupt_and_named(content: bytes) -> None:
    with pytest.raises(CorruptDataError, match=URI):
        decode_rules(content, URI)


def test_a_branch_without_a_rule_has_the_default() -> None:
    rules = make_rules(14, [("main", 21)])
    assert (rules.days_of("main"), rules.days_of("dev")) == (21, 14)


@for_each(
    ("default_days", "branch_days", "message"),
    [
        (-1, [], "default_retention_days must be 0"),
        (2**31, [], "default_retention_days must be 0 to 2147483647"),
        (1, [("main", -1)], "retention_days of branch 'main'"),
        (1, [("main", 2**31)], "retention_days of branch 'main'"),
        (1, [("main", 1), ("dev", 2), ("main", 1)], "branch 'main' has more than one"),
        (1, [("a b", 1)], "branch id: .*'a b'"),
        (1, [("", 1)], "branch id: .*''"),
    ],
)
def test_bad_rules_are_refused_by_name(
    default_days: int, branch_days: list[tuple[str, int]], message: str
) -> None:
    with pytest.raises(InvalidInputError, match=message):
        make_rules(default_days, branch_days)
