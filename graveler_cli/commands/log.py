"""`graveler log`: the commits that lead to a ref."""

import html
from collections.abc import Iterable, Iterator
from urllib.parse import quote

import click

from graveler_cli.arguments import comma_separated, ref_argument
from graveler_cli.commits import first_line, log_lines, meta_range_option, short_id
from graveler_cli.errors import UsageError
from graveler_cli.grammar import Command, flag, option
from graveler_cli.graph import Graph
from graveler_cli.history import ChildrenFirst, Log
from graveler_cli.output import CommandOutput
from graveler_cli.schemas import Commit
from graveler_cli.session import CommandSession


@click.command(cls=Command)
@ref_argument("uri")
@option("--amount", default=0, help="How many commits to show; 0 is all of them.")
@option("--after", default="", help="Show the commits after this one.")
@flag("--limit", help="Do not check for more commits than --amount.")
@flag("--dot", help="Print a graph in the language of Graphviz.")
@flag("--graph", help="Draw the lines of descent beside the commits.")
@flag("--oneline", help="Print a line for each commit.")
@flag("--first-parent", help="Follow only the first parent of each merge.")
@flag("--no-merges", help="Leave out merges.")
@meta_range_option
@option("--objects", multiple=True, help="Show commits that changed one of these paths.")
@option(
    "--prefixes",
    multiple=True,
    help="Show commits that changed a path which begins with one of these.",
)
@option("--since", default="", help="Show commits since this time, in ISO 8601.")
@option("--stop-at", default="", help="Show commits down to this one.")
def command(
    session: CommandSession,
    uri: str,
    *,
    amount: int,
    after: str,
    limit: bool,
    dot: bool,
    graph: bool,
    oneline: bool,
    first_parent: bool,
    no_merges: bool,
    show_meta_range_id: bool,
    objects: tuple[str, ...],
    prefixes: tuple[str, ...],
    since: str,
    stop_at: str,
) -> None:
    """Show the commits that lead to a ref, newest first."""
    output = session.output
    query = {
        "after": after,
        "first_parent": first_parent,
        "objects": _paths("--objects", objects),
        "prefixes": _paths("--prefixes", prefixes),
        "since": _time(since) if since else None,
        "stop_at": stop_at,
    }
    if graph and (dot or no_merges or objects or prefixes):
        raise UsageError("--graph needs whole histories: leave out --dot and filters of commits")
    log = Log(session.server, session.ref(uri), amount, no_merges, limit, query)
    if output.as_json:
        output.items(log, lambda _: ())
        return
    lines: Iterable[str]
    if dot:
        lines = _dot(log, session.server.endpoint)
    elif graph:
        commits = ChildrenFirst(log.pages(), session.server, log.ref.repository, first_parent)
        lines = _graph(commits, output, is_short=oneline, show_meta_range_id=show_meta_range_id)
    elif oneline:
        lines = (_line(commit, output) for commit in log)
    else:
        lines = _whole(log, output, show_meta_range_id=show_meta_range_id)
    _print(lines, log, output)


def _print(lines: Iterable[str], log: Log, output: CommandOutput) -> None:
    with output.paged():
        for line in lines:
            output.line(line)
        if log.pagination.has_more:
            output.more(log.amount, log.pagination.next_offset)


def _paths(option: str, given: tuple[str, ...]) -> list[str] | None:
    paths = comma_separated(given)
    if "" in paths:
        raise UsageError(f"{option} has an empty path")
    return paths or None


def _time(text: str) -> str:
    """Return the time in the form that lakeFS's servers accept too."""
    from graveler.times import NS_PER_S, rfc3339, unix_s  # noqa: PLC0415 - of a few commands

    moment_s = unix_s(text)
    if moment_s is None:
        raise UsageError(f"--since is {text!r}: write a time like 2024-08-02T10:13:33Z")
    return rfc3339(moment_s * NS_PER_S)


def _whole(log: Log, output: CommandOutput, *, show_meta_range_id: bool) -> Iterator[str]:
    # lakectl's log begins with an empty line, but only once the server has answered.
    commits = iter(log)
    commit = next(commits, None)
    yield ""
    while commit is not None:
        yield from log_lines(commit, output, show_meta_range_id=show_meta_range_id)
        commit = next(commits, None)


def _line(commit: Commit, output: CommandOutput) -> str:
    return f"{output.paint(short_id(commit.id), 'yellow')} {first_line(commit.message)}".rstrip()


def _graph(
    commits: ChildrenFirst, output: CommandOutput, *, is_short: bool, show_meta_range_id: bool
) -> Iterator[str]:
    graph = Graph()
    for commit in commits:
        rows = graph.rows(commit.id, commits.parents(commit))
        if is_short:
            yield f"{rows[0]} {_line(commit, output)}"
            yield from rows[1:]
            continue
        text = "\n".join(log_lines(commit, output, show_meta_range_id=show_meta_range_id))
        lines = text.rstrip().splitlines()
        rows += [graph.between()] * (len(lines) + 1 - len(rows))
        width = max(map(len, rows))
        for number, row in enumerate(rows):
            line = lines[number] if number < len(lines) else ""
            yield f"{row:{width}} {line.expandtabs(4)}".rstrip()


def _dot(log: Log, endpoint: str) -> Iterator[str]:
    page = endpoint.removesuffix("/api/v1").removesuffix("/")
    address = f"{page}/repositories/{quote(log.ref.repository, safe='')}/commits"
    yield "digraph {"
    yield '\trankdir="BT"'
    for commit in log:
        message = html.escape(commit.message).replace("&quot;", "&#34;").replace("&#x27;", "&#39;")
        label = f"{commit.id[:8]}<br/> {message}"
        if len(commit.parents) > 1:
            label = f"<b>{label}</b>"
        yield ""
        yield (
            f'\t"{commit.id}" [shape=note target="_blank" href="{address}/{commit.id}" '
            f"label=< {label} >]"
        )
        yield from (f'\t"{parent}" -> "{commit.id}";' for parent in commit.parents)
    yield ""
    yield "}"
