"""`graveler branch-protect`: rules for branches that change by merges only."""

from functools import partial

import click
from msgspec import Struct

from graveler_cli.arguments import repository_argument
from graveler_cli.errors import CommandError
from graveler_cli.grammar import CommandGroup, option
from graveler_cli.schemas import Pagination, ResultPage
from graveler_cli.session import CommandSession

app = CommandGroup(help="Create and manage branch protection rules.")

_RULES = "/repositories/{repository}/settings/branch_protection"

pattern_argument = partial(click.argument, help="A branch's name, or a pattern like 'stable_*'.")


class BranchProtectionRule(Struct, frozen=True, omit_defaults=True):
    """Protects the branches whose names match; a stored rule keeps a number that is not given."""

    pattern: str
    required_approvals: int | None = None


@app.command("list")
@repository_argument("uri")
def list_(session: CommandSession, uri: str) -> None:
    """List the rules that protect branches."""
    rules, _ = _rules(session, uri)
    heads = ["Branch Name Pattern"]
    if any(rule.required_approvals for rule in rules):  # otherwise as lakectl prints them
        heads.append("Required Approvals")
    session.output.listing(
        heads,
        ResultPage(Pagination(), rules),
        lambda each: (each.pattern, each.required_approvals or 0)[: len(heads)],
        0,
    )


@app.command("add")
@repository_argument("uri")
@pattern_argument("pattern")
@option(
    "--required-approvals",
    type=click.IntRange(0, 100),
    help="How many users must approve of a pull request; nothing else is merged then.",
)
def add(session: CommandSession, uri: str, pattern: str, *, required_approvals: int | None) -> None:
    """Protect the branches that match a pattern: they change by merges only."""
    rules, etag = _rules(session, uri)
    _set(session, uri, [*rules, BranchProtectionRule(pattern, required_approvals)], etag)


@app.command("delete")
@repository_argument("uri")
@pattern_argument("pattern")
def delete(session: CommandSession, uri: str, pattern: str) -> None:
    """Delete the rule of a pattern."""
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
