"""`graveler annotate`: which commit changed each object last."""

import unicodedata
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from typing import TYPE_CHECKING

import click
from msgspec import Struct

from graveler_cli import uncommitted
from graveler_cli.arguments import path_argument
from graveler_cli.commits import first_line
from graveler_cli.grammar import Command, flag
from graveler_cli.output import local_time
from graveler_cli.schemas import Commit, Diff, ObjectStats
from graveler_cli.session import CommandSession
from graveler_cli.uris import PathUri, RefUri

if TYPE_CHECKING:
    from graveler_cli.client import LakeClient

_PATH_WIDTH = 15
_COMMITTER_WIDTH = 20
_ID_LENGTH = 16
_ID_WIDTH = 20
_MESSAGE_BYTES_MAX = 200

# The number of logs that are requested at a time.
_AT_ONCE = 8


class Annotation(Struct, frozen=True):
    """An object or a folder, and the commit that changed it last.

    commit: None if the last change is uncommitted, or no commit of the log has it.
    """

    path: str
    path_type: str
    commit: Commit | None
    uncommitted: bool


@click.command(cls=Command)
@path_argument("uri")
@flag("--recursive", "-r", help="Show all objects below, not folders.")
@flag("--first-parent", help="Follow only the first parent of each merge.")
def command(session: CommandSession, uri: str, *, recursive: bool, first_parent: bool) -> None:
    """List objects and folders below a path, each with the commit that changed it last."""
    path = session.path(uri)
    ref, delimiter = RefUri(path.repository, path.ref), "" if recursive else "/"
    found = session.server.each(
        "/repositories/{repository}/refs/{ref}/objects/ls",
        {"repository": path.repository, "ref": path.ref},
        ObjectStats,
        {"prefix": path.path, "delimiter": delimiter, "presign": False},
    )
    marked = _marked(found, uncommitted.changes(session.server, ref, path.path, delimiter))
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        while some := list(islice(marked, _AT_ONCE)):
            annotated = pool.map(
                lambda each: _annotated(session.server, path, each, first_parent=first_parent), some
            )
            session.output.items(annotated, _lines)


def _marked(
    found: Iterator[ObjectStats], changes: Iterator[Diff]
) -> Iterator[tuple[ObjectStats, bool]]:
    """Yield each object, and whether it is among the changes; both are sorted by path."""
    changed: str | None = ""
    for each in found:
        while changed is not None and changed < each.path:
            changed = next((change.path for change in changes), None)
        yield each, changed == each.path


def _annotated(
    server: "LakeClient", path: PathUri, marked: tuple[ObjectStats, bool], *, first_parent: bool
) -> Annotation:
    found, is_uncommitted = marked
    if is_uncommitted:
        return Annotation(found.path, found.path_type, None, uncommitted=True)
    kind = "prefixes" if found.path_type == "common_prefix" else "objects"
    log = server.each(
        "/repositories/{repository}/refs/{ref}/commits",
        {"repository": path.repository, "ref": path.ref},
        Commit,
        {"amount": 1, "limit": True, "first_parent": first_parent, kind: [found.path]},
    )
    # A page may be empty although others follow.
    return Annotation(found.path, found.path_type, next(log, None), uncommitted=False)


def _lines(found: Annotation) -> Iterator[str]:
    commit = found.commit
    commit_id = commit.id[:_ID_LENGTH] if commit else "uncommitted" if found.uncommitted else ""
    cells = (
        _padded(found.path, _PATH_WIDTH),
        _padded(commit.committer if commit else "", _COMMITTER_WIDTH),
        _padded(commit_id, _ID_WIDTH),
        local_time(commit.creation_date) if commit else "",
    )
    yield f"{' '.join(cells)}  {_shortened(commit.message) if commit else ''}"


def _padded(text: str, width: int) -> str:
    """Return the text with spaces up to a width on the screen."""
    wide = sum(unicodedata.east_asian_width(character) in "WF" for character in text)
    return text + " " * (width - len(text) - wide)


def _shortened(message: str) -> str:
    encoded = message.encode()
    if len(encoded) > _MESSAGE_BYTES_MAX:
        message = encoded[: _MESSAGE_BYTES_MAX - 3].decode(errors="ignore") + "..."
    return first_line(message)
