"""Uploads end well or say why not: dropped, interrupted, cancelled, retried; downloads are whole."""

import os
import re
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import FilePayload, expect

from tests.browser import lakes
from tests.browser.visits import choose, dialog_of, upload
from tests.support.servers.stack import BUCKET

pytestmark = pytest.mark.browser

PART_BYTES = 8 * 1024**2


@pytest.fixture
def repository(client):
    return lakes.create(client)


@pytest.fixture
def large_file(tmp_path):
    """A file of two parts."""
    file = tmp_path / "large.bin"
    file.write_bytes(os.urandom(PART_BYTES + 1_000))
    return file


@pytest.fixture
def bucket(visit, stack):
    """The requests that send content to the bucket; `act` decides what becomes of each."""
    return Bucket(visit, stack)


class Bucket:
    def __init__(self, visit, stack):
        self.sent = []
        self.act = lambda route: route.continue_()
        visit.page.route(f"{stack.s3_endpoint}/**", self._on_request)

    def _on_request(self, route):
        if route.request.method != "PUT":
            return route.continue_()
        self.sent.append(route.request.url)
        return self.act(route)

    def hold_after(self, count):
        """Let so many requests through; keep the later ones waiting. Return those that wait."""
        held = []
        self.act = lambda route: (
            route.continue_() if len(self.sent) <= count else held.append(route)
        )
        return held


def objects_page(visit, repository, path=""):
    visit.expect_statuses(404)  # no object is at the path that an upload writes
    return visit.open(f"/repositories/{repository.id}/objects?ref=main&path={path}")


def begin_large(page, file):
    """Begin the upload of the file; return the dialog."""
    dialog = choose(page, {})
    dialog.locator("input[type=file]").first.set_input_files(file)
    dialog.get_by_role("button", name=re.compile("^Upload 1 file")).click()
    return dialog


def content_of(repository, path):
    return repository.branch("main").object(path).reader(mode="rb").read()


def drop(visit, paths):
    """Drop files and folders of this machine into the middle of the page."""
    devtools = visit.context.new_cdp_session(visit.page)
    files = [str(path) for path in paths]
    data = {"items": [], "files": files, "dragOperationsMask": 1}
    for kind in ("dragEnter", "dragOver", "drop"):
        event = {"type": kind, "x": 600, "y": 400, "data": data}
        devtools.send("Input.dispatchDragEvent", event)


def test_dropped_files_and_folders_keep_their_paths(visit, repository, tmp_path):
    (tmp_path / "data" / "deep").mkdir(parents=True)
    (tmp_path / "one.txt").write_bytes(b"one")
    (tmp_path / "data" / "two.txt").write_bytes(b"two")
    (tmp_path / "data" / "deep" / "three.txt").write_bytes(b"three")
    page = objects_page(visit, repository, "in%2F")
    drop(visit, [tmp_path / "one.txt", tmp_path / "data"])
    dialog = dialog_of(page, re.compile("^Upload to"))
    listed = dialog.get_by_role("list", name="Files to upload").get_by_role("listitem")
    expect(listed).to_have_count(3)
    dialog.get_by_role("button", name="Upload 3 files").click()
    expect(dialog.get_by_text("3 of 3 files uploaded")).to_be_visible()
    assert content_of(repository, "in/one.txt") == b"one"
    assert content_of(repository, "in/data/two.txt") == b"two"
    assert content_of(repository, "in/data/deep/three.txt") == b"three"


def test_a_reload_loses_no_part_of_a_large_file_that_has_arrived(
    visit, repository, large_file, bucket
):
    page = objects_page(visit, repository)
    held = bucket.hold_after(1)
    begin_large(page, large_file)
    wait_for(page, lambda: held)
    arrived = part_of(bucket.sent[0])
    wait_for(page, lambda: f'"{arrived}\\":' in page.evaluate("JSON.stringify(localStorage)"))
    page.on("dialog", lambda dialog: dialog.accept())
    page.reload()
    visit.wait()
    bucket.sent.clear()
    bucket.act = lambda route: route.continue_()
    dialog = begin_large(page, large_file)
    expect(dialog.get_by_text("1 of 1 file uploaded")).to_be_visible()
    assert {part_of(url) for url in bucket.sent} == {1, 2} - {arrived}
    assert content_of(repository, "large.bin") == large_file.read_bytes()


def part_of(url):
    return int(parse_qs(urlsplit(url).query)["partNumber"][0])


def wait_for(page, condition):
    """Wait until the condition holds; the browser's events are handled meanwhile."""
    for _ in range(300):
        if condition():
            return
        page.wait_for_timeout(50)
    pytest.fail("it did not happen")


def test_a_cancelled_upload_leaves_neither_an_object_nor_its_parts(
    visit, stack, repository, large_file, bucket
):
    page = objects_page(visit, repository)
    held = bucket.hold_after(1)
    dialog = begin_large(page, large_file)
    wait_for(page, lambda: held)
    with page.expect_request(lambda request: request.method == "DELETE") as ended:
        dialog.get_by_role("button", name="Cancel large.bin").click()
    expect(dialog.get_by_text("Cancelled")).to_be_visible()
    assert ended.value.response().status == 204
    assert not repository.branch("main").object("large.bin").exists()
    prefix = f"{repository.id}/"
    left = stack.s3.list_multipart_uploads(Bucket=BUCKET).get("Uploads", [])
    assert [each["Key"] for each in left if each["Key"].startswith(prefix)] == []


def test_an_upload_goes_on_when_its_dialog_is_closed_and_another_page_is_shown(
    visit, repository, bucket
):
    page = objects_page(visit, repository)
    held = bucket.hold_after(0)
    dialog = choose(page, {"slow.txt": b"slow"})
    dialog.get_by_role("button", name=re.compile("^Upload 1 file")).click()
    wait_for(page, lambda: held)
    dialog.get_by_role("button", name="Continue in the background").click()
    expect(page.get_by_role("button", name="Uploading…")).to_be_visible()
    rooms = page.get_by_role("navigation", name="Repository")
    rooms.get_by_role("link", name="Tags").click()
    expect(page.get_by_role("heading", name="Tags")).to_be_visible()
    rooms.get_by_role("link", name="Objects").click()
    expect(page.get_by_role("button", name="Uploading…")).to_be_visible()
    held.pop().continue_()
    expect(page.get_by_role("link", name="slow.txt")).to_be_visible()
    assert content_of(repository, "slow.txt") == b"slow"


def test_of_two_files_the_one_that_failed_is_sent_again_alone(visit, repository, bucket):
    visit.expect_statuses(503)
    page = objects_page(visit, repository)
    allowed = {"Access-Control-Allow-Origin": "*", "Access-Control-Expose-Headers": "ETag"}
    busy = {"status": 503, "headers": allowed}
    bucket.act = lambda route: route.fulfill(**busy) if len(bucket.sent) == 1 else route.continue_()
    dialog = choose(page, {"one.txt": b"one", "two.txt": b"two"})
    dialog.get_by_role("button", name=re.compile("^Upload 2 files")).click()
    expect(dialog.get_by_text("1 of 2 files uploaded, 1 failed")).to_be_visible()
    expect(dialog).to_contain_text("The bucket refused with status 503. Try again.")
    dialog.get_by_role("button", name="Retry failed").click()
    expect(dialog.get_by_text("2 of 2 files uploaded")).to_be_visible()
    assert len(bucket.sent) == 3
    assert content_of(repository, "one.txt") == b"one"
    assert content_of(repository, "two.txt") == b"two"


def test_of_two_files_for_one_path_the_one_that_was_chosen_last_stays(visit, repository, bucket):
    visit.expect_statuses(503)
    allowed = {"Access-Control-Allow-Origin": "*", "Access-Control-Expose-Headers": "ETag"}
    bucket.act = lambda route: route.fulfill(status=503, headers=allowed)
    dialog = choose(objects_page(visit, repository), {"one.txt": b"older"})
    dialog.get_by_role("button", name=re.compile("^Upload 1 file")).click()
    expect(dialog.get_by_text("0 of 1 file uploaded, 1 failed")).to_be_visible()
    dialog.get_by_role("button", name="Upload more").click()
    newer: FilePayload = {"name": "one.txt", "mimeType": "text/plain", "buffer": b"chosen last"}
    dialog.locator("input[type=file]").first.set_input_files([newer])
    dialog.get_by_role("button", name=re.compile("^Upload 1 file")).click()
    expect(dialog.get_by_text("0 of 2 files uploaded, 2 failed")).to_be_visible()
    bucket.sent.clear()
    bucket.act = lambda route: route.continue_()
    dialog.get_by_role("button", name="Retry failed").click()
    expect(dialog.get_by_text("2 of 2 files uploaded")).to_be_visible()
    assert len({urlsplit(url).path for url in bucket.sent}) == 2
    assert content_of(repository, "one.txt") == b"chosen last"


def test_a_download_has_the_bytes_of_the_upload_and_no_presigned_url_is_left_behind(
    visit, repository
):
    content = bytes(range(256)) * 4_000
    page = objects_page(visit, repository)
    upload(page, {"name with ü & %.bin": content})
    page.get_by_role("link", name="name with ü & %.bin").click()
    before = page.url
    with page.expect_download() as download:
        page.get_by_role("link", name="Download").click()
    assert download.value.suggested_filename == "name with ü & %.bin"
    assert download.value.path().read_bytes() == content
    assert page.url == before
    devtools = visit.context.new_cdp_session(page)
    entries = devtools.send("Page.getNavigationHistory")["entries"]
    assert len(entries) >= 2
    assert [entry["url"] for entry in entries if "X-Amz" in entry["url"]] == []
    assert "X-Amz" not in page.content()
    assert "X-Amz" not in page.evaluate(
        "JSON.stringify(localStorage) + JSON.stringify(sessionStorage)"
    )


def test_a_folder_of_hundreds_draws_only_the_rows_in_view(visit, repository, tmp_path):
    dialog = choose(objects_page(visit, repository), {})
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


def test_many_files_share_the_request_for_their_addresses(visit, repository, tmp_path):
    dialog = choose(objects_page(visit, repository), {})
    folder = tmp_path / "many"
    folder.mkdir()
    for number in range(40):
        (folder / f"{number:02}.txt").write_text(f"text {number}")
    asked = []
    visit.page.on("request", lambda request: asked.append(urlsplit(request.url).path))
    dialog.locator("input[type=file]").nth(1).set_input_files(folder)
    dialog.get_by_role("button", name="Upload 40 files").click()
    expect(dialog.get_by_text("40 of 40 files uploaded")).to_be_visible()
    assert sum(path.endswith("/staging/addresses") for path in asked) == 1
    assert not any(path.endswith("/staging/backing") for path in asked)
    assert content_of(repository, "many/07.txt") == b"text 7"
