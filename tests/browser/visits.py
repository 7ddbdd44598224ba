"""A user in a browser at the page, and everything that went wrong on the way."""

import os
import re
import shutil
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import requests
from playwright.sync_api import (
    Browser,
    ConsoleMessage,
    FilePayload,
    Locator,
    Page,
    Request,
    Response,
    expect,
)

from tests.support.servers.stack import Stack

PATIENCE_MS = 15_000
expect.set_options(timeout=PATIENCE_MS)
AXE = Path(__file__).parents[2] / "webui" / "node_modules" / "axe-core" / "axe.min.js"
# Chromium tells it of each answer from 400 on, which `Visit` judges itself.
_OF_AN_ANSWER = re.compile(r"Failed to load resource: ")
# There, a 404 says that nothing was set yet, and the page shows that.
_NOTHING_SET = re.compile(r"/(settings/gc_rules|continuous-export)$")
# Several frames after the last answer: effects of what was drawn may ask for more.
IS_DRAWN = """async () => {
  for (let at = 0; at < 3; at++) await new Promise(requestAnimationFrame);
  return document.readyState === 'complete' && document.querySelector('h1, h2, [role=alert]') !== null
    && document.querySelector('.skeleton') === null;
}"""
_SERIOUS = ("serious", "critical")


def chromium_path() -> str:
    """Return the path of the chromium of the system, preferably of the one without windows.

    Each page costs the other one four times as much processor time, for windows that nobody sees.
    """
    found = shutil.which("chromium-headless-shell") or shutil.which("chromium")
    if found is None:
        raise RuntimeError("chromium is missing: run `make browser`")
    return found


def session_of(stack: Stack, access_key_id: str, secret_access_key: str) -> dict[str, Any]:
    """Log in as the page does; return the browser state with the session's cookie."""
    login = {"access_key_id": access_key_id, "secret_access_key": secret_access_key}
    answer = requests.post(f"{stack.endpoint}/api/v1/auth/login", json=login, timeout=30)
    answer.raise_for_status()
    cookies = [
        {
            "name": cookie.name,
            "value": cookie.value,
            "domain": "127.0.0.1",
            "path": "/",
            "expires": -1,
            "httpOnly": True,
            "secure": False,
            "sameSite": "Lax",
        }
        for cookie in answer.cookies
    ]
    assert cookies
    return {"cookies": cookies, "origins": []}


class Visit:
    """One user's browser at the page. A test fails on its `problems`."""

    def __init__(self, browser: Browser, stack: Stack, **options: Any) -> None:
        self.context = browser.new_context(base_url=stack.endpoint, **options)
        self.context.set_default_timeout(PATIENCE_MS)
        self._is_traced = bool(os.environ.get("BROWSER_TRACES"))
        if self._is_traced:
            self.context.tracing.start(snapshots=True)
        self._asked: set[Request] = set()
        self._errors: list[str] = []
        self._allowed: list[str] = []
        self._expected: set[int] = set()
        self.context.on("console", self._on_console)
        self.context.on("weberror", lambda told: self._errors.append(f"error: {told.error}"))
        self.context.on("response", self._on_response)
        self.context.on("request", lambda request: self._asked.add(request))  # noqa: PLW0108
        self.context.on("requestfinished", self._on_end)
        self.context.on("requestfailed", self._on_end)
        self.page: Page = self.context.new_page()

    @property
    def problems(self) -> Sequence[str]:
        """Every error that no test allowed."""
        return [told for told in self._errors if not any(text in told for text in self._allowed)]

    def expect_statuses(self, *statuses: int) -> None:
        """Take answers with these statuses for a part of the journey."""
        self._expected |= set(statuses)

    def allow_errors(self, text: str) -> None:
        """Take errors that have this text, which a fault of the test's own brings about."""
        self._allowed.append(text)

    def open(self, path: str) -> Page:
        """Show the page at the path; return it once its content is there."""
        self.page.goto(path)
        self.wait()
        return self.page

    def wait(self) -> None:
        """Wait until nothing is being loaded, and what was loaded is drawn."""
        until = time.monotonic() + PATIENCE_MS / 1_000
        while time.monotonic() < until:
            is_drawn = self.page.evaluate(IS_DRAWN)
            if is_drawn and not self._asked:
                return
        raise TimeoutError(
            f"{self.page.url} is still loading: {[each.url for each in self._asked]}"
        )

    def serious_barriers(self) -> Sequence[str]:
        """Return what axe finds that keeps people from using what is shown."""
        self.page.evaluate(AXE.read_text() + "; 0")
        found = self.page.evaluate("axe.run(document, {resultTypes: ['violations']})")
        return [
            f"{each['id']}: {each['help']}: {[node['html'][:120] for node in each['nodes'][:3]]}"
            for each in found["violations"]
            if each["impact"] in _SERIOUS
        ]

    def keep(self, folder: Path, name: str) -> None:
        """Save a screenshot, the document, and the trace: `playwright show-trace` replays it."""
        folder.mkdir(parents=True, exist_ok=True)
        self.page.screenshot(path=folder / f"{name}.png")
        (folder / f"{name}.html").write_text(self.page.content())
        if self._is_traced:
            self.context.tracing.stop(path=folder / f"{name}.trace.zip")
            self._is_traced = False

    def end(self) -> None:
        """Close the browser's context, with every file that Playwright has of it."""
        if self._is_traced:
            self.context.tracing.stop()
        self.context.close()

    def _on_end(self, request: Request) -> None:
        self._asked.discard(request)

    def _on_console(self, message: ConsoleMessage) -> None:
        if message.type == "error" and not _OF_AN_ANSWER.match(message.text):
            self._errors.append(f"console: {message.text}")

    def _on_response(self, response: Response) -> None:
        if response.status == 404 and _NOTHING_SET.search(response.url):
            return
        if response.status >= 400 and response.status not in self._expected:
            self._errors.append(f"{response.status}: {response.request.method} {response.url}")


def faults(check: Callable[[Any], object], cases: Iterable[Any]) -> Mapping[Any, str]:
    """Check every case; return what is wrong with those that fail."""
    found = {}
    for case in cases:
        try:
            check(case)
        except AssertionError as error:
            found[case] = str(error)
    return found


def dialog_of(page: Page, name: str | re.Pattern[str]) -> Locator:
    """Return the dialog of this title."""
    return page.get_by_role("dialog", name=name)


def told(page: Page) -> Locator:
    """Return the short messages in the corner."""
    return page.locator(".toasts")


def commit(page: Page, message: str) -> None:
    """Commit what the page of uncommitted changes shows."""
    page.get_by_role("button", name="Commit…").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Message").fill(message)
    dialog.get_by_role("button", name="Commit", exact=True).click()
    expect(dialog).to_have_count(0)


def upload(page: Page, files: Mapping[str, bytes]) -> None:
    """Upload the files to the directory that the page shows."""
    dialog = choose(page, files)
    dialog.get_by_role("button", name=re.compile("^Upload")).last.click()
    expect(dialog.get_by_role("button", name="Upload more")).to_be_visible()
    expect(dialog.get_by_text(f"{len(files)} of {len(files)} file")).to_be_visible()
    page.keyboard.press("Escape")
    expect(dialog).to_have_count(0)


def choose(page: Page, files: Mapping[str, bytes]) -> Locator:
    """Open the dialog of uploads with these files; return it."""
    page.get_by_role("button", name="Upload", exact=True).first.click()
    dialog = dialog_of(page, re.compile("^Upload to"))
    chosen: list[FilePayload] = [
        {"name": name, "mimeType": "text/plain", "buffer": content}
        for name, content in files.items()
    ]
    dialog.locator("input[type=file]").first.set_input_files(chosen)
    return dialog
