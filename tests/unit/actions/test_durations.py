"""Durations as Go writes them."""

import pytest

from graveler.actions.durations import seconds
from graveler.errors import InvalidInputError
from tests.support.checks.cases import for_each


@for_each(
    ("text", "expected"),
    [("1s", 1), ("1m30s", 90), ("1.5h", 5400), ("250ms", 0.25), (".5s", 0.5), ("1h2m3s", 3723)],
)
def test_a_duration_is_read(text, expected):
    assert seconds(text) == pytest.approx(expected)


@for_each("text", ["", "1", "s", "-1s", "0s", "1 s", "1d", "1s2", "1e3s", "9" * 400 + "s"])
def test_other_texts_are_refused(text):
    with pytest.raises(InvalidInputError, match="invalid duration"):
        seconds(text)
