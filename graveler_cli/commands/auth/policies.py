"""`graveler auth policies`: policies, which allow or deny actions."""

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import click
import msgspec

from graveler_cli.arguments import content_of
from graveler_cli.commands.auth.requests import POLICY, ChangeCommand, ListCommand, group
from graveler_cli.commands.auth.schemas import Attachment, Policy, PolicyCheck, Statement
from graveler_cli.errors import CommandError
from graveler_cli.grammar import FILE, option
from graveler_cli.output import local_time
from graveler_cli.session import CommandSession

_POLICIES = "/auth/policies"
_POLICY = f"{_POLICIES}/{{id}}"

app = group(
    "Manage policies.",
    {
        "list": ListCommand(
            "List policies.",
            _POLICIES,
            Policy,
            ("Policy ID", "Creation Date"),
            lambda policy: [(policy.id, local_time(policy.creation_date or 0))],
        ),
        "delete": ChangeCommand(
            "Delete a policy.", "DELETE", _POLICY, [POLICY], "Policy deleted successfully"
        ),
    },
)

_attachments = group(
    "Show who has a policy.",
    {
        "list": ListCommand(
            "List the groups and users that have a policy themselves.",
            f"{_POLICY}/attachments",
            Attachment,
            ("Kind", "ID"),
            lambda found: [(found.kind, found.id)],
            [POLICY],
        ),
    },
)

app.add_command(_attachments, name="attachments")

policy_option = option("--id", "name", required=True, help=POLICY.help)


document_option = option(
    "--statement-document",
    type=FILE,
    required=True,
    help='File with {"statement": [...]} as JSON; - is standard input.',
)


class _Document(msgspec.Struct, frozen=True):
    """A file of statements."""

    statement: list[dict[str, Any]]  # the server checks them, and reports faults


@app.command("create")
@policy_option
@document_option
def create(session: CommandSession, *, name: str, statement_document: Path) -> None:
    """Create a policy with the statements of a file."""
    document = _read(statement_document)
    body = {"id": name, "statement": document.statement}
    created = session.server.ask("POST", _POLICIES, {}, Policy, body)
    first = session.output.paint("Policy created successfully.", "green")
    session.output.item(created, lambda policy: [first, *_lines(policy)])


@app.command("check")
@document_option
def check(session: CommandSession, *, statement_document: Path) -> None:
    """Check the statements of a file, and store nothing.

    All problems are shown at once, and warnings about what never applies.
    """
    body = {"statement": _read(statement_document).statement}
    found = session.server.ask("POST", "/auth/check_policy", {}, PolicyCheck, body)
    output = session.output
    if output.as_json:
        output.json(found)
    else:
        for kind, problems in (("error", found.problems), ("warning", found.warnings)):
            for problem in problems:
                output.warn(f"{kind}: {statement_document}: {problem}")
    if found.problems:
        raise click.exceptions.Exit(1)
    output.line(f"Policy checked successfully: '{statement_document}'")


@app.command("show")
@policy_option
def show(session: CommandSession, *, name: str) -> None:
    """Show a policy."""
    found = session.server.ask("GET", _POLICY, {"id": name}, Policy)
    session.output.item(found, _lines)


def _read(file: Path) -> _Document:
    """Return the statements in a file.

    Raises:
        CommandError: the file cannot be read, or has no statements.
    """
    text = content_of(file)
    try:
        return msgspec.json.decode(text, type=_Document)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise CommandError(
            f"{file} does not have statements: {error}; write "
            '{"statement": [{"effect": "allow", "action": ["fs:ReadObject"], "resource": "*"}]}'
        ) from error


def _lines(policy: Policy) -> Iterator[str]:
    yield ""
    yield f"ID: {policy.id}"
    yield f"Creation Date: {local_time(policy.creation_date or 0)}"
    yield "Statements:"
    shown = {"statement": [_shown(each) for each in policy.statement]}
    encoded = msgspec.json.encode(shown, order="sorted")
    yield msgspec.json.format(encoded, indent=2).decode()
    yield ""


def _shown(statement: Statement) -> object:
    """Return the statement with a list of resources decoded; the API has it as a text."""
    fields: dict[str, object] = msgspec.to_builtins(statement)
    with suppress(msgspec.DecodeError):
        fields["resource"] = msgspec.json.decode(statement.resource, type=list[str])
    return fields
