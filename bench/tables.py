"""Commits to Iceberg tables: `python -m bench.tables`, with its own stack.

Beside it, in the same run, PyIceberg's own catalogue over SQLite, on local files. PyIceberg is the
client of both. A commit sets a property, and writes no data file: so the catalogues are measured.
"""

import threading
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import boto3
import msgspec
import requests
from pyiceberg.catalog import Catalog, load_catalog
from pyiceberg.exceptions import CommitFailedException
from pyiceberg.schema import Schema
from pyiceberg.types import LongType, NestedField
from sqlalchemy.exc import OperationalError

from bench.figures import Figure
from bench.report import printed
from tests.support.servers.stack import BUCKET, Stack

_SECONDS = 8.0
_WRITERS = 8
_SNAPSHOTS = 5_000
_LOADS = 20
_SCHEMA = Schema(NestedField(1, "id", LongType()))
_LOST = (CommitFailedException, OperationalError)  # SQLite is locked by another writer


def _commits_per_s(connect: Callable[[], Catalog], tables: int) -> float:
    """Return the rate at which the writers commit to the tables, in all."""
    made: list[int] = []
    until = time.monotonic() + _SECONDS

    def write(number: int) -> None:
        catalog, done = connect(), 0
        table = catalog.load_table(f"bench.t{number % tables}")
        while time.monotonic() < until:
            try:
                table.transaction().set_properties(n=f"{number}-{done}").commit_transaction()
                done += 1
            except _LOST:
                table.refresh()
        made.append(done)

    threads = [threading.Thread(target=write, args=(number,)) for number in range(_WRITERS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return sum(made) / _SECONDS


def _with_snapshots(metadata: Mapping[str, Any]) -> dict[str, Any]:
    location, first_ms = metadata["location"], metadata["last-updated-ms"] - _SNAPSHOTS
    snapshots = [
        {
            "snapshot-id": number,
            "sequence-number": number,
            "timestamp-ms": first_ms + number,
            "manifest-list": f"{location}/metadata/snap-{number}-1-0123456789abcdef.avro",
            "summary": {"operation": "append", "added-records": "1000", "total-records": "1000"},
            "schema-id": 0,
        }
        for number in range(1, _SNAPSHOTS + 1)
    ]
    return {
        **metadata,
        "snapshots": snapshots,
        "snapshot-log": [
            {"snapshot-id": each["snapshot-id"], "timestamp-ms": each["timestamp-ms"]}
            for each in snapshots
        ],
        "refs": {"main": {"snapshot-id": _SNAPSHOTS, "type": "branch"}},
        "current-snapshot-id": _SNAPSHOTS,
        "last-sequence-number": _SNAPSHOTS,
    }


def _figures(connect: Callable[[], Catalog], put: Callable[[str, bytes], None]) -> Iterator[Figure]:
    catalog = connect()
    catalog.create_namespace("bench")
    for number in range(_WRITERS):
        catalog.create_table(f"bench.t{number}", _SCHEMA)
    yield Figure(f"commits, {_WRITERS} writers of one table", _commits_per_s(connect, 1), "/s")
    of_each = _commits_per_s(connect, _WRITERS)
    yield Figure(f"commits, {_WRITERS} writers of a table each", of_each, "/s")
    large = catalog.create_table("bench.large", _SCHEMA)
    metadata = msgspec.json.decode(large.metadata.model_dump_json())
    uri = large.metadata_location.replace("/00000-", "/00001-")
    put(uri, msgspec.json.encode(_with_snapshots(metadata)))
    catalog.drop_table("bench.large")
    catalog.register_table("bench.large", uri)
    start = time.perf_counter()
    for _ in range(_LOADS):
        catalog.load_table("bench.large")
    took_ms = (time.perf_counter() - start) / _LOADS * 1000
    yield Figure(f"load of a table with {_SNAPSHOTS:,} snapshots", took_ms, "ms")


def main() -> None:
    with TemporaryDirectory(prefix="bench-") as name:
        folder = Path(name)
        stack = Stack(folder / "stack")
        keys = stack.access_key_id, stack.secret_access_key
        lake = {"name": "bench", "storage_namespace": f"s3://{BUCKET}/bench"}
        try:
            made = requests.post(
                f"{stack.endpoint}/api/v1/repositories", json=lake, auth=keys, timeout=60
            )
            made.raise_for_status()
            of_rest = {
                "type": "rest",
                "uri": f"{stack.endpoint}/iceberg/relative_to/bench.main/api",
                "oauth2-server-uri": f"{stack.endpoint}/iceberg/api/v1/oauth/tokens",
                "credential": ":".join(keys),
            }
            s3 = boto3.client(
                "s3",
                "us-east-1",
                endpoint_url=f"http://127.0.0.1:{stack.s3_port}",
                aws_access_key_id=keys[0],
                aws_secret_access_key=keys[1],
            )

            def put(uri: str, content: bytes) -> None:
                bucket, _, key = uri.removeprefix("s3://").partition("/")
                s3.put_object(Bucket=bucket, Key=key, Body=content)

            printed("Graveler", _figures(lambda: load_catalog("lake", **of_rest), put))
        finally:
            stack.stop()
        of_sql = {
            "type": "sql",
            "uri": f"sqlite:///{folder / 'catalog.db'}",
            "warehouse": f"file://{folder}",
        }

        def write(uri: str, content: bytes) -> None:
            Path(uri.removeprefix("file://")).write_bytes(content)

        printed("PyIceberg over SQLite", _figures(lambda: load_catalog("sql", **of_sql), write))


if __name__ == "__main__":
    main()
