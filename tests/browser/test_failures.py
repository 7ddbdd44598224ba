"""Whatever fails is told where it happened, with a way on; nothing is swallowed."""

import re

import pytest
from playwright.sync_api import expect

from tests.browser import lakes
from tests.browser.visits import Visit

pytestmark = pytest.mark.browser

REPOSITORIES = re.compile(r"/api/v1/repositories\?")


def refused(status):
    """Return a handler that answers with the status, as a busy or broken server does."""
    return lambda route: route.fulfill(status=status, json={"message": "not now"})


def test_a_server_that_stays_busy_is_told_and_asked_again(visit, client):
    name = lakes.create(client).id
    visit.expect_statuses(503)
    visit.page.route(REPOSITORIES, refused(503))
    page = visit.page
    page.clock.install()
    page.goto(f"/repositories?search={name}")
    for _ in range(2):
        page.clock.fast_forward(5_000)
    expect(page.get_by_role("alert")).to_contain_text("The server is busy")
    page.unroute_all()
    page.get_by_role("button", name="Try again").click()
    expect(page.get_by_role("link", name=name)).to_be_visible()


def test_a_session_that_ends_at_work_asks_to_log_in_and_loses_nothing(visit, stack):
    visit.expect_statuses(401)
    page = visit.open("/repositories")
    page.get_by_role("button", name="Create repository").click()
    dialog = page.get_by_role("dialog", name="Create repository")
    dialog.get_by_label("Name", exact=True).fill("made-after-all")
    visit.context.clear_cookies()
    dialog.get_by_role("button", name="Create repository").click()
    again = page.get_by_role("dialog", name="Your session has ended")
    again.get_by_label("Access key ID").fill(stack.access_key_id)
    again.get_by_label("Secret access key").fill(stack.secret_access_key)
    again.get_by_role("button", name="Log in").click()
    expect(again).to_have_count(0)
    expect(dialog.get_by_label("Name", exact=True)).to_have_value("made-after-all")
    dialog.get_by_role("button", name="Create repository").click()
    expect(page).to_have_url(re.compile("/repositories/made-after-all/objects"))


def test_a_part_of_the_page_that_does_not_load_is_told_with_a_way_on(visit, client):
    name = lakes.create(client).id
    visit.allow_errors("Failed to fetch dynamically imported module")
    page = visit.open(f"/repositories/{name}/branches")
    page.route("**/assets/tasks-*.js", lambda route: route.abort())
    page.get_by_role("navigation", name="Repository").get_by_role("link", name="Tasks").click()
    expect(page.get_by_role("alert")).to_contain_text("A part of this page did not load")
    page.unroute_all()
    page.get_by_role("button", name="Load again").click()
    expect(page.get_by_role("heading", name="Tasks", exact=True)).to_be_visible()


def test_a_repository_that_does_not_exist_is_told_with_a_way_on(visit):
    visit.expect_statuses(404)
    page = visit.open("/repositories/there-is-none/branches")
    expect(page.get_by_role("heading", name="There is no repository there-is-none")).to_be_visible()
    page.get_by_role("main").get_by_role("link", name="All repositories").click()
    expect(page.get_by_role("heading", name="Repositories")).to_be_visible()


def test_an_error_in_the_page_or_an_answer_that_nobody_expects_fails_a_journey(chromium, stack):
    visit = Visit(chromium, stack)
    visit.open("/auth/login")
    assert visit.problems == []
    visit.page.evaluate("fetch('/api/v1/repositories')")
    assert [told.partition(":")[0] for told in visit.problems] == ["401"]
    visit.page.evaluate("console.error('of our own'); setTimeout(() => nowhere(), 0)")
    visit.page.evaluate("document.body.append(Object.assign(new Image(), {src: '//127.0.0.2/x'}))")
    visit.page.wait_for_timeout(200)
    told = " ".join(visit.problems)
    assert "of our own" in told
    assert "nowhere is not defined" in told
    assert "Content Security Policy" in told
    visit.context.close()


def test_a_taken_name_or_place_is_told_at_its_field(visit, client):
    visit.expect_statuses(400, 409)
    taken = lakes.create(client)
    page = visit.open("/repositories")
    page.get_by_role("button", name="Create repository").click()
    dialog = page.get_by_role("dialog")
    name = dialog.get_by_label("Name", exact=True)
    namespace = dialog.get_by_label("Storage namespace")
    create = dialog.get_by_role("button", name="Create repository")
    name.fill(taken.id)
    create.click()
    expect(name).to_have_accessible_description(
        f"There is a repository {taken.id} already. Choose another name."
    )
    name.fill("another-name")
    expect(name).to_have_accessible_description("")
    namespace.fill(taken.properties.storage_namespace)
    create.click()
    expect(namespace).to_have_accessible_description(re.compile("already holds a repository"))
    namespace.fill("ftp://nowhere")
    create.click()
    expect(namespace).to_have_accessible_description(re.compile("namespace"))
    expect(dialog).to_have_count(1)


def test_an_object_that_was_collected_is_told_so_and_offers_no_download(visit, client, stack):
    files = {"a.txt": b"1", "empty.txt": b""}
    repository = lakes.create(client, files=files)
    visit.expect_statuses(410)
    for path in files:
        stat = repository.branch("main").object(path).stat()
        bucket, _, key = stat.physical_address.removeprefix("s3://").partition("/")
        stack.s3.delete_object(Bucket=bucket, Key=key)
        page = visit.open(f"/repositories/{repository.id}/object?ref=main&path={path}")
        expect(page.get_by_text("The data of this object are missing")).to_be_visible()
        expect(page.get_by_text(stat.checksum)).to_be_visible()
        for action in ("Try again", "Download"):
            expect(page.get_by_text(action, exact=True)).to_have_count(0)


def test_an_address_that_is_no_page_or_cannot_be_read_leads_to_the_repositories(visit, client):
    name = lakes.create(client).id
    for path in (f"/repositories/{name}/no-such-page", "/repositories/%zz/objects"):
        page = visit.open(path)
        expect(page.get_by_role("heading", name="There is no such page")).to_be_visible()
    page.get_by_role("link", name="All repositories", exact=True).click()
    expect(page).to_have_url(re.compile("/repositories$"))
