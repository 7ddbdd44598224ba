"""`graveler local`: folders that mirror a path of a ref."""

import os
from functools import partial
from pathlib import Path

import click

from graveler_cli import completion
from graveler_cli.arguments import (
    PARALLELISM,
    home_expanded,
    no_progress_option,
    pairs_of,
    parallelism_option,
    pre_sign_option,
    yes_option,
)
from graveler_cli.checkout import git
from graveler_cli.checkout.differences import Change, ChangeSpool
from graveler_cli.checkout.index import CLONE, Index, linked_folders
from graveler_cli.checkout.linking import interrupted_clone, link
from graveler_cli.checkout.mirror import Mirror
from graveler_cli.checkout.remote import Remote
from graveler_cli.checkout.sync import Sync, SyncSummary
from graveler_cli.checkout.walk import TrackingRules
from graveler_cli.commits import (
    allow_empty_message_option,
    check_message,
    created_lines,
    message_option,
    metadata_option,
)
from graveler_cli.errors import CommandError, UsageError
from graveler_cli.grammar import CommandGroup, flag, option
from graveler_cli.output import Color
from graveler_cli.session import CommandSession
from graveler_cli.transfers.jobs import TransferOptions
from graveler_cli.uris import BranchUri, PathUri

app = CommandGroup(help="Sync local directories with lakeFS paths.")

_WORDS = {"changed": "modified"}  # lakectl's words, where they differ from the API's
_COLORS: dict[str, Color] = {
    "added": "green",
    "removed": "red",
    "changed": "yellow",
    "conflict": "yellow",
}

source_argument = partial(
    click.argument,
    metavar="PATH_URI",
    help="lakefs://REPO/REF/PATH, or lakefs://REPO/REF/",
    shell_complete=completion.paths,
)
folder_argument = partial(
    click.argument,
    default=".",
    shell_complete=completion.local_paths,
    help="The directory; the current one if left out.",
)
gitignore_option = flag(
    "--gitignore", default=True, help="Make git ignore the directory, if it is in a git repository."
)


@app.command("init")
@source_argument("uri")
@folder_argument("directory")
@flag("--force", help="Link it even if it is linked.")
@gitignore_option
def init(
    session: CommandSession, uri: str, directory: str, *, force: bool, gitignore: bool
) -> None:
    """Link a directory with a path, and transfer nothing."""
    source = _source(session, uri)
    folder = _folder(directory)
    remote = _remote(session)
    index = link(folder, source, remote, session.output, force=force, ignores=gitignore)
    session.output.item(
        _link_of(index),
        lambda _: [f"Successfully linked local directory '{folder}' with remote '{index.source}'"],
    )


@app.command("clone")
@source_argument("uri")
@folder_argument("directory")
@gitignore_option
@parallelism_option
@pre_sign_option
@no_progress_option
def clone(
    session: CommandSession,
    uri: str,
    directory: str,
    *,
    gitignore: bool,
    parallelism: int | None,
    pre_sign: bool | None,
    no_progress: bool,
) -> None:
    """Download a path into a new directory, and link them.

    After an interrupt, the same command continues.
    """
    source = _source(session, uri)
    folder = _folder(directory)
    options = _options(session, parallelism, pre_sign)
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


@app.command("status")
@folder_argument("directory")
@flag("--local", "-l", help="Do not look for changes of the remote.")
def status(session: CommandSession, directory: str, *, local: bool) -> None:
    """Show the changes in a directory and in its linked path.

    Sizes and modification times are compared. Content is read only of files that were stored in
    the second of their modification.
    """
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


@app.command("commit")
@folder_argument("directory")
@message_option
@allow_empty_message_option()
@metadata_option
@flag("--force", help="Commit uncommitted changes of the branch outside of the path as well.")
@yes_option
@parallelism_option
@pre_sign_option
@no_progress_option
def commit(
    session: CommandSession,
    directory: str,
    *,
    message: str,
    allow_empty_message: bool,
    meta: tuple[str, ...],
    force: bool,
    yes: bool,
    parallelism: int | None,
    pre_sign: bool | None,
    no_progress: bool,
) -> None:
    """Upload the changes of a directory, and commit them to the branch.

    After an interrupt, the same command continues.
    """
    check_message(message, allow_empty=allow_empty_message)
    metadata = pairs_of("--meta", meta)
    index = Index.find(_folder(directory))
    options = _options(session, parallelism, pre_sign)
    mirror = _mirror(session, index, options, no_progress=no_progress)
    with mirror.cancelable():
        made = mirror.commit(message, metadata, force=force, yes=yes)
    if made is not None:
        branch = BranchUri(index.source.repository, index.source.ref)
        session.output.item(made, lambda each: created_lines(branch, each, session.output))


@app.command("pull")
@folder_argument("directory")
@flag("--force", help="Replace local changes of files that changed.")
@parallelism_option
@pre_sign_option
@no_progress_option
def pull(
    session: CommandSession,
    directory: str,
    *,
    force: bool,
    parallelism: int | None,
    pre_sign: bool | None,
    no_progress: bool,
) -> None:
    """Download the changes of the path since the last synchronization.

    After an interrupt, the same command continues.
    """
    index = Index.find(_folder(directory))
    options = _options(session, parallelism, pre_sign)
    mirror = _mirror(session, index, options, no_progress=no_progress)
    with mirror.cancelable():
        summary = mirror.pull(force=force)
    session.output.line()
    session.output.line("Successfully synced changes!")
    _show(session, "Pull", summary, mirror)


@app.command("checkout")
@click.argument(
    "directory",
    required=False,
    shell_complete=completion.local_paths,
    help="The directory; the current one if left out, or with --all, the git repository.",
)
@option("--ref", "-r", default="", help="Another ref, as lakefs://REPO/REF.")
@flag("--all", "every", help="Check out all linked directories below.")
@yes_option
@parallelism_option
@pre_sign_option
@no_progress_option
def checkout(
    session: CommandSession,
    directory: str | None,
    *,
    ref: str,
    every: bool,
    yes: bool,
    parallelism: int | None,
    pre_sign: bool | None,
    no_progress: bool,
) -> None:
    """Undo the local changes of a directory, or switch it to another ref.

    After an interrupt, the same command continues.
    """
    if ref and every:
        raise UsageError("--ref and --all exclude each other")
    options = _options(session, parallelism, pre_sign)
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


@app.command("list")
@click.argument(
    "directory",
    required=False,
    shell_complete=completion.local_paths,
    help="Where to look; the git repository if left out.",
)
def list_(session: CommandSession, directory: str | None) -> None:
    """List the linked directories below a directory."""
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
    """Return the path that an argument names; as in lakectl, a whole ref ends with a slash."""
    uri = session.path(text)
    if not uri.path and not text.endswith("/"):
        raise UsageError(f"{text!r} has no path: write {uri}")
    return uri


def _folder(text: str) -> Path:
    return Path(os.path.abspath(home_expanded(text)))  # noqa: PTH100 - links stay


def _root(directory: str | None) -> Path:
    """Return the folder below which linked directories are searched."""
    here = _folder(directory or ".")
    root = here if directory is not None else git.repository_of(here) or here
    if not root.is_dir():
        raise CommandError(f"{root} does not exist")
    return root


def _options(
    session: CommandSession,
    parallelism: int | None,
    pre_sign: bool | None,  # noqa: FBT001 - as the option
) -> TransferOptions:
    if parallelism is None:
        parallelism = session.configuration.number("options.parallelism", PARALLELISM)
    if parallelism < 1:
        raise UsageError(f"--parallelism is {parallelism}: write 1 or more")
    return TransferOptions(parallelism=parallelism, pre_sign=pre_sign)


def _remote(session: CommandSession) -> Remote:
    return Remote(session.server, TrackingRules.of(session.configuration), session.output.warn)


def _mirror(
    session: CommandSession, index: Index, options: TransferOptions, *, no_progress: bool
) -> Mirror:
    remote = _remote(session)
    shows = session.output.is_terminal and not no_progress
    sync = Sync(remote, index.root, options, session.output, shows_progress=shows)
    return Mirror(index, remote, session.output, sync)


def _link_of(index: Index) -> dict[str, str]:
    return {"directory": str(index.root), "src": str(index.source), "at_head": index.head}


def _show(session: CommandSession, operation: str, summary: SyncSummary, mirror: Mirror) -> None:
    """Print a summary; fail if objects were left out."""
    session.output.item(summary, lambda each: each.lines(operation))
    mirror.remote.refuse_skipped()


def _draw(session: CommandSession, changes: ChangeSpool) -> None:
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
