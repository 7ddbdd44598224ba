"""`graveler fs rm`, `stage` and `update-metadata`."""

from graveler_cli.arguments import changed_path_argument, pairs_of
from graveler_cli.commands.fs.options import (
    BRANCH_OBJECT,
    check,
    metadata_option,
    names_of,
    options_of,
    recursive_option,
    runner_of,
    stat_lines,
)
from graveler_cli.commands.fs.viewing import listed
from graveler_cli.errors import CommandError, UsageError
from graveler_cli.grammar import option
from graveler_cli.schemas import ObjectStats, Repository
from graveler_cli.session import CommandSession

_CONCURRENCY = 50


@changed_path_argument("uri")
@recursive_option
@option("--concurrency", "-C", default=_CONCURRENCY, help="How many requests are sent at a time.")
def rm(session: CommandSession, uri: str, *, recursive: bool, concurrency: int) -> None:
    """Delete an object, or all objects whose names begin with the path."""
    path = session.path(uri)
    if concurrency < 1:
        raise UsageError(f"--concurrency is {concurrency}: write 1 or more")
    if not recursive:
        query = {"path": path.path}
        session.server.ask("DELETE", BRANCH_OBJECT, names_of(path), str, query=query)
        return
    runner = runner_of(session, path, options_of(session, None, None))
    check("rm", runner.remove((each.path for each in listed(session, path)), concurrency))


@changed_path_argument("uri")
@option("--location", required=True, help="The location of the data, as s3://BUCKET/KEY.")
@option("--size", type=int, required=True, help="The size in bytes.")
@option("--checksum", required=True, help="The MD5 in hexadecimal digits.")
@option("--mtime", default=0, help="The data's last change, in Unix seconds; 0 is now.")
@option("--content-type", default="", help="The MIME type.")
@option("--meta", multiple=True, help="User metadata, as KEY=VALUE,KEY=VALUE.")
def stage(
    session: CommandSession,
    uri: str,
    *,
    location: str,
    size: int,
    checksum: str,
    mtime: int,
    content_type: str,
    meta: tuple[str, ...],
) -> None:
    """Add data outside of the repository's storage namespace as an object, without a copy."""
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


@changed_path_argument("uri")
@metadata_option
def update_metadata(session: CommandSession, uri: str, *, metadata: tuple[str, ...]) -> None:
    """Replace an object's user metadata."""
    path = session.object(uri)
    body = {"set": pairs_of("--metadata", metadata)}
    query = {"path": path.path}
    template = f"{BRANCH_OBJECT}/stat/user_metadata"
    session.server.ask("PUT", template, names_of(path), str, body, query)
