"""The log, narrowed by the address: the paths that commits changed, and the day since which."""

from datetime import date, timedelta

import pytest
from playwright.sync_api import expect

from tests.browser import lakes

pytestmark = pytest.mark.browser


def test_the_log_is_narrowed_by_a_path_and_a_day(visit, client):
    repository = lakes.create(client, files={"raw/a.csv": b"a"})
    main = repository.branch("main")
    lakes.change(main, "Clean the table", {"clean/a.csv": b"a"})
    lakes.change(main, "Correct the raw file", {"raw/a.csv": b"b"})
    page = visit.open(f"/repositories/{repository.id}/commits?ref=main")
    log = page.get_by_role("region", name="Commits of main").get_by_role("listitem")
    expect(log).to_have_count(4)  # with the one that creates the repository

    path = page.get_by_role("searchbox", name="paths that begin with")
    path.fill("raw/")
    path.press("Enter")
    expect(log).to_have_count(2)
    expect(log.first).to_contain_text("Correct the raw file")
    assert "prefix=raw" in page.url
    page.reload()
    expect(log).to_have_count(2)

    path.fill("elsewhere/")
    path.press("Enter")
    page.get_by_role("button", name="Show all commits").click()
    expect(log).to_have_count(4)

    today = date.today()
    page.get_by_label("Since").fill((today + timedelta(days=1)).isoformat())
    expect(page.get_by_role("heading", name="No commit matches")).to_be_visible()
    page.get_by_label("Since").fill((today - timedelta(days=1)).isoformat())
    expect(log).to_have_count(4)
