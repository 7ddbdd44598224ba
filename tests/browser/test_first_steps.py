"""Whoever opens the page gets in, finds a repository or makes one, and gets about by keys."""

import re

import lakefs
import pytest
from playwright.sync_api import expect

from tests.browser import lakes

pytestmark = pytest.mark.browser


def log_in(page, key_id, secret):
    page.get_by_label("Access key ID").fill(key_id)
    page.get_by_label("Secret access key").fill(secret)
    page.get_by_role("button", name="Log in").click()


def test_a_bookmark_asks_to_log_in_and_then_leads_where_it_points(visiting, client, stack):
    name = lakes.create(client).id
    visit = visiting()
    visit.expect_statuses(401)
    page = visit.open(f"/repositories/{name}/branches?prefix=ma")
    expect(page.get_by_role("heading", name="Log in to Graveler")).to_be_visible()
    log_in(page, stack.access_key_id, stack.secret_access_key)
    expect(page).to_have_url(re.compile(rf"/repositories/{name}/branches\?prefix=ma$"))
    expect(page.get_by_role("link", name="main").first).to_be_visible()


def test_a_wrong_key_pair_is_refused_in_words_and_can_be_mended(visiting, stack):
    visit = visiting()
    visit.expect_statuses(401)
    page = visit.open("/auth/login")
    log_in(page, stack.access_key_id, "wrong")
    expect(page.get_by_role("alert")).to_contain_text("This key pair is not right")
    log_in(page, stack.access_key_id, stack.secret_access_key)
    expect(page.get_by_role("heading", name="Repositories")).to_be_visible()


def test_a_log_in_never_leads_to_another_site(visiting, stack):
    for elsewhere in ("//example.com/", "https://example.com/", "/\\example.com"):
        visit = visiting()
        visit.expect_statuses(401)
        visit.page.goto(f"/auth/login?next={elsewhere}")
        log_in(visit.page, stack.access_key_id, stack.secret_access_key)
        expect(visit.page).to_have_url(f"{stack.endpoint}/repositories")


def test_after_the_log_out_the_page_is_closed(visiting, stack):
    visit = visiting()
    visit.expect_statuses(401)
    page = visit.open("/auth/login")
    log_in(page, stack.access_key_id, stack.secret_access_key)
    page.get_by_role("button", name="Account of").click()
    page.get_by_text("Log out").click()
    expect(page.get_by_role("heading", name="Log in to Graveler")).to_be_visible()
    page.goto("/repositories")
    expect(page.get_by_role("heading", name="Log in to Graveler")).to_be_visible()


def test_scripts_cannot_read_the_session(visit):
    page = visit.open("/repositories")
    assert page.evaluate("document.cookie") == ""


def test_a_repository_is_found_by_a_part_of_its_name_and_the_address_keeps_the_search(
    visit, client
):
    name, other = lakes.create(client).id, lakes.create(client).id
    page = visit.open("/repositories")
    page.get_by_label("Find repositories by name").fill(name[3:])
    expect(page.get_by_role("link", name=name)).to_be_visible()
    expect(page.get_by_role("link", name=other)).to_have_count(0)
    page.reload()
    expect(page.get_by_label("Find repositories by name")).to_have_value(name[3:])
    expect(page.get_by_role("link", name=name)).to_be_visible()
    page.get_by_label("Find repositories by name").fill("there is no such")
    expect(page.get_by_role("heading", name=re.compile("name contains"))).to_be_visible()


def test_a_repository_is_created_and_opened(visit, client):
    page = visit.open("/repositories")
    page.get_by_role("button", name="Create repository").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Name", exact=True).fill("made-by-hand")
    dialog.get_by_role("button", name="Create repository").click()
    expect(page).to_have_url(re.compile("/repositories/made-by-hand/objects"))
    assert [each.id for each in lakefs.repositories(client)].count("made-by-hand") == 1


def test_a_name_that_is_wrong_or_taken_is_refused_and_nothing_typed_is_lost(visit, client):
    taken = lakes.create(client).id
    visit.expect_statuses(409)
    page = visit.open("/repositories")
    page.get_by_role("button", name="Create repository").click()
    dialog = page.get_by_role("dialog")
    name = dialog.get_by_label("Name", exact=True)
    name.fill("No!")
    expect(dialog).to_contain_text("Use 3 to 63 lower-case letters")
    name.fill(taken)
    dialog.get_by_label("Storage namespace").fill("s3://graveler/elsewhere")
    dialog.get_by_role("button", name="Create repository").click()
    expect(dialog.get_by_role("alert")).to_be_visible()
    expect(name).to_have_value(taken)


def test_every_page_is_a_few_keys_away(visit, client):
    name = lakes.create(client).id
    page = visit.open(f"/repositories/{name}/branches")
    page.keyboard.press("g")
    page.keyboard.press("t")
    expect(page).to_have_url(re.compile(f"/repositories/{name}/tags"))
    page.keyboard.press("?")
    expect(page.get_by_role("dialog", name="Keyboard shortcuts")).to_be_visible()
    page.keyboard.press("Escape")
    page.keyboard.press("g")
    page.keyboard.press("r")
    expect(page).to_have_url(re.compile("/repositories$"))


def test_the_palette_finds_repositories_branches_and_pages(visit, client):
    repository = lakes.create(client)
    repository.branch("feature-of-may").create("main")
    page = visit.open("/repositories")
    page.keyboard.press("Control+k")
    palette = page.get_by_role("dialog", name="Find or go to")
    palette.get_by_role("combobox").fill(repository.id)
    expect(palette.get_by_role("option", name=repository.id)).to_be_visible()
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile(f"/repositories/{repository.id}/objects"))
    page.keyboard.press("Control+k")
    for words in ("branch fea", f"{repository.id} feature-of"):
        palette.get_by_role("combobox").fill(words)
        expect(palette.get_by_role("option", name="feature-of-may")).to_be_visible()
    palette.get_by_role("combobox").fill("feature")
    palette.get_by_role("option", name="feature-of-may").click()
    expect(page).to_have_url(re.compile("ref=feature-of-may"))


def test_the_chosen_colours_stay(visit):
    page = visit.open("/repositories")
    page.get_by_role("button", name="Dark colours").click()
    shown = "getComputedStyle(document.body).backgroundColor"
    dark = page.evaluate(shown)
    page.reload()
    expect(page.get_by_role("button", name="Light colours")).to_be_visible()
    assert page.evaluate(shown) == dark
    page.get_by_role("button", name="Light colours").click()
    assert page.evaluate(shown) != dark
