"""`graveler diff`: differences between two refs, or uncommitted changes."""

from collections.abc import Iterator

import click
from msgspec import Struct

from graveler_cli import uncommitted
from graveler_cli.arguments import other_ref_argument, prefix_option, ref_argument, two_way_option
from graveler_cli.diffs import OF_BASE, OF_BRANCH, OF_REFS, change_line, named_refs
from graveler_cli.errors import UsageError
from graveler_cli.grammar import Command, flag
from graveler_cli.output import CommandOutput
from graveler_cli.schemas import Diff
from graveler_cli.session import CommandSession


@click.command(cls=Command)
@ref_argument("uri")
@other_ref_argument("other_uri")
@two_way_option
@flag("--ahead-behind", help="Only count the commits that each of the two refs has alone.")
@prefix_option
def command(
    session: CommandSession,
    uri: str,
    other_uri: str,
    *,
    two_way: bool,
    ahead_behind: bool,
    prefix: str,
) -> None:
    """Show the uncommitted changes of a branch, or the differences between two refs.

    For two refs, show the changes of the second since their common commit, like git's a...b. With
    --two-way, show all differences, like git's a..b. Both refs may be one argument:
    lakefs://REPO/main...dev.
    """
    refs = named_refs(session, uri, other_uri, two_way=two_way)
    if refs is None:
        if ahead_behind:
            raise UsageError("--ahead-behind compares two refs: name another one")
        branch = session.branch(uri)
        session.output.line(f"Ref: {branch}")
        names = {"repository": branch.repository, "branch": branch.branch}
        found = session.server.each(OF_BRANCH, names, Diff, {"prefix": prefix})
        session.output.items(found, lambda each: _lines(each, session.output))
        return
    left, right, two_way = refs
    names = {"repository": left.repository, "left": left.ref, "right": right.ref}
    if ahead_behind:
        if prefix or two_way:
            raise UsageError("--ahead-behind counts commits: leave out --prefix and --two-way")
        asked = {"ahead_behind": True}
        distance = session.server.ask("GET", OF_BASE, names, Distance, query=asked)
        session.output.item(distance, lambda each: _distance_lines(each, left.ref, right.ref))
        return
    query = {"prefix": prefix, "type": "two_dot" if two_way else "three_dot"}
    found = session.server.each(OF_REFS, names, Diff, query)
    if not session.output.items(found, lambda each: _lines(each, session.output)):
        for ref in (right, left) if two_way else (right,):
            if hint := uncommitted.hint(session.server, ref, prefix):
                session.output.warn(f"hint: {hint}")


class Distance(Struct, frozen=True):
    """How many commits the right ref has alone, and how many the left one."""

    ahead: int
    behind: int
    base_commit_id: str
    is_exact: bool = True


def _distance_lines(found: Distance, left: str, right: str) -> Iterator[str]:
    least = "" if found.is_exact else "at least "
    yield f"{right} is {least}{found.ahead} ahead of {left}, and {least}{found.behind} behind"


def _lines(found: Diff, output: CommandOutput) -> Iterator[str]:
    yield change_line(output, found.type, found.path)
