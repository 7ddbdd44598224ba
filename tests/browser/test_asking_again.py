"""What was shown before is shown at once, and asked for again; unless this page has changed something."""

import re

import pytest
from playwright.sync_api import Request, expect

from tests.browser import lakes

pytestmark = pytest.mark.browser

BRANCHES = re.compile(r"/branches\?prefix=&")


@pytest.fixture
def repository(client):
    repository = lakes.create(client, files={"a.txt": b"1"})
    repository.branch("work").create("main")
    return repository


@pytest.fixture
def page(visit, repository):
    return visit.open(f"/repositories/{repository.id}/branches")


def row(page, name):
    return page.get_by_role("region", name="Branches").get_by_role("link", name=name, exact=True)


def go(page, name):
    page.get_by_role("navigation", name="Repository").get_by_role("link", name=name).click()
    expect(page.get_by_role("heading", name=name, exact=True)).to_be_visible()


def come_back(page):
    """Return to the list of branches; return the request for it, which is held."""
    held = []
    page.route(BRANCHES, lambda route: held.append(route))  # noqa: PLW0108 - Playwright marks it
    with page.expect_request(BRANCHES):
        go(page, "Branches")
    return held[0]


def test_a_list_that_was_shown_is_there_at_once_and_then_as_it_is_now(page, repository):
    repository.branch("later").create("main")
    go(page, "Tags")
    held = come_back(page)
    expect(row(page, "work")).to_be_visible()
    expect(row(page, "later")).to_have_count(0)
    held.continue_()
    expect(row(page, "later")).to_be_visible()


def test_after_a_change_of_this_page_nothing_is_shown_as_it_was_before(page):
    go(page, "Tags")
    page.get_by_role("button", name="Create tag").first.click()
    dialog = page.get_by_role("dialog", name="Create tag")
    dialog.get_by_label("Name").fill("v1")
    dialog.get_by_role("button", name="Create tag").click()
    expect(page.get_by_role("link", name="v1")).to_be_visible()
    held = come_back(page)
    expect(page.locator(".skeleton")).to_be_visible()
    expect(row(page, "work")).to_have_count(0)
    held.continue_()
    expect(row(page, "work")).to_be_visible()


def test_a_commit_is_asked_for_once_however_often_its_branch_is_shown(visit, page):
    asked = []

    def note(request: Request) -> None:
        if "/commits/" in request.url:
            asked.append(request.url)

    page.on("request", note)
    expect(row(page, "work")).to_be_visible()
    for name in ("Tags", "Branches", "Tags", "Branches"):
        go(page, name)
        visit.wait()
    expect(page.get_by_role("time").first).to_be_visible()
    assert asked == []
