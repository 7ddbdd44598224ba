"""Tables of cases that are cheap and alike, tried in one test: a case of pytest costs milliseconds."""

import inspect
from collections.abc import Callable, Iterable, Sequence
from functools import wraps
from itertools import product
from typing import Any

import pytest

Values = dict[str, Any]


def for_each(
    names: str | Sequence[str], rows: Iterable[Any], ids: Callable[[Any], object] = lambda row: row
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Try all rows in one test, where `pytest.mark.parametrize` makes a test of each one.

    Every row that fails is reported, with its values or what `ids` makes of them. Several tables
    over one test are combined. All rows share the fixtures: a test that changes its world either
    makes the world itself or keeps `pytest.mark.parametrize`.
    """
    names = [names] if isinstance(names, str) else names
    table = [
        (dict(zip(names, row if len(names) > 1 else [row], strict=True)), ids(row)) for row in rows
    ]
    assert table, "a table without rows tests nothing"

    def decorate(test: Callable[..., None]) -> Callable[..., None]:
        tables = [table, *getattr(test, "tables", [])]
        try_row: Callable[..., None] = vars(test).get("try_row", test)

        @wraps(try_row)
        def try_rows(*receiver: object, subtests: pytest.Subtests, **fixtures: Any) -> None:
            for cells in product(*tables):
                values = {name: value for row, _ in cells for name, value in row.items()}
                try:
                    try_row(*receiver, **fixtures, **values)
                except (Exception, pytest.fail.Exception, pytest.skip.Exception):
                    with subtests.test(", ".join(f"{shown!s:.80}" for _, shown in cells)):
                        raise

        known = {name for each in tables for name in each[0][0]}
        asked = inspect.signature(try_row).parameters.values()
        fixture = inspect.Parameter("subtests", inspect.Parameter.KEYWORD_ONLY)
        kept = [each for each in asked if each.name not in known]
        vars(try_rows).update(
            tables=tables, try_row=try_row, __signature__=inspect.Signature([*kept, fixture])
        )
        return try_rows

    return decorate
