"""MIME types by names, from Python's own table: the same ones on every machine."""

from functools import cache
from mimetypes import MimeTypes

_UNKNOWN = "application/octet-stream"
# Types that older versions of Python do not know, or know under another name.
_ADDED = {
    ".js": "text/javascript",
    ".md": "text/markdown",
    ".parquet": "application/vnd.apache.parquet",
    ".yaml": "application/yaml",
    ".yml": "application/yaml",
}


def type_of(*names: str) -> str:
    """Return the type of the first name that has a known one, as `aws s3 cp` guesses it."""
    # Without "./", the part of a name before a colon would be the scheme of a URL.
    found = (_table().guess_type(f"./{name}")[0] for name in names)
    return next(filter(None, found), _UNKNOWN)


@cache
def _table() -> MimeTypes:
    table = MimeTypes()
    for extension, kind in _ADDED.items():
        table.add_type(kind, extension)
    return table
