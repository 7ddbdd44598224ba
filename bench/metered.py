"""An engine over local servers that counts its requests and DynamoDB's capacity units."""

import time
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import msgspec

from bench.prices import Usage
from graveler.aws.connect import Clients, dynamodb_over
from graveler.aws.dynamodb.http_client import DynamoDBHttpClient
from graveler.aws.dynamodb.tables import Raw, Tables
from graveler.aws.exchanges.buffered import BufferedResponse, Pending
from graveler.aws.s3.client import S3
from graveler.aws.s3.committed_files import S3CommittedFiles
from graveler.aws.s3.file_cache import CachedFiles
from graveler.aws.s3.objects import S3ObjectStore
from graveler.aws.settings import DeploymentSettings
from graveler.aws.signing import Signer
from graveler.aws.wiring import Adapters
from graveler.committed.store import Committed

_READS = frozenset({"BatchGetItem", "GetItem", "Query", "Scan"})
# Requests that S3 bills as a GET, and those that are free; it bills all others as a PUT.
_S3_READS = frozenset({"GetObject", "HeadObject", "HeadBucket"})
_S3_FREE = frozenset({"AbortMultipartUpload", "DeleteObject", "DeleteObjects"})


class _Metered:
    """A pending answer whose capacity units are counted."""

    def __init__(self, pending: Pending, operation: str, request: Raw, units: Counter[str]) -> None:
        self._pending = pending
        self._operation = operation
        self._request = request
        self._units = units

    def finish(self) -> BufferedResponse:
        answer = self._pending.finish()
        consumed = msgspec.json.decode(answer.body).get("ConsumedCapacity") or []
        told = consumed if isinstance(consumed, list) else [consumed]
        units = sum(each["CapacityUnits"] for each in told)
        # DynamoDB Local tells too few for transactions of several parts.
        parts = self._request.get("TransactItems", ())
        kind = "read" if self._operation in _READS else "write"
        self._units[kind] += max(units, sum(map(_units_of_part, parts)))
        return answer

    def abandon(self) -> None:
        self._pending.abandon()


def _units_of_part(part: Raw) -> int:
    """Return the write units of a transaction's part: AWS documents two for each KB of its item.

    Items of updates, deletions and checks are small.
    """
    item = part.get("Put", {}).get("Item", {})
    return 2 * max(1, -(-len(msgspec.json.encode(item)) // 1024))


class _MeteredHttp(DynamoDBHttpClient):
    """Asks DynamoDB for the capacity of each request; local servers do not check signatures."""

    def __init__(self, endpoint: str, units: Counter[str]) -> None:
        super().__init__(endpoint)
        self._units = units

    def begin(self, headers: Mapping[str, str], body: bytes) -> Pending:
        request = msgspec.json.decode(body) | {"ReturnConsumedCapacity": "TOTAL"}
        operation = headers["x-amz-target"].rpartition(".")[2]
        pending = super().begin(headers, msgspec.json.encode(request))
        return _Metered(pending, operation, request, self._units)  # type: ignore[return-value] # by methods


@dataclass
class Meter:
    """An engine on local servers that counts requests."""

    settings: DeploymentSettings
    units: Counter[str] = field(default_factory=Counter)
    to_s3: Counter[str] = field(default_factory=Counter)
    round_trips: int = 0

    def __post_init__(self) -> None:
        http = _MeteredHttp(self.settings.dynamodb_endpoint or "", self.units)
        clients = Clients(self.settings)
        signer = Signer(self.settings.region, clients.credentials)
        dynamodb = dynamodb_over(http, signer, observe=self._round_trip)
        self.tables = Tables(self.settings.refs_table, self.settings.staging_table, dynamodb)
        clients.s3.meta.events.register("before-call.s3", self._request_to_s3)
        s3 = S3(clients.s3)
        files = CachedFiles(
            S3CommittedFiles(s3),
            Path(self.settings.file_cache_folder),
            self.settings.file_cache_bytes_max,
            self.settings.file_cache_reads,
        )
        self.engine = replace(
            Adapters(self.settings, self.tables).engine_signing(b"signing key"),
            objects=S3ObjectStore(s3),
            committed=Committed(files),
        )

    def _round_trip(self, _operation: str) -> None:
        self.round_trips += 1

    def _request_to_s3(self, model: Any, **_: object) -> None:  # noqa: ANN401 - botocore's
        self.to_s3[model.name] += 1

    def use(self, do: Callable[[], object], events: int = 0) -> Usage:
        """Return the usage of the action."""
        self.units.clear()
        self.to_s3.clear()
        self.round_trips = 0
        started = time.process_time()
        do()
        cpu_ms = 1e3 * (time.process_time() - started)
        reads = sum(self.to_s3[name] for name in _S3_READS)
        free = sum(self.to_s3[name] for name in _S3_FREE)
        return Usage(
            round_trips=self.round_trips,
            read_units=self.units["read"],
            write_units=self.units["write"],
            s3_writes=self.to_s3.total() - reads - free,
            s3_reads=reads,
            cpu_ms=cpu_ms,
            events=events,
        )
