"""`graveler branch-protect`: rules for branches that change by merges only."""

from typing import Annotated

import typer
from msgspec import Struct

from graveler_cli.arguments import RepositoryArgument
from graveler_cli.errors import CommandError
from graveler_cli.grammar import Command, CommandGroup
from graveler_cli.schemas import Pagination, ResultPage
from graveler_cli.session import CommandSession, session_of

app = typer.Typer(cls=CommandGroup, help="Create and manage branch protection rules.")

_RULES = "/repositories/{repository}/settings/branch_protection"

PatternArgument = Annotated[
    str,
    typer.Argument(
        metavar="PATTERN", help="A branch's name, or a pattern like 'stable_*'.", show_default=False
    ),
]


class BranchProtectionRule(Struct, frozen=True):
    """Protects the branches whose names match."""

    pattern: str


@app.command("list", cls=Command)
def list_(context: typer.Context, uri: RepositoryArgument) -> None:
    """List the rules that protect branches."""
    session = session_of(context)
    rules, _ = _rules(session, uri)
    session.output.listing(
        ("Branch Name Pattern",), ResultPage(Pagination(), rules), lambda each: (each.pattern,), 0
    )


@app.command("add", cls=Command)
def add(context: typer.Context, uri: RepositoryArgument, pattern: PatternArgument) -> None:
    """Protect the branches that match a pattern: they change by merges only."""
    session = session_of(context)
    rules, etag = _rules(session, uri)
    _set(session, uri, [*rules, BranchProtectionRule(pattern)], etag)


@app.command("delete", cls=Command)
def delete(context: typer.Context, uri: RepositoryArgument, pattern: PatternArgument) -> None:
    """Delete the rule of a pattern."""
    session = session_of(context)
    rules, etag = _rules(session, uri)
    kept = [each for each in rules if each.pattern != pattern]
    if len(kept) == len(rules):
        raise CommandError(
            f"branch protection rule {pattern!r} not found: write a pattern as "
            "`branch-protect list` shows it"
        )
    _set(session, uri, kept, etag)


def _rules(session: CommandSession, uri: str) -> tuple[list[BranchProtectionRule], str]:
    """Return the rules and their version."""
    names = {"repository": session.repository(uri).repository}
    answer = session.server.request("GET", _RULES, names)
    return session.server.decode(answer.content, list[BranchProtectionRule]), answer.headers.get(
        "ETag", ""
    )


def _set(session: CommandSession, uri: str, rules: list[BranchProtectionRule], etag: str) -> None:
    """Replace the rules, unless another client has changed them meanwhile."""
    names = {"repository": session.repository(uri).repository}
    headers = {"If-Match": etag} if etag else {}
    session.server.ask("PUT", _RULES, names, str, rules, headers=headers)
