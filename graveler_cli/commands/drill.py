"""`graveler drill`: test that a dump of refs can be restored, without touching its repository."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from graveler_cli.arguments import repository_argument
from graveler_cli.errors import UsageError
from graveler_cli.grammar import FILE, Command, flag, option
from graveler_cli.output import CommandOutput
from graveler_cli.session import CommandSession

if TYPE_CHECKING:
    from graveler_cli.drill import Findings


@click.command(cls=Command)
@repository_argument("uri")
@flag("--fresh", help="Make a dump now, instead of taking the newest one.")
@option("--manifest", type=FILE, help="Restore the dump of this manifest.")
@option(
    "--namespace",
    default="",
    metavar="S3_URI",
    help="The storage namespace of the manifest's files.",
    show_default="the repository's namespace",
)
@flag("--json", "json_", help="Print a JSON report.")
def command(
    session: CommandSession,
    uri: str,
    *,
    fresh: bool,
    manifest: Path | None,
    namespace: str,
    json_: bool,
) -> None:
    """Restore a dump of a repository into a scratch repository, compare, and delete that."""
    if fresh and manifest:
        raise UsageError("--fresh and --manifest name two dumps: choose one")
    if namespace and manifest is None:
        raise UsageError("--namespace is for the files of a manifest: add --manifest FILE")
    repository = session.repository(uri).repository
    # Imported late, because help and mistakes need not wait for it.
    from graveler_cli import drill as drills  # noqa: PLC0415
    from graveler_cli.acceptance.api import ApiUser  # noqa: PLC0415

    api = ApiUser.of(session.server)
    path = f"/repositories/{repository}"
    place = api.send("GET", path).expect(200).text("storage_namespace")
    if manifest is not None:
        dump = drills.read_manifest(manifest, namespace or place)
    else:
        found = None if fresh else drills.newest_dump(api, path, place)
        dump = found or drills.make_dump(api, path, place)
    findings = drills.run(api, repository, dump, warn=session.output.warn)
    if json_:
        report = {**asdict(findings), "exit_code": findings.exit_code}
        click.echo(json.dumps(report))
    else:
        _print(findings, session.output)
    raise click.exceptions.Exit(findings.exit_code)


def _print(findings: "Findings", out: CommandOutput) -> None:
    out.line(f"Dump: {findings.dump}")
    out.line(f"Branches: {findings.branches}")
    out.line(f"Tags: {findings.tags}")
    out.line(f"Longest history compared: {findings.commits} commits")
    if findings.changed:
        out.line(f"Changed since the dump: {', '.join(findings.changed)}")
    for problem in findings.problems:
        out.line(f"Problem: {problem}")
    if findings.left:
        out.line(f"Still there: repository {findings.left}: delete it")
    if findings.is_interrupted:
        out.line("Interrupted")
    elif not findings.problems:
        out.line("The dump can be restored.")
