"""Pages as everybody sees them. The long tests see all with their dialogs, light, dark and on a telephone.

axe finds no serious barrier. The long tests keep a picture of each in build/browser/screenshots.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.browser import pages
from tests.browser.conftest import ARTEFACTS
from tests.browser.visits import Visit, faults

pytestmark = pytest.mark.browser
# All pages are seen before the first of these tests begins.
exhaustive = [pytest.mark.long, pytest.mark.timeout(1200)]

PICTURES = ARTEFACTS / "screenshots"
LOOKS: Mapping[str, Mapping[str, Any]] = {
    "light": {"color_scheme": "light", "viewport": {"width": 1280, "height": 800}},
    "dark": {"color_scheme": "dark", "viewport": {"width": 1280, "height": 800}},
    "narrow": {"color_scheme": "light", "viewport": {"width": 360, "height": 740}},
}
# A page of each kind; the long tests see all.
FEW = {
    "light": [
        "repositories",
        "object-parquet",
        "changes",
        "commits",
        "branches",
        "run",
        "sql",
        "users",
    ],
    "dark": ["objects", "object-markdown", "compare-object", "pull", "tasks", "retention"],
}
WIDER_BY = "document.documentElement.scrollWidth - innerWidth"


@dataclass(frozen=True)
class Seen:
    """What was found on one page, or in one dialog."""

    barriers: list[str]
    wider_by_px: int
    first_headings: int
    title: str


@dataclass(frozen=True)
class Survey:
    """What was found everywhere with one look."""

    found: Mapping[str, Seen]
    problems: list[str]


@pytest.fixture(scope="module")
def places(client):
    return {"repositories-empty": "/repositories?search=none", **pages.prepare(client)}


@pytest.fixture(scope="module", params=[pytest.param(look, marks=exhaustive) for look in LOOKS])
def survey(request, chromium, stack, session, places):
    visit = Visit(chromium, stack, storage_state=session, **LOOKS[request.param])
    found = {name: see(visit, name, request.param) for name in shown(visit, places)}
    problems = list(visit.problems)
    visit.context.close()
    return Survey(found, problems)


def shown(visit: Visit, places: Mapping[str, str]) -> Iterator[str]:
    """Show one page or dialog after the other; yield its name."""
    for name, path in places.items():
        visit.open(path)
        yield name
        for number, button in enumerate(pages.DIALOGS.get(name, ())):
            visit.open(path).get_by_role("button", name=button, exact=True).first.click()
            visit.wait()
            yield f"{name}-dialog{number}"


def see(visit: Visit, name: str, look: str) -> Seen:
    PICTURES.mkdir(parents=True, exist_ok=True)
    page = visit.page
    page.screenshot(path=PICTURES / f"{name}-{look}.png", full_page="dialog" not in name)
    return Seen(
        list(visit.serious_barriers()),
        page.evaluate(WIDER_BY),
        page.locator("h1").count(),
        page.title(),
    )


@pytest.mark.parametrize(("scheme", "names"), FEW.items())
def test_a_page_of_each_kind_fits_a_telephone_and_keeps_nobody_out(
    visiting, session, places, scheme, names
):
    visit = visiting(storage_state=session, **{**LOOKS["narrow"], "color_scheme": scheme})

    def check(name):
        page = visit.open(places[name])
        assert list(visit.serious_barriers()) == []
        assert page.evaluate(WIDER_BY) <= 0
        assert page.locator("h1").count() == 1
        assert page.title() != "Graveler"

    assert faults(check, names) == {}


def test_every_page_opens_without_an_error(visiting, session, places):
    visit = visiting(storage_state=session, **LOOKS["light"])

    def check(name):
        assert visit.open(places[name]).locator("h1").count() == 1
        assert visit.problems == []

    assert faults(check, places) == {}


def test_no_page_has_a_serious_barrier(survey):
    found = {name: seen.barriers for name, seen in survey.found.items() if seen.barriers}
    assert found == {}


def test_no_page_is_wider_than_its_screen(survey):
    found = {name: seen.wider_by_px for name, seen in survey.found.items()}
    assert {name: by for name, by in found.items() if by > 0} == {}


def test_every_page_has_one_first_heading_and_a_title_of_its_own(survey):
    found = {name: (seen.first_headings, seen.title) for name, seen in survey.found.items()}
    assert {name: it for name, it in found.items() if it[0] != 1 or it[1] == "Graveler"} == {}


def test_no_page_has_an_error(survey):
    assert survey.problems == []


@pytest.mark.parametrize("look", ["dark"])
def test_the_log_in_has_no_serious_barrier(visiting, look):
    stranger = visiting(**LOOKS[look])
    stranger.open("/auth/login")
    assert see(stranger, "log-in", look).barriers == []


def test_axe_sees_a_barrier_where_there_is_one(visit):
    page = visit.open("/repositories")
    expect(page.get_by_role("heading", name="Repositories")).to_be_visible()
    page.evaluate("document.body.append(document.createElement('button'))")
    assert [told for told in visit.serious_barriers() if told.startswith("button-name")]
