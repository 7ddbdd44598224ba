"""What a browser with an empty cache fetches to show a page, over the wire."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from playwright.sync_api import Browser, Request

from tests.browser.visits import Visit
from tests.support.servers.stack import Stack


@dataclass
class Load:
    """The bytes of bodies as they were sent: of the page's files by path, and of all answers."""

    files: dict[str, int] = field(default_factory=dict)
    answers: list[int] = field(default_factory=list)

    def without(self, *earlier: "Load") -> "Load":
        """Return this load in a browser whose cache has the files of the earlier ones."""
        held = {path for load in earlier for path in load.files}
        rest = {path: size for path, size in self.files.items() if path not in held}
        return Load(rest, self.answers)

    @property
    def files_kb(self) -> float:
        return sum(self.files.values()) / 1000

    @property
    def answers_kb(self) -> float:
        return sum(self.answers) / 1000

    @property
    def requests(self) -> int:
        return len(self.files) + len(self.answers)


def load(browser: Browser, stack: Stack, path: str, session: Mapping[str, Any] | None) -> Load:
    """Show the page at the path in a new browser profile; return what was fetched for it."""
    visit = Visit(browser, stack, storage_state=session)
    finished: list[Request] = []

    def note(request: Request) -> None:  # Playwright cannot wrap a list's own method
        finished.append(request)

    visit.context.on("requestfinished", note)
    visit.open(path)
    found = Load()
    for request in finished:
        url = urlsplit(request.url)
        if not request.url.startswith(stack.endpoint):
            continue  # the content of an object, from the bucket
        size_bytes = request.sizes()["responseBodySize"]
        if url.path.startswith(("/api/", "/openapi.json")):
            found.answers.append(size_bytes)
        else:
            # A file that is used twice is fetched once.
            name = "/" if request.is_navigation_request() else url.path
            size_bytes = size_bytes or _declared_bytes(request)
            found.files[name] = max(size_bytes, found.files.get(name, 0))
    visit.context.close()
    return found


def _declared_bytes(request: Request) -> int:
    """Return the server's word for a body that chromium does not count: the script of a worker."""
    response = request.response()
    return int((response and response.header_value("content-length")) or 0)
