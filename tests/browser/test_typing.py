"""A search sends a request for what its user typed, not for each letter; Enter is for the letters that are there."""

import re
from collections import Counter
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Request, expect

from tests.browser import lakes
from tests.browser.visits import choose

pytestmark = pytest.mark.browser

LETTERS = "abcdefgh"


@pytest.fixture(scope="module")
def repository(client):
    repository = lakes.create(client, files={"a.txt": b"1", "folder/b.txt": b"2"})
    for name in ("work-new", "work-old"):
        repository.branch(name).create("main")
    return repository


def requests_of(visit, field):
    """Type the letters at once, by a clock that stands still, and pause; return what that asks of the API."""
    visit.wait()
    asked = []
    page = visit.page

    def note(request: Request) -> None:
        if "/api/v1/" in request.url:
            asked.append(request.url)

    page.on("request", note)
    page.clock.install()
    page.clock.pause_at(page.evaluate("Date.now() + 60_000"))
    field.focus()
    page.keyboard.press("Home")
    for letter in LETTERS:
        page.keyboard.press(letter)
        page.clock.run_for(60)  # draws what the letter changes
    page.clock.run_for(1_000)
    page.clock.resume()
    expect(field).to_have_value(re.compile(LETTERS))
    page.wait_for_timeout(300)
    return asked


SEARCHES = {
    "repositories": ("/repositories", "Find repositories by name"),
    "branches": ("/repositories/{}/branches", "Find branches by the beginning of their names"),
    "objects": ("/repositories/{}/objects?ref=main", "Names that begin with"),
    "users": ("/auth/users", "Find users by the beginning of the name"),
    "member": ("/auth/groups/Developers", "Add a user"),
}


@pytest.mark.parametrize("search", SEARCHES)
def test_a_word_that_is_typed_into_a_search_is_one_request(visit, repository, search):
    address, label = SEARCHES[search]
    page = visit.open(address.format(repository.id))
    asked = requests_of(visit, page.get_by_label(label))
    # A listing also asks for its head and its last commits: no address twice.
    assert set(Counter(urlsplit(url).path for url in asked).values()) == {1}, asked
    assert [url for url in asked if LETTERS in url], asked


def test_a_ref_that_is_typed_is_one_request(visit, repository):
    page = visit.open(f"/repositories/{repository.id}/objects?ref=main")
    page.get_by_role("button", name="Objects at: main").click()
    asked = requests_of(visit, page.get_by_role("combobox"))
    assert len(asked) == 1, asked


def test_a_word_in_the_palette_asks_once_for_repositories_and_once_for_branches(visit, repository):
    page = visit.open(f"/repositories/{repository.id}/objects?ref=main")
    page.keyboard.press("Control+k")
    asked = requests_of(visit, page.get_by_role("combobox"))
    assert len(asked) == 2, asked


@pytest.mark.parametrize(("entry", "label"), [("a.txt", "New path"), ("folder/", "New folder")])
def test_the_target_of_a_move_is_looked_for_once(visit, repository, entry, label):
    page = visit.open(f"/repositories/{repository.id}/objects?ref=main")
    page.get_by_role("button", name=f"Actions for {entry}", exact=True).click()
    page.get_by_role("button", name="Move or rename").click()
    asked = requests_of(visit, page.get_by_label(label))
    assert len(asked) == 1, asked


def test_the_targets_of_uploads_are_looked_for_once_each(visit, repository):
    visit.expect_statuses(404)
    page = visit.open(f"/repositories/{repository.id}/objects?ref=main")
    dialog = choose(page, {f"{number}.txt": b"1" for number in range(5)})
    asked = requests_of(visit, dialog.get_by_label("To folder"))
    assert len(asked) == 5, asked
    dialog.get_by_label("To folder").fill("")
    dialog.get_by_label("Target path of 0.txt").fill("a.txt")
    expect(dialog.get_by_text("Replaces")).to_have_count(1)


@pytest.fixture
def held(visit):
    """Requests for branches that begin with `work-o`: they wait until the test lets them go."""
    routes = []
    visit.page.route(re.compile("/branches.*prefix=work-o"), lambda route: routes.append(route))  # noqa: PLW0108
    return routes


def enter(page, held, letters):
    """Type, press Enter, and let the list of branches come after it."""
    with page.expect_request(re.compile(f"/branches.*prefix={letters}")):
        page.keyboard.type(letters)
        page.keyboard.press("Enter")
    expect(page.get_by_role("combobox")).to_be_visible()
    expect(page).to_have_url(re.compile("ref=main$"))
    held[0].continue_()
    expect(page).to_have_url(re.compile(r"ref=work-old$"))


def test_enter_takes_the_branch_that_is_typed_although_it_is_still_looked_for(
    visit, repository, held
):
    page = visit.open(f"/repositories/{repository.id}/objects?ref=main")
    page.get_by_role("button", name="Objects at: main").click()
    expect(page.get_by_role("option", name="work-new")).to_be_visible()
    enter(page, held, "work-o")


def test_enter_in_the_palette_waits_for_what_was_typed(visit, repository, held):
    page = visit.open(f"/repositories/{repository.id}/objects?ref=main")
    page.keyboard.press("Control+k")
    expect(page.get_by_role("option", name="work-new")).to_be_visible()
    enter(page, held, "work-o")


def test_enter_in_the_palette_leads_to_a_page_without_waiting(visit, repository):
    page = visit.open(f"/repositories/{repository.id}/objects?ref=main")
    page.keyboard.press("Control+k")
    expect(page.get_by_role("combobox")).to_be_focused()
    page.route(re.compile("prefix=pull"), lambda _: None)
    page.keyboard.type("pull")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Pull requests", exact=True)).to_be_visible()
