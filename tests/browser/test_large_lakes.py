"""A lake with more of everything than a browser could hold at once is shown as quickly as a small one."""

import re
from uuid import uuid4

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser import lakes

pytestmark = pytest.mark.browser

# More objects than a search reads; with `main`, one branch more than a page of the API.
MANY = lakes.Size(objects=10_001, commits=400, branches=1_000)
LARGE = lakes.Size(objects=100_000, commits=10_000, branches=1_000)

# A list that draws only what is in view has some forty rows, however long it is.
ROWS_MAX = 100
ELEMENTS_MAX = 3_000
HEAP_BYTES_MAX = 150_000_000


@pytest.fixture(
    scope="module",
    params=[
        pytest.param(MANY, id="many"),
        pytest.param(LARGE, id="large", marks=pytest.mark.long),
    ],
)
def size(request):
    return request.param


@pytest.fixture(scope="module")
def large(client, stack, size) -> str:
    """The name of a repository with more of everything than fits on a screen."""
    name = f"large-{uuid4().hex[:8]}"
    lakes.restore_large(client, stack, name, size)
    return name


def drag_down(page: Page, box: Locator, until: Locator) -> None:
    """Scroll the list as a user drags its bar, until what is looked for is drawn."""
    for _ in range(2_000):
        if until.count():
            return
        box.evaluate("element => { element.scrollTop = element.scrollHeight }")
        page.wait_for_timeout(30)
    pytest.fail(f"{until} does not appear")


def expect_small(page: Page) -> None:
    """Expect that the page draws no more than a screen or three."""
    assert page.locator("li.row").count() < ROWS_MAX
    assert page.locator("*").count() < ELEMENTS_MAX


def named(page: Page, text: str) -> Locator:
    return page.get_by_text(text, exact=True)


def test_a_thousand_branches_are_scrolled_to_the_last_one(visit, large, size):
    page = visit.open(f"/repositories/{large}/branches")
    last = named(page, f"work-{size.branches - 1:04}")
    drag_down(page, page.get_by_role("region", name="Branches"), last)
    expect(last).to_be_visible()
    expect_small(page)


def test_one_branch_of_a_thousand_is_found_by_its_name(visit, large):
    page = visit.open(f"/repositories/{large}/branches")
    page.get_by_role("searchbox").fill("work-07")
    expect(named(page, "work-0799").or_(page.get_by_text("work-0700"))).to_be_visible()
    expect(page).to_have_url(re.compile("prefix=work-07"))
    expect(named(page, "work-0000")).to_have_count(0)


def test_thousands_of_objects_are_scrolled_to_the_last_one(visit, large, size):
    page = visit.open(f"/repositories/{large}/objects?ref=main&path=big%2F")
    box = page.get_by_role("region", name="Objects")
    last = named(page, f"object-{size.objects - 1:06}")
    drag_down(page, box, last)
    expect(last).to_be_visible()
    expect(page.get_by_text("more follow as you scroll")).to_have_count(0)
    expect_small(page)
    assert heap_bytes(visit) < HEAP_BYTES_MAX
    box.evaluate("element => { element.scrollTop = 0 }")
    expect(named(page, "object-000000")).to_be_visible()


def heap_bytes(visit) -> int:
    """Return what the page's scripts hold after their garbage is collected."""
    devtools = visit.context.new_cdp_session(visit.page)
    devtools.send("HeapProfiler.collectGarbage")
    return int(devtools.send("Runtime.getHeapUsage")["usedSize"])


def test_all_of_a_thousand_objects_are_chosen_by_two_clicks_and_deleted(visit, client, stack):
    name = f"to-empty-{uuid4().hex[:8]}"
    lakes.restore_large(client, stack, name, lakes.Size(objects=1_500, commits=1, branches=0))
    page = visit.open(f"/repositories/{name}/objects?ref=main&path=big%2F")
    box = page.get_by_role("region", name="Objects")
    drag_down(page, box, named(page, "object-001499"))
    page.get_by_label("Select big/object-001499").click()
    box.evaluate("element => { element.scrollTop = 0 }")
    page.get_by_label("Select big/object-000000").click(modifiers=["Shift"])
    page.get_by_role("button", name="Delete 1,500").click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("and 1492 more")
    dialog.get_by_role("button", name="Delete 1,500 objects").click()
    expect(dialog).to_have_count(0, timeout=60_000)
    expect(page.get_by_role("heading", name="No objects here")).to_be_visible()


def test_one_object_of_thousands_is_found_by_its_name(visit, large):
    visit.expect_statuses(410)  # the entries of the large lake have no bytes
    page = visit.open(f"/repositories/{large}/objects?ref=main&path=big%2F")
    page.get_by_label("Names that begin with").press_sequentially("object-0099", delay=20)
    expect(named(page, "object-009900")).to_be_visible()
    expect(named(page, "object-000000")).to_have_count(0)
    expect(page).to_have_url(re.compile("filter=object-0099"))
    page.get_by_label("Names that begin with").fill("object-009950")
    named(page, "object-009950").click()
    expect(page).to_have_url(re.compile(r"/object\?ref=main&path=big%2Fobject-009950"))


def test_a_long_log_is_scrolled_and_an_old_commit_of_it_is_opened(visit, large, size):
    page = visit.open(f"/repositories/{large}/commits?ref=main")
    down = min(4_500, size.commits * 3 // 4)
    far = named(page, f"Load of day {size.commits - 1 - down}")
    expect(named(page, f"Load of day {size.commits - 1}")).to_be_visible()
    box = page.get_by_role("region", name="Commits of main")
    for _ in range(400):
        box.evaluate("(element, down) => { element.scrollTop = down * 41 }", down)
        if far.count():
            break
        page.wait_for_timeout(30)
    expect_small(page)
    far.click()
    expect(
        page.get_by_role("heading", name=f"Load of day {size.commits - 1 - down}")
    ).to_be_visible()
    expect(page.get_by_text("No object changed since this parent")).to_be_visible()


def test_the_picker_of_refs_finds_one_branch_of_a_thousand(visit, large):
    page = visit.open(f"/repositories/{large}/commits?ref=main")
    page.get_by_role("button", name="Commits of: main").click()
    page.get_by_role("combobox").press_sequentially("work-0777", delay=20)
    options = page.get_by_role("listbox", name="Branches").get_by_role("option")
    expect(options).to_have_count(1)
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile("ref=work-0777"))
    expect(page.get_by_role("button", name="Commits of: work-0777")).to_be_focused()


def test_a_search_of_all_paths_ends_at_a_limit_and_says_so(visit, large):
    page = visit.open(f"/repositories/{large}/objects?ref=main")
    page.keyboard.press("t")
    dialog = page.get_by_role("dialog", name="Find an object at main")
    dialog.get_by_role("combobox").fill("9999")
    expect(dialog.get_by_role("status")).to_contain_text("only the first 10,000 are searched")
    expect(dialog.get_by_role("option")).to_have_text(["big/object-009999"])


def test_a_rule_covers_branches_beyond_the_first_page_of_a_listing(visit, large):
    page = visit.open(f"/repositories/{large}/settings/branches")
    page.get_by_label("Protect branches that match").fill("*-0999")
    expect(page.get_by_text("1 branch: work-0999", exact=True)).to_be_visible()
    page.get_by_role("button", name="Protect", exact=True).click()
    rules = page.get_by_role("list", name="Rules")
    expect(rules.get_by_text("1 branch: work-0999", exact=True)).to_be_visible()
    page = visit.open(f"/repositories/{large}/branches?prefix=work-099")
    rows = page.get_by_role("region", name="Branches").get_by_role("listitem")
    expect(rows.filter(has_text="Protected")).to_have_count(1)
    expect(rows.filter(has_text="Protected")).to_contain_text("work-0999")


def test_the_log_says_that_it_shows_the_names_of_some_branches(visit, large):
    page = visit.open(f"/repositories/{large}/commits?ref=main")
    expect(page.get_by_text("the first 1,000 branches")).to_be_visible()
