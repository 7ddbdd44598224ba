"""The files that a table's metadata name."""

from collections.abc import Iterator
from enum import StrEnum

from graveler.iceberg.shapes import Document


class FileKind(StrEnum):
    """What a file of a table names further files by."""

    MANIFEST_LIST = "manifest list"
    MANIFEST = "manifest"
    OTHER = "other"


def named_files(metadata: Document) -> Iterator[tuple[FileKind, str]]:
    """Yield the URIs of the files that the metadata name: those of all snapshots, and statistics.

    Earlier metadata files are left out: no reader needs them.
    """
    for snapshot in metadata["snapshots"]:
        if snapshot.get("manifest-list") is not None:
            yield FileKind.MANIFEST_LIST, snapshot["manifest-list"]
        else:  # of the first writers
            yield from ((FileKind.MANIFEST, uri) for uri in snapshot["manifests"])
    for name in ("statistics", "partition-statistics"):
        yield from ((FileKind.OTHER, each["statistics-path"]) for each in metadata[name])
