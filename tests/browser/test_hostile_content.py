"""Whatever people name their objects and write into them, a page acts on that object alone."""

import json

import pytest
from playwright.sync_api import expect

from tests.browser import lakes

pytestmark = pytest.mark.browser

README = b"""# Attack

<video src="/logout" poster="/logout"></video><audio src="/logout"></audio>
<picture><source srcset="/logout"><img src="/logout" srcset="/logout 1x"></picture>
<table background="/logout"><tr><td background="/logout">cell</td></tr></table>
![logout](/logout) <script>document.title = 'attacked'</script> <b onclick="alert(1)">bold</b>
<a href="javascript:alert(1)">link</a> <form action="/logout"><button>press</button></form>
"""
HOSTILE_HTML = """<style>body { display: none } * { background: url(/logout) }</style>
<div style="position: fixed; inset: 0; background: url(/logout)" id="root" class="dialog">over</div>
<iframe src="/logout"></iframe><object data="/logout"></object><embed src="/logout">
<svg><script>document.title = 'attacked'</script><image href="/logout"/></svg>
<math><mtext><table><mglyph><style><img src=/logout onerror="document.title='attacked'"></style></table></math>
<img src="//example.invalid/x.png"><img src="data:text/html,x"><link rel="stylesheet" href="/logout">
<noembed><img src="/logout"></noembed><template><img src="/logout"></template>
<input autofocus onfocus="document.title='attacked'"><meta http-equiv="refresh" content="0;url=/logout">
<p>the end</p>
"""
FORBIDDEN = (
    "video, audio, source, script, form, style, iframe, object, embed, svg, math, link, input, meta"
)


@pytest.fixture
def marked(client):
    """A repository with a folder that holds an object of the folder's own name."""
    repository = lakes.create(client, files={"dir/": b"", "dir/a.txt": b"a", "dir/b.txt": b"b"})
    repository.branch("main").object("dir/").upload(b"changed")
    repository.branch("main").object("dir/a.txt").upload(b"changed")
    return repository


def test_undoing_an_object_named_like_its_folder_leaves_the_folder(visit, marked):
    page = visit.open(f"/repositories/{marked.id}/changes?ref=main&view=list")
    page.get_by_role("button", name="Undo the changes of dir/", exact=True).click()
    page.get_by_role("dialog").get_by_role("button", name="Undo changes").click()
    expect(page.get_by_text("The changes of dir/ were undone.")).to_be_visible()
    main = marked.branch("main")
    assert [change.path for change in main.uncommitted()] == ["dir/a.txt"]
    assert main.object("dir/a.txt").reader(mode="rb").read() == b"changed"


def test_a_changed_folder_marker_is_shown_in_its_folder(visit, marked):
    page = visit.open(f"/repositories/{marked.id}/changes?ref=main")
    expect(page.get_by_role("button", name="a.txt", exact=True)).to_be_visible()
    expect(page.get_by_role("button", name="dir/", exact=True)).to_have_count(2)


def test_a_name_or_a_message_that_turns_its_direction_looks_like_no_other(visit, client):
    repository = lakes.create(client, files={"a.csv": b"a"})
    lakes.change(repository.branch("main"), "Add \u202etxt", {"a\u202egpj.csv": b"b"})
    page = visit.open(f"/repositories/{repository.id}/objects?ref=main")
    listing = page.get_by_role("list", name="Objects")
    expect(listing.get_by_role("link", name="a⟨U+202E⟩gpj.csv")).to_be_visible()
    expect(listing.get_by_role("link", name="Add ⟨U+202E⟩txt")).to_be_visible()
    listing.get_by_role("link", name="a⟨U+202E⟩gpj.csv").click()
    expect(page.get_by_role("navigation", name="Path")).to_contain_text("⟨U+202E⟩")
    visit.expect_statuses(400, 403)  # of the question whether this server is an S3 gateway
    page.get_by_role("button", name="Use in code").click()
    code = page.get_by_role("dialog").locator("code").last
    expect(code).to_contain_text("a\\u202Egpj.csv")


def test_a_document_of_a_lake_neither_runs_script_nor_ends_the_session(visit, client):
    repository = lakes.create(client, files={"README.md": README})
    visit.allow_errors("Executing inline event handler")  # refused, and so told
    visit.expect_statuses(404)  # an image's address is a path of the lake, where nothing is
    asked = []
    visit.page.on("request", lambda request: asked.append(request.url))
    page = visit.open(f"/repositories/{repository.id}/objects?ref=main")
    expect(page.get_by_role("heading", name="Attack")).to_be_visible()
    expect(page.get_by_text("bold")).to_be_visible()
    readme = page.get_by_role("region", name="Read me")
    assert readme.locator("video, audio, source, script, form").count() == 0
    assert [url for url in asked if url.endswith("/logout")] == []
    assert "attacked" not in page.title()
    page.reload()
    expect(page.get_by_role("heading", name="Attack")).to_be_visible()


@pytest.mark.parametrize("where", ["source", "output"])
def test_a_notebook_neither_runs_script_nor_asks_for_anything(visit, client, where):
    hostile = README.decode() + HOSTILE_HTML
    cells = {
        "source": {"cell_type": "markdown", "source": hostile},
        "output": {
            "cell_type": "code",
            "source": "",
            "outputs": [
                {"output_type": "display_data", "metadata": {}, "data": {"text/html": hostile}},
            ],
        },
    }
    content = json.dumps({"cells": [cells[where]], "nbformat": 4}).encode()
    repository = lakes.create(client, files={"a.ipynb": content})
    visit.allow_errors("Executing inline event handler")
    visit.expect_statuses(404)
    asked = []
    visit.page.on("request", lambda request: asked.append(request.url))
    page = visit.open(f"/repositories/{repository.id}/object?ref=main&path=a.ipynb")
    main = page.get_by_role("main")
    expect(main.get_by_text("bold")).to_be_visible()
    expect(main.get_by_text("the end")).to_be_visible()
    prose = main.locator("[class*=prose]")
    expect(prose).to_have_count(1)
    assert prose.locator(FORBIDDEN).count() == 0
    assert prose.locator("[style], [class], [id], [onerror]").count() == 0
    assert [url for url in asked if url.endswith("/logout") or "example" in url] == []
    assert "attacked" not in page.title()


def test_deleting_an_object_named_like_its_folder_leaves_the_folder(visit, marked):
    page = visit.open(f"/repositories/{marked.id}/objects?ref=main&path=dir%2F")
    page.get_by_role("button", name="Actions for dir/", exact=True).click()
    page.get_by_role("button", name="Delete…").click()
    dialog = page.get_by_role("dialog", name="Delete from main?")
    dialog.get_by_role("button", name="Delete 1 object").click()
    expect(page.get_by_text("1 object deleted from main")).to_be_visible()
    left = [each.path for each in marked.branch("main").objects()]
    assert left == ["dir/a.txt", "dir/b.txt"]


def test_deleting_a_folder_deletes_all_that_is_in_it(visit, marked):
    page = visit.open(f"/repositories/{marked.id}/objects?ref=main")
    page.get_by_role("checkbox", name="Select dir/").check()
    page.get_by_role("button", name="Delete 1", exact=True).click()
    dialog = page.get_by_role("dialog", name="Delete from main?")
    expect(dialog).to_contain_text("with all objects in it")
    dialog.get_by_role("button", name="Delete 3 objects").click()
    expect(dialog).to_contain_text("3 objects deleted.", timeout=30_000)
    dialog.get_by_role("button", name="Done").click()
    expect(page.get_by_text("3 objects deleted from main")).to_be_visible()
    assert list(marked.branch("main").objects()) == []
