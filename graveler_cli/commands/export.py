"""`graveler export`: export a branch to plain objects, once or continuously."""

import time
from collections.abc import Iterator
from functools import partial

import click

from graveler_cli import output
from graveler_cli.errors import UsageError
from graveler_cli.exports import FAILED, ExportConfiguration, Exports, ExportStatus
from graveler_cli.grammar import CommandGroup, flag, option
from graveler_cli.session import CommandSession
from graveler_cli.uris import BranchUri

app = CommandGroup(help="Export a branch to plain objects, once or continuously.")

_POLL_INTERVAL_S = 1.0

branch_argument = partial(
    click.argument, metavar="BRANCH_URI", help="lakefs://REPO/BRANCH, or lakefs://REPO@BRANCH."
)


@app.command("get")
@branch_argument("uri")
def get(session: CommandSession, uri: str) -> None:
    """Show the export configuration of a branch."""
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


@app.command("set")
@branch_argument("uri")
@option("--path", required=True, help="Where to export to: s3://BUCKET/PATH.")
@flag(
    "--continuous",
    default=None,
    help="Export after every commit and merge; --continuous=false exports once, now. "
    "Must be specified.",
)
@option(
    "--status-path",
    default="",
    help="Where to write a status file and a manifest after each export.",
)
@option(
    "--prefix-regex",
    multiple=True,
    metavar="REGEX",
    help="Directories that get an object _lakefs_success when everything in them is "
    "exported. May be repeated.",
)
@flag("--force", help="Export to the path even if it holds objects.")
def set_(
    session: CommandSession,
    uri: str,
    *,
    path: str,
    continuous: bool | None,
    status_path: str,
    prefix_regex: tuple[str, ...],
    force: bool,
) -> None:
    """Set or replace the export configuration of a branch, and export its head."""
    branch = session.branch(uri)
    if continuous is None:
        raise UsageError(
            "--continuous must be specified: --continuous exports after every commit and merge, "
            "--continuous=false exports once, now"
        )
    wanted = ExportConfiguration(path, status_path, prefix_regex, continuous)
    Exports(session.server, branch).configure(wanted, force=force)


@app.command("run")
@branch_argument("uri")
def run(session: CommandSession, uri: str) -> None:
    """Start exporting a branch now; `status --follow` shows the progress."""
    branch = session.branch(uri)
    started = {"exportId": Exports(session.server, branch).run()}
    session.output.item(started, lambda each: [f"Export-ID:{each['exportId']}"])


@app.command("repair")
@branch_argument("uri")
def repair(session: CommandSession, uri: str) -> None:
    """Resume an export that failed, after its cause is fixed."""
    branch = session.branch(uri)
    Exports(session.server, branch).repair()


@app.command("delete")
@branch_argument("uri")
def delete(session: CommandSession, uri: str) -> None:
    """Delete the export of a branch; exported objects stay."""
    branch = session.branch(uri)
    Exports(session.server, branch).delete()


@app.command("status")
@branch_argument("uri")
@flag("--follow", "-f", help="Wait until the export ends; exit code 1 if it failed.")
def status(session: CommandSession, uri: str, *, follow: bool) -> None:
    """Show the status of a branch's export."""
    exports = Exports(session.server, session.branch(uri))
    found = exports.status()
    if follow and not found.is_over:
        found = _followed(exports, found)
    session.output.item(found, _lines)
    if follow and found.state == FAILED:
        raise click.exceptions.Exit(1)


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
