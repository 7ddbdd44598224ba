"""Who writes where: two exports that would write over each other are found by their places."""

from collections.abc import Iterable
from dataclasses import dataclass

from graveler.export.addresses import is_within, overlap
from graveler.export.model import BranchExport, ExportConfiguration


@dataclass(frozen=True, slots=True)
class Places:
    """Where a branch's export may write.

    Each path is to hold the objects of this branch and nothing else. Status paths may be shared.
    """

    paths: tuple[str, ...]
    status_paths: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ListedExport:
    """A branch that is exported, as the list of all of them has it."""

    repository: str
    repository_uid: str
    branch: str
    places: Places


def places_of(record: BranchExport) -> Places:
    """Everywhere the branch's export writes or has written, as far as it is known."""
    configurations = [record.configuration]
    if record.run is not None:
        configurations.append(record.run.configuration)
    paths = [each.path for each in configurations] + [each.path for each in record.destinations]
    return Places(_distinct(paths), _distinct(each.status_path for each in configurations))


def wanted_places(configuration: ExportConfiguration) -> Places:
    """Where a run with this configuration writes."""
    return Places((configuration.path,), _distinct([configuration.status_path]))


def clash(one: Places, other: Places) -> tuple[str, str] | None:
    """A place of each, if one export would write into what is to hold the other's objects only."""
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


def overlapping(place: str, places: Places) -> str | None:
    """Which of the places overlaps with a place that is to hold nothing of them."""
    return next(
        (each for each in (*places.paths, *places.status_paths) if overlap(place, each)), None
    )


def _distinct(texts: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(text for text in texts if text))
