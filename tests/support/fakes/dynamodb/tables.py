"""The tables of the fake: schemas, items with their earlier states, and forks."""

from bisect import bisect_left, bisect_right, insort
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from tests.support.fakes.dynamodb.errors import ServiceError, UnknownFormError, invalid
from tests.support.fakes.dynamodb.values import Item, Order, Value, item_size, kind_of, order_of

_ITEM_BYTES_MAX = 400 * 1024
_HASH_BYTES_MAX = 2048
_RANGE_BYTES_MAX = 1024

# What sorts the hash key and the range key.
Key = tuple[Order, Order]


class State(NamedTuple):
    """An item after a write; None if it does not exist. `earlier` is the state before."""

    item: Item | None
    size: int = 0
    writes: int = 0
    earlier: "State | None" = None

    def before(self, writes: int) -> "State":
        """Return the state before the last writes."""
        state = self
        for _ in range(writes):
            assert state.earlier is not None
            state = state.earlier
        return state


NEVER_WRITTEN = State(None)


class Attribute(NamedTuple):
    """An attribute of a key, and its type."""

    name: str
    kind: str


class Index(NamedTuple):
    """A global index; its hash key is the table's."""

    name: str
    range: Attribute


@dataclass(frozen=True, slots=True)
class Schema:
    """A table's keys and indexes, and the request that created it."""

    name: str
    hash: Attribute
    range: Attribute
    indexes: tuple[Index, ...]
    description: dict[str, Any]

    def key_of(self, key: Item) -> Key:
        """Return the order of a request's key, which has no other attributes."""
        if len(key) != 2:
            raise invalid("The provided key element does not match the schema")
        return self.key_in(key)

    def key_in(self, item: Item) -> Key:
        """Return the order of an item's key."""
        return (
            self._order(item, self.hash, _HASH_BYTES_MAX, "hashkey"),
            self._order(item, self.range, _RANGE_BYTES_MAX, "rangekey"),
        )

    @staticmethod
    def _order(item: Item, attribute: Attribute, bytes_max: int, place: str) -> Order:
        value = item.get(attribute.name)
        if value is None:
            raise invalid(
                "One or more parameter values were invalid: "
                f"Missing the key {attribute.name} in the item"
            )
        if attribute.kind not in value:
            raise invalid(
                f"One or more parameter values were invalid: Type mismatch for key {attribute.name} "
                f"expected: {attribute.kind} actual: {kind_of(value)}"
            )
        order = order_of(value)
        if attribute.kind == "N":
            return order
        if not order:
            raise invalid(
                "One or more parameter values are not valid. The AttributeValue for a key attribute "
                f"cannot contain an empty string value. Key: {attribute.name}"
            )
        if len(order) > bytes_max:
            raise invalid(
                f"One or more parameter values were invalid: Size of {place} has exceeded "
                f"the maximum size limit of{bytes_max} bytes"
            )
        return order

    def require_storable(self, item: Item, size: int, *, is_update: bool) -> None:
        """Refuse an item that is too large, or has a wrong type in an index's key."""
        if size > _ITEM_BYTES_MAX:
            raise invalid(
                "Item size to update has exceeded the maximum allowed size"
                if is_update
                else "Item size has exceeded the maximum allowed size"
            )
        for index in self.indexes:
            value = item.get(index.range.name)
            if value is not None and index.range.kind not in value:
                raise invalid(
                    "One or more parameter values were invalid: Type mismatch for Index Key "
                    f"{index.range.name} Expected: {index.range.kind} Actual: {kind_of(value)} "
                    f"IndexName: {index.name}"
                )

    def key_attributes(self, item: Item) -> Item:
        """Return the item's primary key."""
        return {each.name: item[each.name] for each in (self.hash, self.range)}


class Partition:
    """The items of one hash key, by range key; also those that were deleted."""

    __slots__ = ("orders", "states")

    def __init__(self, orders: list[Order], states: dict[Order, State]) -> None:
        self.orders = orders
        self.states = states

    def between(
        self, low: Order | None, high: Order | None, *, is_forward: bool
    ) -> Iterator[Order]:
        """Yield the orders with low <= order <= high, the greatest first unless is_forward."""
        first = 0 if low is None else bisect_left(self.orders, low)
        end = len(self.orders) if high is None else bisect_right(self.orders, high)
        found = self.orders[first:end]
        yield from found if is_forward else reversed(found)


@dataclass(slots=True)
class Table:
    """A table: its partitions, by hash key."""

    schema: Schema
    partitions: dict[Order, Partition] = field(default_factory=dict)

    def fork(self) -> "Table":
        """Return a copy; the states are shared, because they never change."""
        copies = {
            order: Partition(each.orders.copy(), each.states.copy())
            for order, each in self.partitions.items()
        }
        return Table(self.schema, copies)

    def state(self, key: Key) -> State:
        """Return the current state of an item."""
        partition = self.partitions.get(key[0])
        return NEVER_WRITTEN if partition is None else partition.states.get(key[1], NEVER_WRITTEN)

    def write(self, key: Key, item: Item | None) -> State:
        """Store a state; return the one before."""
        partition = self.partitions.get(key[0])
        if partition is None:
            partition = self.partitions[key[0]] = Partition([], {})
        before = partition.states.get(key[1])
        if before is None:
            before = NEVER_WRITTEN
            insort(partition.orders, key[1])
        size = 0 if item is None else item_size(item)
        partition.states[key[1]] = State(item, size, before.writes + 1, before)
        return before

    def items(self, hash_value: Value) -> list[Item]:
        """Return the current items of a partition, in order."""
        partition = self.partitions.get(order_of(hash_value))
        if partition is None:
            return []
        states = (partition.states[order] for order in partition.orders)
        return [state.item for state in states if state.item is not None]


_CREATION = frozenset(
    {
        "TableName",
        "BillingMode",
        "AttributeDefinitions",
        "KeySchema",
        "GlobalSecondaryIndexes",
        "StreamSpecification",
    }
)


def schema_of(request: dict[str, Any]) -> Schema:
    """Return the schema that a CreateTable describes."""
    if not request.keys() <= _CREATION:
        raise UnknownFormError(f"CreateTable with {sorted(request.keys() - _CREATION)}")
    kinds = {
        each["AttributeName"]: each["AttributeType"] for each in request["AttributeDefinitions"]
    }

    def keys(description: dict[str, Any]) -> list[Attribute]:
        names = [each["AttributeName"] for each in description["KeySchema"]]
        if [each["KeyType"] for each in description["KeySchema"]] != ["HASH", "RANGE"]:
            raise UnknownFormError("a key that is not a hash key and a range key")
        return [Attribute(name, kinds[name]) for name in names]

    hash_key, range_key = keys(request)
    indexes = []
    for each in request.get("GlobalSecondaryIndexes", ()):
        index_hash, index_range = keys(each)
        if index_hash != hash_key or each["Projection"] != {"ProjectionType": "ALL"}:
            raise UnknownFormError("an index with another hash key, or with few attributes")
        indexes.append(Index(each["IndexName"], index_range))
    return Schema(request["TableName"], hash_key, range_key, tuple(indexes), request)


def table_missing() -> ServiceError:
    """Return the refusal of a request for an unknown table."""
    return ServiceError("ResourceNotFoundException", "Requested resource not found")


Find = Callable[[str], Table]
