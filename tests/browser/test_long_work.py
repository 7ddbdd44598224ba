"""Long work on a branch shows on each page where it was begun, also after a reload, until it ends.

The list of tasks is the test's, which decides how long the work takes.
"""

import pytest
from lakefs_sdk import PullRequestCreation
from playwright.sync_api import expect

from tests.browser import lakes
from tests.browser.visits import faults

pytestmark = pytest.mark.browser

NOW = "2026-01-31T12:00:00Z"


def task(kind):
    return {
        "id": "t1",
        "kind": kind,
        "branch": "main",
        "user": "ada",
        "state": "running",
        "objects_done": 30,
        "objects_known": 100,
        "creation_time": NOW,
        "update_time": NOW,
        "is_cancelled": False,
        "result": {},
        "status_code": 0,
    }


@pytest.fixture(scope="module")
def addresses(client):
    repository = lakes.create(client, files={"a.txt": b"1"})
    work = repository.branch("work").create("main")
    lakes.change(work, "Change a", {"a.txt": b"2"})
    pull = client.sdk_client.pulls_api.create_pull_request(
        repository.id,
        PullRequestCreation(title="Change a", source_branch="work", destination_branch="main"),
    )
    at = f"/repositories/{repository.id}"
    return {
        "commit": f"{at}/changes?ref=main",
        "merge": f"{at}/compare?ref=main&compare=work",
        "revert": f"{at}/commits?ref=main",
        "cherry-pick": f"{at}/commits?ref=main",
        "merge-pull-request": f"{at}/pulls/{pull.id}",
    }


WORDS = {
    "commit": "A commit by ada",
    "merge": "A merge by ada",
    "revert": "A revert by ada",
    "cherry-pick": "A cherry-pick by ada",
    "merge-pull-request": "A merge of a pull request by ada",
}


def test_work_that_is_under_way_shows_after_a_reload_until_it_ends(visit, addresses):
    tasks = []
    page = visit.page
    page.clock.install()
    ended = {**task("commit"), "state": "completed"}
    page.route("**/tasks/t1", lambda route: route.fulfill(json=ended))
    page.route(
        "**/tasks?branch=main&state=open",
        lambda route: route.fulfill(
            json={
                "results": tasks,
                "pagination": {
                    "has_more": False,
                    "next_offset": "",
                    "results": len(tasks),
                    "max_per_page": 1000,
                },
            }
        ),
    )

    def check(kind):
        tasks[:] = [task(kind)]
        visit.open(addresses[kind])
        expect(page.get_by_text(f"{WORDS[kind]} is under way on main.")).to_be_visible()

    assert faults(check, WORDS) == {}
    page.reload()
    bar = page.get_by_role("progressbar", name="Objects done")
    expect(bar).to_have_attribute("aria-valuenow", "30")
    tasks.clear()
    page.clock.fast_forward(60_000)
    expect(bar).to_have_count(0)
