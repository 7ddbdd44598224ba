"""Which changes of a table leave its rows as they are."""

from typing import Any

import pytest

from graveler.iceberg.merging import has_equal_rows
from graveler.iceberg.shapes import Document
from tests.support.worlds.iceberg_tables import (
    add,
    set_ref,
    snapshot,
    table,
    updated,
    with_snapshots,
)

BASE = with_snapshots(table(), 1, 2)


def grown(base: Document, number: int, parent: int | None, operation: str) -> Document:
    rows = {"first_row_id": base.get("next-row-id", 0), "added_rows": 10}
    added = snapshot(number, parent, summary={"operation": operation}, **rows)
    return updated(base, add(added), set_ref(number))


@pytest.mark.parametrize("version", [2, 3])
def test_compactions_leave_the_rows(version: int) -> None:
    base = with_snapshots(table(version), 1, 2)
    assert has_equal_rows(base, base)
    once = grown(base, 3, 2, "replace")
    assert has_equal_rows(base, once)
    assert has_equal_rows(base, grown(once, 4, 3, "replace"))


@pytest.mark.parametrize("operation", ["append", "overwrite", "delete", "unknown"])
def test_other_snapshots_may_change_rows(operation: str) -> None:
    assert not has_equal_rows(BASE, grown(BASE, 3, 2, operation))
    compacted = grown(BASE, 3, 2, "replace")
    assert not has_equal_rows(BASE, grown(compacted, 4, 3, operation))
    changed = grown(BASE, 3, 2, operation)
    assert not has_equal_rows(BASE, grown(changed, 4, 3, "replace"))


PROPERTY = {"action": "set-properties", "updates": {"a": "b"}}


@pytest.mark.parametrize(
    "updates",
    [
        [PROPERTY],
        [set_ref(1)],
        [set_ref(2, "other")],
        [{"action": "remove-snapshots", "snapshot-ids": [1]}],
        [{"action": "remove-snapshot-ref", "ref-name": "main"}],
        [add(snapshot(3, 2, summary={"operation": "replace"}))],
        [add(snapshot(3, 2, summary={"operation": "append"})), set_ref(3, "audit")],
        [add(snapshot(3, 1, summary={"operation": "replace"})), set_ref(3)],
    ],
)
def test_all_else_is_a_change(updates: list[dict[str, Any]]) -> None:
    assert not has_equal_rows(BASE, updated(BASE, *updates))


def test_a_table_without_rows_may_get_a_first_compaction() -> None:
    empty = table()
    assert has_equal_rows(empty, grown(empty, 1, None, "replace"))
    assert not has_equal_rows(empty, grown(empty, 1, None, "append"))
