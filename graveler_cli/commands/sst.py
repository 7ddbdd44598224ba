"""`graveler sst`: the content of the files of a repository's commits, and their faults."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any
from urllib.parse import urlsplit

import click
import msgspec

from graveler_cli import completion
from graveler_cli.arguments import content_of
from graveler_cli.errors import CommandError, NotInstalledError, UsageError
from graveler_cli.grammar import CommandGroup, flag, option
from graveler_cli.output import CommandOutput, fields, go_time
from graveler_cli.session import CommandSession

app = CommandGroup(help="Inspect range and metarange files, without a server.")

file_argument = partial(
    click.argument,
    help="A file, s3://BUCKET/KEY, or - for standard input.",
    shell_complete=completion.local_paths,
)
records_option = option("--amount", default=-1, help="How many records; -1 is all.")

_S3 = "s3://"

_ENTRY_HEADS = ("path", "identity", "size", "etag", "last_modified", "address", "metadata")
_REF_CELLS = ("id", "commit_id")
_RAW_CELLS = ("key", "identity", "value")
_RANGE_CELLS = ("id", "min_key", "max_key", "count", "estimated_size")

Cells = Callable[[dict[str, Any]], Sequence[object]]


class _Verdict(msgspec.Struct, frozen=True):
    """The result of a check."""

    file: str
    is_whole: bool
    faults: list[str]

    def lines(self) -> list[str]:
        """Return the verdict for people."""
        return [f"{self.file}: {fault}" for fault in self.faults] or [f"{self.file}: whole"]


@app.command("cat")
@file_argument("file")
@records_option
@flag("--raw", help="Show keys, identities and values in hex.")
def cat(session: CommandSession, file: str, *, amount: int, raw: bool) -> None:
    """Show the records of a file: objects, ranges, or the refs of a dump."""
    show_records(session, file, amount, raw=raw)


@app.command("verify")
@file_argument(
    "files",
    nargs=-1,
    required=True,
    metavar="FILE...",
    help="As of `sst cat`; several may be named.",
)
def verify(session: CommandSession, files: tuple[str, ...]) -> None:
    """Check files: checksums, order of keys, properties, records, and that the name is the ID."""
    inspection = _reader()
    are_whole = True
    for file in files:
        content = _read_file(file)
        found = list(inspection.faults(file, content, Path(file).name))
        are_whole = are_whole and not found
        session.output.item(_Verdict(file, not found, found), _Verdict.lines)
    if not are_whole:
        raise click.exceptions.Exit(1)


@app.command("stats")
@file_argument("file")
def stats(session: CommandSession, file: str) -> None:
    """Show how many records, blocks and bytes a file has, and its first and last key."""
    with _refusing_damage():
        found = _reader().statistics(file, _read_file(file))
    session.output.item(
        found,
        lambda each: [
            f"{name.replace('_', ' ').capitalize()}: {'' if value is None else value}".rstrip()
            for name, value in each.items()
        ],
    )


@app.command("properties")
@file_argument("file")
def properties(session: CommandSession, file: str) -> None:
    """Show the properties that the writer of a file stored in it."""
    content = _read_file(file)
    inspection = _reader()
    with _refusing_damage():
        found = inspection.properties(inspection.open_table(file, content))
    session.output.item(found, lambda each: fields(each.items()))


def show_records(session: CommandSession, file: str, amount: int, *, raw: bool = False) -> None:
    """Print the records of a file, as lakectl's cat-sst; all of them if the amount is negative."""
    content = _read_file(file)
    inspection = _reader()
    with _refusing_damage():
        table = inspection.open_table(file, content)
        kind = inspection.kind_of(table)
        heads, cells = (_RAW_CELLS, _raw_cells) if raw else _columns(kind, session.output)
        values = [
            dict(zip(_RAW_CELLS, (key.hex(), identity.hex(), value.hex()), strict=True))
            if raw
            else decoded | {"identity": identity.decode() if kind != "ranges" else identity.hex()}
            for number, (key, identity, value, decoded) in enumerate(
                inspection.decoded_records(table)
            )
            if amount < 0 or number < amount
        ]
    session.output.table(heads, values, cells)


def _columns(kind: str, output: CommandOutput) -> tuple[Sequence[str], Cells]:
    """Return the table's heads for a kind of records, and the function to a record's cells."""
    match kind:
        case "metaranges":
            heads = ("range_id", *_RANGE_CELLS[1:])
            return heads, lambda each: [each[name] for name in _RANGE_CELLS]
        case "branch" | "tag":
            return (f"{kind} ID", "commit ID"), lambda each: [each[name] for name in _REF_CELLS]
        case "commit":
            return _COMMIT_HEADS, _commit_cells
        case _:
            return _ENTRY_HEADS, lambda each: _entry_cells(each, output)


def _raw_cells(record: dict[str, Any]) -> Sequence[object]:
    return [record[name] for name in _RAW_CELLS]


def _entry_cells(entry: dict[str, Any], output: CommandOutput) -> Sequence[object]:
    pairs = entry["metadata"].items()
    if output.is_terminal:
        metadata = " ".join(f"{name}={value}" for name, value in pairs)
    else:  # as Go prints it, and lakectl
        metadata = f"map[{' '.join(f'{name}:{value}' for name, value in pairs)}]"
    return (
        entry["key"],
        entry["identity"],
        entry["size"],
        entry["e_tag"],
        go_time(entry["last_modified"]),
        entry["address"],
        metadata,
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
    """Raise a CommandError for the engine's error of damaged files."""
    _reader()
    from graveler.errors import CorruptDataError  # noqa: PLC0415 - as in _reader

    try:
        yield
    except CorruptDataError as error:
        raise CommandError(str(error)) from error


def _reader() -> ModuleType:
    """Return the engine's reader of these files.

    Raises:
        CommandError: its packages are not installed.
    """
    try:
        from graveler.sstable import inspection  # noqa: PLC0415
    except ImportError as error:
        raise NotInstalledError(error, "server") from error
    return inspection


def _read_file(name: str) -> bytes:
    """Return the content of a file, of an S3 object named s3://BUCKET/KEY, or of standard input.

    Raises:
        CommandError: it cannot be read.
    """
    return _read_object(name) if name.startswith(_S3) else content_of(Path(name))


def _read_object(uri: str) -> bytes:
    """Return the content of an S3 object, with the credentials and the endpoint of the AWS SDK."""
    parts = urlsplit(uri, allow_fragments=False)
    key = uri.removeprefix(f"{_S3}{parts.netloc}/")
    if not parts.netloc or not key or key == uri:
        raise UsageError(f"{uri!r} does not name an object: write s3://BUCKET/KEY")
    # Imported late, because local files need no AWS SDK.
    try:
        import boto3  # noqa: PLC0415
        from botocore.exceptions import BotoCoreError, ClientError  # noqa: PLC0415
    except ImportError as error:
        raise NotInstalledError(error, "server") from error
    try:
        answer = boto3.client("s3").get_object(Bucket=parts.netloc, Key=key)
        content: bytes = answer["Body"].read()
    except (BotoCoreError, ClientError, ValueError) as error:
        line = " ".join(str(error).split())
        raise CommandError(
            f"cannot read {uri}: {line}; check AWS_PROFILE and AWS_ENDPOINT_URL"
        ) from error
    return content
