"""No two writers at one place: exports keep away from each other and from repositories.

A configuration is checked before it is stored, and again by the first run that would write at its
places: of two that were stored at the same moment, and did not see each other, none comes to write.
An export that was deleted, alone or with its branch or repository, frees its places at once; but
the next run there waits until the last runner has stopped.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Generic, TypeVar

from graveler.errors import AlreadyExistsError, InvalidInputError
from graveler.export.lifecycle import has_runner
from graveler.export.model import ExportConfiguration
from graveler.export.places import (
    ListedExport,
    Places,
    clash,
    overlapping,
    places_of,
    wanted_places,
)
from graveler.model import Repository
from graveler.operations.engine import Engine
from graveler.operations.protocol.pages import every_repository

Found = TypeVar("Found")


def check_places(
    engine: Engine, repository: Repository, branch: str, configuration: ExportConfiguration
) -> bool:
    """Refuse a configuration by which the branch's export would write where others do.

    Returns False as long as somebody may still be there: the last runner of an export that ended.

    Raises:
        InvalidInputError: a place holds, or lies in, a repository's storage namespace.
        AlreadyExistsError: places overlap with another branch's; the message names it.
    """
    wanted = wanted_places(configuration)
    _check_outside_of_repositories(engine, wanted)
    is_free = True
    for met in _met(engine, lambda places: clash(wanted, places), (repository.uid, branch)):
        mine, theirs = met.found
        if not met.is_leaving:
            raise AlreadyExistsError(
                f"{mine!r} overlaps with {theirs!r}, to which branch {met.listed.branch!r} of "
                f"repository {met.listed.repository!r} is exported, or was before: choose another "
                "place, or delete the export of that branch"
            )
        is_free = False
    return is_free


def check_outside_of_exports(engine: Engine, namespace: str) -> None:
    """Refuse a storage namespace where a branch is exported.

    Raises:
        InvalidInputError: they overlap; the message names the branch.
    """
    for met in _met(engine, lambda places: overlapping(namespace, places)):
        raise InvalidInputError(
            f"storage namespace {namespace!r} overlaps with {met.found!r}, to which branch "
            f"{met.listed.branch!r} of repository {met.listed.repository!r} is exported, or was "
            "before: choose another prefix"
        )


def _check_outside_of_repositories(engine: Engine, wanted: Places) -> None:
    for repository in every_repository(engine):
        place = overlapping(repository.storage_namespace, wanted)
        if place is not None:
            raise InvalidInputError(
                f"{place!r} overlaps with the storage namespace of repository "
                f"{repository.name!r}: exports would damage its data; choose another place"
            )


@dataclass(frozen=True, slots=True)
class _Met(Generic[Found]):
    """A listed export in whose places something was found, by its record as it stands."""

    listed: ListedExport
    found: Found
    is_leaving: bool  # nobody wants it any more, but its runner has not stopped yet


def _met(
    engine: Engine, find: Callable[[Places], Found | None], but: tuple[str, str] | None = None
) -> Iterator[_Met[Found]]:
    """The listed exports in whose places something is found.

    but is the branch, by its repository's uid and its name, that is left out.

    The list may tell of exports that are gone, and of places that are given up.
    """
    for listed in engine.exports.listed_exports():
        if (listed.repository_uid, listed.branch) == but or find(listed.places) is None:
            continue
        record = engine.exports.listed_record(listed)
        found = None if record is None else find(places_of(record))
        if record is None or found is None:
            continue
        repository = engine.refs.repository(listed.repository)
        is_gone = repository is None or repository.uid != listed.repository_uid
        is_leaving = is_gone or record.is_forgotten
        if not is_leaving or has_runner(record, engine.clock.now_ns()):
            yield _Met(listed, found, is_leaving)
