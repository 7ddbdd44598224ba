"""A table's metadata while the updates of one commit are applied to them."""

import re
from collections.abc import Callable, Collection, Mapping
from typing import Any

from msgspec import Struct

from graveler.errors import InvalidInputError
from graveler.iceberg.metadata import by_id, check_metadata, current_snapshot_id
from graveler.iceberg.shapes import Document

_VERSIONS_KEPT = "write.metadata.previous-versions-max"

# In place of an ID: the last one that the commit added.
_LAST_ADDED = -1


class Numbered(Struct, frozen=True):
    """A list of documents with IDs, one of them chosen: the keys of list, ID and choice.

    first_id is the ID of the first document.
    """

    name: str
    id_name: str
    chosen: str
    first_id: int = 0


SCHEMAS = Numbered("schemas", "schema-id", "current-schema-id")
SPECS = Numbered("partition-specs", "spec-id", "default-spec-id")
ORDERS = Numbered("sort-orders", "order-id", "default-sort-order-id", first_id=1)


class Draft:
    """The fields of the next metadata. The base shares values: they are replaced, never changed."""

    def __init__(self, base: Document) -> None:
        self.fields: dict[str, Any] = dict(base)
        self.added_snapshots: dict[int, int] = {}  # the time of each in ms, by ID
        self.new_mains: list[int] = []  # the IDs of current snapshots, in order
        self._base = base
        self._last_added: dict[str, int] = {}

    @property
    def version(self) -> int:
        """The format version."""
        found: int = self.fields["format-version"]
        return found

    def add(
        self,
        kind: Numbered,
        document: Document,
        is_same: Callable[[Document, Document], bool],
        number: int | None = None,
    ) -> bool:
        """Add a document unless the list has the same one; return whether it was added.

        It gets the next ID if number is None. -1 names it in a later choice, also if it was there.
        """
        known = self.fields[kind.name]
        same = next((each for each in known if is_same(document, each)), None)
        if same is None:
            following = max((each[kind.id_name] for each in known), default=kind.first_id - 1) + 1
            same = {**document, kind.id_name: following if number is None else number}
            self.fields[kind.name] = [*known, same]
        self._last_added[kind.name] = same[kind.id_name]
        return self.fields[kind.name] is not known

    def choose(self, kind: Numbered, number: int) -> None:
        """Make the document with the ID the current or default one; -1 names the last added one.

        Raises:
            InvalidInputError: there is none.
        """
        if number == _LAST_ADDED:
            number = self._last_added.get(kind.name, _LAST_ADDED)
        by_id(self.fields[kind.name], kind.id_name, number)
        self.fields[kind.chosen] = number

    def drop(self, kind: Numbered, numbers: Collection[int]) -> None:
        """Remove the documents with the IDs, of which some may be unknown.

        Raises:
            InvalidInputError: one of them is current or the default.
        """
        if self.fields[kind.chosen] in numbers:
            raise InvalidInputError(f"{kind.chosen} {self.fields[kind.chosen]} cannot be removed")
        self.replace(kind.name, without=lambda each: each[kind.id_name] in numbers)

    def replace(
        self, name: str, *, without: Callable[[Document], bool], new: Document | None = None
    ) -> None:
        """Remove documents from a list, and add a new one at its end."""
        kept = [each for each in self.fields.get(name, ()) if not without(each)]
        if new is not None or len(kept) < len(self.fields.get(name, ())):
            self.fields[name] = kept if new is None else [*kept, new]

    def finished(self, time_ms: int, previous_file: str | None) -> Document:
        """Return the metadata, or the base if nothing changed.

        Args:
            time_ms: the time of the commit.
            previous_file: the location of the base, for the log of metadata files.

        Raises:
            InvalidInputError: the updates contradict each other, or what they leave.
        """
        if self.fields == self._base:
            return self._base
        fields = self.fields
        current = current_snapshot_id(fields)
        if current is None:
            fields["current-snapshot-id"] = -1 if self.version < 3 else None
        fields["snapshot-log"] = self._snapshot_log(current, time_ms)
        if previous_file is not None:
            entry = {"timestamp-ms": self._base["last-updated-ms"], "metadata-file": previous_file}
            # The new entry counts.
            kept = max(1, number_property(fields["properties"], _VERSIONS_KEPT, 100)) - 1
            log = fields["metadata-log"]
            fields["metadata-log"] = [*log[len(log) - kept if kept < len(log) else 0 :], entry]
        fields["last-updated-ms"] = time_ms
        check_metadata(fields)
        # Readers of version 1 find the current schema and the default spec in fields of their own.
        for kind, name in ((SCHEMAS, "schema"), (SPECS, "partition-spec")):
            fields.pop(name, None)
            if self.version == 1:
                chosen = by_id(fields[kind.name], kind.id_name, fields[kind.chosen])
                fields[name] = chosen if kind is SCHEMAS else chosen["fields"]
        return fields

    def _snapshot_log(self, current: int | None, time_ms: int) -> list[Document]:
        """Return the log of current snapshots.

        A snapshot that the commit added and left again was never current. History before a removed
        snapshot is dropped: with a gap, an older one would seem to have been current for longer.
        """
        log: list[Document] = self.fields["snapshot-log"] + [
            {"timestamp-ms": self.added_snapshots.get(main, time_ms), "snapshot-id": main}
            for main in self.new_mains
            if main == current or main not in self.added_snapshots
        ]
        removed = _snapshot_ids(self._base) - _snapshot_ids(self.fields)
        gaps = [n for n, each in enumerate(log) if each["snapshot-id"] in removed]
        return log[gaps[-1] + 1 :] if gaps else log


def number_property(properties: Mapping[str, str], name: str, default: int) -> int:
    """Return a property that is a whole number.

    Raises:
        InvalidInputError: it is another text.
    """
    text = properties.get(name, str(default))
    if not re.fullmatch(r"-?[0-9]{1,9}", text):
        raise InvalidInputError(f"property {name} is {text!r}: set a whole number")
    return int(text)


def _snapshot_ids(metadata: Document) -> set[int]:
    return {each["snapshot-id"] for each in metadata["snapshots"]}
