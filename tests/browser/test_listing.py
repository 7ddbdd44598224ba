"""A listing says what is in a directory, who changed it last and why; a commit says what may come next."""

import re

import pytest
from playwright.sync_api import expect

from tests.browser import lakes
from tests.browser.visits import dialog_of

pytestmark = pytest.mark.browser

FILES = {"a.txt": b"a\n", "in/b.txt": b"b\n", "in/c.txt": b"c\n"}


def test_a_listing_has_its_last_commits_and_a_commit_leads_on(visit, client):
    repository = lakes.create(client, files=FILES)
    dev = repository.branch("dev").create("main")
    lakes.change(dev, "Change b\n\nMore of it", {"in/b.txt": b"later\n"})
    dev.object("a.txt").upload(b"not committed\n")
    page = visit.open(f"/repositories/{repository.id}/objects?ref=dev")
    rows = page.get_by_role("list", name="Objects").get_by_role("listitem")
    expect(rows).to_contain_text([re.compile("^in/.*Change b"), re.compile("a.txt.*Uncommitted")])
    head = page.get_by_role("paragraph").filter(has=page.get_by_label("Last commit"))
    expect(head.get_by_role("link", name="Change b")).to_be_visible()
    tab = page.get_by_role("navigation", name="Repository").get_by_role(
        "link", name=re.compile("^Uncommitted")
    )
    expect(tab).to_have_text(re.compile("1$"))
    page.get_by_role("link", name="in/", exact=True).click()
    expect(rows).to_contain_text([re.compile("b.txt.*Change b"), re.compile("c.txt.*Add files")])

    tab.click()
    page.get_by_role("button", name="Commit…").click()
    dialog = dialog_of(page, "Commit to dev")
    dialog.get_by_label("Message").fill("Change a")
    dialog.get_by_role("button", name="Commit", exact=True).click()
    expect(page.get_by_text(re.compile("Commit .* was made on dev"))).to_be_visible()
    expect(tab).to_have_text(re.compile("Uncommitted$"))
    expect(page.get_by_role("link", name="Open a pull request")).to_be_visible()
    assert list(visit.serious_barriers()) == []
    page.get_by_role("link", name="Compare with main").click()
    expect(page).to_have_url(re.compile(r"compare\?ref=main&compare=dev"))
