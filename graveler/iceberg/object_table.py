"""The table `system.objects` of a commit: a row for each object.

A range of the commit is a Parquet file of the table, with the range's name. So commits that share
ranges share files. All are in a folder of their own under the storage namespace. If columns change,
their files go to another folder, because old files stay as they are.
"""

from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha256

from graveler.addresses import METADATA_FILE_MARK, physical_uri
from graveler.entries import value_entry
from graveler.iceberg.creation import new_metadata
from graveler.iceberg.manifests import DataFile
from graveler.iceberg.metadata import MAIN
from graveler.iceberg.places import OBJECTS, SYSTEM, as_uuid
from graveler.iceberg.shapes import Document
from graveler.iceberg.updates import apply_updates
from graveler.layout import TABLES_FOLDER
from graveler.model import Entry, MetaRangeID, RangeHeader, RangeID, Record
from graveler.parquet import ParquetWriter, int64_column, map_column, text_column, time_column
from graveler.times import NS_PER_S, NS_PER_US

# The IDs of columns, and of what a map contains, as a new table gets them.
_PATH, _SIZE, _CHECKSUM, _TYPE, _TIME, _MAPS, _ADDRESS, _KEYS, _VALUES = range(1, 10)
_METADATA = (_MAPS, _KEYS, _VALUES)

_TEXTS = {"type": "map", "key-id": _KEYS, "key": "string", "value-id": _VALUES, "value": "string"}

# Readers know the years 1 to 9999.
_TIME_NS_MIN, _TIME_NS_MAX = -62_135_596_800 * NS_PER_S, 253_402_300_800 * NS_PER_S - 1

_COLUMNS: Sequence[tuple[int, str, object]] = (
    (_PATH, "path", "string"),
    (_SIZE, "size", "long"),
    (_CHECKSUM, "checksum", "string"),
    (_TYPE, "content_type", "string"),
    (_TIME, "last_modified", "timestamptz"),
    (_MAPS, "user_metadata", {**_TEXTS, "value-required": True}),
    (_ADDRESS, "physical_address", "string"),
)


class ObjectTable:
    """The places of the table's files for one content of the repository, and what they hold."""

    def __init__(self, namespace: str, metarange_id: MetaRangeID) -> None:
        self._namespace = namespace
        self._location = f"{namespace}/{TABLES_FOLDER}{SYSTEM}/{OBJECTS}"
        content = metarange_id or "empty"
        self.metadata_uri = f"{self._location}/metadata/{content}{METADATA_FILE_MARK}"
        self.manifest_uri = f"{self._location}/metadata/{content}-m0.avro"
        self.list_uri = f"{self._location}/metadata/snap-{content}.avro"
        # 63 bits, and never 0
        self.snapshot_id = int.from_bytes(sha256(content.encode()).digest()[:8], "big") >> 1 | 1

    def data_uri(self, range_id: RangeID) -> str:
        """Return the URI of the Parquet file of a range."""
        return f"{self._location}/data/{range_id}.parquet"

    def data(self, records: Iterable[Record]) -> bytes:
        """Return the Parquet file of a range's records."""
        found = [(path, value_entry(value)) for path, value in records]
        paths = [_text(path) for path, _ in found]
        entries = [entry for _, entry in found]
        addresses = [physical_uri(self._namespace, entry) for entry in entries]
        writer = ParquetWriter()
        writer.add_rows(
            [
                text_column("path", paths, _PATH),
                int64_column("size", [each.size_bytes for each in entries], _SIZE),
                text_column("checksum", [each.checksum for each in entries], _CHECKSUM),
                text_column("content_type", [each.content_type for each in entries], _TYPE),
                time_column("last_modified", [_time_us(each) for each in entries], _TIME),
                map_column("user_metadata", [_labels(each) for each in entries], _METADATA),
                text_column("physical_address", addresses, _ADDRESS),
            ]
        )
        return writer.finish()

    def data_file(self, header: RangeHeader, size_bytes: int) -> DataFile:
        """Return what a manifest says of the Parquet file of a range."""
        lower, upper = _bound(header.min_key), _bound(header.max_key)
        return DataFile(self.data_uri(header.id), size_bytes, header.count, lower, upper)

    def metadata(
        self, files: Sequence[DataFile], properties: Mapping[str, str], time_ms: int
    ) -> Document:
        """Return the table's metadata, of one snapshot with the files."""
        fields = [
            {"id": number, "name": name, "required": True, "type": kind}
            for number, name, kind in _COLUMNS
        ]
        schema = {"type": "struct", "fields": fields}
        request = {"name": OBJECTS, "schema": schema, "properties": dict(properties)}
        uuid = as_uuid(sha256(self._location.encode()).hexdigest())
        empty = new_metadata(request, uuid=uuid, location=self._location, time_ms=time_ms)
        summary = {
            "operation": "append",
            "total-data-files": str(len(files)),
            "total-files-size": str(sum(file.size_bytes for file in files)),
            "total-records": str(sum(file.records for file in files)),
        }
        snapshot = {
            "snapshot-id": self.snapshot_id,
            "sequence-number": 1,
            "timestamp-ms": time_ms,
            "manifest-list": self.list_uri,
            "summary": summary,
            "schema-id": empty["current-schema-id"],
        }
        ref = {"ref-name": MAIN, "type": "branch", "snapshot-id": self.snapshot_id}
        updates = [
            {"action": "add-snapshot", "snapshot": snapshot},
            {"action": "set-snapshot-ref", **ref},
        ]
        return apply_updates(empty, updates, time_ms=time_ms, previous_file=None)


def _text(path: bytes) -> bytes:
    return path.decode("utf-8", "replace").encode()


def _bound(path: bytes) -> Mapping[int, bytes]:
    """Return the bound of a file's paths; none if readers could not decode it."""
    return {_PATH: path} if _text(path) == path else {}


def _labels(entry: Entry) -> Mapping[str, str]:
    # Protobuf's order differs in each process, but equal rows must make equal files.
    return dict(sorted(entry.metadata.items()))


def _time_us(entry: Entry) -> int:
    # A client that stages data names their time, which may be any.
    return min(max(entry.last_modified_ns, _TIME_NS_MIN), _TIME_NS_MAX) // NS_PER_US
