"""From a fresh installation to a merge: change, commit, compare, merge, and resolve a conflict."""

import re
from uuid import uuid4

import pytest
from lakefs_sdk import BranchProtectionRule
from playwright.sync_api import expect

from tests.browser import lakes
from tests.browser.visits import commit, upload

pytestmark = pytest.mark.browser


NOTHING = {
    "results": [],
    "pagination": {"has_more": False, "next_offset": "", "results": 0, "max_per_page": 1000},
}


def test_the_first_two_minutes_lead_from_nothing_to_a_merge(visit):
    visit.expect_statuses(404)  # no object is at the path that an upload writes
    # A fresh installation has no repository.
    visit.page.route("**/api/v1/repositories?*", lambda route: route.fulfill(json=NOTHING))
    page = visit.open("/repositories")
    page.unroute_all()
    page.get_by_role("button", name="Try with sample data").click()
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_label("Name", exact=True)).to_have_value("quickstart")
    name = f"first-{uuid4().hex[:8]}"
    dialog.get_by_label("Name", exact=True).fill(name)
    dialog.get_by_role("button", name="Create repository").click()
    expect(page).to_have_url(re.compile(f"/repositories/{name}/objects"))
    steps = page.get_by_role("region", name="First steps")
    steps.get_by_role("button", name="Create a branch").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Name", exact=True).fill("work")
    dialog.get_by_role("button", name="Create branch").click()
    expect(page).to_have_url(re.compile("ref=work"))
    expect(steps.get_by_role("link", name="Change an object")).to_have_attribute(
        "aria-current", "step"
    )
    upload(page, {"by-hand.txt": b"made in the browser\n"})
    expect(page.get_by_role("link", name="by-hand.txt")).to_be_visible()
    steps.get_by_role("link", name="Commit").click()
    expect(page.get_by_text("by-hand.txt").first).to_be_visible()
    commit(page, "Add a file by hand")
    expect(page.get_by_role("heading", name="work has no uncommitted changes")).to_be_visible()
    steps.get_by_role("link", name="Compare").click()
    expect(page.get_by_text("by-hand.txt").first).to_be_visible()
    page.get_by_role("button", name="Merge…").click()
    page.get_by_role("button", name="Merge into main").click()
    expect(page.get_by_role("heading", name="main already has everything in work")).to_be_visible()
    expect(page.get_by_role("heading", name="You have done all first steps")).to_be_visible()
    page = visit.open(f"/repositories/{name}/objects?ref=main")
    expect(page.get_by_role("link", name="by-hand.txt")).to_be_visible()


def test_a_protected_branch_says_how_it_changes_before_anything_is_tried(visit, client):
    repository = lakes.create(client, files={"a.txt": b"a"})
    rules = [BranchProtectionRule(pattern="ma*")]
    client.sdk_client.repositories_api.set_branch_protection_rules(repository.id, rules)
    page = visit.open(f"/repositories/{repository.id}")
    expect(page).to_have_url(re.compile(f"/repositories/{repository.id}/objects"))
    expect(page.get_by_text("main is protected")).to_be_visible()
    expect(page.get_by_role("button", name="Upload", exact=True)).to_be_disabled()
    page.get_by_role("button", name="Create branch").click()
    page.get_by_role("dialog").get_by_label("Name", exact=True).fill("dev:work")
    page.get_by_role("dialog").get_by_role("button", name="Create branch").click()
    expect(page).to_have_url(re.compile("ref=dev%3Awork"))
    expect(page.get_by_role("button", name="Upload", exact=True)).to_be_enabled()


def test_a_conflict_is_told_and_a_strategy_settles_it(visit, client):
    repository = lakes.create(client, files={"price.txt": b"1", "other.txt": b"1"})
    main = repository.branch("main")
    work = repository.branch("work").create("main")
    lakes.change(work, "On work", {"price.txt": b"2"})
    lakes.change(main, "On main", {"price.txt": b"3"})
    page = visit.open(f"/repositories/{repository.id}/compare?ref=main&compare=work")
    page.get_by_role("button", name="Merge…").click()
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_role("list", name="Conflicts")).to_contain_text("price.txt")
    expect(dialog.get_by_role("button", name="Merge into main")).to_be_disabled()
    dialog.get_by_label("Whose objects win").select_option("source-wins")
    dialog.get_by_role("button", name="Merge into main").click()
    expect(dialog).to_have_count(0)
    assert main.object("price.txt").reader(mode="rb").read() == b"2"


def test_two_users_at_once_see_each_others_work(visiting, session, client):
    name = lakes.create(client, files={"a.txt": b"a"}).id
    one, other = (visiting(storage_state=session) for _ in range(2))
    other.expect_statuses(404)  # no object is at the path that the upload writes
    path = f"/repositories/{name}/changes?ref=main"
    seen = one.open(path)
    upload(other.open(f"/repositories/{name}/objects?ref=main"), {"b.txt": b"b"})
    seen.get_by_role("button", name="Look again").click()
    expect(seen.get_by_text("b.txt").first).to_be_visible()
    commit(other.open(path), "Add b")
    one.expect_statuses(400)
    seen.get_by_role("button", name="Commit…").click()
    dialog = seen.get_by_role("dialog")
    dialog.get_by_label("Message").fill("Add b as well")
    dialog.get_by_role("button", name="Commit", exact=True).click()
    expect(dialog.get_by_role("alert")).to_contain_text("There is nothing to commit")
