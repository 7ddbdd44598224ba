"""An import gives what lakeFS gives, and the right thing where lakeFS is known to be wrong."""

import json
from pathlib import Path

import pytest

from graveler.committed.apply import apply_changes
from graveler.imports.changes import import_changes, is_whole
from graveler.imports.keys import KeyInterval
from tests.support.checks.cases import for_each
from tests.support.worlds.model import (
    BREAKINGS,
    committed_in_memory,
    opened,
    read,
    token_records,
    write,
)

VECTORS = Path(__file__).parents[2] / "golden" / "vectors"
# In the cases of a conflict a record is outside of all destinations. A request cannot ask for that.
CASES = [case for case in json.loads((VECTORS / "imports.json").read_text()) if not case["error"]]


@pytest.mark.parametrize("breaking", BREAKINGS, ids=str)
@for_each("case", CASES, ids=lambda case: case["name"])
def test_an_import_gives_what_lakefs_gives(case, breaking):
    committed, _ = committed_in_memory(breaking)
    base, imported = (write(committed, token_records(case[side])) for side in ("dest", "source"))
    replaced = [KeyInterval.of_prefix(prefix.encode()) for prefix in case["prefixes"]]
    expected = token_records(case.get("naive_result", case["result"]))
    if is_whole(base, replaced):
        assert read(imported) == expected
    changed = apply_changes(committed, base, import_changes(imported, base, replaced))
    assert read(opened(committed, changed.metarange_id)) == expected


def test_enough_cases_are_tried():
    assert len(CASES) == 61
