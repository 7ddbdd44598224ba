"""Large files and many files: parts go side by side, and what fails for a moment is sent again."""

import re
from collections import Counter
from threading import Event

import pytest
from playwright.sync_api import expect

from tests.browser import lakes

pytestmark = pytest.mark.browser

PART_BYTES = 8 * 1024**2
PART = re.compile(r"partNumber=(\d+)")
SHARED = {"Access-Control-Allow-Origin": "*"}


@pytest.fixture
def repository(client):
    return lakes.create(client)


@pytest.fixture
def dialog(visit, repository):
    page = visit.open(f"/repositories/{repository.id}/objects?ref=main")
    page.get_by_role("button", name="Upload").first.click()
    return page.get_by_role("dialog")


def send(dialog, path):
    dialog.locator("input[type=file]").first.set_input_files(path)
    dialog.get_by_role("button", name="Upload 1 file").click()


@pytest.fixture
def large(tmp_path):
    """A file of four parts and a half."""
    path = tmp_path / "large.bin"
    path.write_bytes(bytes(range(256)) * (9 * PART_BYTES // 512))
    return path


def fail_parts(page, failures, tries):
    """Answer the tries of parts as `failures` says, which has the answers of each part in order."""

    def answer(route):
        if route.request.method != "PUT":
            return route.continue_()
        number = int(PART.findall(route.request.url)[0])
        tries[number] += 1
        answers = failures.get(number, [])
        status = answers.pop(0) if answers else None
        if status is None:
            return route.continue_()
        return route.abort() if status == 0 else route.fulfill(status=status, headers=SHARED)

    page.route(re.compile(r"[?&]partNumber="), answer)


def test_parts_that_fail_for_a_moment_are_sent_again(visit, repository, dialog, large):
    visit.expect_statuses(403, 404, 503)
    tries = Counter()
    fail_parts(visit.page, {2: [503], 3: [0, 0], 4: [403]}, tries)
    send(dialog, large)
    expect(dialog.get_by_text("1 of 1 file uploaded")).to_be_visible(timeout=60_000)
    assert tries == {1: 1, 2: 2, 3: 3, 4: 2, 5: 1}
    assert repository.branch("main").object("large.bin").reader().read() == large.read_bytes()


def test_four_parts_at_most_are_sent_at_once(visit, dialog, large):
    visit.expect_statuses(404)
    held = []
    is_enough = Event()

    def hold(route):
        if route.request.method != "PUT" or is_enough.is_set():
            return route.continue_()
        return held.append(route)

    visit.page.route(re.compile(r"[?&]partNumber="), hold)
    send(dialog, large)
    while len(held) < 4:
        visit.page.wait_for_timeout(50)
    visit.page.wait_for_timeout(500)  # in which a fifth would be sent
    assert len(held) == 4
    is_enough.set()
    for route in held:
        route.continue_()
    expect(dialog.get_by_text("1 of 1 file uploaded")).to_be_visible(timeout=60_000)


def test_a_retry_sends_only_the_parts_that_are_missing(visit, dialog, large):
    visit.expect_statuses(404, 503)
    first = Counter()
    fail_parts(visit.page, {5: [503] * 3}, first)
    send(dialog, large)
    expect(dialog.get_by_role("alert")).to_contain_text("large.bin", timeout=60_000)
    assert first[5] == 3
    visit.page.unroute_all()
    second = Counter()
    fail_parts(visit.page, {}, second)
    dialog.get_by_role("button", name="Retry failed").click()
    expect(dialog.get_by_text("1 of 1 file uploaded")).to_be_visible(timeout=60_000)
    assert all(second[number] == 0 for number in range(1, 4))
    assert second[5] == 1


def test_a_folder_of_hundreds_draws_only_the_rows_in_view(visit, dialog, tmp_path):
    visit.expect_statuses(404)
    folder = tmp_path / "many"
    folder.mkdir()
    for number in range(500):
        (folder / f"{number:04}.txt").write_text("x")
    dialog.locator("input[type=file]").nth(1).set_input_files(folder)
    expect(dialog.get_by_role("button", name="Upload 500 files")).to_be_visible()
    rows = dialog.get_by_role("list", name="Files to upload").get_by_role("listitem")
    expect(rows.first).to_be_visible()
    assert rows.count() < 60
    rows.first.get_by_role("textbox").fill("renamed.txt")
    expect(rows.first.get_by_role("textbox")).to_have_value("renamed.txt")
