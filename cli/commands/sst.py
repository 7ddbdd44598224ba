"""`graveler sst`: what is in the files of a repository's commits, and whether they are whole."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import PurePath
from types import ModuleType
from typing import Annotated, Any

import msgspec
import typer

from cli.errors import CommandError, NotInstalledError
from cli.grammar import Command, Group
from cli.output import go_time
from cli.session import CommandSession, session_of
from cli.table_files import read_file

app = typer.Typer(cls=Group, help="Look into range and metarange files, without a server.")

FileArgument = Annotated[
    str,
    typer.Argument(
        metavar="FILE",
        help="A file, s3://BUCKET/KEY, or - for standard input.",
        show_default=False,
    ),
]
RecordsOption = Annotated[int, typer.Option("--amount", help="How many records; -1 is all.")]

_ENTRY_HEADS = ("path", "identity", "size", "etag", "last_modified", "address", "metadata")
_REF_CELLS = ("id", "commit_id")
_RANGE_CELLS = ("id", "min_key", "max_key", "count", "estimated_size")

Cells = Callable[[dict[str, Any]], Sequence[object]]


class _Verdict(msgspec.Struct, frozen=True):
    """Whether a file is whole."""

    file: str
    is_whole: bool
    faults: list[str]

    def lines(self) -> list[str]:
        """Return the verdict for people."""
        return [f"{self.file}: {fault}" for fault in self.faults] or [f"{self.file}: whole"]


@app.command("cat", cls=Command)
def cat(context: typer.Context, file: FileArgument, *, amount: RecordsOption = -1) -> None:
    """Show the records of a file: objects, ranges, or the refs of a dump."""
    show_records(session_of(context), file, amount)


@app.command("verify", cls=Command)
def verify(context: typer.Context, files: Annotated[list[str], FileArgument]) -> None:
    """Check files: checksums, order of keys, properties, records, and that the name is the ID."""
    session = session_of(context)
    shown = _reader()
    are_whole = True
    for file in files:
        content = read_file(file)
        found = list(shown.faults(file, content, PurePath(file).name))
        are_whole = are_whole and not found
        session.output.item(_Verdict(file, not found, found), _Verdict.lines)
    if not are_whole:
        raise typer.Exit(1)


@app.command("stats", cls=Command)
def stats(context: typer.Context, file: FileArgument) -> None:
    """Show how many records, blocks and bytes a file has, and its first and last key."""
    session = session_of(context)
    with _refusing_damage():
        found = _reader().statistics(file, read_file(file))
    session.output.item(
        found,
        lambda each: [
            f"{name.replace('_', ' ').capitalize()}: {'' if value is None else value}".rstrip()
            for name, value in each.items()
        ],
    )


def show_records(session: CommandSession, file: str, amount: int) -> None:
    """Print the records of a file, as lakectl's cat-sst; all of them if the amount is negative."""
    content = read_file(file)
    shown = _reader()
    with _refusing_damage():
        table = shown.open_table(file, content)
        kind = shown.kind_of(table)
        heads, cells = _columns(kind)
        values = [
            decoded | {"identity": identity.decode() if kind != "ranges" else identity.hex()}
            for number, (_, identity, _, decoded) in enumerate(shown.decoded_records(table))
            if amount < 0 or number < amount
        ]
    session.output.table(heads, values, cells)


def _columns(kind: str) -> tuple[Sequence[str], Cells]:
    """Return the heads of the table of a kind of records, and the cells of a record."""
    match kind:
        case "metaranges":
            heads = ("range_id", *_RANGE_CELLS[1:])
            return heads, lambda each: [each[name] for name in _RANGE_CELLS]
        case "branch" | "tag":
            return (f"{kind} ID", "commit ID"), lambda each: [each[name] for name in _REF_CELLS]
        case "commit":
            return _COMMIT_HEADS, _commit_cells
        case _:
            return _ENTRY_HEADS, _entry_cells


def _entry_cells(entry: dict[str, Any]) -> Sequence[object]:
    pairs = " ".join(f"{name}:{value}" for name, value in entry["metadata"].items())
    return (
        entry["key"],
        entry["identity"],
        entry["size"],
        entry["e_tag"],
        go_time(entry["last_modified"]),
        entry["address"],
        f"map[{pairs}]",
    )


_COMMIT_HEADS = (
    "commit ID",
    "committer",
    "message",
    "creation date",
    "metadata",
    "parents",
    "metarange ID",
    "version",
    "generation",
)


def _commit_cells(commit: dict[str, Any]) -> Sequence[object]:
    return (
        commit["commit_id"],
        commit["committer"],
        commit["message"],
        commit["creation_date"].split(".")[0] + "Z",
        msgspec.json.encode(commit["metadata"]).decode(),
        msgspec.json.encode(commit["parents"]).decode(),
        commit["meta_range_id"],
        commit["version"],
        commit["generation"],
    )


@contextmanager
def _refusing_damage() -> Iterator[None]:
    """Turn the engine's error of damaged files into one line."""
    _reader()
    from graveler.errors import CorruptDataError  # noqa: PLC0415 - as in _reader

    try:
        yield
    except CorruptDataError as error:
        raise CommandError(str(error)) from error


def _reader() -> ModuleType:
    """Return the engine's reader of these files, which clients may have without its packages.

    Raises:
        CommandError: the packages are not installed.
    """
    try:
        from graveler.sstable import shown  # noqa: PLC0415
    except ImportError as error:
        raise NotInstalledError(error, "server") from error
    return shown
