"""`graveler events`: what happens in a repository."""

import time
from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import Annotated

import typer

from cli.arguments import RepositoryArgument
from cli.client import ApiRefusedError
from cli.commits import first_line, short_id
from cli.errors import CommandError, UsageError
from cli.grammar import Command, Group
from cli.output import local_time
from cli.session import CommandSession, session_of
from cli.watching import Event, Watch, is_gone

app = typer.Typer(cls=Group, help="Follow what happens in a repository.")

_INTERVAL_MIN_S = 0.1


@app.callback()
def _group() -> None:
    """Follow what happens in a repository."""  # so that Typer keeps the name `tail`


@app.command("tail", cls=Command)
def tail(
    context: typer.Context,
    uri: RepositoryArgument,
    *,
    since: Annotated[
        str,
        typer.Option(
            help="Begin with the commits since this time, as 2024-08-02T10:13:33Z, or that this "
            "ref does not have.",
            show_default=False,
        ),
    ] = "",
    interval: Annotated[
        float, typer.Option(min=_INTERVAL_MIN_S, help="Seconds between two looks.")
    ] = 5.0,
    once: Annotated[bool, typer.Option(help="End after the commits of --since.")] = False,
) -> None:
    """Print events as they happen: commits, and changes of branches and tags.

    With --json, each is the detail that the deployment's event bus has, as far as the API tells
    it. Ctrl-C ends it.
    """
    session = session_of(context)
    repository = session.repository(uri)
    if once and not since:
        raise UsageError("--once needs --since: without it there is nothing to print")
    watch = Watch(session.server, repository.repository)
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


def _look(session: CommandSession, watch: Watch) -> bool:
    """Print what is new; return whether the repository is still there."""
    try:
        _print(session, watch.changes())
    except ApiRefusedError as error:
        if error.status == 404:
            if is_gone(session.server, watch.repository):
                _print(session, [watch.deleted()])
                return False
            return True  # a branch was deleted meanwhile: the next look says so
        if error.status < 500:
            raise
        session.output.warn(f"warning: {error.message}; the next look makes up for it")
    except CommandError as error:
        session.output.warn(f"warning: {error.message}; the next look makes up for it")
    return True


def _print(session: CommandSession, events: Iterable[Event]) -> None:
    session.output.items(events, _lines)


def _lines(event: Event) -> Iterator[str]:
    at = int(datetime.fromisoformat(event.time).timestamp())
    cells = [local_time(at), event.kind, event.branch or event.tag or event.repository]
    if event.commit_id:
        cells.append(short_id(event.commit_id))
    if event.message is not None:
        cells.append(first_line(event.message))
    yield "\t".join(cells)


def _unix_s(text: str) -> int | None:
    """Return the time that the text is; None if it is none, but a ref."""
    from graveler.times import unix_s  # noqa: PLC0415 - of a few commands

    return None if text.isdigit() else unix_s(text)
