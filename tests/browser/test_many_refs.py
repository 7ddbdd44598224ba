"""More branches than one page of a listing holds: rules cover those of all pages, and limits are told."""

from uuid import uuid4

import pytest
from playwright.sync_api import expect

from tests.browser import lakes

pytestmark = pytest.mark.browser

# With `main`, one more than a page; the last is `work-0999`.
BRANCHES = 1_000


@pytest.fixture(scope="module")
def lake(client, stack):
    name = f"many-{uuid4().hex[:8]}"
    lakes.restore_large(client, stack, name, lakes.Size(1, 1, BRANCHES))
    return name


def test_a_rule_covers_branches_beyond_the_first_page(visit, client, lake):
    page = visit.open(f"/repositories/{lake}/settings/branches")
    page.get_by_label("Protect branches that match").fill("*-0999")
    expect(page.get_by_text("1 branch: work-0999", exact=True)).to_be_visible()
    page.get_by_role("button", name="Protect", exact=True).click()
    rules = page.get_by_role("list", name="Rules")
    expect(rules.get_by_text("1 branch: work-0999", exact=True)).to_be_visible()
    page = visit.open(f"/repositories/{lake}/branches?prefix=work-099")
    rows = page.get_by_role("region", name="Branches").get_by_role("listitem")
    expect(rows.filter(has_text="Protected")).to_have_count(1)
    expect(rows.filter(has_text="Protected")).to_contain_text("work-0999")


def test_the_log_says_that_it_shows_the_names_of_some_branches(visit, lake):
    page = visit.open(f"/repositories/{lake}/commits?ref=main")
    expect(page.get_by_text("the first 1,000 branches")).to_be_visible()
