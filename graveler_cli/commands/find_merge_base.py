"""`graveler find-merge-base`: a best common ancestor of two refs."""

from collections.abc import Iterator

import click

from graveler_cli.arguments import ref_argument
from graveler_cli.errors import UsageError
from graveler_cli.grammar import Command
from graveler_cli.output import CommandOutput
from graveler_cli.schemas import MergeBase
from graveler_cli.session import CommandSession

_MERGE = "/repositories/{repository}/refs/{source}/merge/{destination}"


@click.command(cls=Command)
@ref_argument("source")
@ref_argument("destination")
def command(session: CommandSession, source: str, destination: str) -> None:
    """Show the merge base of two refs: a best common ancestor."""
    begins_at, ends_at = session.ref(source), session.ref(destination)
    session.output.line(f"Source: {begins_at}")
    session.output.line(f"Destination: {ends_at}")
    if begins_at.repository != ends_at.repository:
        raise UsageError("both references must belong to the same repository")
    names = {
        "repository": ends_at.repository,
        "source": begins_at.ref,
        "destination": ends_at.ref,
    }
    found = session.server.ask("GET", _MERGE, names, MergeBase)
    session.output.item(found, lambda each: _lines(each, session.output))


def _lines(found: MergeBase, output: CommandOutput) -> Iterator[str]:
    base, source, destination = (
        output.paint(each, "yellow")
        for each in (found.base_commit_id, found.source_commit_id, found.destination_commit_id)
    )
    yield f'Found base "{base}" when merging "{source}" into "{destination}".'
