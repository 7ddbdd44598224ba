"""`graveler serve`: the whole system on this machine."""

import os
from pathlib import Path

import click

from graveler_cli.errors import CommandError, NotInstalledError
from graveler_cli.grammar import FILE, Command, flag, option
from graveler_cli.session import CommandSession


@click.command(cls=Command)
@option(
    "--data",
    type=FILE,
    envvar="GRAVELER_DATA",
    help="Folder of all state.",
    show_default="~/.graveler",
)
@option(
    "--port",
    metavar="N",
    envvar="GRAVELER_PORT",
    help="Port of the API, the web page and the S3 gateway; 0 is any free one.",
    show_default="8000",
)
@option(
    "--s3-port",
    metavar="N",
    envvar="GRAVELER_S3_PORT",
    help="Port of the raw bucket; 0 is any free one.",
    show_default="8001",
)
@flag("--die-with-parent", hidden=True)
def command(
    _session: CommandSession,
    *,
    data: Path | None,
    port: str | None,
    s3_port: str | None,
    die_with_parent: bool,
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
        supervisor.run({**os.environ, **settings}, click.echo)
    except processes.StartError as error:
        raise CommandError(str(error)) from error
