"""The program `graveler`: its commands, and the options that all of them share."""

from pathlib import Path
from typing import Annotated

import typer

from cli.configuration import CONFIG_VARIABLE
from cli.grammar import Program
from cli.output import Output
from cli.session import Session

_HIDDEN = True

# By command: its module in cli.commands, and whether the help leaves it out. lakectl's order.
MODULES: dict[str, tuple[str, bool]] = {
    "branch": ("branch", False),
    "doctor": ("doctor", False),
    "drill": ("drill", False),
    "export": ("export", False),
    "fs": ("fs", False),
    "gateway": ("gateway", False),
    "gc": ("gc", False),
    "local": ("local", False),
    "tasks": ("tasks", False),
}


class _Graveler(Program):
    modules = MODULES


app = typer.Typer(
    name="graveler",
    cls=_Graveler,
    rich_markup_mode="markdown",
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _show_version(asked: bool) -> None:  # noqa: FBT001 - as Typer calls it
    if asked:
        # Imported late, because it takes as long as a fifth of a command.
        from importlib import metadata  # noqa: PLC0415

        typer.echo(f"graveler version: {metadata.version('graveler')}")
        raise typer.Exit


@app.callback()
def begin(
    context: typer.Context,
    *,
    config: Annotated[
        Path | None,
        typer.Option(
            "--config",
            "-c",
            envvar=CONFIG_VARIABLE,
            help="Configuration file of lakectl.",
            show_default="~/.lakectl.yaml",
        ),
    ] = None,
    base_uri: Annotated[
        str,
        typer.Option(
            envvar="LAKECTL_BASE_URI",
            help="What URIs without lakefs:// begin with, as lakefs://REPO/",
        ),
    ] = "",
    no_color: Annotated[bool, typer.Option("--no-color", help="Use no colors.")] = False,
    debug: Annotated[  # noqa: ARG001 - `Program` looks at it
        bool, typer.Option("--debug", "-d", help="Show the traceback of a failure.")
    ] = False,
    version: Annotated[  # noqa: ARG001 - answered before anything else runs
        bool,
        typer.Option(
            "--version", "-v", is_eager=True, callback=_show_version, help="Show the version."
        ),
    ] = False,
) -> None:
    """Work with Graveler, the serverless lakeFS, from the command line.

    Endpoint and credentials are those of lakectl and the Python SDK: ~/.lakectl.yaml, or the
    variables LAKECTL_SERVER_ENDPOINT_URL, LAKECTL_CREDENTIALS_ACCESS_KEY_ID and
    LAKECTL_CREDENTIALS_SECRET_ACCESS_KEY.
    """
    context.obj = Session(config, base_uri, Output(has_color=not no_color))


def main() -> None:
    """Run the program with the arguments of this process."""
    app()
