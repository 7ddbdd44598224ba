"""`t` finds objects by any part of their paths; `y` makes an address permanent."""

import re

import pytest
from playwright.sync_api import expect

from tests.browser import lakes

pytestmark = pytest.mark.browser

FILES = {
    "tables/orders.csv": b"id\n1\n",
    "archive/orders/plan.txt": b"plan",
    "archive/2024/Orders-old.csv": b"id\n2\n",
    "notes.txt": b"notes",
}


@pytest.fixture
def repository(client):
    return lakes.create(client, files=FILES)


def find(page, text):
    page.keyboard.press("t")
    dialog = page.get_by_role("dialog", name="Find an object at main")
    dialog.get_by_role("combobox").fill(text)
    return dialog


def test_an_object_is_found_by_a_part_of_its_name_and_opened(visit, repository):
    page = visit.open(f"/repositories/{repository.id}/objects?ref=main")
    dialog = find(page, "rders")
    options = dialog.get_by_role("option")
    expect(options).to_have_text(
        ["archive/2024/Orders-old.csv", "tables/orders.csv", "archive/orders/plan.txt"]
    )
    assert visit.serious_barriers() == []
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile(r"/object\?ref=main&path=tables%2Forders.csv"))
    expect(dialog).to_have_count(0)


def test_the_words_may_be_anywhere_in_the_path(visit, repository):
    dialog = find(visit.open(f"/repositories/{repository.id}/objects?ref=main"), "csv archive")
    expect(dialog.get_by_role("option")).to_have_text(["archive/2024/Orders-old.csv"])
    dialog.get_by_role("combobox").fill("nowhere")
    expect(dialog.get_by_role("status")).to_contain_text("0 objects of 4")


def test_a_permanent_address_shows_the_same_after_the_branch_moves(visit, repository):
    visit.expect_statuses(400, 404)  # a commit is no branch
    main = repository.branch("main")
    commit = main.get_commit().id
    page = visit.open(f"/repositories/{repository.id}/object?ref=main&path=notes.txt")
    page.keyboard.press("y")
    expect(page).to_have_url(re.compile(rf"/object\?ref={commit}&path=notes.txt"))
    expect(page.get_by_text(f"commit {commit[:12]} now")).to_be_visible()
    lakes.change(main, "Change the notes", {"notes.txt": b"others"})
    page.reload()
    expect(page.get_by_text("notes", exact=True)).to_be_visible()


def test_t_after_g_still_leads_to_the_tags(visit, repository):
    page = visit.open(f"/repositories/{repository.id}/objects?ref=main")
    page.keyboard.press("g")
    page.keyboard.press("t")
    expect(page.get_by_role("heading", name="Tags", exact=True)).to_be_visible()
    expect(page.get_by_role("dialog")).to_have_count(0)
