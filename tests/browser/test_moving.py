"""Objects and folders are moved and copied by their menus; nothing is replaced or lost unseen."""

import re

import pytest
from playwright.sync_api import expect

from tests.browser import lakes

pytestmark = pytest.mark.browser

FILES = {
    "a.txt": b"of a",
    "b.txt": b"of b",
    "raw/1.csv": b"one",
    "raw/2.csv": b"two",
    "done/1.csv": b"older",
}


@pytest.fixture
def repository(client):
    return lakes.create(client, files=FILES)


@pytest.fixture
def page(visit, repository):
    return visit.open(f"/repositories/{repository.id}/objects?ref=main")


def choose(page, name, entry):
    """Choose the entry of the row's menu; return the dialog that it opens."""
    page.get_by_role("button", name=f"Actions for {name}", exact=True).click()
    page.get_by_role("button", name=entry).click()
    return page.get_by_role("dialog", name=name)


def content(repository):
    main = repository.branch("main")
    return {each.path: main.object(each.path).reader().read() for each in main.objects()}


def test_an_object_moves_into_a_folder_and_keeps_its_name(page, repository):
    dialog = choose(page, "a.txt", "Move or rename")
    dialog.get_by_label("New path").fill("sub/")
    dialog.get_by_role("button", name="Move", exact=True).click()
    expect(page.get_by_role("link", name="sub/")).to_be_visible()
    expect(page.get_by_role("link", name="a.txt")).to_have_count(0)
    found = content(repository)
    assert found["sub/a.txt"] == b"of a"
    assert "a.txt" not in found


def test_what_a_move_would_replace_is_told_first(visit, page, repository):
    dialog = choose(page, "a.txt", "Move or rename")
    dialog.get_by_label("New path").fill("b.txt")
    expect(dialog).to_contain_text("b.txt exists")
    assert visit.serious_barriers() == []
    dialog.get_by_role("button", name="Replace it").click()
    expect(page.get_by_role("link", name="a.txt")).to_have_count(0)
    assert content(repository)["b.txt"] == b"of a"


def test_an_object_that_comes_to_the_target_meanwhile_is_not_replaced(visit, page, repository):
    visit.expect_statuses(412)
    dialog = choose(page, "a.txt", "Copy to")
    dialog.get_by_label("New path").fill("c.txt")
    expect(dialog.get_by_role("button", name="Copy", exact=True)).to_be_enabled()
    repository.branch("main").object("c.txt").upload(b"of another")
    dialog.get_by_role("button", name="Copy", exact=True).click()
    expect(dialog.get_by_role("alert")).to_contain_text("Path already exists")
    assert content(repository)["c.txt"] == b"of another"


def test_a_move_whose_deletion_fails_says_so_and_goes_on_there(visit, page, repository):
    visit.expect_statuses(403)
    copies = []
    page.on("request", lambda sent: copies.append(sent) if "/objects/copy" in sent.url else None)

    def refuse(route):
        if route.request.method == "DELETE":
            return route.fulfill(status=403, json={"message": "not now"})
        return route.continue_()

    page.route(re.compile(r"/branches/main/objects\?path=a.txt"), refuse)
    dialog = choose(page, "a.txt", "Move or rename")
    dialog.get_by_label("New path").fill("c.txt")
    dialog.get_by_role("button", name="Move", exact=True).click()
    expect(dialog.get_by_role("alert")).to_contain_text("is still at its old path as well")
    page.unroute_all()
    dialog.get_by_role("button", name="Delete at the old path").click()
    expect(dialog).to_have_count(0)
    expect(page.get_by_role("link", name="c.txt")).to_be_visible()
    expect(page.get_by_role("link", name="a.txt")).to_have_count(0)
    assert len(copies) == 1
    assert content(repository)["c.txt"] == b"of a"


def test_a_folder_moves_with_all_that_is_in_it(page, repository):
    dialog = choose(page, "raw/", "Move or rename")
    dialog.get_by_label("New folder").fill("kept/2025")
    dialog.get_by_role("button", name="Move", exact=True).click()
    expect(dialog).to_contain_text("2 objects moved from raw/ to kept/2025/", timeout=30_000)
    dialog.get_by_role("button", name="Done").click()
    expect(page.get_by_role("link", name="raw/")).to_have_count(0)
    assert content(repository)["kept/2025/2.csv"] == b"two"


def test_a_copy_over_a_folder_leaves_what_is_there_if_the_user_says_so(page, repository):
    dialog = choose(page, "raw/", "Copy to")
    dialog.get_by_label("New folder").fill("done")
    dialog.get_by_label("Where a path exists").select_option("Leave both objects as they are")
    dialog.get_by_role("button", name="Copy", exact=True).click()
    expect(dialog).to_contain_text("1 object copied", timeout=30_000)
    expect(dialog).to_contain_text("1 object left, whose paths existed")
    found = content(repository)
    assert (found["done/1.csv"], found["done/2.csv"]) == (b"older", b"two")
    assert found["raw/1.csv"] == b"one"


def test_a_folder_cannot_move_into_itself(page):
    dialog = choose(page, "raw/", "Move or rename")
    dialog.get_by_label("New folder").fill("raw/x")
    expect(dialog).to_contain_text("raw/x/ is inside of raw/")
    expect(dialog.get_by_role("button", name="Move", exact=True)).to_be_disabled()
