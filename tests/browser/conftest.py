"""A browser at the page of the running stack, served with its real policy.

A journey fails on any error in the console, violation of the policy or unexpected answer. What a
failed one saw is in build/browser/, with its trace if BROWSER_TRACES is set: traces double its time.
"""

import os
import re
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import lakefs
import pytest
from playwright.sync_api import Browser, sync_playwright

from tests.acceptance.clients import connect
from tests.browser.visits import Visit, chromium_path, session_of
from tests.support.servers.stack import Stack

FOLDER = Path(__file__).parent
ARTEFACTS = FOLDER.parents[1] / "build" / "browser"

_failed = pytest.StashKey[bool]()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Any:
    report = yield
    item.stash[_failed] = item.stash.get(_failed, False) or report.failed
    return report


class Chromium:
    """The browser of all journeys in a row, started for the first one."""

    def __init__(self) -> None:
        self._parts = ExitStack()
        self._browser: Browser | None = None

    @property
    def browser(self) -> Browser:
        if self._browser is None:
            playwright = self._parts.enter_context(sync_playwright())
            # Root may not use the sandbox.
            arguments = ["--no-sandbox"] if os.geteuid() == 0 else []
            self._browser = playwright.chromium.launch(
                executable_path=chromium_path(), args=arguments
            )
            self._parts.callback(self._browser.close)
        return self._browser

    def close(self) -> None:
        self._parts.close()
        self._browser = None


_CHROMIUM = Chromium()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(nextitem: pytest.Item | None) -> Any:
    """Close the browser after the last journey in a row.

    Playwright's event loop would stop the asynchronous tests of other folders.
    """
    try:
        return (yield)
    finally:
        if nextitem is None or FOLDER not in nextitem.path.parents:
            _CHROMIUM.close()


@pytest.fixture(scope="module")
def chromium() -> Browser:
    """The chromium of the system."""
    return _CHROMIUM.browser


@pytest.fixture(scope="session")
def client(stack: Stack) -> lakefs.Client:
    """The administrator's client of the API, which prepares what journeys find."""
    return connect(stack)


@pytest.fixture(scope="session")
def session(stack: Stack) -> dict[str, Any]:
    """The administrator's session in a browser."""
    return session_of(stack, stack.access_key_id, stack.secret_access_key)


@pytest.fixture
def visiting(
    chromium: Browser, stack: Stack, request: pytest.FixtureRequest
) -> Iterator[Callable[..., Visit]]:
    """Begins visits of further users; each ends, and is judged, with the test."""
    visits: list[Visit] = []

    def begin(at: Stack = stack, **options: Any) -> Visit:
        visits.append(Visit(chromium, at, **options))
        return visits[-1]

    yield begin
    problems = [problem for visit in visits for problem in visit.problems]
    if problems or request.node.stash.get(_failed, False):
        name = re.sub(r"[^\w-]+", "-", request.node.name)[:100]
        for number, visit in enumerate(visits):
            visit.keep(ARTEFACTS, f"{name}-{number}")
    for visit in visits:
        visit.end()
    assert problems == []


@pytest.fixture
def visit(visiting: Callable[..., Visit], session: dict[str, Any]) -> Visit:
    """A visit of the administrator, who is logged in."""
    return visiting(storage_state=session)
