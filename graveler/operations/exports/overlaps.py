"""Keep exports apart from each other and from repositories: one writer for each path.

The first export to a path that holds objects needs force. A configuration is checked before it is
stored, and again by the first run that would write to its paths. Two configurations that are stored
at the same moment do not see each other. The second check stops both before they write. Deleting an
export, alone or with its branch or repository, frees its paths at once. But the next run there
waits until the last runner has stopped.
"""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Generic, TypeVar

from msgspec import Struct

from graveler.branches.complete_listings import every_repository
from graveler.engine import Engine
from graveler.errors import AlreadyExistsError, InvalidInputError
from graveler.export.lifecycle import destination_of, has_runner
from graveler.export.paths import (
    ExportPaths,
    ListedExport,
    conflicting_paths,
    is_within,
    overlapping_path,
    paths_of,
    wanted_paths,
)
from graveler.export.record import BranchExport, ExportConfiguration
from graveler.export.status import is_report
from graveler.model import RepositoryUID
from graveler.open_repository import OpenRepository
from graveler.operations.exports.lease import ExportLease
from graveler.operations.leases import StoppedError

Found = TypeVar("Found")


def check_overlaps(repo: OpenRepository, branch: str, configuration: ExportConfiguration) -> bool:
    """Check that the branch's export writes where no other one does.

    Returns:
        False if the last runner of a deleted export may still write there.

    Raises:
        InvalidInputError: a path contains, or is in, a repository's storage namespace.
        AlreadyExistsError: a path overlaps with one of another branch, which the message names.
    """
    wanted = wanted_paths(configuration)
    _check_outside_of_repositories(repo.engine, wanted)
    is_free = True
    this_branch = (repo.record.uid, branch)
    for conflict in _conflicts(repo.engine, partial(conflicting_paths, wanted), but=this_branch):
        mine, theirs = conflict.found
        if not conflict.is_ending:
            raise AlreadyExistsError(
                f"{mine!r} overlaps with {theirs!r}, to which {_named(conflict.listed)} is "
                "exported, or was before: choose another place, or delete the export of that branch"
            )
        is_free = False
    return is_free


def check_first_export(
    repo: OpenRepository,
    branch: str,
    record: BranchExport | None,
    configuration: ExportConfiguration,
) -> None:
    """Check that a branch's first export to a path finds no objects there.

    Raises:
        AlreadyExistsError: an object is there that the branch's own reports do not explain.
        InvalidInputError: the path cannot be listed.
    """
    path = configuration.path
    if record is not None and path in paths_of(record).paths:
        return
    for listed in repo.engine.objects.list_objects(f"{path}/"):
        if not is_report(listed.uri, configuration, repo.record.name, branch):
            raise AlreadyExistsError(
                f"export path {path!r} is not empty: {listed.uri!r} is there, and the export would "
                "overwrite objects that have its names: choose another path, or set force"
            )


def check_overlaps_of_run(lease: ExportLease) -> None:
    """Check that the leased run writes where no other export does.

    Destinations in the record are this branch's own: no other export was allowed there since.

    Raises:
        AlreadyExistsError: a path belongs to another branch, or to a repository.
        StoppedError: the last runner of a deleted export may still write there. The path is
            free when this run's lease ends.
    """
    wanted = lease.run.configuration
    known = destination_of(lease.record, wanted.path)
    is_known = bool(known.exported_commit or known.touched_commits)
    if wanted.status_path:
        is_known &= is_within(known.status_file, wanted.status_path)
    if is_known:
        return
    try:
        is_free = check_overlaps(lease.repo, lease.record.branch, wanted)
    except InvalidInputError as error:  # a repository that was created after the configuration
        raise AlreadyExistsError(str(error)) from error
    if not is_free:
        raise StoppedError("the last runner of a deleted export may still write there")


def check_outside_of_exports(engine: Engine, namespace: str) -> None:
    """Check that no branch is exported into or around a storage namespace.

    Raises:
        InvalidInputError: they overlap; the message names the branch.
    """
    for conflict in _conflicts(engine, partial(overlapping_path, namespace)):
        raise InvalidInputError(
            f"storage namespace {namespace!r} overlaps with {conflict.found!r}, to which "
            f"{_named(conflict.listed)} is exported, or was before: choose another prefix"
        )


def _named(listed: ListedExport) -> str:
    return f"branch {listed.branch!r} of repository {listed.repository!r}"


def _check_outside_of_repositories(engine: Engine, wanted: ExportPaths) -> None:
    for repository in every_repository(engine):
        path = overlapping_path(repository.storage_namespace, wanted)
        if path is not None:
            raise InvalidInputError(
                f"{path!r} overlaps with the storage namespace of repository "
                f"{repository.name!r}: exports would damage its data; choose another place"
            )


class _Conflict(Struct, Generic[Found], frozen=True):
    """A listed export, and the paths of its record that conflict."""

    listed: ListedExport
    found: Found
    is_ending: bool  # it is deleted, but its runner has not stopped yet


def _conflicts(
    engine: Engine,
    find: Callable[[ExportPaths], Found | None],
    *,
    but: tuple[RepositoryUID, str] | None = None,
) -> Iterator[_Conflict[Found]]:
    """Yield the listed exports among whose paths `find` finds something.

    The list may contain deleted exports and paths that are not used any more, so the records
    decide.

    but: the branch to leave out, by its repository's uid and its name.
    """
    for listed in engine.exports.listed_exports():
        if (listed.repository_uid, listed.branch) == but or find(listed.places) is None:
            continue
        record = engine.exports.listed_record(listed)
        found = None if record is None else find(paths_of(record))
        if record is None or found is None:
            continue
        repository = engine.refs.repository(listed.repository)
        is_deleted = repository is None or repository.uid != listed.repository_uid
        is_ending = is_deleted or record.is_forgotten
        if not is_ending or has_runner(record, engine.clock.now_ns()):
            yield _Conflict(listed, found, is_ending)
