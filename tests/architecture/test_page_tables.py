"""The documents say what the code says."""

import pytest

from tests.architecture.page_tables import TABLES, PageTable


@pytest.mark.parametrize("table", TABLES, ids=lambda table: table.head)
def test_a_table_that_is_made_from_the_code_is_current(table: PageTable):
    text = table.path.read_text()
    assert text == table.made(text), "run `make docs`"
