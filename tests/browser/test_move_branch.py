"""A branch is moved to a commit, after the page has told what the branch loses."""

import re

import pytest
from playwright.sync_api import expect

from tests.browser import lakes

pytestmark = pytest.mark.browser


def move(page):
    page.get_by_role("button", name="Actions", exact=True).click()
    page.get_by_role("button", name="Move a branch here").click()
    return page.get_by_role("dialog", name=re.compile("^Move a branch to"))


def test_a_branch_is_moved_back_and_the_commits_it_loses_are_counted(visit, client):
    repository = lakes.create(client, files={"a.txt": b"1"})
    main = repository.branch("main")
    first = main.get_commit().id
    lakes.change(main, "Second", {"a.txt": b"2"})
    lakes.change(main, "Third", {"a.txt": b"3"})
    page = visit.open(f"/repositories/{repository.id}/commits/{first}")
    dialog = move(page)
    expect(dialog).to_contain_text("2 commits of main leave its history")
    confirm = dialog.get_by_role("button", name="Move branch")
    expect(confirm).to_be_disabled()
    dialog.get_by_label("to confirm").fill("main")
    confirm.click()
    expect(dialog).to_have_count(0)
    assert main.get_commit().id == first
    assert main.object("a.txt").reader(mode="rb").read() == b"1"


def test_a_protected_branch_stays_where_it_is(visit, client):
    repository = lakes.create(client, files={"a.txt": b"1"})
    main = repository.branch("main")
    first = main.get_commit().id
    lakes.change(main, "Second", {"a.txt": b"2"})
    head = main.get_commit().id
    api = client.sdk_client.repositories_api
    api.set_branch_protection_rules(repository.id, [{"pattern": "main"}])
    visit.expect_statuses(403)
    page = visit.open(f"/repositories/{repository.id}/commits/{first}")
    dialog = move(page)
    expect(dialog).to_contain_text("1 commit of main leaves its history")
    dialog.get_by_label("to confirm").fill("main")
    dialog.get_by_role("button", name="Move branch").click()
    expect(dialog.get_by_role("alert")).to_contain_text("Protected branch 'main'")
    assert main.get_commit().id == head
