"""`graveler gateway`: S3's API on this machine, for clients without lakeFS's API."""

import os

import click

from graveler_cli.errors import CommandError, NotInstalledError
from graveler_cli.grammar import Command, option
from graveler_cli.session import CommandSession

_LOOPBACK = ("127.0.0.1", "localhost", "::1")


@click.command(cls=Command)
@option(
    "--host",
    default="127.0.0.1",
    help="Address to listen on; any but loopback is open to the network.",
)
@option("--port", type=click.IntRange(min=1, max=65_535), default=8080, help="Port to listen on.")
@option("--workers", type=click.IntRange(min=1, max=64), default=1, help="Processes that serve.")
def command(session: CommandSession, *, host: str, port: int, workers: int) -> None:
    """Serve S3's API on this machine: repositories are buckets, and keys are REF/PATH.

    Clients sign with the key pair of this configuration. Metadata go to the deployment's API; bytes
    go straight to the object store, by presigned URLs. Ctrl-C ends it.
    """
    if os.name == "nt":
        raise CommandError("the gateway runs on Linux and macOS: on Windows, use WSL")
    # Imported late, because only this command needs the gateway's packages.
    try:
        from graveler_gateway.server import sidecar  # noqa: PLC0415
    except ImportError as error:
        raise NotInstalledError(error, "gateway") from error
    server = session.server
    deployment = sidecar.ApiAccess(server.endpoint, *server.key_pair)
    try:
        user = sidecar.check(deployment, host, port)
        _show(deployment.url, user, host, port)
        sidecar.serve(deployment, host, port, workers)
    except sidecar.CannotServeError as error:
        raise CommandError(str(error)) from error


def _show(api_url: str, user: str, host: str, port: int) -> None:
    """Print how clients reach the gateway."""
    shown = f"[{host}]" if ":" in host else host
    endpoint = f"http://{shown}:{port}"
    click.echo(f"S3 gateway of {api_url}, as user {user}")
    click.echo(f"  endpoint    {endpoint} (path style)")
    click.echo("  key pair    that of this configuration, and no other")
    click.echo("  region      any, such as us-east-1")
    click.echo("  addresses   s3://REPOSITORY/REF/PATH")
    click.echo(f"For example: aws s3 ls s3://REPOSITORY/main/ --endpoint-url {endpoint}")
    if host not in _LOOPBACK:
        click.echo("The connection is not encrypted: let only machines that you trust reach it.")
    click.echo("Ctrl-C ends it.")
