"""`graveler doctor`: checks of the configuration, and of a whole deployment."""

import json
import os
import secrets
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import click

from graveler_cli.errors import NotInstalledError, UsageError
from graveler_cli.grammar import Command, flag, option
from graveler_cli.output import Color, CommandOutput, harmless
from graveler_cli.session import CommandSession

if TYPE_CHECKING:
    from graveler_cli.acceptance.report import AcceptanceReport
    from graveler_cli.findings import Finding

_RUN_ID_BYTES = 6


deployment_option = option(
    "--deployment",
    default="",
    metavar="STACK",
    help="Look into the AWS account of the deployment with this service stack, such as "
    "graveler-prod, with your own AWS credentials.",
)
namespace_option = option(
    "--namespace",
    default="",
    metavar="S3_URI",
    help="Where the suite creates its repositories.",
    show_default="the server's suggestion",
)


@click.command(cls=Command)
@flag(
    "--write",
    help="Run the acceptance suite: it creates repositories and a user, and deletes them.",
)
@deployment_option
@option("--region", default="", help="The deployment's region.", show_default="AWS_REGION")
@namespace_option
@option(
    "--import-from",
    default="",
    metavar="S3_URI",
    help="A readable prefix with objects, to import from.",
)
@option("--export-to", default="", metavar="S3_URI", help="A prefix to export branches to.")
@option("--skip", multiple=True, metavar="STEP", help="Skip this step. May be repeated.")
def command(
    session: CommandSession,
    *,
    write: bool,
    deployment: str,
    region: str,
    namespace: str,
    import_from: str,
    export_to: str,
    skip: tuple[str, ...],
) -> None:
    """Check the set-up; with --write, run the acceptance suite."""
    _check_options(
        deployment=deployment,
        region=region,
        write=write,
        places={"namespace": namespace, "import-from": import_from, "export-to": export_to},
        skip=skip,
    )
    if deployment:
        raise click.exceptions.Exit(
            _look_into_account(deployment, region, as_json=session.output.as_json)
        )
    if not write:
        raise click.exceptions.Exit(_examine_set_up(session))
    # Imported late, because help and mistakes need not wait for it.
    from graveler_cli.acceptance import journey  # noqa: PLC0415
    from graveler_cli.acceptance.api import ApiUser  # noqa: PLC0415
    from graveler_cli.acceptance.world import AcceptanceWorld  # noqa: PLC0415

    journey.check_names(skip)
    api = ApiUser.of(session.server)
    run_id = secrets.token_hex(_RUN_ID_BYTES)
    world = AcceptanceWorld(api, run_id, namespace, import_from, export_to)
    report = journey.run(
        world,
        skip,
        show=lambda step: None if session.output.as_json else click.echo(harmless(step.line())),
        warn=lambda text: click.echo(harmless(text), err=True),
    )
    _print(report, as_json=session.output.as_json)
    raise click.exceptions.Exit(report.exit_code)


def _check_options(
    *,
    deployment: str,
    region: str,
    write: bool,
    places: Mapping[str, str],
    skip: Sequence[str],
) -> None:
    """Check that the options fit together.

    Raises:
        UsageError: they do not.
    """
    if not write and (skip or any(places.values())):
        raise UsageError("these options are for the acceptance suite: add --write")
    if deployment and write:
        raise UsageError("--deployment and --write are two examinations: choose one")
    if region and not deployment:
        raise UsageError("--region is for the AWS account: add --deployment STACK")
    for name, value in places.items():
        if value and not value.startswith("s3://"):
            raise UsageError(f"--{name} is {value!r}: write s3://BUCKET/PREFIX")


def _look_into_account(stack: str, region: str, *, as_json: bool) -> int:
    """Inspect the account and print the findings; return the exit code."""
    # Imported late, because the other examinations need no AWS SDK.
    try:
        from graveler_cli.deployment.account import Account  # noqa: PLC0415
    except ImportError as error:
        raise NotInstalledError(error, "server") from error
    from graveler_cli.deployment.inspection import inspect  # noqa: PLC0415
    from graveler_cli.findings import DEPLOYMENT_LEVELS, FindingLevel  # noqa: PLC0415

    found = []
    for finding in inspect(Account(region), stack):
        found.append(finding)
        lines = "\n".join(finding.lines())
        click.echo(json.dumps(finding.as_json()) if as_json else harmless(lines))
    if not as_json:
        counts = {level: sum(each.level is level for each in found) for level in DEPLOYMENT_LEVELS}
        click.echo(", ".join(f"{count} {level}" for level, count in counts.items()))
    return int(any(each.level in {FindingLevel.MISSING, FindingLevel.UNKNOWN} for each in found))


def _examine_set_up(session: CommandSession) -> int:
    """Examine the configuration and the connection, print the findings; return the exit code."""
    # Imported late, because the other examinations do not need it.
    from graveler_cli.diagnosis.examination import examine  # noqa: PLC0415

    output = session.output
    is_valid = True
    for finding in examine(session.config, os.environ):
        is_valid = is_valid and finding.level != "error"
        output.item(finding, lambda each: _lines(output, each))
    if is_valid:
        output.line(output.paint("Valid configuration", "green"))
    return 0 if is_valid else 1


def _lines(output: CommandOutput, finding: "Finding") -> Iterator[str]:
    color: dict[str, Color] = {"ok": "green", "warning": "yellow", "error": "red"}
    level = output.paint(f"{finding.level:<8}", color.get(finding.level))
    yield f"{level} {finding.subject}: {finding.text}"
    if finding.remedy:
        yield f"         {finding.remedy}"


def _print(report: "AcceptanceReport", *, as_json: bool) -> None:
    if as_json:
        click.echo(json.dumps(report.as_json()))
        return
    for line in report.summary():
        click.echo(harmless(line))
