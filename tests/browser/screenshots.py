"""A picture of every page and dialog, in light, dark and narrow: `make screenshots`.

They are in build/browser/screenshots.
"""

import os
import shutil
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from playwright.sync_api import Browser, sync_playwright

from tests.acceptance.clients import connect
from tests.browser import pages
from tests.browser.visits import Visit, session_of
from tests.support.stack import Stack

FOLDER = Path(__file__).parents[2] / "build" / "browser" / "screenshots"
LOOKS: Mapping[str, Mapping[str, Any]] = {
    "light": {"color_scheme": "light", "viewport": {"width": 1280, "height": 800}},
    "dark": {"color_scheme": "dark", "viewport": {"width": 1280, "height": 800}},
    "narrow": {"color_scheme": "light", "viewport": {"width": 360, "height": 740}},
}


def take_all(browser: Browser, stack: Stack, folder: Path) -> None:
    """Write `<page>-<look>.png` for every page, dialog and look."""
    folder.mkdir(parents=True, exist_ok=True)
    session = session_of(stack, stack.access_key_id, stack.secret_access_key)
    places = {"repositories-empty": "/repositories"}
    take(browser, stack, folder, session, places)
    places = {**pages.prepare(connect(stack))}
    take(browser, stack, folder, session, places)
    take(browser, stack, folder, None, {"log-in": "/auth/login"})


def take(
    browser: Browser, stack: Stack, folder: Path, session: Any, places: Mapping[str, str]
) -> None:
    """Take the pages at these places, and the dialogs that open on them."""
    for look, options in LOOKS.items():
        visit = Visit(browser, stack, storage_state=session, **options)
        for name, path in places.items():
            visit.open(path).screenshot(path=folder / f"{name}-{look}.png", full_page=True)
            for number, button in enumerate(pages.DIALOGS.get(name, ())):
                page = visit.open(path)
                page.get_by_role("button", name=button, exact=True).first.click()
                visit.wait()
                page.screenshot(path=folder / f"{name}-dialog{number}-{look}.png")
        visit.context.close()


def main() -> None:
    with TemporaryDirectory() as data, sync_playwright() as playwright:
        arguments = ["--no-sandbox"] if os.geteuid() == 0 else []
        program = shutil.which("chromium")
        stack = Stack(Path(data))
        try:
            browser = playwright.chromium.launch(executable_path=program, args=arguments)
            take_all(browser, stack, FOLDER)
        finally:
            stack.stop()


if __name__ == "__main__":
    main()
