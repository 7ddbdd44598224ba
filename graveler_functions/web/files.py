"""The files of the built page, each with the headers that it is served with.

The folder is listed once, so a path finds one of its files or nothing: no path leads elsewhere.
"""

import gzip
from collections.abc import Mapping
from functools import cached_property
from hashlib import sha256
from pathlib import Path

from graveler_functions.web import paths

_TYPES: Mapping[str, str] = {
    ".css": "text/css; charset=utf-8",
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".json": "application/json",
    ".png": "image/png",
    ".svg": "image/svg+xml",
    ".txt": "text/plain; charset=utf-8",
    ".wasm": "application/wasm",
    ".woff2": "font/woff2",
}
# These are compressed already.
_COMPRESSED = frozenset({".png", ".woff2"})
_UNKNOWN_TYPE = "application/octet-stream"

# An asset's name has the hash of its content.
_FOREVER = "public, max-age=31536000, immutable"
# A browser asks each time, so a new version of the page is seen at once.
_ASKED = "no-cache"

# A robot has no session, so it finds the log-in and nothing else. Search engines also list pages
# that they may not read: forbidding ours would hide nothing.
_ROBOTS = b"User-agent: *\nDisallow: /api/\n"


class File:
    """One file; its content is read and compressed at the first request for it."""

    def __init__(self, path: Path, cache_control: str, content: bytes | None = None) -> None:
        self._path = path
        self._given = content
        self.cache_control = cache_control
        self.content_type = _TYPES.get(path.suffix, _UNKNOWN_TYPE)

    @cached_property
    def content(self) -> bytes:
        return self._path.read_bytes() if self._given is None else self._given

    @cached_property
    def compressed(self) -> bytes | None:
        """The content compressed by gzip; None if that does not make it smaller."""
        if self._path.suffix in _COMPRESSED:
            return None
        compressed = gzip.compress(self.content, mtime=0)
        return compressed if len(compressed) < len(self.content) else None

    @cached_property
    def etag(self) -> str:
        """The entity tag; a weak one, as it is that of the compressed content as well."""
        return f'W/"{sha256(self.content).hexdigest()[:32]}"'


class Files:
    """The built page in a folder: the shell of all pages, the assets, the icon."""

    def __init__(self, folder: Path) -> None:
        self._shell = File(folder / "index.html", _ASKED)
        self._others = {
            paths.ROBOTS: File(Path("robots.txt"), _ASKED, _ROBOTS),
            **{
                f"{paths.ASSETS}{each.name}": File(each, _FOREVER)
                for each in folder.glob("assets/*.*")
            },
        }
        icon = folder / paths.ICON.removeprefix("/")
        if icon.is_file():
            self._others[paths.ICON] = File(icon, _ASKED)

    def find(self, path: str) -> File | None:
        """Return the file of the path; None if there is none."""
        return self._shell if paths.is_page(path) else self._others.get(path)
