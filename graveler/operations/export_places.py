"""No two writers at one place: exports keep away from each other and from repositories.

A configuration is checked before it is stored, and again by the first run that would write at its
places: of two that were stored at the same moment, and did not see each other, none comes to write.
"""

from collections.abc import Callable, Iterator
from typing import TypeVar

from graveler.errors import AlreadyExistsError, InvalidInputError
from graveler.export.addresses import overlap
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
from graveler.operations.every import every_repository

Found = TypeVar("Found")


def check_no_other_export(
    engine: Engine, repository: Repository, branch: str, configuration: ExportConfiguration
) -> None:
    """Refuse a configuration by which the branch's export would meet another branch's.

    Raises:
        AlreadyExistsError: places overlap; the message names the other branch.
    """
    wanted = wanted_places(configuration)
    itself = (repository.uid, branch)
    for listed, (mine, theirs) in _listed(engine, lambda places: clash(wanted, places), itself):
        raise AlreadyExistsError(
            f"{mine!r} overlaps with {theirs!r}, to which branch {listed.branch!r} of "
            f"repository {listed.repository!r} is exported, or was before: choose another place, "
            "or delete the export of that branch"
        )


def check_outside_of_exports(engine: Engine, namespace: str) -> None:
    """Refuse a storage namespace where a branch is exported.

    Raises:
        InvalidInputError: they overlap; the message names the branch.
    """
    for listed, theirs in _listed(engine, lambda places: overlapping(namespace, places)):
        raise InvalidInputError(
            f"storage namespace {namespace!r} overlaps with {theirs!r}, to which branch "
            f"{listed.branch!r} of repository {listed.repository!r} is exported, or was before: "
            "choose another prefix"
        )


def check_outside_of_repositories(engine: Engine, place: str) -> None:
    """Refuse a place that holds, or lies in, the storage namespace of a repository.

    Raises:
        InvalidInputError: it does; the message names the repository.
    """
    for repository in every_repository(engine):
        if overlap(place, repository.storage_namespace):
            raise InvalidInputError(
                f"{place!r} overlaps with the storage namespace of repository "
                f"{repository.name!r}: exports would damage its data; choose another place"
            )


def _listed(
    engine: Engine, find: Callable[[Places], Found | None], but: tuple[str, str] | None = None
) -> Iterator[tuple[ListedExport, Found]]:
    """The listed exports in whose places something is found, by their records as they stand.

    but is the branch, by its repository's uid and its name, that is left out.

    The list may tell of exports that are gone, and of places that are given up.
    """
    for listed in engine.exports.listed_exports():
        if (listed.repository_uid, listed.branch) == but or find(listed.places) is None:
            continue
        repository = engine.refs.repository(listed.repository)
        if repository is None or repository.uid != listed.repository_uid:
            continue
        record = engine.exports.branch_export(repository, listed.branch)
        found = None if record is None else find(places_of(record))
        if found is not None:
            yield listed, found
