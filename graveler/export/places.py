"""The places where exports write, and which of them would overwrite each other."""

from collections.abc import Iterable
from dataclasses import dataclass

from graveler.export.addresses import is_within, overlap
from graveler.export.record import BranchExport, ExportConfiguration
from graveler.model import RepositoryUID


@dataclass(frozen=True, slots=True)
class Places:
    """Where a branch's export may write.

    Each path belongs to this branch alone. Branches may share a status path.
    """

    paths: tuple[str, ...]
    status_paths: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ListedExport:
    """An exported branch in the list of all exports."""

    repository: str
    repository_uid: RepositoryUID
    branch: str
    places: Places


def places_of(record: BranchExport) -> Places:
    """Return all known places where the branch's export writes or has written."""
    configurations = [record.configuration]
    if record.run is not None:
        configurations.append(record.run.configuration)
    paths = [each.path for each in configurations] + [each.path for each in record.destinations]
    return Places(_distinct(paths), _distinct(each.status_path for each in configurations))


def wanted_places(configuration: ExportConfiguration) -> Places:
    """Return the places where a run with this configuration writes."""
    return Places((configuration.path,), _distinct([configuration.status_path]))


def clash(one: Places, other: Places) -> tuple[str, str] | None:
    """Return a place of each if one export would write into a path of the other; else None."""
    for path in one.paths:
        for theirs in other.paths:
            if overlap(path, theirs):
                return path, theirs
        for theirs in other.status_paths:
            if is_within(theirs, path):
                return path, theirs
    for status_path in one.status_paths:
        for theirs in other.paths:
            if is_within(status_path, theirs):
                return status_path, theirs
    return None


def overlapping_place(place: str, places: Places) -> str | None:
    """Return one of the places that overlaps with place; None if there is none."""
    return next(
        (each for each in (*places.paths, *places.status_paths) if overlap(place, each)), None
    )


def _distinct(texts: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(text for text in texts if text))
