"""`graveler fs`: the objects of a repository."""

from collections.abc import Mapping
from typing import Annotated

import typer

from cli import output
from cli.grammar import Command, Group
from cli.session import session_of

app = typer.Typer(cls=Group, help="View objects.")

_METADATA_KEY_WIDTH = 18


@app.command(cls=Command)
def stat(
    context: typer.Context,
    uri: Annotated[
        str, typer.Argument(metavar="PATH_URI", help="lakefs://REPO/REF/PATH, REF as dev or dev~3.")
    ],
    *,
    pre_sign: Annotated[
        bool, typer.Option(help="Show a presigned URL in place of the object's location.")
    ] = False,
) -> None:
    """Show an object's metadata and the location of its bytes."""
    session = session_of(context)
    named = session.object(uri)
    server = session.server
    # Imported late, because help and mistakes need not wait for the SDK.
    from cli.client import TIMEOUT_S  # noqa: PLC0415

    with server.command_errors():
        found = server.sdk.objects_api.stat_object(
            named.repository,
            named.ref,
            named.path,
            presign=pre_sign,
            _request_timeout=TIMEOUT_S,
        )
    output.fields(
        [
            ("Path", found.path),
            ("Modified Time", output.local_time(found.mtime)),
            ("Size", f"{found.size_bytes} bytes"),
            ("Human Size", output.human_size(found.size_bytes or 0)),
            ("Physical Address", found.physical_address),
        ]
    )
    if found.physical_address_expiry:
        output.fields(
            [("Physical Address Expires", output.local_time(found.physical_address_expiry))]
        )
    output.fields([("Checksum", found.checksum), ("Content-Type", found.content_type or "")])
    _show_metadata(found.metadata or {})


def _show_metadata(metadata: Mapping[str, str]) -> None:
    """Print user metadata exactly like lakectl, spaces included."""
    if metadata:
        typer.echo("Metadata:\n\t")
    for key in sorted(metadata):
        typer.echo(f"\t{key:<{_METADATA_KEY_WIDTH}} = {metadata[key]}")
