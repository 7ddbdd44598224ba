"""A browser at the page of the running stack, served with its real policy.

A journey fails on any error in the console, violation of the policy or unexpected answer. What a
failed one saw is in build/browser/.
"""

import os
import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import lakefs
import pytest
from playwright.sync_api import Browser, sync_playwright

from tests.acceptance.clients import connect
from tests.browser import lakes
from tests.browser.visits import AXE, Visit, session_of
from tests.support.stack import Stack

ARTEFACTS = Path(__file__).parents[2] / "build" / "browser"
LARGE = lakes.Size(objects=100_000, commits=10_000, branches=1_000)

_failed = pytest.StashKey[bool]()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Any:
    report = yield
    item.stash[_failed] = item.stash.get(_failed, False) or report.failed
    return report


# One for each module: Playwright's event loop would stop the asynchronous tests of other folders.
@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    """The chromium of the system, whose sandbox root may not use."""
    program = shutil.which("chromium")
    if program is None:
        pytest.fail("chromium is missing: run `make browser`")
    if not AXE.exists():
        pytest.fail("the packages of webui/ are missing: run `npm ci --prefix webui`")
    arguments = ["--no-sandbox"] if os.geteuid() == 0 else []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=arguments)
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def client(stack: Stack) -> lakefs.Client:
    """The administrator's client of the API, which prepares what journeys find."""
    return connect(stack)


@pytest.fixture(scope="session")
def session(stack: Stack) -> dict[str, Any]:
    """The administrator's session in a browser."""
    return session_of(stack, stack.access_key_id, stack.secret_access_key)


@pytest.fixture(scope="session")
def large(client: lakefs.Client, stack: Stack) -> str:
    """The name of a repository with more of everything than fits on a screen."""
    lakes.restore_large(client, stack, "large", LARGE)
    return "large"


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
        visit.context.close()
    assert problems == []


@pytest.fixture
def visit(visiting: Callable[..., Visit], session: dict[str, Any]) -> Visit:
    """A visit of the administrator, who is logged in."""
    return visiting(storage_state=session)
