"""The expressions of `if:`."""

import pytest

from graveler.actions.condition import holds
from graveler.errors import InvalidInputError
from tests.support.checks.cases import for_each

# Expression, its value after no failure, and after one.
EXPRESSIONS = {
    "": (True, False),
    "  ": (True, False),
    "success()": (True, False),
    "failure()": (False, True),
    "true": (True, True),
    "false": (False, False),
    "!success()": (False, True),
    "not success( )": (False, True),
    "success() || failure()": (True, True),
    "success() or failure()": (True, True),
    "success() && failure()": (False, False),
    "true or false and false": (True, True),
    "(true or false) and false": (False, False),
    "success() == true": (True, False),
    "failure() != true": (True, False),
    "not (failure() and true)": (True, False),
}


@for_each(("text", "values"), EXPRESSIONS.items())
def test_an_expression_has_its_value(text, values):
    assert (holds(text, failed=False), holds(text, failed=True)) == values


@for_each(
    "text",
    [
        *(
            "success",
            "success() failure()",
            "1 < 2",
            "()",
            "(true",
            "true)",
            "not",
            "and",
            "trueish",
        ),
        *(
            "success(1)",
            "true true",
            "__import__('os')",
            "(" * 150 + "true",
            "true" + " or true" * 40,
        ),
    ],
)
def test_other_expressions_are_refused(text):
    with pytest.raises(InvalidInputError, match="'if'"):
        holds(text, failed=False)
