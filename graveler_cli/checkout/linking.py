"""Links a folder to a path of a ref, and finds interrupted clones."""

import os
from dataclasses import replace
from pathlib import Path

from graveler_cli.checkout import git
from graveler_cli.checkout.index import CLONE, INDEX_NAME, NEW_INDEX_NAME, Index
from graveler_cli.checkout.remote import Remote
from graveler_cli.errors import CommandError
from graveler_cli.output import CommandOutput
from graveler_cli.uris import PathUri

_QUIET_VARIABLE = "LAKECTL_SUPPRESS_CASE_INSENSITIVE_WARNING"


def link(
    folder: Path,
    uri: PathUri,
    remote: Remote,
    output: CommandOutput,
    *,
    operation: str = "",
    force: bool = False,
    ignores: bool,
) -> Index:
    """Link a folder to a path of a ref; return its new index.

    Args:
        folder: the folder, which is made if it does not exist.
        uri: the path.
        remote: the server.
        output: where notes go.
        operation: the operation that begins with the link.
        force: link the folder even if it is linked.
        ignores: make git ignore the folder's content, if it is in a git repository.

    Raises:
        CommandError: the folder is linked, the path is an object, or the server refused.
    """
    head = remote.head(uri)
    source = _as_folder(uri, remote)
    repository = git.repository_of(_existing(folder)) if ignores else None
    if repository is not None and folder.exists() and folder.samefile(repository):
        raise CommandError(
            f"Directory '{folder}' is a git repository, please specify a sub-directory"
        )
    if not force and (folder / INDEX_NAME).exists():
        raise CommandError(
            f"directory '{folder}' already linked to a lakeFS path, "
            "run command with --force to overwrite"
        )
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise CommandError(f"cannot make {folder}: {error.strerror}") from error
    index = Index(folder, source, head, operation)
    index.write()
    _warn_of_case(folder, output)
    if repository is not None:
        output.line(f"Location added to {git.ignore(folder, repository)}")
    return index


def interrupted_clone(folder: Path, uri: PathUri) -> Index | None:
    """Return the index of a clone of the same path that was interrupted; None if there is none.

    Raises:
        CommandError: the folder has something else.
    """
    try:
        # A clone that was killed before it had an index leaves the new one.
        if not folder.exists() or {each.name for each in folder.iterdir()} <= {NEW_INDEX_NAME}:
            return None
    except OSError as error:
        raise CommandError(f"cannot use {folder}: {error.strerror}") from error
    if (folder / INDEX_NAME).exists():
        index = Index.read(folder)
        paths = {uri.path, f"{uri.path}/"}
        is_same = index.source.path in paths and replace(index.source, path=uri.path) == uri
        if index.operation == CLONE and is_same:
            return index
    raise CommandError(f"directory '{folder}' exists and is not empty")


def _as_folder(uri: PathUri, remote: Remote) -> PathUri:
    """Return the path with a slash at its end, so that it names a folder."""
    if not uri.path or uri.path.endswith("/"):
        return uri
    if remote.is_object(uri):
        raise CommandError(
            f"lakeFS path {uri} is an existing object and cannot be used as a reference source"
        )
    return replace(uri, path=f"{uri.path}/")


def _existing(folder: Path) -> Path:
    return next(each for each in (folder, *folder.parents) if each.is_dir())


def _warn_of_case(folder: Path, output: CommandOutput) -> None:
    if _QUIET_VARIABLE not in os.environ and (folder / INDEX_NAME.upper()).exists():
        output.warn(
            f"warning: '{folder}' does not distinguish upper and lower case: "
            "of objects whose names differ by case only, one becomes a file"
        )
