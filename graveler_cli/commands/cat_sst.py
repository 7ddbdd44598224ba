"""`graveler cat-sst`: lakectl's name for `graveler sst cat`."""

from typing import Annotated

import typer

from graveler_cli.commands.sst import RecordsOption, show_records
from graveler_cli.session import session_of


def command(
    context: typer.Context,
    *,
    file: Annotated[
        str,
        typer.Option(
            "--file",
            "-f",
            help="A file, s3://BUCKET/KEY, or - for standard input.",
            show_default=False,
        ),
    ],
    amount: RecordsOption = -1,
) -> None:
    """Show the records of a range or metarange file; `sst cat` does the same."""
    show_records(session_of(context), file, amount)
