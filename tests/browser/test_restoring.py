"""A deleted or overwritten object is brought back from its page, from its history, and from a diff."""

import re

import pytest
from playwright.sync_api import expect

from tests.browser import lakes
from tests.browser.visits import dialog_of, told

pytestmark = pytest.mark.browser

FILES = {"a.txt": b"of a\n", "in/b.txt": b"of b\n", "in/c.txt": b"of c\n"}


@pytest.fixture
def repository(client):
    return lakes.create(client, files=FILES)


@pytest.fixture
def main(repository):
    return repository.branch("main")


def content_of(ref, path):
    return ref.object(path).reader(mode="rb").read()


def delete(branch, message, *paths):
    branch.delete_objects(list(paths))
    branch.commit(message)


def test_a_deleted_object_says_who_deleted_it_and_comes_back_with_two_clicks(
    visit, repository, main
):
    visit.expect_statuses(404)
    delete(main, "Clean up", "a.txt")
    page = visit.open(f"/repositories/{repository.id}/object?ref=main&path=a.txt")
    expect(page.get_by_role("heading", name="This object is deleted at main")).to_be_visible()
    deletion = page.locator("main")
    expect(deletion).to_contain_text(re.compile("deleted it .* in the commit Clean up. Its last"))
    assert visit.serious_barriers() == []
    page.get_by_role("button", name="Restore to branch…").click()
    dialog = dialog_of(page, "Restore a.txt")
    expect(dialog.get_by_role("status")).to_contain_text("main has no object at this path")
    assert visit.serious_barriers() == []
    dialog.get_by_role("button", name="Restore", exact=True).click()
    expect(told(page)).to_contain_text("a.txt is restored on main. Commit it to keep it.")
    content = page.get_by_role("region", name="Content").locator("code")
    expect(content).to_have_text("of a\n")
    assert content_of(main, "a.txt") == b"of a\n"


def test_a_deletion_that_is_not_committed_is_taken_back(visit, repository, main):
    visit.expect_statuses(404)
    main.object("a.txt").delete()
    page = visit.open(f"/repositories/{repository.id}/changes?ref=main")
    page.get_by_role("button", name="a.txt", exact=True).click()
    page.get_by_role("link", name="See who deleted it, and restore it").click()
    expect(page.get_by_text("The deletion is not committed yet")).to_be_visible()
    page.get_by_role("button", name="Restore to branch…").click()
    dialog_of(page, "Restore a.txt").get_by_role("button", name="Restore", exact=True).click()
    expect(told(page)).to_contain_text("a.txt is restored on main")
    assert list(main.uncommitted()) == []


def test_a_version_of_the_history_replaces_an_uncommitted_change_only_as_it_was_announced(
    visit, repository, main
):
    visit.expect_statuses(404, 412)
    lakes.change(main, "Change a", {"a.txt": b"later\n"})
    main.object("a.txt").upload(b"uncommitted\n")
    page = visit.open(f"/repositories/{repository.id}/history?ref=main&path=a.txt")
    first = page.get_by_role("list", name="Commits").get_by_role("listitem").nth(1)
    first.get_by_role("button", name="Restore to branch…").click()
    dialog = dialog_of(page, "Restore a.txt")
    expect(dialog.get_by_role("status")).to_contain_text("replaces the one on main (12 B")
    expect(dialog).to_contain_text("main has an uncommitted change of this object")
    main.object("a.txt").upload(b"newer, of another user\n")
    dialog.get_by_role("button", name="Restore", exact=True).click()
    expect(dialog.get_by_role("alert")).to_contain_text("has changed meanwhile")
    expect(dialog.get_by_role("status")).to_contain_text("replaces the one on main (23 B")
    dialog.get_by_role("button", name="Restore", exact=True).click()
    expect(told(page)).to_contain_text("a.txt is restored on main")
    assert content_of(main, "a.txt") == b"of a\n"


def test_a_deleted_folder_is_restored_to_a_branch_of_the_protected_one(
    visit, client, repository, main
):
    visit.expect_statuses(404)
    delete(main, "Drop the folder", "in/b.txt", "in/c.txt")
    lakes.change(main, "Add another", {"in/new.txt": b"new\n"})
    delete(main, "Drop it again", "in/new.txt")
    rules = client.sdk_client.repositories_api
    rules.set_branch_protection_rules(repository.id, [{"pattern": "main"}])
    page = visit.open(f"/repositories/{repository.id}/history?ref=main&path=in%2F")
    commits = page.get_by_role("list", name="Commits").get_by_role("listitem")
    commits.filter(has_text="Drop the folder").get_by_role("button", name="Restore").click()
    dialog = dialog_of(page, "Restore in/")
    expect(dialog).to_contain_text("main is protected")
    expect(dialog.get_by_role("button", name="Restore", exact=True)).to_be_disabled()
    dialog.get_by_role("button", name="Create branch").click()
    creation = dialog_of(page, "Create branch")
    creation.get_by_label("Name", exact=True).fill("back")
    creation.get_by_role("button", name="Create branch").click()
    expect(dialog.get_by_role("status")).to_contain_text("2 objects restored")
    dialog.get_by_role("button", name="Restore", exact=True).click()
    expect(dialog).to_contain_text("2 objects changed on back, not committed yet")
    dialog.get_by_role("link", name="Open the folder").click()
    expect(page.get_by_role("link", name="b.txt")).to_be_visible()
    assert content_of(repository.branch("back"), "in/c.txt") == b"of c\n"


def test_code_for_an_object_names_its_address_at_this_server_and_is_copied(visit, repository):
    visit.expect_statuses(400, 403)  # of the question whether this server is an S3 gateway
    visit.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page = visit.open(f"/repositories/{repository.id}/object?ref=main&path=in%2Fb.txt")
    page.get_by_role("button", name="Use in code").click()
    dialog = dialog_of(page, "Use b.txt in code")
    host = page.evaluate("location.host")
    expect(dialog.locator("code").last).to_contain_text(f"ENDPOINT '{host}', USE_SSL false")
    assert visit.serious_barriers() == []
    dialog.get_by_label("Endpoint of the S3 gateway").fill("https://s3.example.org")
    dialog.get_by_label("Program").select_option("AWS CLI")
    dialog.get_by_role("button", name="Copy the code").click()
    copied = page.evaluate("navigator.clipboard.readText()")
    assert "AWS_ENDPOINT_URL=https://s3.example.org " in copied
    assert f"aws s3 cp s3://{repository.id}/main/in/b.txt ." in copied
    dialog.get_by_label("Endpoint of the S3 gateway").fill("https://h'; rm -r")
    expect(dialog.get_by_role("alert")).to_contain_text("Enter https://HOST")
    dialog.get_by_label("Program").select_option("lakeFS SDK")
    expect(dialog.locator("code").last).to_contain_text('ref.object("in/b.txt")')
