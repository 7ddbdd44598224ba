"""Keep exports apart from each other and from repositories: one writer for each place.

The first export to a path that holds objects needs force. A configuration is checked before it is
stored, and again by the first run that would write to its places. Two configurations that are
stored at the same moment do not see each other: the second check stops both before they write.
Deleting an export, alone or with its branch or repository, frees its places at once; but the next
run there waits until the last runner has stopped.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Generic, TypeVar

from graveler.branches.pages import every_repository
from graveler.engine import Engine
from graveler.errors import AlreadyExistsError, InvalidInputError
from graveler.export.addresses import is_within
from graveler.export.lifecycle import destination_of, has_runner
from graveler.export.places import (
    ListedExport,
    Places,
    clash,
    overlapping_place,
    places_of,
    wanted_places,
)
from graveler.export.record import BranchExport, ExportConfiguration
from graveler.export.status import is_report
from graveler.model import Repository, RepositoryUID
from graveler.operations.exports.lease import Lease, StoppedError

Found = TypeVar("Found")


def check_places(
    engine: Engine, repository: Repository, branch: str, configuration: ExportConfiguration
) -> bool:
    """Raise if the branch's export would write where others do.

    Returns:
        False if the last runner of a deleted export may still write there.

    Raises:
        InvalidInputError: a place contains, or is in, a repository's storage namespace.
        AlreadyExistsError: a place overlaps with one of another branch, which the message names.
    """
    wanted = wanted_places(configuration)
    _check_outside_of_repositories(engine, wanted)
    is_free = True
    this_branch = (repository.uid, branch)
    for conflict in _conflicts(engine, lambda places: clash(wanted, places), but=this_branch):
        mine, theirs = conflict.found
        if not conflict.is_ending:
            raise AlreadyExistsError(
                f"{mine!r} overlaps with {theirs!r}, to which {_named(conflict.listed)} is "
                "exported, or was before: choose another place, or delete the export of that branch"
            )
        is_free = False
    return is_free


def check_first_export(
    engine: Engine,
    repository: Repository,
    branch: str,
    record: BranchExport | None,
    configuration: ExportConfiguration,
) -> None:
    """Raise if the branch would be exported for the first time to a path that holds objects.

    Raises:
        AlreadyExistsError: an object is there that the branch's own reports do not explain.
        InvalidInputError: the path cannot be listed.
    """
    path = configuration.path
    if record is not None and path in places_of(record).paths:
        return
    for listed in engine.objects.list_objects(f"{path}/"):
        if not is_report(listed.uri, configuration, repository.name, branch):
            raise AlreadyExistsError(
                f"export path {path!r} is not empty: {listed.uri!r} is there, and the export would "
                "overwrite objects that have its names: choose another path, or set force"
            )


def check_places_of_run(lease: Lease) -> None:
    """Raise if the leased run would be the first to write where others do.

    Destinations in the record are this branch's own: no other export was allowed there since.

    Raises:
        AlreadyExistsError: a place belongs to another branch, or to a repository.
        StoppedError: the last runner of a deleted export may still write there. The place is free
            when this run's lease ends.
    """
    wanted = lease.run.configuration
    known = destination_of(lease.record, wanted.path)
    is_known = bool(known.exported_commit or known.touched_commits)
    if wanted.status_path:
        is_known &= is_within(known.status_file, wanted.status_path)
    if is_known:
        return
    try:
        is_free = check_places(lease.engine, lease.repository, lease.record.branch, wanted)
    except InvalidInputError as error:  # a repository that was created after the configuration
        raise AlreadyExistsError(str(error)) from error
    if not is_free:
        raise StoppedError("the last runner of a deleted export may still write there")


def check_outside_of_exports(engine: Engine, namespace: str) -> None:
    """Raise if a branch is exported into or around a storage namespace.

    Raises:
        InvalidInputError: they overlap; the message names the branch.
    """
    for conflict in _conflicts(engine, lambda places: overlapping_place(namespace, places)):
        raise InvalidInputError(
            f"storage namespace {namespace!r} overlaps with {conflict.found!r}, to which "
            f"{_named(conflict.listed)} is exported, or was before: choose another prefix"
        )


def _named(listed: ListedExport) -> str:
    return f"branch {listed.branch!r} of repository {listed.repository!r}"


def _check_outside_of_repositories(engine: Engine, wanted: Places) -> None:
    for repository in every_repository(engine):
        place = overlapping_place(repository.storage_namespace, wanted)
        if place is not None:
            raise InvalidInputError(
                f"{place!r} overlaps with the storage namespace of repository "
                f"{repository.name!r}: exports would damage its data; choose another place"
            )


@dataclass(frozen=True, slots=True)
class _Conflict(Generic[Found]):
    """A listed export, and what was found among the places in its record."""

    listed: ListedExport
    found: Found
    is_ending: bool  # it is deleted, but its runner has not stopped yet


def _conflicts(
    engine: Engine,
    find: Callable[[Places], Found | None],
    *,
    but: tuple[RepositoryUID, str] | None = None,
) -> Iterator[_Conflict[Found]]:
    """Yield the listed exports among whose places find finds something.

    The list may contain deleted exports and places that are not used any more, so the records
    decide. but is the branch to leave out: its repository's uid and its name.
    """
    for listed in engine.exports.listed_exports():
        if (listed.repository_uid, listed.branch) == but or find(listed.places) is None:
            continue
        record = engine.exports.listed_record(listed)
        found = None if record is None else find(places_of(record))
        if record is None or found is None:
            continue
        repository = engine.refs.repository(listed.repository)
        is_deleted = repository is None or repository.uid != listed.repository_uid
        is_ending = is_deleted or record.is_forgotten
        if not is_ending or has_runner(record, engine.clock.now_ns()):
            yield _Conflict(listed, found, is_ending)
