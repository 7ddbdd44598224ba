"""`graveler events`: the events of a repository."""

import time
from collections.abc import Iterable, Iterator
from datetime import datetime

import click

from graveler_cli.arguments import repository_argument
from graveler_cli.client import ApiRefusedError
from graveler_cli.commits import first_line, short_id
from graveler_cli.errors import CommandError, UsageError
from graveler_cli.events import EventDetail, EventFeed, is_gone
from graveler_cli.grammar import CommandGroup, flag, option
from graveler_cli.output import local_time
from graveler_cli.session import CommandSession

app = CommandGroup(help="Follow the events of a repository.")

_INTERVAL_MIN_S = 0.1


@app.command("tail")
@repository_argument("uri")
@option(
    "--since",
    default="",
    help="Begin with the commits since this time, such as 2024-08-02T10:13:33Z, or with "
    "those that this ref does not have.",
)
@option(
    "--interval",
    type=click.FloatRange(min=_INTERVAL_MIN_S),
    default=5.0,
    help="Seconds between two looks.",
)
@flag("--once", help="End after the commits of --since.")
def tail(session: CommandSession, uri: str, *, since: str, interval: float, once: bool) -> None:
    """Print events as they happen: commits, and changes of branches and tags.

    With --json, each is the detail of the deployment's event bus, with the fields that the API
    shows. Ctrl-C ends it.
    """
    repository = session.repository(uri)
    if once and not since:
        raise UsageError("--once needs --since: without it there is nothing to print")
    watch = EventFeed(session.server, repository.repository)
    if since:
        since_s = _unix_s(since)
        ref = "" if since_s is not None else since
        _print(session, watch.begin_at(ref=ref, since_s=since_s))
    else:
        watch.begin()
    while not once:
        time.sleep(interval)
        if not _look(session, watch):
            return


def _look(session: CommandSession, watch: EventFeed) -> bool:
    """Print the new events; return whether the repository still exists."""
    try:
        _print(session, watch.changes())
    except ApiRefusedError as error:
        if error.status == 404:
            if is_gone(session.server, watch.repository):
                _print(session, [watch.deleted()])
                return False
            return True  # a branch was deleted meanwhile: the next look reports it
        if error.status < 500:
            raise
        session.output.warn(f"warning: {error.message}; the next look makes up for it")
    except CommandError as error:
        session.output.warn(f"warning: {error.message}; the next look makes up for it")
    return True


def _print(session: CommandSession, events: Iterable[EventDetail]) -> None:
    session.output.items(events, _lines)


def _lines(event: EventDetail) -> Iterator[str]:
    at = int(datetime.fromisoformat(event.time).timestamp())
    cells = [local_time(at), event.kind, event.branch or event.tag or event.repository]
    if event.commit_id:
        cells.append(short_id(event.commit_id))
    if event.message is not None:
        cells.append(first_line(event.message))
    yield "\t".join(cells)


def _unix_s(text: str) -> int | None:
    """Parse a time; None if the text is a ref."""
    from graveler.times import unix_s  # noqa: PLC0415 - of a few commands

    return None if text.isdigit() else unix_s(text)
