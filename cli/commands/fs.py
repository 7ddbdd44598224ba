"""`graveler fs`: the objects of a repository."""

from collections.abc import Iterator
from typing import Annotated

import typer

from cli import output
from cli.grammar import Command, Group
from cli.session import session_of
from cli.shapes import ObjectStats

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
    found = session.server.ask(
        "GET",
        "/repositories/{repository}/refs/{ref}/objects/stat",
        {"repository": named.repository, "ref": named.ref},
        ObjectStats,
        query={"path": named.path, "presign": pre_sign},
    )
    session.output.item(found, _lines)


def _lines(found: ObjectStats) -> Iterator[str]:
    yield from output.fields(
        [
            ("Path", found.path),
            ("Modified Time", output.local_time(found.mtime)),
            ("Size", f"{found.size_bytes} bytes"),
            ("Human Size", output.human_size(found.size_bytes or 0)),
            ("Physical Address", found.physical_address),
        ]
    )
    if found.physical_address_expiry:
        yield f"Physical Address Expires: {output.local_time(found.physical_address_expiry)}"
    yield from output.fields(
        [("Checksum", found.checksum), ("Content-Type", found.content_type or "")]
    )
    if found.metadata:
        # Like lakectl, spaces included.
        yield "Metadata:\n\t"
        for key in sorted(found.metadata):
            yield f"\t{key:<{_METADATA_KEY_WIDTH}} = {found.metadata[key]}"
