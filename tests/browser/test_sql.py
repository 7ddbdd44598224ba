"""SQL over a branch: a table is an object or a folder, of any ref, and only what is needed is read."""

import io

import pyarrow as pa
import pytest
from playwright.sync_api import expect
from pyarrow import parquet

from tests.browser import lakes

pytestmark = pytest.mark.browser


def trips(fares):
    file = io.BytesIO()
    parquet.write_table(pa.table({"id": range(len(fares)), "fare": fares}), file)
    return file.getvalue()


@pytest.fixture
def lake(client):
    """Return a lake whose branch `dev` has another fare than `main`."""
    files = {"trips.parquet": trips([5.0, 7.5, 20.0]), "zones.csv": b"id,name\n0,Harbour\n2,Park\n"}
    repository = lakes.create(client, files=files)
    dev = repository.branch("dev").create("main")
    dev.object("trips.parquet").upload(trips([5.0, 9.5, 20.0]))
    dev.commit("Another fare")
    return repository.id


def ask(page, query):
    page.get_by_role("textbox", name="Query").fill(query)
    page.keyboard.press("Control+Enter")


def cells(page):
    return page.get_by_role("region", name="Rows").get_by_role("cell")


def test_a_table_is_queried_from_its_page_and_compared_with_another_branch(visit, lake):
    page = visit.open(f"/repositories/{lake}/object?ref=dev&path=trips.parquet")
    page.get_by_role("link", name="Query").click()
    expect(cells(page)).to_have_text(["0", "5", "1", "9.5", "2", "20"])
    expect(page.get_by_role("status").first).to_contain_text("3 rows scanned")
    ask(
        page,
        f"SELECT name, was.fare, now.fare FROM 'lakefs://{lake}/main/trips.parquet' was\n"
        "JOIN 'trips.parquet' now USING (id) LEFT JOIN 'zones.csv' USING (id)\n"
        "WHERE was.fare <> now.fare",
    )
    expect(cells(page)).to_have_text(["null", "7.5", "9.5"])
    pins = page.get_by_role("status").first
    expect(pins).to_contain_text("dev at commit")
    expect(pins).to_contain_text("main at commit")
    page.reload()  # the query is in the address
    expect(cells(page)).to_have_text(["null", "7.5", "9.5"])
    with page.expect_download() as saved:
        page.get_by_role("button", name="CSV").click()
    assert saved.value.path().read_bytes() == b"name,fare,fare\r\n,7.5,9.5\r\n"
    expect(page.get_by_text("A spreadsheet runs texts")).to_have_count(0)
    page.get_by_role("searchbox").fill("fair > 5")
    expect(
        page.get_by_text("No rows that match the filter. There is no column fair")
    ).to_be_visible()
    ask(page, "SELECT '=1+1' AS sum")
    expect(cells(page)).to_have_text(["=1+1"])
    with page.expect_download():
        page.get_by_role("button", name="CSV").click()
    expect(page.get_by_text("A spreadsheet runs texts that begin with")).to_be_visible()
    assert visit.serious_barriers() == []


def test_a_mistake_is_pointed_at_and_a_query_can_be_stopped(visit, lake):
    page = visit.open(f"/repositories/{lake}/sql?ref=main")
    page.get_by_role("button", name="The first rows").click()
    expect(cells(page)).to_have_count(6)
    ask(page, "SELECT fare\nFORM 'trips.parquet'")
    wrong = page.get_by_role("alert")
    expect(wrong).to_contain_text("Line 2")
    expect(wrong.locator("pre")).to_have_text("FORM 'trips.parquet'\n     ^^^^^^^^^^^^^^^")
    ask(page, "SELECT name FROM 'zones.csv' WHERE name = 2")
    expect(wrong).to_contain_text("name (string) is a text, and is compared with 2")
    ask(page, "SELECT * FROM 'nowhere/'")
    visit.expect_statuses(404)
    expect(wrong).to_contain_text("There is no table nowhere/ at main")
    ask(
        page, "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n"
    )
    expect(page.get_by_role("button", name="Stop")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_text("The query is stopped.")).to_be_visible()


def test_the_objects_of_a_ref_are_a_table(visit, lake):
    page = visit.open(f"/repositories/{lake}/sql?ref=main")
    page.get_by_role("button", name="The largest objects").click()
    expect(cells(page).first).to_have_text("trips.parquet")
    ask(page, "SELECT count(*) FROM 'system.objects' WHERE path LIKE '%.csv'")
    expect(cells(page)).to_have_text(["1"])
