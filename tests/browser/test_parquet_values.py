"""The cells of a Parquet file are what its writer stored: no digit is lost, and no time zone is made up."""

import datetime as dt
import io
import uuid
from collections.abc import Callable
from decimal import Decimal
from functools import partial
from tempfile import NamedTemporaryFile
from typing import Any

import polars as pl
import pyarrow as pa
import pytest
from playwright.sync_api import expect
from pyarrow import parquet

from tests.browser import lakes
from tests.browser.visits import faults
from tests.support.clients.apart import another_process

pytestmark = pytest.mark.browser

NOON = dt.datetime(2026, 1, 31, 12, 34, 56, 123456)
# Each column: its name, its values and type, what its head says, and its cells.
COLUMNS = [
    (
        "amount",
        pa.array([Decimal("123456789.99"), Decimal("1.50"), None], pa.decimal128(18, 2)),
        "decimal(18,2)",
        ["123456789.99", "1.50", "null"],
    ),
    (
        "wide",
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
        "instant",
        pa.array([1, -1, None], pa.timestamp("ns", "UTC")),
        "timestamp[ns, UTC]",
        ["1970-01-01T00:00:00.000000001Z", "1969-12-31T23:59:59.999999999Z", "null"],
    ),
    (
        "day",
        pa.array([dt.date(2026, 1, 31), dt.date(1600, 2, 29), None]),
        "date",
        ["2026-01-31", "1600-02-29", "null"],
    ),
    (
        "clock",
        pa.array([3_723_000_000_000, 1, None], pa.time64("ns")),
        "time[ns]",
        ["01:02:03", "00:00:00.000000001", "null"],
    ),
    ("raw", pa.array([b"\x00\xff", b"a", None]), "binary", ["00ff", "61", "null"]),
    (
        "large",
        pa.array([2**64 - 1, 2**53 + 1, None], pa.uint64()),
        "uint64",
        ["18446744073709551615", "9007199254740993", "null"],
    ),
    ("half", pa.array([0.5, -2.0, None], pa.float16()), "float16", ["0.5", "-2", "null"]),
    ("single", pa.array([0.1, -1.5, None], pa.float32()), "float", ["0.1", "-1.5", "null"]),
    ("text", pa.array(["é", "", None]), "string", ["é", "", "null"]),
    (
        "prices",
        pa.array([[Decimal("1.50"), None], [], None], pa.list_(pa.decimal128(18, 2))),
        "list<decimal(18,2)>",
        ["[1.50,null]", "[]", "null"],
    ),
    (
        "event",
        pa.array(
            [{"at": NOON, "id": 2**60 + 1}, {"at": None, "id": None}, None],
            pa.struct([("at", pa.timestamp("us")), ("id", pa.int64())]),
        ),
        "struct<at: timestamp[us], id: int64>",
        [
            '{"at":"2026-01-31T12:34:56.123456","id":1152921504606846977}',
            '{"at":null,"id":null}',
            "null",
        ],
    ),
]  # fmt: skip
# These types are pyarrow's alone.
ARROW_COLUMNS = [
    (
        "id",
        pa.array([uuid.UUID(int=1).bytes, uuid.UUID(int=2**128 - 1).bytes, None], pa.uuid()),
        "uuid",
        [str(uuid.UUID(int=1)), str(uuid.UUID(int=2**128 - 1)), "null"],
    ),
    (
        "rates",
        pa.array(
            [[(dt.date(2026, 1, 31), Decimal("0.10"))], [], None],
            pa.map_(pa.date32(), pa.decimal128(9, 2)),
        ),
        "map<date, decimal(9,2)>",
        ['{"2026-01-31":0.10}', "{}", "null"],
    ),
]  # fmt: skip
# As Spark and Impala wrote them, without a time zone.
OLD_COLUMNS = [
    (
        "old",
        pa.array([NOON, dt.datetime(1969, 12, 31), None], pa.timestamp("us")),
        "timestamp[ns]",
        ["2026-01-31T12:34:56.123456000", "1969-12-31T00:00:00", "null"],
    ),
]  # fmt: skip


def table(columns):
    return pa.table({name: values for name, values, _, _ in columns})


def arrow_file(columns, **options):
    file = io.BytesIO()
    parquet.write_table(table(columns), file, **options)
    return file.getvalue()


def polars_file(columns):
    with another_process() as call, NamedTemporaryFile() as file:
        call(pl.DataFrame.write_parquet, pl.DataFrame(pl.from_arrow(table(columns))), file.name)
        return file.read()


FILES: dict[str, tuple[list[Any], Callable[..., bytes]]] = {
    "polars.parquet": (COLUMNS, polars_file),
    "arrow.parquet": (
        [*COLUMNS, *ARROW_COLUMNS],
        partial(arrow_file, store_decimal_as_integer=True),
    ),
    "plain.parquet": (
        [*COLUMNS, *ARROW_COLUMNS],
        partial(arrow_file, use_dictionary=False, data_page_version="2.0", row_group_size=1),
    ),
    "int96.parquet": (OLD_COLUMNS, partial(arrow_file, use_deprecated_int96_timestamps=True)),
}


@pytest.fixture(scope="module")
def lake(client):
    files = {path: write(columns) for path, (columns, write) in FILES.items()}
    return lakes.create(client, files=files).id


def test_each_cell_is_the_value_and_each_head_its_type(visit, lake):
    def check(path):
        page = visit.open(f"/repositories/{lake}/object?ref=main&path={path}")
        columns, _ = FILES[path]
        rows = page.get_by_role("region", name="Rows").get_by_role("row")
        expect(rows).to_have_count(1 + 3)
        heads = rows.nth(0).locator(".type")
        expect(heads).to_have_text([head for _, _, head, _ in columns])
        for number in range(3):
            cells = [cells[number] for _, _, _, cells in columns]
            expect(rows.nth(1 + number).get_by_role("cell")).to_have_text(cells)

    assert faults(check, FILES) == {}


ENDS = [
    ("amount", "1.50", "123456789.99"),
    ("wide", "-0.050000000000000000", "1.234567890123456789"),
    ("instant", "1969-12-31T23:59:59.999999999Z", "1970-01-01T00:00:00.000000001Z"),
    ("day", "1600-02-29", "2026-01-31"),
    ("large", "9007199254740993", "18446744073709551615"),
]


@pytest.mark.parametrize("path", ["polars.parquet", "plain.parquet"])
def test_the_ends_of_a_column_are_exact(visit, lake, path):
    page = visit.open(f"/repositories/{lake}/object?ref=main&path={path}")

    def check(case):
        column, least, greatest = case
        page.get_by_title(f"Facts of column {column}", exact=True).click()
        facts = page.get_by_role("dialog", name=f"Column {column}").locator("dd")
        expect(facts).to_have_text([facts.nth(0).inner_text(), "1", least, greatest])
        page.keyboard.press("Escape")

    assert faults(check, ENDS) == {}


def test_a_change_of_the_last_digit_and_of_a_null_shows(visit, client):
    def changed(amount, at, text):
        data = {
            "id": pa.array([1]),
            "amount": pa.array([Decimal(amount)], pa.decimal128(38, 18)),
            "at": pa.array([at], pa.timestamp("ns")),
            "text": pa.array([text], pa.string()),
        }
        file = io.BytesIO()
        parquet.write_table(pa.table(data), file)
        return file.getvalue()

    before = changed("1.234567890123456788", 1, None)
    repository = lakes.create(client, files={"a.parquet": before})
    after = changed("1.234567890123456789", 2, "")
    repository.branch("main").object("a.parquet").upload(after)
    page = visit.open(f"/repositories/{repository.id}/changes?ref=main&object=a.parquet")
    row = page.get_by_role("region", name="Changed rows").get_by_role("row").nth(1)
    expect(row.locator("del")).to_have_text(
        ["1.234567890123456788", "1970-01-01T00:00:00.000000001", "(none)"]
    )
    expect(row.locator("ins")).to_have_text(
        ["1.234567890123456789", "1970-01-01T00:00:00.000000002", ""]
    )
