"""`graveler cat-sst`: lakectl's name for `graveler sst cat`."""

import click

from graveler_cli import completion
from graveler_cli.commands.sst import records_option, show_records
from graveler_cli.grammar import Command, option
from graveler_cli.session import CommandSession


@click.command(cls=Command)
@option(
    "--file",
    "-f",
    required=True,
    help="A file, s3://BUCKET/KEY, or - for standard input.",
    shell_complete=completion.local_paths,
)
@records_option
def command(session: CommandSession, *, file: str, amount: int) -> None:
    """Show the records of a range or metarange file; `sst cat` does the same."""
    show_records(session, file, amount)
