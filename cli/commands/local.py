"""`graveler local`: folders that mirror a path of a ref."""

import os
from pathlib import Path
from typing import Annotated

import typer

from cli.arguments import YesOption, home_expanded
from cli.errors import CommandError, UsageError
from cli.grammar import Command, Group
from cli.local import git
from cli.local.differences import Change, Spool
from cli.local.index import CLONE, Index, linked_folders
from cli.local.linking import interrupted_clone, link
from cli.local.operations import Mirror
from cli.local.remote import Remote
from cli.local.sync import Summary, Sync
from cli.local.walk import Rules
from cli.output import Color, local_time
from cli.session import CommandSession, session_of
from cli.shapes import Commit
from cli.transfers.jobs import PARALLELISM, TransferOptions
from cli.uris import PathUri

app = typer.Typer(cls=Group, help="Sync local directories with lakeFS paths.")

_WORDS = {"changed": "modified"}  # lakectl's, where they are not the API's
_COLORS: dict[str, Color] = {
    "added": "green",
    "removed": "red",
    "changed": "yellow",
    "conflict": "yellow",
}

SourceArgument = Annotated[
    str,
    typer.Argument(
        metavar="PATH_URI", help="lakefs://REPO/REF/PATH, or lakefs://REPO/REF/", show_default=False
    ),
]
FolderArgument = Annotated[
    str,
    typer.Argument(metavar="DIRECTORY", help="The directory.", show_default="the current one"),
]
GitignoreOption = Annotated[
    bool,
    typer.Option(help="Make git ignore the directory, if it is in a git repository."),
]
ParallelismOption = Annotated[
    int | None,
    typer.Option(
        "--parallelism",
        "-p",
        help="How many transfers run at a time.",
        show_default=str(PARALLELISM),
    ),
]
PreSignOption = Annotated[
    bool | None,
    typer.Option(
        "--pre-sign/--no-pre-sign",
        help="Use presigned URLs.",
        show_default="where the server has them",
    ),
]
NoProgressOption = Annotated[
    bool, typer.Option("--no-progress", help="Show no bar.", show_default=False)
]


@app.command("init", cls=Command)
def init(
    context: typer.Context,
    uri: SourceArgument,
    directory: FolderArgument = ".",
    *,
    force: Annotated[
        bool, typer.Option("--force/--no-force", help="Link it even if it is linked.")
    ] = False,
    gitignore: GitignoreOption = True,
) -> None:
    """Link a directory with a path, and transfer nothing."""
    session = session_of(context)
    source = _source(session, uri)
    folder = _folder(directory)
    remote = _remote(session)
    index = link(folder, source, remote, session.output, force=force, ignores=gitignore)
    session.output.item(
        _link_of(index),
        lambda _: [f"Successfully linked local directory '{folder}' with remote '{index.source}'"],
    )


@app.command("clone", cls=Command)
def clone(
    context: typer.Context,
    uri: SourceArgument,
    directory: FolderArgument = ".",
    *,
    gitignore: GitignoreOption = True,
    parallelism: ParallelismOption = None,
    pre_sign: PreSignOption = None,
    no_progress: NoProgressOption = False,
) -> None:
    """Download a path into a new directory, and link them.

    After an interrupt, the same command continues.
    """
    session = session_of(context)
    source = _source(session, uri)
    folder = _folder(directory)
    options = _options(session, parallelism, pre_sign=pre_sign)
    interrupted = index = interrupted_clone(folder, source)
    if index is None:
        remote = _remote(session)
        index = link(folder, source, remote, session.output, operation=CLONE, ignores=gitignore)
    mirror = _mirror(session, index, options, no_progress=no_progress)
    with mirror.cancelable():
        summary = mirror.clone(is_again=interrupted is not None)
    session.output.line()
    session.output.line(f"Successfully cloned {index.source} to {folder}.")
    _show(session, "Clone", summary, mirror)


@app.command("status", cls=Command)
def status(
    context: typer.Context,
    directory: FolderArgument = ".",
    *,
    local: Annotated[
        bool,
        typer.Option("--local/--no-local", "-l", help="Do not look for changes of the remote."),
    ] = False,
) -> None:
    """Show what changed in a directory and in the path that it is linked with.

    Sizes and modification times are compared. Contents are read only of files that were stored in
    the second of their modification.
    """
    session = session_of(context)
    index = Index.find(_folder(directory))
    mirror = _mirror(session, index, TransferOptions(), no_progress=True)
    changes = mirror.status(is_local=local)
    if session.output.as_json:
        for each in changes:
            session.output.json({"source": each.source, "type": each.type, "path": each.path})
    elif len(changes):
        _draw(session, changes)
    else:
        session.output.line()
        session.output.line("No diff found.")


@app.command("commit", cls=Command)
def commit(
    context: typer.Context,
    directory: FolderArgument = ".",
    *,
    message: Annotated[
        str, typer.Option("--message", "-m", help="The commit's message.", show_default=False)
    ] = "",
    allow_empty_message: Annotated[
        bool,
        typer.Option("--allow-empty-message/--no-allow-empty-message", help="Need no message."),
    ] = False,
    meta: Annotated[
        list[str] | None,
        typer.Option(
            "--meta", help="Metadata of the commit, as key=value[,key=value].", show_default=False
        ),
    ] = None,
    force: Annotated[
        bool,
        typer.Option(
            "--force/--no-force",
            help="Commit uncommitted changes of the branch outside of the path as well.",
        ),
    ] = False,
    yes: YesOption = False,
    parallelism: ParallelismOption = None,
    pre_sign: PreSignOption = None,
    no_progress: NoProgressOption = False,
) -> None:
    """Upload what changed in a directory, and commit it to the branch.

    After an interrupt, the same command continues.
    """
    session = session_of(context)
    if not message.strip() and not allow_empty_message:
        raise UsageError("commit with no message without specifying --allow-empty-message")
    metadata = _pairs(meta or [])
    index = Index.find(_folder(directory))
    options = _options(session, parallelism, pre_sign=pre_sign)
    mirror = _mirror(session, index, options, no_progress=no_progress)
    with mirror.cancelable():
        made = mirror.commit(message, metadata, force=force, yes=yes)
    if made is not None:
        session.output.item(made, lambda each: _commit_lines(index.source.ref, each))


@app.command("pull", cls=Command)
def pull(
    context: typer.Context,
    directory: FolderArgument = ".",
    *,
    force: Annotated[
        bool,
        typer.Option("--force/--no-force", help="Replace local changes of files that changed."),
    ] = False,
    parallelism: ParallelismOption = None,
    pre_sign: PreSignOption = None,
    no_progress: NoProgressOption = False,
) -> None:
    """Download what changed in the path since the last time.

    After an interrupt, the same command continues.
    """
    session = session_of(context)
    index = Index.find(_folder(directory))
    options = _options(session, parallelism, pre_sign=pre_sign)
    mirror = _mirror(session, index, options, no_progress=no_progress)
    with mirror.cancelable():
        summary = mirror.pull(force=force)
    session.output.line()
    session.output.line("Successfully synced changes!")
    _show(session, "Pull", summary, mirror)


@app.command("checkout", cls=Command)
def checkout(
    context: typer.Context,
    directory: Annotated[str | None, typer.Argument(metavar="DIRECTORY")] = None,
    *,
    ref: Annotated[
        str, typer.Option("--ref", "-r", help="Another ref, as lakefs://REPO/REF.")
    ] = "",
    every: Annotated[
        bool, typer.Option("--all/--no-all", help="Do it for all linked directories below.")
    ] = False,
    yes: YesOption = False,
    parallelism: ParallelismOption = None,
    pre_sign: PreSignOption = None,
    no_progress: NoProgressOption = False,
) -> None:
    """Take back what changed in a directory, or make it that of another ref.

    After an interrupt, the same command continues.
    """
    session = session_of(context)
    if ref and every:
        raise UsageError("--ref and --all exclude each other")
    options = _options(session, parallelism, pre_sign=pre_sign)
    if not every:
        indices = [Index.find(_folder(directory or "."))]
    else:
        session.output.line(
            "the operation will revert all changes in all directories that are linked with lakeFS."
        )
        session.output.confirm("Proceed", yes=yes)
        indices = [Index.read(each) for each in linked_folders(_root(directory))]
    for index in indices:
        mirror = _mirror(session, index, options, no_progress=no_progress)
        other = session.ref(ref) if ref else None
        with mirror.cancelable():
            summary = mirror.checkout(other, yes=yes, asks=not every)
        _show(session, "Checkout", summary, mirror)


@app.command("list", cls=Command)
def list_(
    context: typer.Context,
    directory: Annotated[
        str | None,
        typer.Argument(
            metavar="DIRECTORY", help="Where to look.", show_default="the git repository"
        ),
    ] = None,
) -> None:
    """List the linked directories below a directory."""
    session = session_of(context)
    root = _root(directory)
    session.output.table(
        ("Directory", "Remote URI", "Synced commit"),
        (_link_of(Index.read(each)) for each in linked_folders(root)),
        lambda each: (
            os.path.relpath(each["directory"], root),
            each["src"],
            each["at_head"],
        ),
    )


def _source(session: CommandSession, text: str) -> PathUri:
    """Return the path that an argument names; as lakectl, the whole of a ref needs a slash."""
    uri = session.path(text)
    if not uri.path and not text.endswith("/"):
        raise UsageError(f"{text!r} has no path: write {uri}")
    return uri


def _folder(text: str) -> Path:
    return Path(os.path.abspath(home_expanded(text)))  # noqa: PTH100 - links stay


def _root(directory: str | None) -> Path:
    """Return where linked directories are looked for."""
    here = _folder(directory or ".")
    root = here if directory is not None else git.repository_of(here) or here
    if not root.is_dir():
        raise CommandError(f"{root} does not exist")
    return root


def _options(
    session: CommandSession, parallelism: int | None, *, pre_sign: bool | None
) -> TransferOptions:
    if parallelism is None:
        parallelism = session.configuration.number("options.parallelism", PARALLELISM)
    if parallelism < 1:
        raise UsageError(f"Invalid value for parallelism ({parallelism}), minimum is 1")
    return TransferOptions(parallelism=parallelism, pre_sign=pre_sign)


def _remote(session: CommandSession) -> Remote:
    return Remote(session.server, Rules.of(session.configuration), session.output.warn)


def _mirror(
    session: CommandSession, index: Index, options: TransferOptions, *, no_progress: bool
) -> Mirror:
    remote = _remote(session)
    shows = session.output.is_terminal and not no_progress
    sync = Sync(remote, index.root, options, session.output, shows_progress=shows)
    return Mirror(index, remote, session.output, sync)


def _pairs(texts: list[str]) -> dict[str, str]:
    pairs = {}
    for text in ",".join(texts).split(",") if texts else []:
        name, equals, value = text.partition("=")
        if not equals:
            raise UsageError(f"--meta {text!r} is not key=value")
        pairs[name] = value
    return pairs


def _link_of(index: Index) -> dict[str, str]:
    return {"directory": str(index.root), "src": str(index.source), "at_head": index.head}


def _show(session: CommandSession, operation: str, summary: Summary, mirror: Mirror) -> None:
    """Print a summary; fail if it is not of all objects."""
    session.output.item(summary, lambda each: each.lines(operation))
    mirror.remote.refuse_skipped()


def _commit_lines(branch: str, made: Commit) -> list[str]:
    return [
        f'Commit for branch "{branch}" completed.',
        "",
        f"ID: {made.id}",
        f"Message: {made.message}",
        f"Timestamp: {local_time(made.creation_date)}",
        f"Parents: {', '.join(made.parents)}",
        "",
    ]


def _draw(session: CommandSession, changes: Spool) -> None:
    """Print lakectl's table of changes, which has lines even without a terminal."""
    heads = ("SOURCE", "CHANGE", "PATH")
    widths = [len(head) for head in heads]
    for each in changes:
        for at, cell in enumerate(_cells(each)):
            widths[at] = max(widths[at], len(cell))

    def line(ends: str) -> str:
        return ends[0] + ends[1].join("═" * (width + 2) for width in widths) + ends[2]

    def row(cells: tuple[str, ...], color: Color | None = None) -> str:
        padded = [cell.ljust(width) for cell, width in zip(cells, widths, strict=True)]
        if is_colored:
            padded = [output.paint(cell, color) for cell in padded]
        return f"║ {' ║ '.join(padded)} ║"

    output = session.output
    is_colored = output.is_terminal  # asked once, for many rows
    output.line()
    output.line(line("╔╦╗"))
    output.line(row(heads))
    output.line(line("╠╬╣"))
    for each in changes:
        output.line(row(_cells(each), _COLORS[each.type]))
    output.line(line("╚╩╝"))
    output.line()


def _cells(change: Change) -> tuple[str, str, str]:
    return change.source, _WORDS.get(change.type, change.type), change.path
