"""Ref expressions are read as lakeFS reads them."""

import pytest

from graveler.errors import InvalidInputError
from graveler.refs.expressions import Modifier, RefExpression, parse
from tests.support.checks.cases import for_each
from tests.unit.refs.graphs import vectors


@for_each("case", vectors("refs")["parse"], ids=lambda case: ascii(case["expr"])[:40])
def test_an_expression_parses_as_in_lakefs(case):
    if not case["parse_ok"]:
        with pytest.raises(InvalidInputError, match="ref: invalid value"):
            parse(case["expr"])
        return
    modifiers = tuple(Modifier(kind, number) for kind, number in case.get("modifiers", []))
    assert parse(case["expr"]) == RefExpression(case["base"], modifiers)


@for_each(
    ("number", "value"),
    [
        ("-9223372036854775808", -(2**63)),
        ("+9223372036854775807", 2**63 - 1),
        ("-0", 0),
        ("0" * 5000 + "7", 7),
    ],
)
def test_a_number_may_be_anything_that_64_bits_hold(number, value):
    assert parse(f"a~{number}").modifiers == (Modifier("~", value),)


@for_each(
    "number",
    ["9223372036854775808", "-9223372036854775809", "9" * 5000, "+", "-", "+-1", "--1", "1-", "²"],
)
def test_any_other_number_is_refused(number):
    with pytest.raises(InvalidInputError, match="is not a number"):
        parse(f"a^{number}")


def test_the_message_says_what_is_wrong():
    with pytest.raises(InvalidInputError, match="nothing may follow '@'"):
        parse("main@{1}")
    with pytest.raises(InvalidInputError, match="must come first"):
        parse("~1")
