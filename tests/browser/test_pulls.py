"""Pull requests: opened, read, merged, closed, opened again; a conflict says what to do."""

import re

import pytest
from playwright.sync_api import expect

from tests.browser import lakes
from tests.browser.visits import dialog_of, told

pytestmark = pytest.mark.browser


@pytest.fixture
def repository(client):
    """A repository whose branch work has changed the price."""
    made = lakes.create(client, files={"price.txt": b"1\n", "other.txt": b"1\n"})
    work = made.branch("work").create("main")
    lakes.change(work, "Raise the price", {"price.txt": b"2\n", "new.txt": b"new\n"})
    return made


def open_pull(visit, repository, title, description=""):
    """Open a pull request of work into main, on the page; return the page."""
    page = visit.open(f"/repositories/{repository.id}/pulls")
    page.get_by_role("link", name="Create pull request").first.click()
    page.get_by_role("button", name="Source branch").click()
    page.get_by_role("combobox").fill("work")
    page.get_by_role("option", name="work").click()
    expect(page.get_by_text("objects would change")).to_be_visible()
    page.get_by_label("Title").fill(title)
    page.get_by_label("Description").fill(description)
    page.get_by_role("button", name="Create pull request").click()
    expect(page.get_by_role("heading", name=title)).to_be_visible()
    return page


def merge_into_main(page):
    """Ask for the merge when the page has shown what it would merge."""
    expect(page.get_by_role("region", name="Changes")).to_contain_text("price.txt")
    page.get_by_role("button", name="Merge into main").click()


def test_a_pull_request_is_described_in_markdown_read_and_merged(visit, repository):
    text = (
        "A **bold** step:\n\n- one\n- two\n\n<img src=x onerror=alert(1)>\n\n[more](https://a.b/)"
    )
    visit.allow_errors("Executing inline event handler")  # by the policy, as it is parsed
    page = open_pull(visit, repository, "Raise the price", text)
    description = page.get_by_role("region", name="Description")
    expect(description.locator("strong")).to_have_text("bold")
    expect(description.get_by_role("listitem")).to_have_text(["one", "two"])
    expect(description.get_by_role("link", name="more")).to_have_attribute(
        "rel", re.compile("noopener")
    )
    changes = page.get_by_role("region", name="Changes")
    expect(changes).to_contain_text("2 changed objects")
    changes.get_by_role("button", name="price.txt").click()
    expect(page.get_by_text("2", exact=True).first).to_be_visible()
    expect(page).to_have_url(re.compile("object=price.txt"))
    page.go_back()
    merge_into_main(page)
    expect(page.get_by_text(re.compile("Merged .* by commit"))).to_be_visible()
    assert repository.branch("main").object("price.txt").reader(mode="rb").read() == b"2\n"
    page.get_by_role("link", name=re.compile("^[0-9a-f]{12}$")).click()
    expect(page.get_by_text("2 changed objects")).to_be_visible()
    visit.open(f"/repositories/{repository.id}/pulls?status=merged")
    expect(page.get_by_role("list", name="Merged pull requests")).to_contain_text("Raise the price")


def test_a_pull_request_is_edited_closed_and_opened_again(visit, repository):
    page = open_pull(visit, repository, "Frist try")
    page.get_by_role("button", name="Edit").click()
    dialog = dialog_of(page, "Edit pull request")
    dialog.get_by_label("Title").fill("First try")
    dialog.get_by_role("button", name="Save").click()
    expect(page.get_by_role("heading", name="First try")).to_be_visible()
    page.get_by_role("button", name="Close without merging").click()
    expect(told(page)).to_contain_text("The pull request was closed")
    expect(page.get_by_role("button", name="Merge into main")).to_have_count(0)
    at = page.url
    visit.open(f"/repositories/{repository.id}/pulls")
    expect(page.get_by_role("heading", name="No open pull request")).to_be_visible()
    page.get_by_role("navigation", name="State").get_by_role("link", name="Closed").click()
    page.get_by_role("link", name="First try").click()
    expect(page).to_have_url(at)
    page.get_by_role("button", name="Open again").click()
    expect(page.get_by_role("button", name="Merge into main")).to_be_visible()


def test_a_conflict_says_what_to_do_and_that_leads_to_the_merge(visit, repository):
    visit.expect_statuses(409)
    lakes.change(repository.branch("main"), "Lower the price", {"price.txt": b"0\n"})
    page = open_pull(visit, repository, "Raise the price")
    at = page.url
    merge_into_main(page)
    decision = page.get_by_role("region", name="Merge")
    expect(decision.get_by_role("alert")).to_contain_text(re.compile("conflict", re.IGNORECASE))
    expect(decision).to_contain_text("Merge main into work first, and choose there whose objects")
    decision.get_by_role("link", name="main into work").click()
    page.get_by_role("button", name="Merge…").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Objects that both changed").select_option("dest-wins")
    dialog.get_by_role("button", name="Merge into work").click()
    expect(dialog).to_have_count(0)
    page.goto(at)
    merge_into_main(page)
    expect(page.get_by_text(re.compile("Merged .* by commit"))).to_be_visible()
    assert repository.branch("main").object("price.txt").reader(mode="rb").read() == b"2\n"


def test_a_destination_with_uncommitted_changes_is_told_with_a_way_on(visit, repository):
    visit.expect_statuses(400)
    repository.branch("main").object("later.txt").upload(b"x")
    page = open_pull(visit, repository, "Raise the price")
    merge_into_main(page)
    decision = page.get_by_role("region", name="Merge")
    decision.get_by_role("link", name="Commit or reset the changes of main").click()
    expect(page).to_have_url(re.compile(r"/changes\?ref=main"))
    expect(page.get_by_text("later.txt").first).to_be_visible()


def test_what_was_committed_after_the_changes_were_shown_is_not_merged_unseen(visit, repository):
    visit.expect_statuses(412)
    page = open_pull(visit, repository, "Raise the price")
    expect(page.get_by_role("region", name="Changes")).to_contain_text("price.txt")
    lakes.change(repository.branch("work"), "Unseen", {"late.txt": b"late"})
    merge_into_main(page)
    decision = page.get_by_role("region", name="Merge")
    expect(decision.get_by_role("alert")).to_contain_text("work has new commits")
    expect(decision).not_to_contain_text("A hook refused")
    assert not repository.branch("main").object("new.txt").exists()
    decision.get_by_role("button", name="Look again").click()
    expect(page.get_by_role("region", name="Changes")).to_contain_text("late.txt")
    merge_into_main(page)
    expect(page.get_by_text(re.compile("Merged .* by commit"))).to_be_visible()
    assert repository.branch("main").object("late.txt").exists()
