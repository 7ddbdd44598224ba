"""A lake with more of everything than a browser could hold at once is shown as quickly as a small one."""

import re

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import LARGE

pytestmark = pytest.mark.browser


def scroll_to_the_end(page, box, last):
    """Scroll the list as a user drags its bar, until the last row is there."""
    for _ in range(400):
        if page.get_by_text(last, exact=True).count():
            return
        box.evaluate("element => { element.scrollTop = element.scrollHeight }")
        page.wait_for_timeout(30)
    pytest.fail(f"{last} does not appear")


def test_a_thousand_branches_are_scrolled_to_the_last_one(visit, large):
    page = visit.open(f"/repositories/{large}/branches")
    last = f"work-{LARGE.branches - 1:04}"
    scroll_to_the_end(page, page.get_by_role("region", name="Branches"), last)
    expect(page.get_by_text(last, exact=True)).to_be_visible()
    assert page.locator("li.row").count() < 100


def test_one_branch_of_a_thousand_is_found_by_its_name(visit, large):
    page = visit.open(f"/repositories/{large}/branches")
    page.get_by_role("searchbox").fill("work-07")
    expect(
        page.get_by_text("work-0799", exact=True).or_(page.get_by_text("work-0700"))
    ).to_be_visible()
    expect(page).to_have_url(re.compile("prefix=work-07"))
    expect(page.get_by_text("work-0000", exact=True)).to_have_count(0)
