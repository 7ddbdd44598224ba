"""The capacity units of a request, by place. README.md has the sources."""

from collections.abc import Iterator
from math import ceil
from typing import Any

from bench.scale.partitions import Demand, Position, hashed
from tests.support.fakes.dynamodb.service import Service
from tests.support.fakes.dynamodb.tables import Key
from tests.support.fakes.dynamodb.values import Item, item_size, order_of

WRITE_UNIT_BYTES = 1024
READ_UNIT_BYTES = 4096
# A transaction prepares each item, then commits it. Checks count as writes.
TRANSACTION_FACTOR = 2

Request = dict[str, Any]


def write_units(size_bytes: int) -> int:
    """Return the units of a plain write, by the larger of the item before and after."""
    return max(1, ceil(size_bytes / WRITE_UNIT_BYTES))


def read_units(size_bytes: int, *, is_consistent: bool) -> float:
    """Return the units of a read, which an item that does not exist costs as well."""
    units = max(1, ceil(size_bytes / READ_UNIT_BYTES))
    return units if is_consistent else units / 2


def demands(service: Service, operation: str, request: Request) -> list[Demand]:
    """Return the demand of each part of a request; a query's is found when it has read its page."""
    return list(_DEMANDS[operation](service, request)) if operation in _DEMANDS else []


def _position(key: Key) -> Position:
    return hashed(key[0]), key[1]


def _written(service: Service, request: Request, factor: int = 1) -> Demand:
    name = request["TableName"]
    new: Item | None = request.get("Item")
    key = service.key(name, new or request["Key"])
    size = max(service.size_bytes(name, key), 0 if new is None else item_size(new))
    return Demand(name, _position(key), factor * write_units(size), is_write=True)


def _read(service: Service, name: str, raw_key: Item, *, is_consistent: bool) -> Demand:
    key = service.key(name, raw_key)
    units = read_units(service.size_bytes(name, key), is_consistent=is_consistent)
    return Demand(name, _position(key), units, is_write=False)


def _of_write(service: Service, request: Request) -> Iterator[Demand]:
    yield _written(service, request)


def _of_get(service: Service, request: Request) -> Iterator[Demand]:
    is_consistent = request.get("ConsistentRead", False)
    yield _read(service, request["TableName"], request["Key"], is_consistent=is_consistent)


def _of_batch_get(service: Service, request: Request) -> Iterator[Demand]:
    for name, asked in request["RequestItems"].items():
        for key in asked["Keys"]:
            is_consistent = asked.get("ConsistentRead", False)
            yield _read(service, name, key, is_consistent=is_consistent)


def _of_batch_write(service: Service, request: Request) -> Iterator[Demand]:
    for name, asked in request["RequestItems"].items():
        for each in asked:
            (parameters,) = each.values()
            yield _written(service, {"TableName": name, **parameters})


def _of_transaction(service: Service, request: Request) -> Iterator[Demand]:
    for action in request["TransactItems"]:
        (parameters,) = action.values()
        yield _written(service, parameters, TRANSACTION_FACTOR)


def _of_query(_service: Service, request: Request) -> Iterator[Demand]:
    """Yield where a page begins; its units are known when it has been read."""
    values = request["ExpressionAttributeValues"]
    first = next((values[name] for name in _FIRST_KEYS if name in values), None)
    sort = b"" if first is None else order_of(first)
    partition_key = order_of(values[":t" if ":t" in values else ":p"])
    yield Demand(request["TableName"], (hashed(partition_key), sort), 0, is_write=False)


# What the adapters call the lower bound of a query's sort keys.
_FIRST_KEYS = (":start", ":low", ":from", ":s")

_DEMANDS = {
    "GetItem": _of_get,
    "PutItem": _of_write,
    "UpdateItem": _of_write,
    "DeleteItem": _of_write,
    "Query": _of_query,
    "BatchGetItem": _of_batch_get,
    "BatchWriteItem": _of_batch_write,
    "TransactWriteItems": _of_transaction,
}
