"""`graveler fs rm`, `stage` and `update-metadata`."""

from typing import Annotated

import typer

from graveler_cli.arguments import PathArgument, pairs_of
from graveler_cli.commands.fs.options import (
    BRANCH_OBJECT,
    MetadataOption,
    RecursiveOption,
    check,
    names_of,
    options_of,
    runner_of,
    stat_lines,
)
from graveler_cli.commands.fs.viewing import listed
from graveler_cli.errors import CommandError, UsageError
from graveler_cli.schemas import ObjectStats, Repository
from graveler_cli.session import session_of

_CONCURRENCY = 50


def rm(
    context: typer.Context,
    uri: PathArgument,
    *,
    recursive: RecursiveOption = False,
    concurrency: Annotated[
        int, typer.Option("--concurrency", "-C", help="How many requests are sent at a time.")
    ] = _CONCURRENCY,
) -> None:
    """Delete an object, or all objects whose names begin with the path."""
    session = session_of(context)
    path = session.path(uri)
    if concurrency < 1:
        raise UsageError(f"--concurrency is {concurrency}: write 1 or more")
    if not recursive:
        query = {"path": path.path}
        session.server.ask("DELETE", BRANCH_OBJECT, names_of(path), str, query=query)
        return
    runner = runner_of(session, path, options_of(session, None, None))
    check("rm", runner.remove((each.path for each in listed(session, path)), concurrency))


def stage(
    context: typer.Context,
    uri: PathArgument,
    *,
    location: Annotated[
        str, typer.Option("--location", help="The location of the data, as s3://BUCKET/KEY.")
    ],
    size: Annotated[int, typer.Option("--size", help="The size in bytes.")],
    checksum: Annotated[str, typer.Option("--checksum", help="The MD5 in hexadecimal digits.")],
    mtime: Annotated[
        int, typer.Option("--mtime", help="The data's last change, in Unix seconds; 0 is now.")
    ] = 0,
    content_type: Annotated[str, typer.Option("--content-type", help="The MIME type.")] = "",
    meta: Annotated[
        list[str] | None,
        typer.Option("--meta", help="User metadata, as KEY=VALUE,KEY=VALUE.", show_default=False),
    ] = None,
) -> None:
    """Add data outside of the repository's storage namespace as an object, without a copy."""
    session = session_of(context)
    path = session.object(uri)
    metadata = pairs_of("--meta", meta)
    repository = session.server.ask("GET", "/repositories/{repository}", names_of(path), Repository)
    if location.startswith(repository.storage_namespace.rstrip("/") + "/"):
        raise CommandError(
            f"{location} is in the repository's storage namespace: name data outside of it"
        )
    body = {
        "physical_address": location,
        "size_bytes": size,
        "checksum": checksum,
        "content_type": content_type,
        "metadata": metadata,
        **({"mtime": mtime} if mtime else {}),
    }
    query = {"path": path.path}
    found = session.server.ask("PUT", BRANCH_OBJECT, names_of(path), ObjectStats, body, query)
    session.output.item(found, lambda each: stat_lines(session, each))


def update_metadata(
    context: typer.Context, uri: PathArgument, *, metadata: MetadataOption = None
) -> None:
    """Replace an object's user metadata."""
    session = session_of(context)
    path = session.object(uri)
    body = {"set": pairs_of("--metadata", metadata)}
    query = {"path": path.path}
    template = f"{BRANCH_OBJECT}/stat/user_metadata"
    session.server.ask("PUT", template, names_of(path), str, body, query)
