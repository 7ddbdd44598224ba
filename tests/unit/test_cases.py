"""A table that is tried in one test says of each row what failed, as one test for each would."""

from contextlib import contextmanager

import pytest

from tests.support.checks.cases import for_each


class Reports:
    """Stands for the fixture `subtests`: keeps what it is told, and goes on."""

    def __init__(self):
        self.failed = []

    @contextmanager
    def test(self, message):
        try:
            yield
        except (AssertionError, pytest.fail.Exception) as error:
            self.failed.append((message, str(error).partition("\n")[0]))


def reported(test, **fixtures):
    reports = Reports()
    test(subtests=reports, **fixtures)
    return reports.failed


def test_every_row_that_fails_is_reported_and_the_others_are_tried():
    tried = []

    @for_each("number", [1, 2, 3, 4])
    def test(number, least):
        tried.append(number)
        if number % 2:
            pytest.fail(f"odd, not {least}")

    assert reported(test, least=0) == [("1", "odd, not 0"), ("3", "odd, not 0")]
    assert tried == [1, 2, 3, 4]


def test_tables_over_one_test_are_combined():
    @for_each("first", "ab", ids=str.upper)
    @for_each(("second", "third"), [(1, 2), (3, 4)])
    def test(first, second, third):
        assert (first, second, third) == ("a", 1, 2)

    assert [row for row, _ in reported(test)] == ["A, (3, 4)", "B, (1, 2)", "B, (3, 4)"]


def test_a_table_without_rows_is_refused():
    with pytest.raises(AssertionError, match="tests nothing"):
        for_each("number", [])
