"""No file that somebody stores stops the tab of its readers, or takes more than its own preview from them."""

import io
import json
import re

import pyarrow as pa
import pytest
from lakefs_sdk import PullRequestCreation
from playwright.sync_api import expect
from pyarrow import parquet

from tests.browser import lakes
from tests.browser.visits import faults

pytestmark = pytest.mark.browser

# A page of the largest preview has less; 25 s of drawing had a hundred times more.
NODES_MAX = 50_000


def notebook(*cells):
    return json.dumps({"cells": cells}).encode()


def code(**fields):
    return {"cell_type": "code", "source": "x", **fields}


def output(data):
    return {"output_type": "display_data", "metadata": {}, "data": data}


def parquet_file(columns):
    file = io.BytesIO()
    arrays = [pa.array([at]) for at in range(len(columns))]
    parquet.write_table(pa.Table.from_arrays(arrays, names=columns), file)
    return file.getvalue()


LARGE = {
    "columns.csv": b",".join(b"c%d" % at for at in range(50_000)) + b"\n" + b"," * 49_999,
    "columns.parquet": parquet_file([f"c{at}" for at in range(1_000)]),
    "lines.txt": b"\n" * 1_000_000,
    "words.py": b"1," * 99_000,
    "quotes.md": b">" * 50_000,
    "images.md": b"![](a)" * 16_000,
    "nested.md": b"- " * 49_000 + b"x",
    "cells.ipynb": notebook(*[code(outputs=[{"text": "y"}])] * 20_000),
    "outputs.ipynb": notebook(code(outputs=[{"text": "y"}] * 20_000)),
    "html.ipynb": notebook(code(outputs=[output({"text/html": "<b>" * 500_000})])),
    "colours.ipynb": notebook(code(outputs=[{"text": "\x1b[31mx\x1b[32m" * 90_000}])),
    "escapes.ipynb": notebook(code(outputs=[{"text": "\x1b[9999999Cx\x1b[A" * 50_000}])),
    "maths.md": b"$x^{x^{$ " * 11_000,
    "deep-maths.md": b"$$" + b"{" * 49_000 + b"$$",
}
SHOWN = {
    "columns.csv": "49,800 more columns",
    "columns.parquet": "800 more columns",
    "lines.txt": "The text goes on.",
    "words.py": "1,1,1,",
    "quotes.md": "too large or too intricate to be formatted",
    "images.md": "too large or too intricate to be formatted",
    "nested.md": "too large or too intricate to be formatted",
    "cells.ipynb": "The first 100 of 20,000 cells",
    "html.ipynb": "The HTML of this output is too large",
    "colours.ipynb": "xxxx",
    "escapes.ipynb": "x",
    "maths.md": "too large or too intricate to be formatted",
    "deep-maths.md": "{{{{",
    "outputs.ipynb": "The first 100 of 20,000 outputs",
}
BROKEN_CELLS = {
    "none.ipynb": notebook(None, code()),
    "number.ipynb": notebook(code(source=5), code()),
    "outputs-object.ipynb": notebook(code(outputs={"a": 1}), code()),
    "output-none.ipynb": notebook(code(outputs=[None])),
    "output-object.ipynb": notebook(code(outputs=[{"text": {"a": 1}}])),
    "image-object.ipynb": notebook(code(outputs=[{"data": {"image/png": {"a": 1}}}])),
}
OTHERS = {
    "line.csv": b"a,b," + b"x" * 1_500_000,
    "line.jsonl": b'{"a": "' + b"x" * 1_500_000 + b'"}',
    "names.parquet": parquet_file(["a", "a", "__proto__", "", "b.c"]),
    "deep.jsonl": b"[" * 100_000 + b"]" * 100_000,
    "notes.md": b"# Notes",
}
LONG_LINES = {"a.js": b"a" * 199_000, "digits.sh": b"1" * 199_000}


@pytest.fixture(scope="module")
def lake(client):
    return lakes.create(client, files={**LARGE, **BROKEN_CELLS, **OTHERS, **LONG_LINES}).id


@pytest.fixture
def preview(visit, lake):
    """Shows the object at a path; returns the page."""
    return lambda path: visit.open(f"/repositories/{lake}/object?ref=main&path={path}")


def test_a_file_that_asks_for_too_much_shows_in_part(preview):
    def check(path):
        page = preview(path)
        expect(page.get_by_role("main")).to_contain_text(SHOWN[path])
        assert page.locator("*").count() < NODES_MAX

    assert faults(check, LARGE) == {}


def test_the_rest_of_a_text_and_of_a_notebook_shows_on_demand(preview):
    page = preview("lines.txt")
    numbers = page.get_by_role("region", name="Content").locator("pre").first
    assert numbers.text_content().endswith("\n20000")
    page.get_by_role("button", name="Show more lines").click()
    expect(numbers).to_contain_text("\n40000")
    page = preview("cells.ipynb")
    page.get_by_role("button", name="Show more").click()
    expect(page.get_by_text("The first 200 of 20,000 cells")).to_be_visible()


def test_a_broken_cell_leaves_the_others_and_the_page_of_the_object(visit, preview):
    visit.allow_errors("TypeError")  # told in the console, for whoever looks for the mistake

    def check(path):
        main = preview(path).get_by_role("main")
        expect(main).to_contain_text("cannot be shown. Download the notebook")
        expect(main.get_by_role("region", name="Content").first).to_have_text("1x")
        expect(main.get_by_role("region", name="Facts")).to_be_visible()

    assert faults(check, BROKEN_CELLS) == {}


def test_a_first_line_that_is_longer_than_what_is_loaded_says_so(preview):
    for path in ("line.csv", "line.jsonl"):
        page = preview(path)
        expect(page.get_by_role("main")).to_contain_text("The first line is longer than 1.0 MB")
        page.get_by_role("button", name="Load more").click()
        expect(page.get_by_role("region", name="Rows")).to_be_visible()


def test_columns_of_one_name_or_of_an_odd_one_have_their_own_values(preview):
    rows = preview("names.parquet").get_by_role("region", name="Rows").get_by_role("row")
    expect(rows.nth(1).get_by_role("cell")).to_have_text(["0", "1", "2", "3", "4"])
    heads = rows.nth(0).get_by_role("columnheader")
    assert [head.split("\n")[0] for head in heads.all_inner_texts()] == [
        "Row", "a", "a", "__proto__", "(no name)", "b.c",
    ]  # fmt: skip


def test_a_value_that_is_nested_too_deep_is_a_cell_of_its_table(preview):
    # How deep is too deep depends on how much of the stack is left.
    shown = re.compile(r"^\(nested too deep to show\)$|^\[{100}")
    expect(preview("deep.jsonl").get_by_role("cell")).to_have_text(shown)


def test_a_readme_that_cannot_be_formatted_leaves_the_objects(visit, client):
    files = {"README.md": LARGE["quotes.md"], "data.csv": b"a"}
    repository = lakes.create(client, files=files)
    page = visit.open(f"/repositories/{repository.id}/objects?ref=main")
    expect(page.get_by_role("link", name="data.csv")).to_be_visible()
    expect(page.get_by_role("region", name="Read me")).to_contain_text(">>>>")


def test_a_long_readme_shows_its_beginning_and_leads_to_the_rest(visit, client):
    repository = lakes.create(client, files={"README.md": b"# Top\n\n" + b"word\n\n" * 20_000})
    page = visit.open(f"/repositories/{repository.id}/objects?ref=main")
    readme = page.get_by_role("region", name="Read me")
    expect(readme).to_contain_text("These are the first 100 kB of 120 kB.")
    expect(readme.get_by_role("link", name="README.md")).to_be_visible()


def numbered(line):
    """Return lines of which few fold away if each eighth changes."""
    return "".join(f"{line(at)}\n" for at in range(4_000)).encode()


CHANGES = {
    "rows.csv": (b"a,a\n1,2\n", b"a,a\n3,2\n"),
    "wide.csv": (b",".join(b"c%d" % at for at in range(5_000)) + b"\n" * 100_000, b"x"),
    "equal.csv": (b"a\n" + b"a\n" * 100_000, b"a\n" + b"a\n" * 100_001),
    "lines.txt": (b"\n" * 900_000, b"x\n" * 400_000),
    "eighths.txt": (numbered(lambda at: at), numbered(lambda at: at if at % 8 else "changed")),
    "wide.parquet": (parquet_file([f"c{at}" for at in range(300)]), b""),
}
COMPARED = {
    "rows.csv": "a (2)",
    "wide.csv": "too long, or differ too much",
    "equal.csv": "1 row added",
    "lines.txt": "too long, or differ too much",
    "eighths.txt": "Show more changes",
    "wide.parquet": "too large to be compared here",
}


@pytest.fixture(scope="module")
def changed(client):
    """The name of a repository with changes that are not committed."""
    files = {path: before for path, (before, _) in CHANGES.items()}
    repository = lakes.create(client, files=files)
    for path, (_, after) in CHANGES.items():
        repository.branch("main").object(path).upload(after)
    return repository.id


def test_a_comparison_that_asks_for_too_much_shows_in_part(visit, changed):
    def check(path):
        page = visit.open(f"/repositories/{changed}/changes?ref=main&object={path}")
        expect(page.get_by_role("main")).to_contain_text(COMPARED[path])
        assert page.locator("*").count() < NODES_MAX

    assert faults(check, CHANGES) == {}


def sabotage(visit, method):
    """Let a method of the browser fail, in place of a mistake that nobody knows of yet."""
    visit.allow_errors("sabotage")
    visit.page.add_init_script(f"{method} = () => {{ throw new TypeError('sabotage'); }}")


def test_a_mistake_in_a_preview_leaves_the_rest_of_the_page(visit, preview):
    sabotage(visit, "DocumentFragment.prototype.querySelectorAll")
    main = preview("notes.md").get_by_role("main")
    expect(main).to_contain_text("This preview has failed. Download the object instead.")
    expect(main.get_by_role("region", name="Facts")).to_be_visible()
    expect(main.get_by_role("link", name="Download")).to_be_visible()


def test_a_mistake_in_a_description_leaves_the_pull_request(visit, client):
    repository = lakes.create(client, files={"a.txt": b"a"})
    lakes.change(repository.branch("dev").create("main"), "Change", {"a.txt": b"b"})
    pull = client.sdk_client.pulls_api.create_pull_request(
        repository.id,
        PullRequestCreation(
            title="Take it", description="*all*", source_branch="dev", destination_branch="main"
        ),
    )
    sabotage(visit, "DocumentFragment.prototype.querySelectorAll")
    page = visit.open(f"/repositories/{repository.id}/pulls/{pull.id}")
    expect(page.get_by_text("This text cannot be shown.")).to_be_visible()
    expect(page.get_by_role("button", name="Merge…")).to_be_visible()


def test_a_mistake_in_a_comparison_leaves_the_others(visit, changed):
    sabotage(visit, "Uint8Array.prototype.fill")
    page = visit.open(f"/repositories/{changed}/changes?ref=main&object=eighths.txt")
    expect(page.get_by_text("This comparison has failed.")).to_be_visible()
    page.get_by_role("button", name="Next object").click()
    expect(page.get_by_role("heading", name="equal.csv")).to_be_visible()
    expect(page.get_by_text("This comparison has failed.")).to_have_count(0)


@pytest.mark.parametrize("path", ["a.js", pytest.param("digits.sh", marks=pytest.mark.long)])
def test_a_line_that_takes_minutes_to_colour_shows_plain_at_once(visit, preview, lake, path):
    page = preview(path)
    shown = page.get_by_role("region", name="Content")
    expect(shown).to_contain_text(LONG_LINES[path][:100].decode())
    expect(shown.locator("span")).to_have_count(0)
    page.get_by_role("link", name=lake).first.click()
    expect(page).to_have_url(re.compile("/objects"))
