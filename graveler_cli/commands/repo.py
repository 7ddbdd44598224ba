"""`graveler repo`: the repositories of a server."""

import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Annotated

import typer

from graveler_cli.arguments import (
    AMOUNT_DEFAULT,
    AfterOption,
    AmountOption,
    PrefixOption,
    RepositoryArgument,
    YesOption,
)
from graveler_cli.grammar import Command, CommandGroup
from graveler_cli.output import fields, local_time
from graveler_cli.schemas import Repository
from graveler_cli.session import CommandSession, session_of

if TYPE_CHECKING:
    from graveler_cli.client import ApiRefusedError

app = typer.Typer(cls=CommandGroup, help="Manage and explore repositories.")

_REPOSITORIES = "/repositories"
_REPOSITORY = f"{_REPOSITORIES}/{{repository}}"

_IN_USE = "storage namespace already in use"
# The end of the address of a repository's object.
_DATA = re.compile(r"/data/[0-9a-v]{20}/[0-9a-v]{20}'")

NamespaceArgument = Annotated[
    str,
    typer.Argument(
        metavar="STORAGE_NAMESPACE",
        help="The prefix of the objects, s3://BUCKET/PREFIX, which no other repository may use.",
        show_default=False,
    ),
]
DefaultBranchOption = Annotated[
    str, typer.Option("--default-branch", "-d", help="The name of the default branch.")
]
# For deployments of lakeFS with more than one object store; Graveler has one.
StorageIdOption = Annotated[str, typer.Option("--storage-id", hidden=True)]


@app.command("list", cls=Command)
def list_(
    context: typer.Context,
    *,
    amount: AmountOption = AMOUNT_DEFAULT,
    after: AfterOption = "",
    prefix: PrefixOption = "",
) -> None:
    """List repositories, by name."""
    session = session_of(context)
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


@app.command("create", cls=Command)
def create(
    context: typer.Context,
    uri: RepositoryArgument,
    storage_namespace: NamespaceArgument,
    *,
    default_branch: DefaultBranchOption = "main",
    sample_data: Annotated[
        bool, typer.Option("--sample-data", help="Add a few objects to try things on.")
    ] = False,
    read_only: Annotated[
        bool, typer.Option("--read-only", help="Make the repository read-only.")
    ] = False,
    storage_id: StorageIdOption = "",
) -> None:
    """Create a repository, with an empty first commit on its default branch."""
    session = session_of(context)
    body = {"sample_data": sample_data, "read_only": read_only, "storage_id": storage_id}
    _create(session, uri, storage_namespace, default_branch, {k: v for k, v in body.items() if v})
    if sample_data:
        session.output.line("sample data included")


@app.command("create-bare", cls=Command, hidden=True)
def create_bare(
    context: typer.Context,
    uri: RepositoryArgument,
    storage_namespace: NamespaceArgument,
    *,
    default_branch: DefaultBranchOption = "main",
    storage_id: StorageIdOption = "",
) -> None:
    """Create a repository without a branch or commit, for `refs-restore`."""
    body = {"storage_id": storage_id} if storage_id else {}
    _create(session_of(context), uri, storage_namespace, default_branch, body, bare=True)


@app.command("delete", cls=Command)
def delete(
    context: typer.Context,
    uri: RepositoryArgument,
    *,
    yes: YesOption = False,
    force: Annotated[
        bool, typer.Option("--force", help="Delete the repository even if it is read-only.")
    ] = False,
) -> None:
    """Delete a repository; its objects stay in the object store."""
    session = session_of(context)
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
