"""Inputs whose keys choose among what they find."""

from uuid import uuid4

import pytest
from playwright.sync_api import expect

from tests.browser import lakes
from tests.browser.visits import dialog_of

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def repository(client):
    repository = lakes.create(client, files={"a.txt": b"1"})
    for number in range(20):
        repository.branch(f"work-{number:02}").create("main")
    return repository


def test_keys_choose_a_ref_and_escape_leaves_the_dialog_around_the_picker_open(visit, repository):
    page = visit.open(f"/repositories/{repository.id}/branches")
    page.get_by_role("button", name="Create branch").click()
    dialog = dialog_of(page, "Create branch")
    dialog.get_by_label("Name").fill("typed")
    picker = dialog.get_by_role("button", name="Source: main")
    picker.click()
    chosen = dialog.get_by_role("option", selected=True)
    expect(chosen).to_have_text("main")
    page.keyboard.press("ArrowUp")
    expect(chosen).to_have_text("work-19")
    expect(chosen).to_be_in_viewport()
    page.keyboard.press("ArrowDown")
    expect(chosen).to_have_text("main")
    page.keyboard.press("ArrowDown")
    dialog.get_by_role("tab", name="Commits").click()
    expect(chosen).to_contain_text("Add files")
    page.keyboard.press("Escape")
    expect(dialog.get_by_role("combobox")).to_have_count(0)
    expect(dialog.get_by_label("Name")).to_have_value("typed")
    expect(picker).to_be_focused()


def test_names_of_groups_are_suggested_and_any_name_may_be_typed(visit, client):
    user = f"ada-{uuid4().hex[:8]}"
    client.sdk_client.auth_api.create_user(user_creation={"id": user})
    page = visit.open(f"/auth/users/{user}")
    field = page.get_by_label("Add a group")
    field.press_sequentially("Dev")
    page.keyboard.press("ArrowDown")
    expect(page.get_by_role("option", selected=True)).to_have_text("Developers")
    page.keyboard.press("Enter")
    expect(field).to_have_value("Developers")
    expect(page.get_by_role("option")).to_have_count(0)
    page.keyboard.press("Enter")
    expect(page.get_by_role("link", name="Developers")).to_be_visible()
