"""`graveler gateway`: S3's API on this machine, for clients without lakeFS's API."""

import os
from typing import Annotated

import typer

from graveler_cli.errors import CommandError, NotInstalledError
from graveler_cli.session import session_of

_LOOPBACK = ("127.0.0.1", "localhost", "::1")


def command(
    context: typer.Context,
    *,
    host: Annotated[
        str, typer.Option(help="Address to listen on; any but loopback is open to the network.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=1, max=65_535, help="Port to listen on.")] = 8080,
    workers: Annotated[int, typer.Option(min=1, max=64, help="Processes that serve.")] = 1,
) -> None:
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
    server = session_of(context).server
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
    typer.echo(f"S3 gateway of {api_url}, as user {user}")
    typer.echo(f"  endpoint    {endpoint} (path style)")
    typer.echo("  key pair    that of this configuration, and no other")
    typer.echo("  region      any, such as us-east-1")
    typer.echo("  addresses   s3://REPOSITORY/REF/PATH")
    typer.echo(f"For example: aws s3 ls s3://REPOSITORY/main/ --endpoint-url {endpoint}")
    if host not in _LOOPBACK:
        typer.echo("The connection is not encrypted: let only machines that you trust reach it.")
    typer.echo("Ctrl-C ends it.")
