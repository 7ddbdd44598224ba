"""Code that reads a path of a repository with other programs, ready to run.

The templates are in snippets.json, which the web page uses as well. All but the SDK and our own
command read through the S3 gateway: the bucket is the repository, the key is REF/PATH. The code has
no secrets: it takes the key pair from the variables that its first lines name.
"""

import json
import re
import shlex
from collections.abc import Iterator
from importlib import resources
from urllib.parse import urlsplit

import msgspec
from msgspec import Struct

from graveler_cli.uris import PathUri


class _Program(Struct, frozen=True):
    """The code for a program: what comes first, and how each kind is read, as lines.

    The templates take the endpoint's parts, the URL of the path or of a folder's files, its key
    below s3://, and the names of the lakeFS URI.
    """

    heading: list[str]
    is_s3: bool
    first: list[str]
    reads: dict[str, list[str]]
    # A regular expression of keys that the program cannot read. No shell gets control characters:
    # a terminal takes a pasted one for a key, such as Ctrl-U, which deletes the quote before it.
    cannot: str | None = None


class _Snippets(Struct, frozen=True):
    # What a file is, by the end of its name.
    kinds: dict[str, str]
    key_pair: str
    programs: dict[str, _Program]


_TEMPLATES = msgspec.json.decode(
    resources.files("graveler_cli").joinpath("snippets.json").read_bytes(), type=_Snippets
)
PROGRAMS = _TEMPLATES.programs
OTHER = "bytes"
# What the files of a folder may be; "/" is any other folder.
FOLDERS = {"parquet": "parquet/", "csv": "csv/"}


def kind_of(name: str) -> str:
    """Return the kind of a file by its name."""
    found = (kind for end, kind in _TEMPLATES.kinds.items() if name.lower().endswith(end))
    return next(found, OTHER)


def snippets(uri: PathUri, kind: str, endpoint: str) -> Iterator[tuple[str, str]]:
    """Yield the name of each program that reads the kind, and its code.

    Args:
        uri: the path; that of a folder ends with a slash.
        kind: what is there, as `kind_of` says of a file; of a folder's files, "/" follows.
        endpoint: the S3 gateway.
    """
    parts = urlsplit(endpoint)
    is_tls = str(parts.scheme == "https").lower()
    key = f"{uri.repository}/{uri.ref}/{uri.path}"
    # DuckDB and Hadoop take paths for patterns.
    pattern = re.sub(r"[*?\[\]{}\\]", r"\\\g<0>", key)
    # Polars reads a folder as such: its patterns find nothing below names that are not ASCII.
    files = f"s3://{pattern}**/*.{kind[:-1]}" if kind.endswith("/") else f"s3://{pattern}"
    values = {
        "endpoint": _quoted(endpoint),
        "host": parts.netloc,
        "is_tls": is_tls,
        "key": _quoted(key),
        "files": _quoted(files),
        "url": _quoted(f"s3://{key}"),
        "s3a": _quoted(f"s3a://{pattern}"),
        "shell_endpoint": shlex.quote(endpoint),
        "shell_url": shlex.quote(f"s3://{key}"),
        "shell_uri": shlex.quote(str(uri)),
        "repository": _quoted(uri.repository),
        "ref": _quoted(uri.ref),
        "path": _quoted(uri.path),
        "file": _quoted(uri.path.rsplit("/", 1)[-1] or "object"),
    }
    # A table is read as such, or else as bytes; a folder of tables as one, or else listed.
    kinds = (kind, kind.removesuffix("/"), "/") if kind.endswith("/") else (kind, OTHER)
    for name, program in PROGRAMS.items():
        read = next((program.reads[each] for each in kinds if each in program.reads), None)
        if read is None or (program.cannot and re.search(program.cannot, key, re.IGNORECASE)):
            continue
        heading = [*program.heading, *([_TEMPLATES.key_pair] if program.is_s3 else [])]
        lines = [*(f"# {line}" for line in heading), *program.first, *read]
        yield name, "".join(f"{line}\n" for line in lines).format_map(values)


# Characters that turn the direction of text: code that had one could look like other code.
_BIDI_CONTROL = re.compile("[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")


def _quoted(text: str) -> str:
    """Return the literal in Python, in double quotes, which turns no direction."""
    literal = json.dumps(text, ensure_ascii=False)
    return _BIDI_CONTROL.sub(lambda found: f"\\u{ord(found[0]):04X}", literal)
