"""Every kind of object shows its content; none runs a script, and a broken one says that it is broken."""

import base64
import io
import json
import re

import pyarrow as pa
import pytest
from playwright.sync_api import expect
from pyarrow import parquet

from tests.browser import lakes
from tests.browser.visits import faults

pytestmark = pytest.mark.browser

PIXEL = bytes.fromhex(
    "89504e470d0a1a0a0000000d4948445200000001000000010806000000"
    "1f15c4890000000d49444154789c6360000002000001000500010d0a2db4"
    "0000000049454e44ae426082"
)
SCRIPT = "<script>top.ran = 1</script>"
SVG = (
    b'<svg xmlns="http://www.w3.org/2000/svg" width="40" height="40" onload="top.ran = 1">'
    b'<script>top.ran = 1</script><rect width="40" height="40"/></svg>'
)
RED, END = "\x1b[31m", "\x1b[0m"
TABLE = (
    '<div><style scoped>td { color: red }</style><table border="1" class="dataframe"><thead>'
    '<tr style="text-align: right;"><th></th><th>amount</th></tr></thead>'
    f"<tbody><tr><th>0</th><td>42.50</td></tr></tbody></table>{SCRIPT}</div>"
)


def output(data, **rest):
    return {"output_type": "display_data", "metadata": {}, "data": data, **rest}


NOTEBOOK = {
    "cells": [
        {
            "cell_type": "markdown",
            "source": [
                "# A study\n",
                SCRIPT,
                "\n\n$a_1 * b_2$ costs $5\n\n![plot](attachment:a.png)",
            ],
            "attachments": {"a.png": {"image/png": base64.b64encode(PIXEL).decode()}},
        },
        {
            "cell_type": "code",
            "execution_count": 7,
            "source": "print(6 * 7)",
            "outputs": [
                {"output_type": "stream", "name": "stdout", "text": ["42\n"]},
                {"output_type": "stream", "name": "stderr", "text": [" 1%\r50%", "\r100%"]},
                output({"text/html": TABLE}, output_type="execute_result", execution_count=7),
                output(
                    {"image/png": base64.b64encode(PIXEL).decode(), "text/plain": "<Figure>"},
                    metadata={"image/png": {"width": 30, "height": 20}},
                ),
                output({"image/svg+xml": SVG.decode(), "text/plain": "drawing"}),
                *[output({"text/html": f"<div></div>{SCRIPT}"})] * 2,
                {"output_type": "error", "traceback": [f"{RED}KeyError{END}", "last line"]},
            ],
        },
    ],
    "metadata": {"language_info": {"name": "python"}},
    "nbformat": 4,
}
CSV = 'id,text\n1,"a ""quoted"" word, then\nanother line"\n2,plain\n'
PAGE_OF_ROWS = 100


def table():
    """Return 250 rows with nested columns and nulls."""
    count = 250
    return pa.table(
        {
            "id": list(range(count)),
            "name": [None if number % 10 == 3 else f"row {number}" for number in range(count)],
            "tags": [["a", f"t{number}"] for number in range(count)],
            "place": [{"city": "Oslo", "at": {"x": number}} for number in range(count)],
        }
    )


def parquet_file(codec):
    file = io.BytesIO()
    parquet.write_table(table(), file, compression=codec, row_group_size=120)
    return file.getvalue()


FILES = {
    "a.txt": b"first line\nsecond line\n",
    "a.md": f"# Title\n\n*slanted*\n\n{SCRIPT}<img src='broken.png' onerror='top.ran = 1'>".encode(),
    "a.png": PIXEL,
    "a.svg": SVG,
    "a.html": f"<h1>Not shown as a page</h1>{SCRIPT}".encode(),
    "a.csv": CSV.encode(),
    "a.json": json.dumps({"name": "Ada", "list": [{"id": 1}] * 20_000}).encode(),
    "a.jsonl": b'{"id": 1}\n{"id": 2, "name": "Ada"}\nnot json\n',
    "a.ipynb": json.dumps(NOTEBOOK).encode(),
    "a.pdf": b"%PDF-1.4\n%%EOF\n",
    "a.bin": bytes(range(256)),
    "a.parquet": parquet_file("gzip"),
}
ENDINGS = ("txt", "png", "parquet")
BROKEN = {
    "broken.png": b"no image at all",
    "broken.json": b'{"name": ',
    "broken.parquet": b"PAR1 but nothing else",
    "broken.csv": b'id,text\n1,"never closed\n2,b\n',
}
TOLD = {
    "broken.png": "The browser cannot show this image",
    "broken.json": "This is not valid JSON",
    "broken.parquet": "This is not a valid Parquet file",
    "broken.csv": "never closed",
}


@pytest.fixture(scope="module")
def lake(client):
    empty = {f"empty.{ending}": b"" for ending in ENDINGS}
    return lakes.create(client, files={**FILES, **BROKEN, **empty}).id


@pytest.fixture
def preview(visit, lake):
    """Shows the object at a path; returns the page."""

    def show(path):
        return visit.open(f"/repositories/{lake}/object?ref=main&path={path}")

    yield show
    assert visit.page.evaluate("typeof window.ran") == "undefined"


def test_text_shows_with_its_lines_numbered_and_html_is_text(preview):
    page = preview("a.html")
    expect(page.get_by_role("region", name="Content")).to_contain_text("<h1>Not shown as a page")
    content = preview("a.txt").get_by_role("region", name="Content")
    expect(content).to_contain_text("second line")
    expect(content.locator("pre").first).to_have_text("1\n2")


def test_markdown_is_formatted_and_its_scripts_do_not_run(visit, preview):
    visit.allow_errors("Executing inline event handler")  # by the policy, as it is parsed
    page = preview("a.md")
    expect(page.get_by_role("heading", name="Title", level=2)).to_be_visible()
    expect(page.locator("main em")).to_have_text("slanted")
    expect(page.locator("main script, main [onerror]")).to_have_count(0)


def test_an_image_shows_and_no_script_in_it_runs(preview):
    for name in ("a.png", "a.svg"):
        image = preview(name).get_by_role("img", name=name)
        expect(image).to_be_visible()
        assert image.evaluate("image => image.decode().then(() => image.naturalWidth)") > 0


def test_csv_shows_as_a_table_with_quotes_and_line_breaks_inside_its_cells(preview):
    rows = preview("a.csv").get_by_role("region", name="Rows").get_by_role("row")
    expect(rows).to_have_count(3)
    expect(rows.nth(0).get_by_role("columnheader")).to_have_text(["Row", "id", "text"])
    assert rows.nth(1).get_by_role("cell").all_inner_texts()[1] in (
        'a "quoted" word, then\nanother line',
        'a "quoted" word, then another line',
    )


def test_parquet_shows_its_schema_and_rows_and_pages_through_them(preview):
    page = preview("a.parquet")
    expect(page.get_by_text("250 rows, 4 columns, 3 row groups, GZIP")).to_be_visible()
    rows = page.get_by_role("region", name="Rows").get_by_role("row")
    expect(rows).to_have_count(1 + PAGE_OF_ROWS)
    cells = rows.nth(4).get_by_role("cell")
    expect(cells).to_have_text(["3", "null", '["a","t3"]', '{"city":"Oslo","at":{"x":3}}'])
    page.get_by_role("button", name="Next").click()
    page.get_by_role("button", name="Next").click()
    expect(rows).to_have_count(1 + 50)
    expect(rows.nth(50).get_by_role("cell").nth(1)).to_have_text("row 249")
    expect(page.get_by_role("button", name="Next")).to_be_disabled()


def test_json_shows_as_its_text_and_as_a_tree_that_is_drawn_as_it_is_opened(visit, preview):
    page = preview("a.json")
    expect(page.get_by_text("list: [20,000 items]")).to_be_visible()
    assert page.locator("main details").count() == 2
    page.get_by_text("list:").click()
    expect(page.get_by_text("199:")).to_be_attached()
    expect(page.get_by_text("200:")).to_have_count(0)
    page.get_by_role("button", name="Show more of 20,000").click()
    expect(page.get_by_text("200:")).to_be_attached()
    assert visit.serious_barriers() == []
    page.get_by_role("button", name="Text").click()
    expect(page.get_by_role("region", name="Content")).to_contain_text('{"name": "Ada"')


def test_lines_of_json_show_as_a_table_and_those_that_are_none_are_counted(preview):
    page = preview("a.jsonl")
    rows = page.get_by_role("region", name="Rows").get_by_role("row")
    expect(rows.nth(2).get_by_role("cell")).to_have_text(["2", "Ada"])
    expect(page.get_by_text("left out")).to_contain_text("not JSON")


def test_a_notebook_shows_its_text_code_and_outputs_and_runs_nothing(visit, preview):
    main = preview("a.ipynb").get_by_role("main")
    expect(main.get_by_role("heading", name="A study")).to_be_visible()
    # Underscores and stars of formulas are no emphasis, and a price is no formula.
    expect(main.locator("math")).to_have_text("a1*b2")
    expect(main.get_by_text("costs $5")).to_be_visible()
    expect(main.get_by_role("img", name="plot")).to_have_js_property("naturalWidth", 1)
    expect(main.get_by_text("print(6 * 7)")).to_be_visible()
    for text in ("In [7]", "Out [7]", "42", "100%", "stderr"):
        expect(main.get_by_text(text, exact=True)).to_be_visible()
    cells = main.get_by_role("region", name="Output").get_by_role("cell")
    expect(cells).to_have_text(["42.50"])
    figure = main.get_by_role("img", name="<Figure>").bounding_box()
    assert (figure["width"], figure["height"]) == (30, 20)
    expect(main.get_by_role("img", name="drawing")).to_have_js_property("naturalWidth", 40)
    expect(main.get_by_text("KeyError", exact=True)).to_have_class(re.compile("red"))
    expect(main.get_by_text("Interactive output (a script)")).to_have_count(1)
    assert visit.serious_barriers() == []


def test_a_pdf_shows_in_the_viewer_of_the_browser(visit, preview):
    preview_pdf(visit, has_viewer=True)
    page = preview("a.pdf")
    expect(page.get_by_title("a.pdf")).to_have_attribute("src", re.compile("^blob:"))
    expect(page.get_by_text("Download the document")).to_have_count(0)


def test_a_pdf_is_downloaded_where_the_browser_has_no_viewer(visit, preview):
    preview_pdf(visit, has_viewer=False)
    page = preview("a.pdf")
    expect(page.get_by_text("Download the document to read it.")).to_be_visible()
    expect(page.locator("iframe")).to_have_count(0)


def preview_pdf(visit, *, has_viewer):
    get = f"() => {str(has_viewer).lower()}"
    visit.page.add_init_script(
        f"Object.defineProperty(Navigator.prototype, 'pdfViewerEnabled', {{get: {get}}})"
    )


def test_binary_content_shows_its_first_bytes_on_demand(preview):
    page = preview("a.bin")
    expect(page.get_by_role("heading", name="There is no preview of this type")).to_be_visible()
    page.get_by_role("button", name="Show the first 512 bytes").click()
    expect(page.get_by_role("region", name="Content")).to_contain_text("0000f0  f0 f1 f2")


def test_an_empty_object_of_any_kind_says_that_it_is_empty(preview):
    def check(ending):
        page = preview(f"empty.{ending}")
        expect(page.get_by_role("heading", name="This object is empty")).to_be_visible()
        expect(page.get_by_role("alert")).to_have_count(0)

    assert faults(check, ENDINGS) == {}


def test_a_broken_object_says_so_and_blames_neither_the_page_nor_the_server(preview):
    def check(path):
        main = preview(path).get_by_role("main")
        expect(main).to_contain_text(TOLD[path])
        expect(main).not_to_contain_text("Unexpected error in this page")
        expect(main.get_by_role("link", name="Download")).to_be_visible()

    assert faults(check, TOLD) == {}
