"""`graveler fs ls`, `stat`, `cat` and `presign`."""

import re
import sys
from collections.abc import Iterator

from graveler_cli import output
from graveler_cli.arguments import path_argument, pre_sign_option
from graveler_cli.commands.fs.options import (
    OBJECT,
    names_of,
    options_of,
    recursive_option,
    runner_of,
    stat_lines,
)
from graveler_cli.errors import CommandError, UsageError
from graveler_cli.grammar import flag, option
from graveler_cli.schemas import Config, ObjectStats
from graveler_cli.session import CommandSession
from graveler_cli.uris import PathUri

# Below these widths, a listing on a terminal leaves out the type, then the time.
_WIDTH_OF_ALL = 100
_WIDTH_OF_TIMES = 70

_RANGE = re.compile(r"(\d*)-(\d*)")


@path_argument("uri")
@recursive_option
@flag("--pre-sign", help="With --json: show presigned URLs as addresses.")
def ls(session: CommandSession, uri: str, *, recursive: bool, pre_sign: bool) -> None:
    """List the objects and folders whose names begin with the path."""
    path = session.path(uri)
    query = {
        "prefix": path.path,
        "delimiter": "" if recursive else "/",
        "presign": pre_sign,
    }
    found = session.server.each(f"{OBJECT}/ls", names_of(path), ObjectStats, query)
    # Only a recursive listing shows whole paths.
    shown_from = 0 if recursive else path.path.rfind("/") + 1
    session.output.items(found, lambda each: [_line(session, each, shown_from)])


def _line(session: CommandSession, found: ObjectStats, shown_from: int) -> str:
    name = session.output.paint(found.path[shown_from:], "yellow")
    if session.output.is_terminal and session.output.width < _WIDTH_OF_ALL:
        return _short_line(session, found, name)
    if found.path_type != "object":
        return f"{found.path_type:<12}    {'':44}    {name}"
    modified = output.local_time(found.mtime)
    size = output.human_size(found.size_bytes or 0)
    return f"{found.path_type:<12}    {modified:<29}    {size:<12}    {name}"


def _short_line(session: CommandSession, found: ObjectStats, name: str) -> str:
    """Return the line for a narrow terminal: without the type, and if need be without the time."""
    is_object = found.path_type == "object"
    size = output.human_size(found.size_bytes or 0) if is_object else ""
    if session.output.width < _WIDTH_OF_TIMES:
        return f"{size:<10}{name}"
    modified = output.local_time(found.mtime) if is_object else ""
    return f"{modified:<29}  {size:<10}{name}"


@path_argument("uri")
@flag("--pre-sign", help="Show a presigned URL instead of the location.")
def stat(session: CommandSession, uri: str, *, pre_sign: bool) -> None:
    """Show an object's metadata and the location of its bytes."""
    found = _stat(session, session.object(uri), pre_sign=pre_sign)
    session.output.item(found, lambda each: stat_lines(session, each))


@path_argument("uri")
@pre_sign_option
@option(
    "--range",
    "byte_range",
    default="",
    metavar="FIRST-LAST",
    help="Only these bytes, from 0: FIRST-LAST, FIRST- or -AMOUNT.",
)
def cat(session: CommandSession, uri: str, *, pre_sign: bool | None, byte_range: str) -> None:
    """Print an object's content; with --range, read only these bytes."""
    path = session.object(uri)
    if session.output.as_json:
        raise UsageError("cat prints bytes: leave --json out")
    # Small objects come through the API in one request; from large ones, the API redirects.
    is_presigned = bool(pre_sign) and _config(session).storage_config.pre_sign_support
    options = options_of(session, 1, is_presigned)
    found = _stat(session, path, pre_sign=is_presigned)
    first, length = _wanted(byte_range, found.size_bytes or 0)
    stream = sys.stdout.buffer
    runner = runner_of(session, path, options)
    runner.read(path.path, found, first, length, stream.write)
    stream.flush()


@path_argument("uri")
def presign(session: CommandSession, uri: str) -> None:
    """Print a presigned URL, from which anyone can read the object until it expires."""
    path = session.object(uri)
    if not _config(session).storage_config.pre_sign_support:
        raise CommandError("the server has no presigned URLs: use fs cat or fs download")
    found = _stat(session, path, pre_sign=True)
    session.output.item(found, lambda each: [each.physical_address])


def _stat(session: CommandSession, path: PathUri, *, pre_sign: bool) -> ObjectStats:
    query = {"path": path.path, "presign": pre_sign}
    return session.server.ask("GET", f"{OBJECT}/stat", names_of(path), ObjectStats, query=query)


def _config(session: CommandSession) -> Config:
    return session.server.ask("GET", "/config", {}, Config)


def _wanted(text: str, size_bytes: int) -> tuple[int, int]:
    """Return the first byte of the range, and its length."""
    if not text:
        return 0, size_bytes
    found = _RANGE.fullmatch(text)
    if found is None or text == "-" or (found[1] and found[2] and int(found[1]) > int(found[2])):
        raise UsageError(f"--range is {text!r}: write FIRST-LAST, FIRST- or -AMOUNT")
    if not found[1]:
        length = min(int(found[2]), size_bytes)
        return size_bytes - length, length
    first = int(found[1])
    if first >= size_bytes:
        raise CommandError(f"--range begins at {first}, but the object has {size_bytes} bytes")
    last = min(int(found[2]), size_bytes - 1) if found[2] else size_bytes - 1
    return first, last - first + 1


def listed(session: CommandSession, path: PathUri) -> Iterator[ObjectStats]:
    """Yield all objects below a path."""
    query = {"prefix": path.path, "user_metadata": False}
    return session.server.each(f"{OBJECT}/ls", names_of(path), ObjectStats, query)
