"""`graveler tag`: the tags of a repository."""

from functools import partial

import click

from graveler_cli import completion
from graveler_cli.arguments import (
    after_option,
    amount_option,
    prefix_option,
    repository_argument,
    yes_option,
)
from graveler_cli.errors import UsageError
from graveler_cli.grammar import CommandGroup, flag
from graveler_cli.schemas import Commit, Ref
from graveler_cli.session import CommandSession
from graveler_cli.uris import RefUri

app = CommandGroup(help="Create and manage tags within a repository.")

_TAGS = "/repositories/{repository}/tags"
_TAG = f"{_TAGS}/{{tag}}"
_COMMIT = "/repositories/{repository}/commits/{ref}"

_NOT_FOUND = 404

tag_argument = partial(
    click.argument, metavar="TAG_URI", help="lakefs://REPO/TAG", shell_complete=completion.tags
)


@app.command("list")
@repository_argument("uri")
@amount_option
@after_option
@prefix_option
def list_(session: CommandSession, uri: str, *, amount: int, after: str, prefix: str) -> None:
    """List the tags of a repository, by name."""
    names = {"repository": session.repository(uri).repository}
    query = {"prefix": prefix, "after": after, "amount": amount}
    found = session.server.page(_TAGS, names, Ref, query)
    session.output.listing(
        ("Tag", "Commit ID"), found, lambda each: (each.id, each.commit_id), amount
    )


@app.command("create")
@tag_argument("uri")
@click.argument(
    "commit",
    metavar="REF_URI",
    help="The commit to tag: lakefs://REPO/REF, REF a commit, branch or tag.",
    shell_complete=completion.refs,
)
@flag("--force", "-f", help="Move the tag if it exists.")
def create(session: CommandSession, uri: str, commit: str, *, force: bool) -> None:
    """Create a tag: a fixed name of a commit."""
    tag, at = session.ref(uri), session.ref(commit)
    if tag.repository != at.repository:
        raise UsageError("both references must belong to the same repository")
    names = {"repository": tag.repository}
    ref = at.ref
    if force:
        # Check the ref first: if it does not exist, the old tag must stay.
        ref = session.server.ask("GET", _COMMIT, {**names, "ref": at.ref}, Commit).id
        from graveler_cli.client import ApiRefusedError  # noqa: PLC0415 - late, like the server

        try:
            session.server.ask("DELETE", _TAG, _names(tag), str)
        except ApiRefusedError as error:
            if error.status != _NOT_FOUND:
                raise
    created = session.server.ask("POST", _TAGS, names, Ref, {"id": tag.ref, "ref": ref})
    # lakectl prints the whole answer, as Go does, and its scripts read it.
    form = "at {0}" if session.output.is_terminal else "({{{0} {1}}})"
    session.output.item(
        created, lambda each: [f"Created tag '{each.id}' {form.format(each.commit_id, each.id)}"]
    )


@app.command("delete")
@tag_argument("uri")
@yes_option
def delete(session: CommandSession, uri: str, *, yes: bool) -> None:
    """Delete a tag; its commit stays."""
    tag = session.ref(uri)
    session.output.confirm("Are you sure you want to delete tag", yes=yes)
    session.server.ask("DELETE", _TAG, _names(tag), str)


@app.command("show")
@tag_argument("uri")
def show(session: CommandSession, uri: str) -> None:
    """Show the commit that a tag names."""
    found = session.server.ask("GET", _TAG, _names(session.ref(uri)), Ref)
    session.output.item(found, lambda each: [f"{each.id} {each.commit_id}"])


def _names(tag: RefUri) -> dict[str, str]:
    return {"repository": tag.repository, "tag": tag.ref}
