"""The objects that a destination holds already: an export of everything copies only the rest."""

from collections.abc import Callable, Iterator
from contextlib import suppress

from graveler.entries import value_entry
from graveler.errors import InvalidInputError
from graveler.export.paths import object_uri
from graveler.export.record import Destination
from graveler.export.work import ExportWork
from graveler.ports import ListedObject, ObjectInfo, ObjectStore

# There may be millions of objects between two keys. After this many, the second is read alone.
_SKIPPED_MAX = 1000


def present_in(
    objects: ObjectStore, work: ExportWork, destination: Destination
) -> Callable[[bytes, bytes], str]:
    """Return a function from key and value to the ETag of an object that needs no copy, else "".

    It is called in key order, and reads one listing of the path meanwhile. An object needs no copy
    if every earlier export wrote this value and the object at the path has its ETag. Other exports
    may have written the same content with other metadata. A listing shows neither metadata nor
    writers, so everything is copied to a path that never was whole.
    """
    bases = [base for base in work.bases if base.id]
    listing = _DestinationListing(objects, work, destination.path)

    def present(key: bytes, value: bytes) -> str:
        if not bases or any(base.get(key) != value for base in bases):
            return ""
        entry = value_entry(value)
        # No object can have this key, or the path must not be listed.
        with suppress(InvalidInputError):
            found = listing.find(object_uri(destination.path, key))
            if found is not None and found.size_bytes == entry.size_bytes:
                return found.checksum if found.checksum == entry.checksum else ""
        return ""

    return present if work.is_whole and destination.was_whole else lambda _key, _value: ""


class _DestinationListing:
    """The objects under a path, read once while ascending URIs are looked up."""

    def __init__(self, objects: ObjectStore, work: ExportWork, path: str) -> None:
        self._objects = objects
        self._work = work
        self._folder = f"{path}/"
        self._listed: Iterator[ListedObject] | None = None
        self._next: ListedObject | None = None

    def find(self, uri: str) -> ListedObject | ObjectInfo | None:
        if self._listed is None:
            # The beginning of a URI sorts before the URI.
            self._listed = self._objects.list_objects(self._folder, uri[:-1])
            self._advance()
        skipped = 0
        while self._next is not None and self._next.uri < uri and skipped < _SKIPPED_MAX:
            self._work.pause()
            self._advance()
            skipped += 1
        if skipped == _SKIPPED_MAX:
            return self._objects.head(uri)
        return self._next if self._next is not None and self._next.uri == uri else None

    def _advance(self) -> None:
        assert self._listed is not None
        self._next = None  # also if the path must not be listed
        self._next = next(self._listed, None)
