"""Everybody can use every page: axe finds no serious barrier, in light and in dark colours."""

import pytest
from playwright.sync_api import expect

from tests.browser import pages

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def places(client):
    return pages.prepare(client)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_no_page_has_a_serious_barrier(visiting, session, places, scheme):
    visit = visiting(storage_state=session, color_scheme=scheme)
    found = {}
    for name, path in places.items():
        visit.open(path)
        if barriers := visit.serious_barriers():
            found[name] = barriers
    assert found == {}


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_neither_the_log_in_nor_a_dialog_has_a_serious_barrier(visiting, session, scheme):
    stranger = visiting(color_scheme=scheme)
    stranger.expect_statuses(401)
    stranger.open("/auth/login")
    assert stranger.serious_barriers() == []
    visit = visiting(storage_state=session, color_scheme=scheme)
    page = visit.open("/repositories")
    page.keyboard.press("Control+k")
    expect(page.get_by_role("dialog", name="Find or go to")).to_be_visible()
    assert visit.serious_barriers() == []
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Create repository").click()
    assert visit.serious_barriers() == []


def test_axe_sees_a_barrier_where_there_is_one(visit):
    page = visit.open("/repositories")
    page.evaluate("document.body.append(document.createElement('button'))")
    assert [told for told in visit.serious_barriers() if told.startswith("button-name")]


def test_every_page_has_one_first_heading_and_a_title_of_its_own(visit, places):
    found = {}
    for name, path in places.items():
        page = visit.open(path)
        if page.locator("h1").count() != 1 or page.title() == "Graveler":
            found[name] = (page.locator("h1").count(), page.title())
    assert found == {}


def test_no_page_is_wider_than_a_telephone(visiting, session, places):
    visit = visiting(storage_state=session, viewport={"width": 360, "height": 740})
    wider = "document.documentElement.scrollWidth - innerWidth"
    found = {name: visit.open(path).evaluate(wider) for name, path in places.items()}
    assert {name: by for name, by in found.items() if by > 0} == {}
