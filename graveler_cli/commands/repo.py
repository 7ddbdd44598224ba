"""`graveler repo`: the repositories of a server."""

import re
from collections.abc import Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING

import click

from graveler_cli.arguments import (
    after_option,
    amount_option,
    prefix_option,
    repository_argument,
    yes_option,
)
from graveler_cli.grammar import CommandGroup, flag, option
from graveler_cli.output import fields, local_time
from graveler_cli.schemas import Repository
from graveler_cli.session import CommandSession

if TYPE_CHECKING:
    from graveler_cli.client import ApiRefusedError

app = CommandGroup(help="Manage and explore repositories.")

_REPOSITORIES = "/repositories"
_REPOSITORY = f"{_REPOSITORIES}/{{repository}}"

_IN_USE = "storage namespace already in use"
# The end of the address of a repository's object.
_DATA = re.compile(r"/data/[0-9a-v]{20}/[0-9a-v]{20}'")

namespace_argument = partial(
    click.argument,
    metavar="STORAGE_NAMESPACE",
    help="The prefix of the objects, s3://BUCKET/PREFIX, which no other repository may use.",
)
default_branch_option = option(
    "--default-branch", "-d", default="main", help="The name of the default branch."
)
# For deployments of lakeFS with more than one object store; Graveler has one.
storage_id_option = option("--storage-id", default="", hidden=True)


@app.command("list")
@amount_option
@after_option
@prefix_option
def list_(session: CommandSession, *, amount: int, after: str, prefix: str) -> None:
    """List repositories, by name."""
    query = {"prefix": prefix, "after": after, "amount": amount}
    found = session.server.page(_REPOSITORIES, {}, Repository, query)
    session.output.listing(
        ("Repository", "Creation Date", "Default Ref Name", "Storage ID", "Storage Namespace"),
        found,
        lambda each: (
            each.id,
            local_time(each.creation_date),
            each.default_branch,
            each.id,  # lakectl shows the repository here, and scripts count columns
            each.storage_namespace,
        ),
        amount,
        expendable=("Storage ID", "Creation Date", "Default Ref Name"),
    )


@app.command("create")
@repository_argument("uri")
@namespace_argument("storage_namespace")
@default_branch_option
@flag("--sample-data", help="Add a few objects to try things on.")
@flag("--read-only", help="Make the repository read-only.")
@storage_id_option
def create(
    session: CommandSession,
    uri: str,
    storage_namespace: str,
    *,
    default_branch: str,
    sample_data: bool,
    read_only: bool,
    storage_id: str,
) -> None:
    """Create a repository, with an empty first commit on its default branch."""
    body = {"sample_data": sample_data, "read_only": read_only, "storage_id": storage_id}
    _create(session, uri, storage_namespace, default_branch, {k: v for k, v in body.items() if v})
    if sample_data:
        session.output.line("sample data included")


@app.command("create-bare", hidden=True)
@repository_argument("uri")
@namespace_argument("storage_namespace")
@default_branch_option
@storage_id_option
def create_bare(
    session: CommandSession,
    uri: str,
    storage_namespace: str,
    *,
    default_branch: str,
    storage_id: str,
) -> None:
    """Create a repository without a branch or commit, for `refs-restore`."""
    body = {"storage_id": storage_id} if storage_id else {}
    _create(session, uri, storage_namespace, default_branch, body, bare=True)


@app.command("delete")
@repository_argument("uri")
@yes_option
@flag("--force", help="Delete the repository even if it is read-only.")
def delete(session: CommandSession, uri: str, *, yes: bool, force: bool) -> None:
    """Delete a repository; its objects stay in the object store."""
    name = session.repository(uri).repository
    session.output.line(f"Repository: {session.repository(uri)}")
    session.output.confirm(f"Are you sure you want to delete repository: {name}", yes=yes)
    query = {"force": force or None}
    session.server.ask("DELETE", _REPOSITORY, {"repository": name}, str, query=query)
    session.output.line(f"Repository '{name}' deleted")


def _create(
    session: CommandSession,
    uri: str,
    storage_namespace: str,
    default_branch: str,
    extra: Mapping[str, object],
    *,
    bare: bool = False,
) -> None:
    """Create a repository and print it."""
    repository = session.repository(uri)
    session.output.line(f"Repository: {repository}")
    body = {
        "name": repository.repository,
        "storage_namespace": storage_namespace,
        "default_branch": default_branch,
        **extra,
    }
    query = {"bare": bare or None}
    from graveler_cli.client import ApiRefusedError  # noqa: PLC0415 - late, like the server

    try:
        created = session.server.ask("POST", _REPOSITORIES, {}, Repository, body, query)
    except ApiRefusedError as error:
        if not error.text.endswith(_IN_USE):
            raise
        raise error.in_words(_in_use(storage_namespace, error)) from error
    session.output.item(created, _created)


def _in_use(namespace: str, error: "ApiRefusedError") -> str:
    """Return the line about a namespace that is in use."""
    details = error.message.removeprefix(f"{error.text}: ")
    if "overlaps with" in details:
        return details
    is_foreign = "it holds data" in details and not _DATA.search(details)
    held = "data" if is_foreign else "a repository"
    return f"{namespace} already holds {held}: choose another prefix"


def _created(found: Repository) -> Iterator[str]:
    yield f"Repository '{found.id}' created:"
    yield from fields(
        [
            ("storage namespace", found.storage_namespace),
            ("default branch", found.default_branch),
            ("timestamp", found.creation_date),
        ]
    )
