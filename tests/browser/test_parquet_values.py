"""The cells of a Parquet file are what its writer stored: no digit is lost, and no time zone is made up."""

import datetime as dt
import io
from decimal import Decimal

import pyarrow as pa
import pytest
from playwright.sync_api import expect
from pyarrow import parquet

from tests.browser import lakes

pytestmark = pytest.mark.browser

NOON = dt.datetime(2026, 1, 31, 12, 34, 56, 123456)
# Each column: its name, its values and type, what its head says, and its cells. webui/tests has all types and writers.
COLUMNS = [
    (
        "amount",
        pa.array([Decimal("1.234567890123456789"), Decimal("-0.05"), None], pa.decimal128(38, 18)),
        "decimal(38,18)",
        ["1.234567890123456789", "-0.050000000000000000", "null"],
    ),
    (
        "local",
        pa.array([NOON, dt.datetime(1, 1, 1), None], pa.timestamp("us")),
        "timestamp[us]",
        ["2026-01-31T12:34:56.123456", "0001-01-01T00:00:00", "null"],
    ),
    (
        "prices",
        pa.array([[Decimal("1.50"), None], [], None], pa.list_(pa.decimal128(18, 2))),
        "list<decimal(18,2)>",
        ["[1.50,null]", "[]", "null"],
    ),
]  # fmt: skip


def parquet_file(data):
    file = io.BytesIO()
    parquet.write_table(pa.table(data), file)
    return file.getvalue()


def test_each_cell_is_the_value_each_head_its_type_and_the_ends_are_exact(visit, client):
    content = parquet_file({name: values for name, values, _, _ in COLUMNS})
    lake = lakes.create(client, files={"a.parquet": content}).id
    page = visit.open(f"/repositories/{lake}/object?ref=main&path=a.parquet")
    rows = page.get_by_role("region", name="Rows").get_by_role("row")
    expect(rows).to_have_count(1 + 3)
    expect(rows.nth(0).locator("button > span")).to_have_text([head for _, _, head, _ in COLUMNS])
    for number in range(3):
        cells = [cells[number] for _, _, _, cells in COLUMNS]
        expect(rows.nth(1 + number).get_by_role("cell")).to_have_text(cells)
    page.get_by_title("Facts of column amount", exact=True).click()
    facts = page.get_by_role("dialog", name="Column amount").locator("dd")
    ends = ["-0.050000000000000000", "1.234567890123456789"]
    expect(facts).to_have_text(["decimal(38,18)", "1", *ends])


def test_a_change_of_the_last_digit_and_of_a_null_shows(visit, client):
    def changed(amount, at, text):
        data = {
            "id": pa.array([1]),
            "amount": pa.array([Decimal(amount)], pa.decimal128(38, 18)),
            "at": pa.array([at], pa.timestamp("ns")),
            "text": pa.array([text], pa.string()),
        }
        return parquet_file(data)

    before = changed("1.234567890123456788", 1, None)
    repository = lakes.create(client, files={"a.parquet": before})
    after = changed("1.234567890123456789", 2, "")
    repository.branch("main").object("a.parquet").upload(after)
    page = visit.open(f"/repositories/{repository.id}/changes?ref=main&object=a.parquet")
    row = page.get_by_role("region", name="Changed rows").get_by_role("row").nth(1)
    expect(row.locator("del")).to_have_text(
        ["1.234567890123456788", "1970-01-01T00:00:00.000000001", "null"]
    )
    expect(row.locator("ins")).to_have_text(
        ["1.234567890123456789", "1970-01-01T00:00:00.000000002", ""]
    )
