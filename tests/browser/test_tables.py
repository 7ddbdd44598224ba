"""The Iceberg tables of a ref are found, shown, and named where branches are compared."""

from urllib.parse import quote
from uuid import uuid4

import pyarrow as pa
import pytest
from lakefs_sdk import Policy, Statement, UserCreation
from playwright.sync_api import expect
from pyiceberg.catalog import load_catalog
from pyiceberg.types import StringType

from tests.browser import lakes
from tests.browser.test_every_page import LOOKS, WIDER_BY
from tests.browser.visits import session_of

pytestmark = pytest.mark.browser

PATH = "_lakefs_tables/iceberg/namespaces/sales/tables/orders"
ROWS = pa.table({"id": [1, 2], "city": ["Rome", "Oslo"]})


def catalog_of(stack, repository, ref):
    return load_catalog(
        "lake",
        type="rest",
        uri=f"{stack.endpoint}/iceberg/relative_to/{repository.id}.{ref}/api",
        credential=f"{stack.access_key_id}:{stack.secret_access_key}",
        **{"oauth2-server-uri": f"{stack.endpoint}/iceberg/api/v1/oauth/tokens"},
    )


@pytest.fixture
def lake(client, stack):
    """A repository with tables, of which the branch `dev` has changed one."""
    repository = lakes.create(client)
    catalog = catalog_of(stack, repository, "main")
    catalog.create_namespace("sales")
    catalog.create_table("sales.orders", ROWS.schema, properties={"owner": "ann"}).append(ROWS)
    catalog.create_table("sales.\u202e<b>odd", ROWS.schema)
    main = repository.branch("main")
    main.commit("Tables")
    dev = repository.branch("dev").create("main")
    table = catalog_of(stack, repository, "dev").load_table("sales.orders")
    with table.update_schema() as update:
        update.add_column("note", StringType(), doc="what the customer wrote")
    table.append(ROWS.append_column("note", pa.array(["a", "b"])))
    dev.commit("A note")
    return repository


def test_a_table_is_found_by_its_name_and_shown(visit, lake):
    page = visit.open(f"/repositories/{lake.id}/objects?ref=dev")
    page.get_by_role("navigation", name="Repository").get_by_role("link", name="Tables").click()
    listed = page.get_by_role("list", name="Tables").get_by_role("listitem")
    expect(listed).to_have_count(2)
    expect(listed.get_by_role("link", name="sales.⟨U+202E⟩<b>odd")).to_be_visible()
    page.get_by_label("Find tables by the beginning of their names").fill("sales.o")
    expect(listed).to_have_count(1)
    listed.get_by_role("link", name="sales.orders").click()
    note = page.get_by_role("region", name="Columns").get_by_role("row", name="note")
    expect(note).to_contain_text("what the customer wrote")
    snapshots = page.get_by_role("list", name="Snapshots").get_by_role("listitem")
    expect(snapshots).to_contain_text(["append+2 \u22120 recordsmain", "append+2 \u22120 records"])
    expect(page.get_by_role("region", name="Current snapshot")).to_contain_text("Records4")
    expect(page.get_by_role("region", name="Properties")).to_contain_text("owner")
    expect(page.get_by_role("region", name="Facts")).to_contain_text(".metadata.json")


def test_a_broken_metadata_file_and_a_missing_table_are_told(visit, lake):
    place = f"/repositories/{lake.id}/table?ref=main&name=sales."
    visit.expect_statuses(404)
    page = visit.open(f"{place}none")
    expect(page.get_by_role("heading", name="There is no table sales.none at main")).to_be_visible()
    visit.page.route("**/objects?path=*", lambda route: route.fulfill(body="{}"))
    page = visit.open(f"{place}orders")
    expect(page.get_by_role("alert")).to_contain_text("The metadata file of this table is broken")


def test_a_comparison_names_the_table_and_the_column_that_a_branch_adds(visit, lake):
    page = visit.open(f"/repositories/{lake.id}/compare?ref=main&compare=dev")
    page.get_by_role("button", name="table sales.orders").click()
    expect(page.get_by_role("heading", name="table sales.orders")).to_be_visible()
    changes = page.get_by_role("list", name="Changes of the table").get_by_role("listitem")
    expect(changes.first).to_have_text("+addedColumn 3note string (what the customer wrote)")
    expect(changes.nth(1)).to_have_text("~changedRecords2 \u2192 4")
    page.get_by_role("link", name="Open", exact=True).first.click()
    expect(page.get_by_role("heading", name="sales.orders")).to_be_visible()
    expect(page.get_by_role("region", name="Columns").get_by_role("row")).to_have_count(3)


def test_a_conflict_names_the_table_and_leads_to_both_versions(visit, stack, lake):
    catalog_of(stack, lake, "main").load_table("sales.orders").append(ROWS)
    lake.branch("main").commit("Rows")
    page = visit.open(f"/repositories/{lake.id}/compare?ref=main&compare=dev")
    page.get_by_role("button", name="Merge…").click()
    conflict = page.get_by_role("list", name="Conflicts").get_by_role("listitem")
    expect(conflict).to_contain_text("table sales.orders")
    conflict.get_by_role("button", name="Show both sides").click()
    links = conflict.get_by_role("link", name="See the table")
    expect(links).to_have_count(2)
    page = visit.open(links.first.get_attribute("href"))
    expect(page.get_by_role("region", name="Current snapshot")).to_contain_text("Records4")


def test_the_rights_to_list_and_read_objects_are_enough(visiting, stack, client, lake):
    auth = client.sdk_client.auth_api
    user = f"reader-{uuid4().hex[:8]}"
    auth.create_user(UserCreation(id=user))
    actions = ["fs:ReadRepository", "fs:ListObjects", "fs:ReadObject"]
    at = f"arn:lakefs:fs:::repository/{lake.id}"
    paths = [at, f"{at}/object/_lakefs_tables/*"]
    statements = [Statement(effect="allow", action=actions, resource=path) for path in paths]
    auth.create_policy(Policy(id=user, statement=statements))
    auth.attach_policy_to_user(user, user)
    key = auth.create_credentials(user)
    visit = visiting(storage_state=session_of(stack, key.access_key_id, key.secret_access_key))
    page = visit.open(f"/repositories/{lake.id}/tables?ref=dev")
    page.get_by_role("link", name="sales.orders").click()
    expect(page.get_by_role("region", name="Columns")).to_contain_text("what the customer wrote")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_tables_fit_a_telephone_and_keep_nobody_out(visiting, session, lake, scheme):
    visit = visiting(storage_state=session, **{**LOOKS["narrow"], "color_scheme": scheme})
    compared = f"compare?ref=main&compare=dev&object={quote(PATH, safe='')}"
    for path in ("tables?ref=dev", "table?ref=dev&name=sales.orders", compared):
        page = visit.open(f"/repositories/{lake.id}/{path}")
        assert list(visit.serious_barriers()) == []
        assert page.evaluate(WIDER_BY) <= 0
        assert page.locator("h1").count() == 1
