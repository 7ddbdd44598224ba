"""A conflict is settled by what its user saw: nobody's later work is decided for them."""

import re

import pytest
from playwright.sync_api import expect

from tests.browser import lakes

pytestmark = pytest.mark.browser


@pytest.fixture
def conflict(client):
    """A repository whose branches `main` and `work` have both changed `price.txt`."""
    files = {"price.txt": b"1", "stock.txt": b"1", "name.txt": b"1"}
    repository = lakes.create(client, files=files)
    work = repository.branch("work").create("main")
    lakes.change(work, "On work", {"price.txt": b"2", "stock.txt": b"2"})
    lakes.change(repository.branch("main"), "On main", {"price.txt": b"3"})
    return repository


CHOOSE_OURS = """async lists => {
  for (const list of lists.slice(1)) {
    list.value = 'dest-wins';
    list.dispatchEvent(new Event('change', { bubbles: true }));
    await new Promise(setTimeout); // until it is drawn
  }
}"""


def content(repository, path):
    return repository.branch("main").object(path).reader(mode="rb").read()


def choose(visit, repository, side, path="price.txt"):
    """Open the merge, see its conflict, and choose a side; return the dialog."""
    visit.expect_statuses(412)
    page = visit.open(f"/repositories/{repository.id}/compare?ref=main&compare=work")
    page.get_by_role("button", name="Merge…").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label(f"Object to take at {path}").select_option(side)
    return dialog


@pytest.mark.parametrize(("side", "expected"), [("source-wins", b"2"), ("dest-wins", b"3")])
def test_the_chosen_side_of_each_conflict_is_merged_with_all_other_changes(
    visit, conflict, side, expected
):
    dialog = choose(visit, conflict, side)
    dialog.get_by_role("button", name="Merge into main").click()
    expect(dialog).to_have_count(0)
    assert content(conflict, "price.txt") == expected
    assert content(conflict, "stock.txt") == b"2"
    assert [branch.id for branch in conflict.branches()] == ["main", "work"]


def test_a_conflict_that_came_after_the_choice_is_shown_and_not_decided(visit, conflict):
    dialog = choose(visit, conflict, "source-wins")
    dialog.get_by_label("Message").fill("By hand")
    lakes.change(conflict.branch("main"), "A late repair", {"stock.txt": b"repaired"})
    dialog.get_by_role("button", name="Merge into main").click()
    expect(dialog.get_by_role("alert").last).to_contain_text("main has new commits")
    expect(dialog.get_by_role("alert").last).to_contain_text("shown as they are now")
    expect(dialog.get_by_role("list", name="Conflicts")).to_contain_text("stock.txt")
    expect(dialog.get_by_text(re.compile("1 choice to make"))).to_be_visible()
    assert content(conflict, "stock.txt") == b"repaired"
    dialog.get_by_label("Object to take at stock.txt").select_option("dest-wins")
    dialog.get_by_role("button", name="Merge into main").click()
    expect(dialog).to_have_count(0)
    assert content(conflict, "price.txt") == b"2"
    assert content(conflict, "stock.txt") == b"repaired"
    assert conflict.branch("main").get_commit().message == "By hand"


def test_what_both_sides_committed_after_the_choice_is_neither_lost_nor_merged_unseen(
    visit, conflict
):
    dialog = choose(visit, conflict, "source-wins")
    lakes.change(conflict.branch("main"), "Another object", {"name.txt": b"late"})
    lakes.change(conflict.branch("work"), "Not looked at", {"price.txt": b"unseen"})
    merge = dialog.get_by_role("button", name="Merge into main")
    merge.click()
    expect(dialog.get_by_role("alert").last).to_contain_text("work has new commits")
    assert content(conflict, "price.txt") == b"3"
    expect(dialog.get_by_label("Object to take at price.txt")).to_have_value("source-wins")
    merge.click()
    expect(dialog).to_have_count(0)
    assert content(conflict, "name.txt") == b"late"
    assert content(conflict, "price.txt") == b"unseen"


def test_many_conflicts_are_settled_by_one_request(visit, client):
    paths = [f"{number:03}.txt" for number in range(120)]
    repository = lakes.create(client, files=dict.fromkeys(paths, b"1"))
    work = repository.branch("work").create("main")
    lakes.change(work, "On work", dict.fromkeys(paths, b"2"))
    lakes.change(repository.branch("main"), "On main", dict.fromkeys(paths, b"3"))
    dialog = choose(visit, repository, "source-wins", paths[0])
    expect(dialog).to_contain_text("120 conflicts")
    dialog.get_by_label("Object to take at").evaluate_all(CHOOSE_OURS)
    changes = []
    visit.page.on(
        "request", lambda request: changes.append(request.method) if request.method != "GET" else 0
    )
    dialog.get_by_role("button", name="Merge into main").click()
    expect(dialog).to_have_count(0)
    assert changes == ["POST"]
    assert [content(repository, path) for path in (paths[0], paths[-1])] == [b"2", b"3"]


def test_a_commit_that_came_after_the_comparison_is_shown_before_it_is_merged(visit, client):
    repository = lakes.create(client, files={"a.txt": b"1"})
    work = repository.branch("work").create("main")
    lakes.change(work, "Seen", {"a.txt": b"2"})
    page = visit.open(f"/repositories/{repository.id}/compare?ref=main&compare=work")
    expect(page.get_by_text("a.txt").first).to_be_visible()
    lakes.change(work, "Unseen", {"b.txt": b"unseen"})
    visit.expect_statuses(412)
    page.get_by_role("button", name="Merge…").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Message").fill("Take what was seen")
    dialog.get_by_role("button", name="Merge into main").click()
    expect(dialog.get_by_role("alert")).to_contain_text("work has new commits")
    assert content(repository, "a.txt") == b"1"
    dialog.get_by_role("button", name="Look again").click()
    expect(page.get_by_text("b.txt").first).to_be_visible()
    page.get_by_role("button", name="Merge…").click()
    expect(dialog.get_by_label("Message")).to_have_value("Take what was seen")
    dialog.get_by_role("button", name="Merge into main").click()
    expect(dialog).to_have_count(0)
    assert content(repository, "b.txt") == b"unseen"


def test_a_commit_tells_what_it_takes_of_others(visit, client):
    repository = lakes.create(client, files={"a.txt": b"1"})
    main = repository.branch("main")
    main.object("a.txt").upload(b"2")
    page = visit.open(f"/repositories/{repository.id}/changes?ref=main")
    expect(page.get_by_text("1 changed object").first).to_be_visible()
    main.object("b.txt").upload(b"by somebody else")
    page.get_by_role("button", name="Commit…").click()
    expect(page.get_by_role("dialog")).to_contain_text("2 changed objects on main now")
