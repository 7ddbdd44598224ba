"""`graveler diff`: differences between two refs, or uncommitted changes."""

import re
from collections.abc import Iterator

import click
from msgspec import Struct

from graveler_cli import completion, uncommitted
from graveler_cli.arguments import prefix_option, ref_argument
from graveler_cli.errors import UsageError
from graveler_cli.grammar import Command, flag
from graveler_cli.output import Color, CommandOutput
from graveler_cli.schemas import Diff
from graveler_cli.session import CommandSession
from graveler_cli.uris import RefUri

_CHANGES: dict[str, tuple[str, Color]] = {
    "added": ("+ added", "green"),
    "removed": ("- removed", "red"),
    "changed": ("~ modified", "yellow"),
    "conflict": ("* conflict", "yellow"),
}

# No name of a branch or a tag has two dots, so the form is not ambiguous.
_RANGE = re.compile(r"(?P<left>.+?[^.])(?P<dots>\.{2,3})(?P<right>[^./][^/]*)")


@click.command(cls=Command)
@ref_argument("uri")
@click.argument(
    "other_uri",
    default="",
    metavar="[REF_URI]",
    help="The ref with the changes.",
    shell_complete=completion.refs,
)
@flag("--two-way", help="Compare the refs with each other, not the second with their base.")
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
    in_range = _RANGE.fullmatch(uri)
    if not other_uri and in_range is None:
        if ahead_behind:
            raise UsageError("--ahead-behind compares two refs: name another one")
        branch = session.branch(uri)
        session.output.line(f"Ref: {branch}")
        found = session.server.each(
            "/repositories/{repository}/branches/{branch}/diff",
            {"repository": branch.repository, "branch": branch.branch},
            Diff,
            {"prefix": prefix},
        )
        session.output.items(found, lambda each: _lines(each, session.output))
        return
    left, right, two_way = _refs(session, uri, other_uri, in_range, two_way=two_way)
    session.output.line(f"Left ref: {left}")
    session.output.line(f"Right ref: {right}")
    if left.repository != right.repository:
        raise UsageError("both refs must be of the same repository")
    names = {"repository": left.repository, "left": left.ref, "right": right.ref}
    if ahead_behind:
        if prefix or two_way:
            raise UsageError("--ahead-behind counts commits: leave out --prefix and --two-way")
        template = "/repositories/{repository}/refs/{right}/merge/{left}"
        query = {"ahead_behind": True}
        distance = session.server.ask("GET", template, names, Distance, query=query)
        session.output.item(distance, lambda each: _distance_lines(each, left.ref, right.ref))
        return
    found = session.server.each(
        "/repositories/{repository}/refs/{left}/diff/{right}",
        names,
        Diff,
        {"prefix": prefix, "type": "two_dot" if two_way else "three_dot"},
    )
    if not session.output.items(found, lambda each: _lines(each, session.output)):
        for ref in (right, left) if two_way else (right,):
            if hint := uncommitted.hint(session.server, ref, prefix):
                session.output.warn(f"hint: {hint}")


def _refs(
    session: CommandSession,
    uri: str,
    other_uri: str,
    in_range: re.Match[str] | None,
    *,
    two_way: bool,
) -> tuple[RefUri, RefUri, bool]:
    """Return both refs, and whether to compare them without their base."""
    if other_uri:
        return session.ref(uri), session.ref(other_uri), two_way
    assert in_range is not None
    left = session.ref(in_range["left"])
    return left, RefUri(left.repository, in_range["right"]), two_way or in_range["dots"] == ".."


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
    change, color = _CHANGES.get(found.type, (found.type, "blue"))
    yield output.paint(f"{change} {found.path}", color)
