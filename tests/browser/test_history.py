"""What was done can be seen and undone: resets, reverts, cherry-picks, tags, hooks, tasks."""

import re
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import pytest
from lakefs_sdk import RepositoryCreation
from playwright.sync_api import expect

from tests.browser import lakes
from tests.browser.visits import dialog_of, told
from tests.support.servers.stack import BUCKET

pytestmark = pytest.mark.browser

FILES = {"a.txt": b"a\n", "in/b.txt": b"b\n", "in/c.txt": b"c\n"}


@pytest.fixture
def repository(client):
    return lakes.create(client, files=FILES)


def content_of(repository, ref, path):
    return repository.ref(ref).object(path).reader(mode="rb").read()


def test_changes_of_one_object_and_of_one_folder_are_undone(visit, repository):
    main = repository.branch("main")
    for path in FILES:
        main.object(path).upload(b"changed\n")
    main.object("new.txt").upload(b"new\n")
    page = visit.open(f"/repositories/{repository.id}/changes?ref=main")
    expect(page.get_by_text("4 changed objects")).to_be_visible()
    for path in ("a.txt", "in/"):
        page.get_by_role("button", name=f"Undo the changes of {path}", exact=True).click()
        page.get_by_role("dialog").get_by_role("button", name="Undo changes").click()
        expect(page.get_by_role("dialog")).to_have_count(0)
    expect(page.get_by_text("1 changed object", exact=True)).to_be_visible()
    for path, content in FILES.items():
        assert content_of(repository, "main", path) == content
    assert content_of(repository, "main", "new.txt") == b"new\n"


def test_the_history_of_an_object_has_its_commits_alone_and_shows_it_as_it_was(visit, repository):
    visit.expect_statuses(404)  # a commit is no branch
    main = repository.branch("main")
    lakes.change(main, "Change a", {"a.txt": b"later\n"})
    lakes.change(main, "Change b", {"in/b.txt": b"later\n"})
    page = visit.open(f"/repositories/{repository.id}/object?ref=main&path=a.txt")
    page.get_by_role("navigation", name="Object").get_by_role("link", name="History").click()
    commits = page.get_by_role("list", name="Commits").get_by_role("listitem")
    expect(commits).to_have_count(2)
    expect(commits).to_contain_text(
        [re.compile("Changed.*Change a"), re.compile("Added.*Add files")]
    )
    commits.nth(1).get_by_role("link", name="Open this version").click()
    content = page.get_by_role("region", name="Content")
    expect(content.locator("code")).to_have_text("a\n")


def open_commit(visit, repository, ref):
    """Show the commit of the ref, and the menu of what can be done with it."""
    commit_id = repository.ref(ref).get_commit().id
    page = visit.open(f"/repositories/{repository.id}/commits/{commit_id}")
    page.get_by_role("button", name="Actions", exact=True).click()
    return page


def test_a_commit_is_reverted_and_cherry_picked_from_its_page(visit, repository):
    main = repository.branch("main")
    other = repository.branch("other").create("main")
    lakes.change(main, "Change a", {"a.txt": b"changed\n"})
    page = open_commit(visit, repository, "main")
    page.get_by_role("button", name="Cherry-pick to a branch…").click()
    dialog = dialog_of(page, re.compile("^Cherry-pick"))
    dialog.get_by_role("button", name="Branch: main").click()
    dialog.get_by_role("option", name="other").click()
    dialog.get_by_role("button", name="Cherry-pick to other").click()
    expect(told(page)).to_contain_text("were repeated on other")
    expect(page.get_by_role("heading", name="Change a")).to_be_visible()
    assert content_of(repository, "other", "a.txt") == b"changed\n"
    assert other.get_commit().id in page.url
    page = open_commit(visit, repository, "main")
    page.get_by_role("button", name="Revert on a branch…").click()
    dialog = dialog_of(page, "Revert 1 commit")
    dialog.get_by_role("button", name="Revert on main").click()
    expect(told(page)).to_contain_text("1 commit reverted on main")
    assert content_of(repository, "main", "a.txt") == b"a\n"


def test_a_tag_is_created_refused_a_wrong_name_and_deleted(visit, repository):
    page = visit.open(f"/repositories/{repository.id}/tags")
    page.get_by_role("button", name="Create tag").click()
    dialog = dialog_of(page, "Create tag")
    dialog.get_by_label("Name", exact=True).fill("v 1")
    expect(dialog.get_by_role("alert")).to_contain_text("Leave out spaces")
    dialog.get_by_label("Name", exact=True).fill("v1:")
    expect(dialog.get_by_role("alert")).to_contain_text("do not begin or end with a colon")
    dialog.get_by_label("Name", exact=True).fill("dev:v1")
    dialog.get_by_role("button", name="Create tag").click()
    expect(page.get_by_role("link", name="dev:v1")).to_be_visible()
    assert repository.tag("dev:v1").get_commit().id == repository.branch("main").get_commit().id
    page.get_by_role("button", name="Actions of dev:v1").click()
    page.get_by_role("button", name="Delete").click()
    page.get_by_role("dialog").get_by_role("button", name="Delete").click()
    expect(page.get_by_role("heading", name="Name a commit with a tag")).to_be_visible()
    assert list(repository.tags()) == []


def test_a_read_only_repository_says_so_and_offers_no_change(visit, client):
    name = lakes.create(client).id + "-kept"
    body = RepositoryCreation(name=name, storage_namespace=f"s3://{BUCKET}/{name}", read_only=True)
    client.sdk_client.repositories_api.create_repository(body)
    buttons = {
        "objects": "Upload",
        "changes": "Commit…",
        "branches": "Create branch",
        "tags": "Create tag",
        "settings/retention": "Edit policy",
        "settings/branches": "Protect",
        "settings/export": "Set up an export",
    }
    for room, button in buttons.items():
        page = visit.open(f"/repositories/{name}/{room}")
        expect(page.get_by_text("This repository is read-only").first).to_be_visible()
        for each in page.get_by_role("button", name=button, exact=True).all():
            expect(each).to_be_disabled()
        assert page.get_by_role("button", name=button, exact=True).count()


@pytest.fixture
def refusing():
    """The address of a server whose answer to every hook is a refusal."""

    class Refusal(BaseHTTPRequestHandler):
        def do_POST(self):
            self.rfile.read(int(self.headers["Content-Length"]))
            self.send_response(422)
            self.end_headers()
            self.wfile.write(b"the price must not fall")

        def log_message(self, *_):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Refusal)
    Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/"
    server.shutdown()
    server.server_close()


ACTION = """name: prices
on:
  pre-commit:
    branches: [main]
hooks:
  - id: check_price
    type: webhook
    properties:
      url: {url}
"""


def test_a_commit_that_a_hook_refuses_leads_to_the_run_and_what_the_hook_said(
    visit, client, refusing
):
    action = ACTION.format(url=refusing).encode()
    repository = lakes.create(client)
    repository.branch("main").object("_lakefs_actions/prices.yaml").upload(action)
    visit.expect_statuses(412)
    page = visit.open(f"/repositories/{repository.id}/changes?ref=main")
    page.get_by_role("button", name="Commit…").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Message").fill("Lower the price")
    dialog.get_by_role("button", name="Commit", exact=True).click()
    said = 'The check "check_price" stopped this commit: the answer was 422.'
    expect(dialog.get_by_text(said)).to_be_visible()
    dialog.get_by_role("link", name="See why the hook stopped it").click()
    expect(page.get_by_role("heading", name="pre-commit")).to_be_visible()
    output = page.get_by_role("region", name="Output of check_price")
    expect(output).to_contain_text("the price must not fall")
    visit.open(f"/repositories/{repository.id}/actions")
    runs = page.get_by_role("list", name="Runs").get_by_role("listitem")
    expect(runs).to_have_count(1)
    expect(runs).to_contain_text("Failed")
    expect(runs).to_contain_text("on main")


def test_an_import_shows_among_the_tasks_with_its_end(visit, stack, repository):
    for number in range(20):
        stack.s3.put_object(Bucket=BUCKET, Key=f"given/{repository.id}/{number}.txt", Body=b"x")
    source = f"s3://{BUCKET}/given/{repository.id}/"
    manager = repository.branch("main").import_data("Take what is given")
    manager.prefix(source, destination="taken/").start()
    page = visit.open(f"/repositories/{repository.id}/tasks")
    task = page.get_by_role("list", name="Tasks").get_by_role("listitem")
    expect(task).to_contain_text("Completed", timeout=60_000)
    expect(task).to_contain_text("Import on main")
    expect(task).to_contain_text("20 objects")
    visit.open(f"/repositories/{repository.id}/objects?ref=main&path=taken%2F")
    expect(page.get_by_role("link", name="19.txt")).to_be_visible()


def test_a_commit_whose_answer_is_lost_says_what_is_unknown_and_where_to_look(visit, repository):
    main = repository.branch("main")
    main.object("new.txt").upload(b"new\n")
    page = visit.open(f"/repositories/{repository.id}/changes?ref=main")

    def lose_answer(route):
        main.commit("Add the new one")
        route.abort()

    page.route("**/branches/main/commits", lose_answer)
    page.get_by_role("button", name="Commit…").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Message").fill("Add the new one")
    dialog.get_by_role("button", name="Commit", exact=True).click()
    expect(dialog.get_by_role("alert")).to_contain_text("it is unknown whether this was done")
    dialog.get_by_role("link", name="commits of main").click()
    newest = page.get_by_role("region", name="Commits of main").get_by_role("listitem").first
    expect(newest).to_contain_text("Add the new one")
