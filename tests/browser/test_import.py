"""Objects of the object store are imported where they are: with progress, and told why not."""

import re

import pytest
from playwright.sync_api import expect

from tests.browser import lakes
from tests.support.servers.stack import BUCKET

pytestmark = pytest.mark.browser


def put_raw(stack, name, *keys):
    """Store objects outside of the repository; return the URI of their folder."""
    for key in keys:
        stack.s3.put_object(Bucket=BUCKET, Key=f"raw-{name}/{key}", Body=b"id,price\n1,2\n")
    return f"s3://{BUCKET}/raw-{name}/"


def begin(page):
    page.get_by_role("button", name="Import", exact=True).click()
    return page.get_by_role("dialog", name="Import into main")


def test_a_folder_and_an_object_are_imported_in_one_commit(visit, client, stack):
    repository = lakes.create(client, files={"prices/old.csv": b"gone", "kept.txt": b"stays"})
    raw = put_raw(stack, repository.id, "prices/a.csv", "prices/b.csv", "README")
    page = visit.open(f"/repositories/{repository.id}/objects?ref=main")
    dialog = begin(page)
    dialog.get_by_label("Source URI").fill(f"{raw}prices/")
    dialog.get_by_label("Destination").fill("prices")
    expect(dialog).to_contain_text("prices/ holds the imported objects and nothing else")
    dialog.get_by_role("button", name="Add a source").click()
    second = dialog.get_by_role("group", name="Source 2")
    second.get_by_label("Take").select_option("One object")
    second.get_by_label("Source URI").fill(f"{raw}README")
    second.get_by_label("Destination").fill("about.txt")
    dialog.get_by_label("Commit message").fill("Import the prices")
    dialog.get_by_role("button", name="Import", exact=True).click()
    expect(dialog).to_contain_text("3 objects imported into main", timeout=30_000)
    dialog.get_by_role("button", name="Done").click()
    expect(page.get_by_role("link", name="about.txt")).to_be_visible()
    main = repository.branch("main")
    assert sorted(each.path for each in main.objects()) == [
        "about.txt",
        "kept.txt",
        "prices/a.csv",
        "prices/b.csv",
    ]
    assert main.get_commit().message == "Import the prices"


def test_an_import_to_no_destination_says_that_it_replaces_everything(visit, client):
    repository = lakes.create(client, files={"kept.txt": b"stays"})
    dialog = begin(visit.open(f"/repositories/{repository.id}/objects?ref=main"))
    dialog.get_by_label("Source URI").fill(f"s3://{BUCKET}/raw/")
    expect(dialog).to_contain_text("replaces everything on main")
    expect(dialog.get_by_role("button", name="Replace everything on main")).to_be_enabled()
    dialog.get_by_label("Destination").fill("in/")
    expect(dialog.get_by_role("button", name="Import", exact=True)).to_be_enabled()
    assert visit.serious_barriers() == []


def test_a_missing_bucket_is_told_and_changes_nothing(visit, client):
    repository = lakes.create(client, files={"kept.txt": b"stays"})
    dialog = begin(visit.open(f"/repositories/{repository.id}/objects?ref=main"))
    dialog.get_by_label("Source URI").fill("s3://there-is-none/raw/")
    dialog.get_by_label("Destination").fill("in/")
    dialog.get_by_role("button", name="Import", exact=True).click()
    expect(dialog.get_by_role("alert")).to_contain_text("bucket there-is-none does not exist")
    expect(dialog).to_contain_text("Nothing was imported")


def test_uncommitted_changes_are_told_with_the_way_to_them(visit, client, stack):
    repository = lakes.create(client, files={"kept.txt": b"stays"})
    raw = put_raw(stack, repository.id, "a.csv")
    repository.branch("main").object("later.txt").upload(b"not committed")
    visit.expect_statuses(400)
    page = visit.open(f"/repositories/{repository.id}/objects?ref=main")
    dialog = begin(page)
    dialog.get_by_label("Source URI").fill(raw)
    dialog.get_by_label("Destination").fill("in/")
    dialog.get_by_role("button", name="Import", exact=True).click()
    expect(dialog.get_by_role("alert")).to_contain_text("Commit or reset the changes")
    dialog.get_by_role("link", name="See the uncommitted changes").click()
    expect(page.get_by_role("heading", name="Uncommitted changes")).to_be_visible()


def test_a_running_import_shows_after_a_reload_and_is_stopped(visit, client):
    """The server's answers are the test's, since a real import would end between two looks."""
    repository = lakes.create(client, files={"kept.txt": b"stays"})
    task = {
        "id": "IM1",
        "kind": "import",
        "state": "running",
        "branch": "main",
        "user": "ada",
        "creation_time": "2026-11-25T22:50:37Z",
        "update_time": "2026-11-25T22:50:39Z",
        "objects_done": 20,
        "objects_known": 80,
        "result": {},
    }

    def answer(route):
        if route.request.method == "DELETE":
            task.update(state="cancelled", status_code=400)
            return route.fulfill(json=task)
        rows = {"results": [task], "pagination": {"has_more": False, "next_offset": ""}}
        return route.fulfill(json=rows)

    visit.page.route("**/tasks*", answer)
    visit.page.route("**/tasks/IM1", answer)
    page = visit.open(f"/repositories/{repository.id}/objects?ref=main")
    page.reload()
    work = page.get_by_role("status").filter(has_text="An import by ada is under way on main")
    expect(work.get_by_role("progressbar")).to_have_attribute("aria-valuenow", "25")
    work.get_by_role("button", name="Stop").click()
    expect(page.get_by_role("alert")).to_contain_text("It was cancelled")
    expect(work).to_have_count(0)


def test_a_deployment_without_places_to_import_from_names_its_setting(visit, client):
    def refuse(route):
        told = route.fetch().json()
        told["storage_config"]["import_support"] = False
        route.fulfill(json=told)

    visit.page.route("**/api/v1/config", refuse)
    page = visit.open(f"/repositories/{lakes.create(client).id}/objects?ref=main")
    button = page.get_by_role("button", name="Import", exact=True)
    expect(button).to_be_disabled()
    expect(button).to_have_attribute("title", re.compile("setting “readable”"))
