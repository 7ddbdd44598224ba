"""A comparison of tables shows which rows really changed, whatever became of the columns around them."""

import io
import re
from decimal import Decimal

import pyarrow as pa
import pytest
from playwright.sync_api import expect
from pyarrow import parquet

from tests.browser import lakes
from tests.browser.visits import faults

pytestmark = pytest.mark.browser

ROWS = 250


def parquet_file(**columns):
    file = io.BytesIO()
    parquet.write_table(pa.table(columns), file)
    return file.getvalue()


def sales():
    """Return two versions: a column is added, one is removed, one has another type, two rows change."""
    ids = list(range(ROWS))
    amounts = [Decimal(at) / 4 for at in ids]
    before = parquet_file(
        id=pa.array(ids, pa.int32()),
        amount=pa.array(amounts, pa.decimal128(9, 2)),
        note=["old"] * ROWS,
    )
    amounts[7] += 1
    amounts[200] = Decimal(1_000)
    after = parquet_file(
        discount=[0.5] * ROWS,
        amount=pa.array([*amounts[1:], Decimal(3)], pa.decimal128(9, 4)),
        id=pa.array([*ids[1:], 900], pa.int64()),
    )
    return before, after


CHANGES = {
    "sales.parquet": sales(),
    "cities.csv": (b"city,n\nOslo,1\nOslo,2\nGhent,3\n", b"n,city\n2,Oslo\n3,Bergen\n"),
}


@pytest.fixture(scope="module")
def lake(client):
    repository = lakes.create(client, files={path: old for path, (old, _) in CHANGES.items()})
    for path, (_, new) in CHANGES.items():
        repository.branch("main").object(path).upload(new)
    return repository.id


@pytest.fixture
def compare(visit, lake):
    """Shows the comparison of the object at a path; returns the page."""
    return lambda path: visit.open(f"/repositories/{lake}/changes?ref=main&object={path}")


def rows_of(page):
    """Return the rows of the table with the changes, its head first."""
    return page.get_by_role("region", name="Changed rows").get_by_role("row")


def test_a_new_column_changes_no_row_and_what_changed_comes_first(visit, compare):
    page = compare("sales.parquet")
    columns = page.get_by_role("list", name="Changed columns").get_by_role("listitem")
    expect(columns).to_have_text(
        [
            "+Column discount added",
            "~Column amount: decimal(9,2) became decimal(9,4)",
            "~Column id: int32 became int64",
            "\u2212Column note removed",
        ]
    )
    types = page.get_by_role("group", name="Show changed rows").get_by_role("button")
    expect(types).to_have_text(
        [re.compile("2 rows changed"), re.compile("1 row added"), re.compile("1 row removed")]
    )
    rows = rows_of(page)
    expect(rows).to_have_count(1 + 4)
    expect(rows.nth(1).locator("del")).to_have_text("1.75")
    expect(rows.nth(1).locator("ins")).to_have_text("2.7500")
    expect(rows.nth(2).locator("ins")).to_have_text("1000.0000")
    assert visit.serious_barriers() == []


def test_changed_rows_are_sorted_filtered_and_of_one_type_as_the_address_says(compare):
    page = compare("sales.parquet")
    page.get_by_title("Facts of column amount", exact=True).click()
    facts = page.get_by_role("dialog", name="Column amount")
    expect(facts).to_contain_text("decimal(9,2) → decimal(9,4)")
    facts.get_by_role("button", name="Descending").click()
    page.keyboard.press("Escape")
    expect(rows_of(page).nth(1)).to_contain_text("1000.0000")
    page.get_by_role("searchbox", name="Show only rows").fill("id < 100")
    expect(rows_of(page)).to_have_count(1 + 2)
    page.get_by_role("button", name="1 row removed").click()
    expect(rows_of(page)).to_have_count(1 + 1)
    page.reload()
    expect(rows_of(page).nth(1)).to_contain_text("removed")
    expect(page).to_have_url(re.compile("sort=amount&order=desc&filter=id.*rows=removed"))


def test_rows_are_matched_by_what_the_user_chooses(compare):
    page = compare("cities.csv")
    choice = page.get_by_label("Match rows by")
    expect(choice).to_have_value("column n")

    def check(case):
        value, expected = case
        choice.select_option(value)
        types = page.get_by_role("group", name="Show changed rows").get_by_role("button")
        expect(types).to_have_text([re.compile(f"{count} rows?") for count in expected])

    # The places of the columns differ, which is no change.
    cases = [
        ("column n", (1, 0, 1)),
        ("column city", (0, 1, 2)),
        ("row", (0, 1, 2)),
        ("position", (2, 0, 1)),
    ]
    assert faults(check, cases) == {}
    choice.select_option("column city")
    expect(page.get_by_text("Several rows have the same city.")).to_be_visible()


def test_a_preview_sorts_and_filters_all_its_rows(visit, lake):
    page = visit.open(f"/repositories/{lake}/object?ref=main&path=sales.parquet&sort=amount")
    rows = page.get_by_role("region", name="Rows").get_by_role("row")
    expect(rows.nth(1).get_by_role("cell").nth(1)).to_have_text("0.2500")
    page.get_by_role("searchbox", name="Show only rows").fill("amount > 60")
    expect(page.get_by_text("Rows 1 to 10 of 10 that match")).to_be_visible()
    expect(rows.nth(10).get_by_role("cell").nth(1)).to_have_text("1000.0000")
