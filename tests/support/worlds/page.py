"""A built web page as small as it can be, and requests for it."""

import base64
import gzip
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from graveler_functions.web.app import App
from tests.support.clients.api import event

SHELL = b'<!doctype html><script type="module" src="/assets/index-B3xY_z9-.js"></script>' * 20
SCRIPT = b"console.log('a page');\n" * 200
ICON = b'<svg xmlns="http://www.w3.org/2000/svg"/>'
FONT = b"wOF2" + bytes(range(256))
SCRIPT_PATH = "/assets/index-B3xY_z9-.js"
FONT_PATH = "/assets/text-0a1b2c3d.woff2"


def write_page(folder: Path) -> Path:
    """Write the files of a built page; return their folder."""
    (folder / "assets").mkdir(parents=True)
    (folder / "index.html").write_bytes(SHELL)
    (folder / "favicon.svg").write_bytes(ICON)
    (folder / SCRIPT_PATH[1:]).write_bytes(SCRIPT)
    (folder / FONT_PATH[1:]).write_bytes(FONT)
    return folder


@dataclass(frozen=True)
class Shown:
    """An answer as a browser sees it; header names in lower case."""

    status: int
    headers: dict[str, str]
    content: bytes

    @property
    def decoded(self) -> bytes:
        """The content without its coding."""
        is_gzip = self.headers.get("content-encoding") == "gzip"
        return gzip.decompress(self.content) if is_gzip else self.content


def show(app: App, path: str, method: str = "GET", query: str = "", **headers: str) -> Shown:
    """Send a request; underscores in names of headers stand for hyphens."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return shown(app(event(method, path, query=query, headers=named), None))


def shown(answer: dict[str, Any]) -> Shown:
    json.dumps(answer)  # Lambda does as much
    content = base64.b64decode(answer["body"]) if answer["isBase64Encoded"] else answer["body"]
    named = {name.lower(): value for name, value in answer["headers"].items()}
    return Shown(answer["statusCode"], named, content or b"")
