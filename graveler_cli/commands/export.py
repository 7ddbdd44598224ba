"""`graveler export`: export a branch to plain objects, once or continuously."""

import time
from collections.abc import Iterator
from typing import Annotated

import typer

from graveler_cli import output
from graveler_cli.errors import UsageError
from graveler_cli.exports import FAILED, ExportConfiguration, Exports, ExportStatus
from graveler_cli.grammar import Command, CommandGroup
from graveler_cli.session import session_of
from graveler_cli.uris import BranchUri

app = typer.Typer(cls=CommandGroup, help="Export a branch to plain objects, once or continuously.")

_POLL_INTERVAL_S = 1.0

BranchArgument = Annotated[
    str,
    typer.Argument(
        metavar="BRANCH_URI",
        help="lakefs://REPO/BRANCH, or lakefs://REPO@BRANCH.",
        show_default=False,
    ),
]


@app.command("get", cls=Command)
def get(context: typer.Context, uri: BranchArgument) -> None:
    """Show the export configuration of a branch."""
    session = session_of(context)
    branch = session.branch(uri)
    found = Exports(session.server, branch).configuration()
    session.output.item(found, lambda each: _configuration_lines(branch, each))


def _configuration_lines(branch: BranchUri, found: ExportConfiguration) -> Iterator[str]:
    yield from output.fields(
        [
            ("Branch", branch),
            ("Export Path", found.export_path),
            ("Export status path", found.export_status_path),
        ]
    )
    yield "Last Keys In Prefix Regexp:"
    for pattern in found.last_keys_in_prefix_regexp:
        yield f"\t{pattern}"
    if found.is_continuous:
        yield "Continuously exported"


@app.command("set", cls=Command)
def set_(
    context: typer.Context,
    uri: BranchArgument,
    *,
    path: Annotated[
        str, typer.Option(help="Where to export to: s3://BUCKET/PATH.", show_default=False)
    ],
    continuous: Annotated[
        bool | None,
        typer.Option(
            help="Export after every commit and merge; --continuous=false exports once, now. "
            "Must be specified.",
            show_default=False,
        ),
    ] = None,
    status_path: Annotated[
        str, typer.Option(help="Where to write a status file and a manifest after each export.")
    ] = "",
    prefix_regex: Annotated[
        list[str] | None,
        typer.Option(
            metavar="REGEX",
            help="Directories that get an object _lakefs_success when everything in them is "
            "exported. May be repeated.",
        ),
    ] = None,
    force: Annotated[
        bool, typer.Option("--force", help="Export to the path even if it holds objects.")
    ] = False,
) -> None:
    """Set or replace the export configuration of a branch, and export its head."""
    session = session_of(context)
    branch = session.branch(uri)
    if continuous is None:
        raise UsageError(
            "--continuous must be specified: --continuous exports after every commit and merge, "
            "--continuous=false exports once, now"
        )
    wanted = ExportConfiguration(path, status_path, tuple(prefix_regex or ()), continuous)
    Exports(session.server, branch).configure(wanted, force=force)


@app.command("run", cls=Command)
def run(context: typer.Context, uri: BranchArgument) -> None:
    """Start exporting a branch now; `status --follow` shows the progress."""
    session = session_of(context)
    branch = session.branch(uri)
    started = {"exportId": Exports(session.server, branch).run()}
    session.output.item(started, lambda each: [f"Export-ID:{each['exportId']}"])


@app.command("repair", cls=Command)
def repair(context: typer.Context, uri: BranchArgument) -> None:
    """Resume an export that failed, after its cause is fixed."""
    session = session_of(context)
    branch = session.branch(uri)
    Exports(session.server, branch).repair()


@app.command("delete", cls=Command)
def delete(context: typer.Context, uri: BranchArgument) -> None:
    """Delete the export of a branch; exported objects stay."""
    session = session_of(context)
    branch = session.branch(uri)
    Exports(session.server, branch).delete()


@app.command("status", cls=Command)
def status(
    context: typer.Context,
    uri: BranchArgument,
    *,
    follow: Annotated[
        bool,
        typer.Option(
            "--follow", "-f", help="Wait until the export ends; exit code 1 if it failed."
        ),
    ] = False,
) -> None:
    """Show the status of a branch's export."""
    session = session_of(context)
    exports = Exports(session.server, session.branch(uri))
    found = exports.status()
    if follow and not found.is_over:
        found = _followed(exports, found)
    session.output.item(found, _lines)
    if follow and found.state == FAILED:
        raise typer.Exit(1)


def _followed(exports: Exports, found: ExportStatus) -> ExportStatus:
    """Wait until the export has ended, with a bar on a terminal; return the last status."""
    with output.progress("Exporting") as show:
        while not found.is_over:
            show(found.objects_done, found.objects_total)
            time.sleep(_POLL_INTERVAL_S)
            found = exports.status()
    return found


def _lines(found: ExportStatus) -> Iterator[str]:
    yield f"State: {found.state}"
    if found.is_pending:
        yield "Another export is about to start"
    if found.export_id:
        failed = f", {found.objects_failed} failed" if found.objects_failed else ""
        yield f"Export-ID: {found.export_id}"
        yield f"Commit: {found.commit_id}"
        yield f"Started: {output.local_time(found.started_at)}"
        yield f"Progress: {found.objects_done} of {found.objects_total} objects{failed}"
    if found.exported_commit_id:
        yield f"Exported Commit: {found.exported_commit_id}"
    if found.error_message:
        lines = [line for line in found.error_message.splitlines() if line not in found.errors]
        yield f"Error: {chr(10).join(lines)}".rstrip(" ")
    for error in found.errors:
        yield f"\t{error}"
