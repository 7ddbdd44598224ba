"""`graveler serve`: the whole system on this machine."""

import os
from pathlib import Path
from typing import Annotated

import typer

from graveler_cli.errors import CommandError, NotInstalledError


def command(
    *,
    data: Annotated[
        Path | None,
        typer.Option(
            envvar="GRAVELER_DATA", help="Folder of all state.", show_default="~/.graveler"
        ),
    ] = None,
    port: Annotated[
        str | None,
        typer.Option(
            envvar="GRAVELER_PORT",
            metavar="N",
            help="Port of the API, the web page and the S3 gateway; 0 is any free one.",
            show_default="8000",
        ),
    ] = None,
    s3_port: Annotated[
        str | None,
        typer.Option(
            "--s3-port",
            envvar="GRAVELER_S3_PORT",
            metavar="N",
            help="Port of the raw bucket; 0 is any free one.",
            show_default="8001",
        ),
    ] = None,
    die_with_parent: Annotated[bool, typer.Option("--die-with-parent", hidden=True)] = False,
) -> None:
    """Run the whole system on this machine: API, web page, S3 gateway and stores.

    The first start fetches the stores, 100 MB, into ~/.cache/graveler.

    Ctrl-C ends it; the data stay.
    """
    if os.name == "nt":
        raise CommandError("the stack runs on Linux and macOS: on Windows, use WSL")
    # Imported late, because only this command needs these packages.
    try:
        from graveler_embedded import processes, supervisor  # noqa: PLC0415
    except ImportError as error:
        raise NotInstalledError(error, "serve") from error
    if die_with_parent:
        processes.die_with_parent(os.getppid())
    given = {"GRAVELER_DATA": data, "GRAVELER_PORT": port, "GRAVELER_S3_PORT": s3_port}
    settings = {name: str(value) for name, value in given.items() if value is not None}
    try:
        supervisor.run({**os.environ, **settings}, typer.echo)
    except processes.StartError as error:
        raise CommandError(str(error)) from error
