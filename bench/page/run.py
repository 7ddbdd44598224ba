"""`python -m bench.page [--results bench/results]`: the size and the quality of the web page.

An embedded stack with a small lake serves it. Sizes are those of bodies as chromium received them,
compressed, with an empty cache. Lighthouse judges as on its slow phone, four times slower than this
machine, and as on a desktop; performance counts on an idle machine only. npm installs it.
"""

import os
from argparse import ArgumentParser, Namespace
from collections.abc import Iterable, Mapping, Sequence
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import lakefs
from playwright.sync_api import Browser, sync_playwright

from bench.figures import Figure
from bench.page.objects import examples
from bench.page.scores import CATEGORIES, DEVICES, install, judge
from bench.page.sizes import Load, load
from bench.report import Results, printed
from tests.acceptance.clients import connect
from tests.browser import lakes, pages
from tests.browser.visits import chromium_path, session_of
from tests.support.servers.stack import Stack

LOG_IN = "/auth/login"
JUDGED = ("log in", "repositories", "objects", "compare", "commits", "settings")

# A row of the table of sizes, and of each run of `Results` a column.
Rows = Mapping[str, Load]


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure sizes, then let Lighthouse judge; print and keep all."""
    options = _parse(arguments)
    with TemporaryDirectory(prefix="bench-") as name:
        stack = Stack(Path(name))
        try:
            _measure(stack, options.reports or Path(name) / "reports", options)
        finally:
            stack.stop()
    return 0


def _measure(stack: Stack, reports: Path, options: Namespace) -> None:
    client = connect(stack)
    session = session_of(stack, stack.access_key_id, stack.secret_access_key)
    places = {"log in": LOG_IN, **pages.prepare(client)}
    arguments = ["--no-sandbox"] if os.geteuid() == 0 else []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium_path(), args=arguments)
        sections = _sizes(browser, stack, places, session)
        sections["A preview, after the page of its object"] = _previews(
            browser, stack, _with_examples(client), session
        )
        browser.close()
    _show_sizes(sections, options.results)
    if options.runs:
        install()
        cookie = "; ".join(f"{each['name']}={each['value']}" for each in session["cookies"])
        judged = {
            name: (
                f"{stack.endpoint}{places[name]}",
                {} if name == "log in" else {"Cookie": cookie},
            )
            for name in options.pages
        }
        _judge(judged, reports, options)


def _sizes(
    browser: Browser, stack: Stack, places: Mapping[str, str], session: Mapping[str, Any]
) -> dict[str, Rows]:
    loads = {
        name: load(browser, stack, path, None if name == "log in" else session)
        for name, path in places.items()
    }
    first = {name: loads.pop(name) for name in ("log in", "repositories")}
    both = Load(first["log in"].files | first["repositories"].files)
    rest = {name: each.without(both) for name, each in loads.items()}
    return {"First load": {**first, "files of both": both}, "A page, after the first load": rest}


def _with_examples(client: lakefs.Client) -> Mapping[str, str]:
    """Make a lake with an object for each preview; return their pages."""
    given = examples()
    repository = lakes.create(client, files=dict(given.values()))
    at = f"/repositories/{repository.id}/object?ref=main&path="
    return {name: f"{at}{path}" for name, (path, _) in given.items()}


def _previews(
    browser: Browser, stack: Stack, places: Mapping[str, str], session: Mapping[str, Any]
) -> Rows:
    loads = {name: load(browser, stack, path, session) for name, path in places.items()}
    # What all of them fetch is the page of an object.
    common = set.intersection(*(set(each.files) for each in loads.values()))
    shared = Load(dict.fromkeys(common, 0))
    return {name: each.without(shared) for name, each in loads.items()}


def _show_sizes(sections: Mapping[str, Rows], folder: Path | None) -> None:
    columns = {"KB of files": "files_kb", "KB of answers": "answers_kb", "requests": "requests"}
    for title, rows in sections.items():
        print(f"\n{title}: {', '.join(columns)}")
        for name, each in rows.items():
            print(
                f"  {name:24} {each.files_kb:8.1f} {each.answers_kb:8.1f} {each.requests:4}",
                flush=True,
            )
    if folder is not None:
        results = Results(folder, "page-sizes", "What a browser fetches of the web page")
        for column, attribute in columns.items():
            results.keep(
                column,
                {
                    title: [
                        Figure(name, getattr(each, attribute), "") for name, each in rows.items()
                    ]
                    for title, rows in sections.items()
                },
            )


def _judge(
    judged: Mapping[str, tuple[str, Mapping[str, str]]], reports: Path, options: Namespace
) -> None:
    found: dict[str, dict[str, Mapping[str, float]]] = {device: {} for device in DEVICES}
    for device, (name, (url, headers)) in product(DEVICES, judged.items()):
        print(f"\nLighthouse, {device}, {name}", flush=True)
        scores = judge(url, headers, device, reports / device / name, options.runs)
        found[device][name] = scores
        printed(name, (Figure(title, score, "") for title, score in scores.items()))
    if options.results is not None:
        results = Results(options.results, "page-scores", "Lighthouse's scores of the web page")
        for title in CATEGORIES.values():
            sections = {
                device: [Figure(name, scores[title], "") for name, scores in pages.items()]
                for device, pages in found.items()
            }
            note = f"load average {os.getloadavg()[2]:.0f}, medians of {options.runs} runs"
            results.keep(title, sections, note)


def _parse(arguments: Iterable[str] | None) -> Namespace:
    parser = ArgumentParser(prog="python -m bench.page", description=__doc__)
    parser.add_argument("--runs", type=int, default=3, help="of Lighthouse; 0 for sizes alone")
    parser.add_argument("--pages", nargs="+", choices=JUDGED, default=JUDGED, help="those judged")
    parser.add_argument("--results", type=Path, help="the folder of the tables")
    parser.add_argument("--reports", type=Path, help="the folder of Lighthouse's reports")
    return parser.parse_args(None if arguments is None else list(arguments))
