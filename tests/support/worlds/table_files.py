"""A table whose files are written one by one, as a client writes them."""

from collections.abc import Mapping
from contextlib import suppress
from io import BytesIO
from typing import Any

import fastavro

from graveler.engine import Engine
from graveler.errors import AlreadyExistsError
from graveler.operations.tables import commits, namespaces, tables
from graveler.operations.tables.metadata import IcebergTable
from tests.support.worlds.iceberg_tables import add, request, set_ref

EXISTING, ADDED, DELETED = range(3)

# As DuckDB writes it; others write `"type": "string"`.
_LIST = {
    "type": "record",
    "name": "manifest_file",
    "fields": [{"name": "manifest_path", "type": {"type": "string"}}],
}
_MANIFEST = {
    "type": "record",
    "name": "manifest_entry",
    "fields": [
        {"name": "status", "type": "int"},
        {
            "name": "data_file",
            "type": {
                "type": "record",
                "name": "r2",
                "fields": [{"name": "file_path", "type": "string"}],
            },
        },
    ],
}


def manifest_list(*manifests: str) -> bytes:
    return _avro(_LIST, [{"manifest_path": uri} for uri in manifests])


def manifest(files: Mapping[str, int]) -> bytes:
    """A manifest of files with their status."""
    return _avro(
        _MANIFEST,
        [{"status": status, "data_file": {"file_path": uri}} for uri, status in files.items()],
    )


def _avro(schema: Mapping[str, Any], records: list[dict[str, Any]]) -> bytes:
    content = BytesIO()
    fastavro.writer(content, fastavro.parse_schema(dict(schema)), records, "deflate")
    return content.getvalue()


class WrittenTable:
    """A table of the namespace `sales`."""

    def __init__(self, engine: Engine, repository: str, name: str, branch: str = "main") -> None:
        self.engine = engine
        self.place = (engine, repository, branch)
        self.name = name
        with suppress(AlreadyExistsError):
            namespaces.create(*self.place, ("sales",), {})
        self.table = tables.create(*self.place, ("sales",), name, request())

    def put(self, name: str, content: bytes = b"x") -> str:
        uri = f"{self.table.location}/{name}"
        self.engine.objects.put(uri, content, "application/octet-stream")
        return uri

    def put_manifest(self, name: str, files: Mapping[str, int]) -> str:
        return self.put(name, manifest(files))

    def put_list(self, name: str, *manifests: str) -> str:
        return self.put(name, manifest_list(*manifests))

    def add_snapshot(self, number: int, manifest_list: str, *updates: Any) -> IcebergTable:
        """The table after a commit."""
        snapshot = {
            "snapshot-id": number,
            "sequence-number": number,
            "timestamp-ms": self.table.metadata["last-updated-ms"],
            "manifest-list": manifest_list,
            "summary": {"operation": "append"},
            "schema-id": 0,
        }
        change = commits.TableChange(
            ("sales",), self.name, [], [add(snapshot), set_ref(number), *updates]
        )
        (self.table,) = commits.commit_tables(*self.place, [change])
        return self.table
