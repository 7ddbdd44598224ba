"""Completes URIs in the shell with the server's repositories, branches, tags and paths.

A failure completes nothing: the shell cannot show its message.
"""

from collections.abc import Callable, Iterable
from contextlib import suppress
from itertools import islice
from typing import TYPE_CHECKING

import click

from graveler_cli.errors import CommandError
from graveler_cli.uris import SCHEME

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

    from graveler_cli.client import LakeClient
    from graveler_cli.session import CommandSession

_AMOUNT = 100


def repositories(context: click.Context, _: click.Parameter, incomplete: str) -> list[str]:
    """Return URIs of repositories."""
    return _completed(context, incomplete, _repositories)


def branches(context: click.Context, _: click.Parameter, incomplete: str) -> list[str]:
    """Return URIs of repositories, and of branches in a complete one."""
    return _completed(context, incomplete, lambda server, parts: _refs(server, parts, "branches"))


def refs(context: click.Context, _: click.Parameter, incomplete: str) -> list[str]:
    """Return URIs of repositories, and of branches and tags in a complete one."""
    return _completed(
        context, incomplete, lambda server, parts: _refs(server, parts, "branches", "tags")
    )


def tags(context: click.Context, _: click.Parameter, incomplete: str) -> list[str]:
    """Return URIs of repositories, and of tags in a complete one."""
    return _completed(context, incomplete, lambda server, parts: _refs(server, parts, "tags"))


def paths(context: click.Context, _: click.Parameter, incomplete: str) -> list[str]:
    """Return URIs of repositories, then of refs, then of folders and objects."""
    return _completed(context, incomplete, _paths)


def tables(context: click.Context, _: click.Parameter, incomplete: str) -> list[str]:
    """Return the Iceberg tables of the last ref on the line."""
    from graveler_cli.tables import shown_name, tables_at  # noqa: PLC0415 - of few commands

    session: CommandSession = context.obj
    uri = context.params.get("other_uri") or context.params.get("uri") or ""
    with suppress(CommandError):
        found = (shown_name(each.path) for each in tables_at(_server(session), session.ref(uri)))
        return list(islice((each for each in found if each.startswith(incomplete)), _AMOUNT))
    return []


def local_paths(_: click.Context, __: click.Parameter, incomplete: str) -> "list[CompletionItem]":
    """Have the shell complete local files and folders."""
    from click.shell_completion import CompletionItem  # noqa: PLC0415

    return [CompletionItem(incomplete, type="file")]


def local_or_stored_paths(
    context: click.Context, parameter: click.Parameter, incomplete: str
) -> "list[str] | list[CompletionItem]":
    """Have the shell complete local files and folders, or return URIs as `paths` if one begins."""
    if incomplete.startswith(SCHEME):
        return paths(context, parameter, incomplete)
    return local_paths(context, parameter, incomplete)


def _completed(
    context: click.Context,
    incomplete: str,
    find: Callable[["LakeClient", list[str]], Iterable[str]],
) -> list[str]:
    session: CommandSession = context.obj
    base = session.base_uri
    text = incomplete if incomplete.startswith(SCHEME) else base + incomplete
    if not text.startswith(SCHEME):
        return [SCHEME] if SCHEME.startswith(text) else []
    try:
        found = find(_server(session), text.removeprefix(SCHEME).split("/", 2))
        return [
            f"{SCHEME}{each}".removeprefix(base if text != incomplete else "") for each in found
        ]
    except CommandError:
        return []


def _server(session: "CommandSession") -> "LakeClient":
    from graveler_cli.client import LakeClient  # noqa: PLC0415
    from graveler_cli.configuration import RequestRetries  # noqa: PLC0415

    known = session.configuration
    # No retries: the user waits at the prompt.
    return LakeClient(known.endpoint, known.key_pair, RequestRetries(attempts_max=0))


def _repositories(server: "LakeClient", parts: list[str]) -> Iterable[str]:
    from graveler_cli.schemas import Repository  # noqa: PLC0415

    query = {"prefix": parts[0], "amount": _AMOUNT}
    return [each.id for each in server.page("/repositories", {}, Repository, query).results]


def _refs(server: "LakeClient", parts: list[str], *kinds: str) -> Iterable[str]:
    from graveler_cli.schemas import Ref  # noqa: PLC0415

    if len(parts) == 1:
        return [f"{each}/" for each in _repositories(server, parts)]
    repository, prefix = parts[:2]
    query = {"prefix": prefix, "amount": _AMOUNT}
    return [
        f"{repository}/{each.id}"
        for kind in kinds
        for each in server.page(
            f"/repositories/{{repository}}/{kind}", {"repository": repository}, Ref, query
        ).results
    ]


def _paths(server: "LakeClient", parts: list[str]) -> Iterable[str]:
    from graveler_cli.schemas import ObjectStats  # noqa: PLC0415

    if len(parts) < 3:
        found = _refs(server, parts, "branches", "tags")
        return [each if each.endswith("/") else f"{each}/" for each in found]
    repository, ref, prefix = parts
    listing = server.page(
        "/repositories/{repository}/refs/{ref}/objects/ls",
        {"repository": repository, "ref": ref},
        ObjectStats,
        {"prefix": prefix, "delimiter": "/", "amount": _AMOUNT},
    )
    return [f"{repository}/{ref}/{each.path}" for each in listing.results]
