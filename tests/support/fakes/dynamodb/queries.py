"""Queries and scans: which items are in a page, and where the next one begins."""

from collections.abc import Callable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from itertools import islice
from operator import ge, gt, le, lt
from typing import Any, NamedTuple

from tests.support.fakes.dynamodb.choices import Choices
from tests.support.fakes.dynamodb.errors import invalid
from tests.support.fakes.dynamodb.expressions import (
    KeyTerm,
    Placeholders,
    Test,
    Values,
    condition,
    key_condition,
    projection,
)
from tests.support.fakes.dynamodb.tables import Attribute, Index, Partition, State, Table
from tests.support.fakes.dynamodb.values import Item, Order, order_of
from tests.support.fakes.dynamodb.writes import Request, names_of, require_all_used, values_of

_PAGE_BYTES_MAX = 1024**2

# An item, where it is in the order of the query, and its size.
Found = tuple[Any, Item, int]
_COMPARED: dict[str, Callable[[Order, Order], bool]] = {"<": lt, "<=": le, ">": gt, ">=": ge}


class _Bounds(NamedTuple):
    """The range keys that a query wants: from low to high, those that pass the test."""

    hash: Order
    low: Order | None
    high: Order | None
    passes: Callable[[Order], bool]


def _is_any(_order: Order) -> bool:
    return True


def _orders(term: KeyTerm, attribute: Attribute, values: Values) -> list[Order]:
    for name in term.values:
        if attribute.kind not in values[name]:
            raise invalid(
                "One or more parameter values were invalid: "
                "Condition parameter type does not match schema type"
            )
    orders = [order_of(values[name]) for name in term.values]
    if b"" in orders:
        raise invalid(
            "One or more parameter values are not valid. The AttributeValue for a key attribute "
            f"cannot contain an empty string value. Key: {attribute.name}"
        )
    return orders


def _bounds(
    terms: Sequence[KeyTerm], hash_key: Attribute, range_key: Attribute, values: Values
) -> _Bounds:
    named = {term.attribute: term for term in terms}
    first = named.pop(hash_key.name, None)
    if first is None:
        raise invalid(f"Query condition missed key schema element: {hash_key.name}")
    if first.comparison != "=":
        raise invalid("Query key condition not supported")
    if len(named) + 1 < len(terms):
        raise invalid("KeyConditionExpressions must only contain one condition per key")
    [hash_order] = _orders(first, hash_key, values)
    term = named.pop(range_key.name, None)
    if named:
        raise invalid(f"Query condition missed key schema element: {range_key.name}")
    if term is None:
        return _Bounds(hash_order, None, None, _is_any)
    orders = _orders(term, range_key, values)
    if term.comparison == "BETWEEN":
        if orders[0] > orders[1]:
            raise invalid(
                "Invalid KeyConditionExpression: The BETWEEN operator requires upper bound "
                "to be greater than or equal to lower bound"
            )
        return _Bounds(hash_order, orders[0], orders[1], _is_any)
    [order] = orders
    if term.comparison == "begins_with":
        if range_key.kind == "N":
            raise invalid(
                "Invalid KeyConditionExpression: Incorrect operand type for operator or function; "
                "operator or function: begins_with, operand type: N"
            )
        end = order.rstrip(b"\xff")
        end = end[:-1] + bytes([end[-1] + 1]) if end else None
        return _Bounds(hash_order, order, end, lambda found: bool(found.startswith(order)))
    if term.comparison == "=":
        return _Bounds(hash_order, order, order, _is_any)
    low, high = (order, None) if term.comparison in (">", ">=") else (None, order)
    compare = _COMPARED[term.comparison]
    return _Bounds(hash_order, low, high, lambda found: compare(found, order))


class _Page(NamedTuple):
    """How a query or a scan reads, beside its key condition."""

    is_forward: bool
    limit: int | None
    passes: Test | None
    values: Values
    attributes: Callable[[Item], Item]
    only_counts: bool
    # The key of an item, as LastEvaluatedKey has it.
    key: Callable[[Item], Item]

    def answer(self, found: Iterator[Found], choices: Choices) -> dict[str, Any]:
        """Return the page that begins with the first of the items found."""
        limit = self.limit
        page = list(islice(found, limit))
        ends = limit is not None and len(page) == limit
        size = 0
        for number, (_, _, item_bytes) in enumerate(page):
            size += item_bytes
            if size > _PAGE_BYTES_MAX and number:
                page, ends = page[:number], True
                break
        if page:
            amount = choices.page_items(len(page))
            ends = ends or amount < len(page) or choices.promises_more()
            del page[amount:]
        choices.has_read(sum([item_bytes for _, _, item_bytes in page]))
        items = [item for _, item, _ in page]
        if self.passes is not None:
            items = [item for item in items if self.passes(item, self.values)]
        answer: dict[str, Any] = {"Count": len(items), "ScannedCount": len(page)}
        if not self.only_counts:
            answer["Items"] = [self.attributes(item) for item in items]
        if page and ends:
            answer["LastEvaluatedKey"] = self.key(page[-1][1])
        return answer


def _page(
    request: Request,
    key: Callable[[Item], Item],
    uses: Sequence[Placeholders] = (),
    key_names: AbstractSet[str] = frozenset(),
) -> _Page:
    names, values = names_of(request), values_of(request)
    used = list(uses)
    passes, attributes = None, _whole
    if "FilterExpression" in request:
        found = condition("FilterExpression", request["FilterExpression"], names)
        for name in found.attributes & key_names:
            raise invalid(
                "Filter Expression can only contain non-primary key attributes: "
                f"Primary key attribute: {name}"
            )
        passes = found.holds
        used.append(found.uses)
    if "ProjectionExpression" in request:
        projected = projection(request["ProjectionExpression"], names)
        attributes = projected.of
        used.append(projected.uses)
    require_all_used(names, values, *used)
    limit = request.get("Limit")
    if limit is not None and limit < 1:
        raise invalid(
            f"1 validation error detected: Value '{limit}' at 'limit' failed to satisfy "
            "constraint: Member must have value greater than or equal to 1"
        )
    only_counts = request.get("Select") == "COUNT"
    is_forward = request.get("ScanIndexForward", True)
    return _Page(is_forward, limit, passes, values, attributes, only_counts, key)


def _whole(item: Item) -> Item:
    return item


def query(table: Table, request: Request, choices: Choices) -> dict[str, Any]:
    """Return a page of a query of the table, or of its index."""
    schema = table.schema
    is_consistent = request.get("ConsistentRead", False)
    names, values = names_of(request), values_of(request)
    terms, uses = key_condition(request["KeyConditionExpression"], names)
    if "IndexName" not in request:
        page = _page(request, schema.key_attributes, [uses], {schema.hash.name, schema.range.name})
        bounds = _bounds(terms, schema.hash, schema.range, values)
        start = request.get("ExclusiveStartKey")
        after = None if start is None else _start(bounds, *schema.key_of(start))
        partition = table.partitions.get(bounds.hash)
        stale_by = _current if is_consistent else choices.stale_by
        return page.answer(_read(partition, bounds, page.is_forward, after, stale_by), choices)
    index = next((each for each in schema.indexes if each.name == request["IndexName"]), None)
    if index is None:
        raise invalid(f"The table does not have the specified index: {request['IndexName']}")
    if is_consistent:
        raise invalid("Consistent reads are not supported on global secondary indexes")

    def key(item: Item) -> Item:
        return {**schema.key_attributes(item), index.range.name: item[index.range.name]}

    page = _page(request, key, [uses], {schema.hash.name, index.range.name})
    bounds = _bounds(terms, schema.hash, index.range, values)
    start = request.get("ExclusiveStartKey")
    position = None
    if start is not None:
        if start.keys() != {schema.hash.name, schema.range.name, index.range.name}:
            raise invalid("The provided starting key is invalid")
        hash_order, range_order = schema.key_in(start)
        index_order = order_of(start[index.range.name])
        position = (_start(bounds, hash_order, index_order), range_order)
    entries = _index_entries(table, index, bounds, choices)
    found = _after(entries, position, is_forward=page.is_forward)
    return page.answer(found, choices)


def scan(table: Table, request: Request, choices: Choices) -> dict[str, Any]:
    """Return a page of a scan, which reads the partitions in the order of their keys."""
    schema = table.schema
    page = _page(request, schema.key_attributes)
    stale_by = _current if request.get("ConsistentRead", False) else choices.stale_by
    entries = [
        ((hash_order, entry[0]), *entry[1:])
        for hash_order in sorted(table.partitions)
        for entry in _read(
            table.partitions[hash_order],
            _Bounds(hash_order, None, None, _is_any),
            True,
            None,
            stale_by,
        )
    ]
    start = request.get("ExclusiveStartKey")
    position = None if start is None else schema.key_of(start)
    return page.answer(_after(entries, position, is_forward=True), choices)


def _current(_writes: int) -> int:
    return 0


def _start(bounds: _Bounds, hash_order: Order, range_order: Order) -> Order:
    """Return the range key of a starting key, which must be inside of the bounds."""
    is_inside = (
        hash_order == bounds.hash
        and (bounds.low is None or range_order >= bounds.low)
        and (bounds.high is None or range_order <= bounds.high)
        and bounds.passes(range_order)
    )
    if not is_inside:
        raise invalid(
            "The provided starting key is outside query boundaries based on provided conditions"
        )
    return range_order


def _read(
    partition: Partition | None,
    bounds: _Bounds,
    is_forward: bool,
    after: Order | None,
    stale_by: Callable[[int], int],
) -> Iterator[Found]:
    if partition is None:
        return
    low, high = bounds.low, bounds.high
    if after is not None:
        low, high = (after, high) if is_forward else (low, after)
    for order in partition.between(low, high, is_forward=is_forward):
        if order != after and bounds.passes(order):
            state = _seen(partition.states[order], stale_by)
            if state.item is not None:
                yield order, state.item, state.size


def _seen(state: State, stale_by: Callable[[int], int]) -> State:
    return state.before(stale_by(state.writes))


def _index_entries(table: Table, index: Index, bounds: _Bounds, choices: Choices) -> list[Found]:
    partition = table.partitions.get(bounds.hash)
    entries: list[Found] = []
    for order in () if partition is None else partition.orders:
        assert partition is not None
        state = _seen(partition.states[order], choices.index_stale_by)
        value = None if state.item is None else state.item.get(index.range.name)
        if state.item is None or value is None:
            continue
        index_order = order_of(value)
        is_inside = (bounds.low is None or index_order >= bounds.low) and (
            bounds.high is None or index_order <= bounds.high
        )
        if is_inside and bounds.passes(index_order):
            entries.append(((index_order, order), state.item, state.size))
    return sorted(entries, key=lambda entry: entry[0])


def _after(entries: list[Found], position: Any, *, is_forward: bool) -> Iterator[Found]:
    for entry in entries if is_forward else reversed(entries):
        if position is None or (entry[0] > position if is_forward else entry[0] < position):
            yield entry
