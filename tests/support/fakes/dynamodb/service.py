"""A fake of DynamoDB's API: the operations, limits and refusals that the adapters meet.

The service is a state machine of items in memory, as weak as DynamoDB documents itself to be.
`Choices` decides each weakness. The real client, its decoders and the models run unchanged over it:

    service = Service(WorstChoices())
    tables = Tables("refs", "staging", DynamoDB(ServiceHttp(service), Signer(REGION, Keys)))
    tables.create()

- `service.answer(operation, request)` returns the document of an answer, or raises ServiceError.
  `ServiceHttp` is the transport over it. What gets lost on the way is not the service's business.
- `service.fork(choices)` returns a copy. It costs a few microseconds for each partition.
- `service.items(table, partition)` returns current items without a request.
- `service.key(table, item)` and `service.size_bytes(table, key)` say where an item is, and how large.
- `service.observe(table, old, new)` is called for each write, when it becomes visible.
- `service.now_s` is the clock that client request tokens are remembered by.

A transaction checks all conditions at one moment. Then its writes become visible one by one, and
`Choices.between` is called before each. Until a part has ended, other writes of its item conflict.
Queries and scans see the parts that have ended. Reads of single items are serializable with
transactions: if a part has ended, such a read of another one sees the whole transaction. Several
threads may send requests; no lock is held while `between` runs.

A form of a request that the fake does not know raises UnknownFormError.
"""

import threading
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import msgspec

from tests.support.fakes.dynamodb import queries
from tests.support.fakes.dynamodb.choices import Choices
from tests.support.fakes.dynamodb.errors import ServiceError, UnknownFormError, invalid
from tests.support.fakes.dynamodb.expressions import Projection, projection
from tests.support.fakes.dynamodb.tables import Key, Table, schema_of, table_missing
from tests.support.fakes.dynamodb.values import Item, item_size
from tests.support.fakes.dynamodb.writes import (
    PARAMETERS,
    Place,
    Request,
    Write,
    names_of,
    require_all_used,
    require_known,
    write_of,
)

Answer = dict[str, Any]
# Gets a table's name, and the item before and after a write.
Observer = Callable[[str, Item | None, Item | None], None]

_TOKENS_KEPT_S = 10 * 60
_READ_AT_ONCE_MAX = 100
_WRITTEN_AT_ONCE_MAX = 25
_TRANSACTION_MAX = 100
_TRANSACTION_BYTES_MAX = 4 * 1024**2
_BATCH_BYTES_MAX = 16 * 1024**2

_GET = frozenset({"Key", "ConsistentRead", "ProjectionExpression", "ExpressionAttributeNames"})
_QUERY = frozenset(
    {
        "TableName",
        "IndexName",
        "KeyConditionExpression",
        "FilterExpression",
        "ProjectionExpression",
        "ExpressionAttributeNames",
        "ExpressionAttributeValues",
        "ConsistentRead",
        "ScanIndexForward",
        "ExclusiveStartKey",
        "Limit",
        "Select",
    }
)
_KNOWN = {
    "GetItem": _GET | {"TableName"},
    "PutItem": PARAMETERS["Put"] | {"ReturnValues"},
    "UpdateItem": PARAMETERS["Update"] | {"ReturnValues"},
    "DeleteItem": PARAMETERS["Delete"] | {"ReturnValues"},
    "Query": _QUERY,
    "Scan": _QUERY - {"IndexName", "KeyConditionExpression", "ScanIndexForward"},
    "BatchGetItem": frozenset({"RequestItems"}),
    "BatchWriteItem": frozenset({"RequestItems"}),
    "TransactWriteItems": frozenset({"TransactItems", "ClientRequestToken"}),
    "DescribeTable": frozenset({"TableName"}),
}

# The values that a write may return.
_RETURNED = {"Put": ("ALL_OLD",), "Delete": ("ALL_OLD",), "Update": ("ALL_OLD", "ALL_NEW")}
_UNTHROTTLED = ("CreateTable", "DescribeTable")


class _Remembered:
    """A transaction that has a client request token."""

    def __init__(self, content: bytes) -> None:
        self.content = content
        self.done_s: float | None = None  # None while its writes become visible


class _Commit:
    """A transaction whose conditions hold: its parts end one by one."""

    def __init__(self, service: "Service", parts: list[tuple[Write, Item | None]]) -> None:
        self.parts = parts  # that have not ended
        self.has_begun = False
        self._service = service

    def go_on(self) -> None:
        """End one part, unless a reader has ended all."""
        self.has_begun = True
        if self.parts:
            self._service.end_part(*self.parts.pop(0))

    def finish(self) -> None:
        """End all parts."""
        while self.parts:
            self.go_on()


class Service:
    """One endpoint of DynamoDB with its tables."""

    def __init__(
        self, choices: Choices | None = None, now_s: Callable[[], float] = lambda: 0.0
    ) -> None:
        self.choices = choices or Choices()
        self.now_s = now_s
        self.observe: Observer | None = None
        self._tables: dict[str, Table] = {}
        self._remembered: dict[str, _Remembered] = {}
        # By item: the transaction whose parts end one by one.
        self._commits: dict[Place, _Commit] = {}
        self._lock = threading.Lock()
        self._operations: dict[str, Callable[[Request], Answer]] = {
            "GetItem": self._get_item,
            "PutItem": lambda request: self._write_item("Put", request),
            "UpdateItem": lambda request: self._write_item("Update", request),
            "DeleteItem": lambda request: self._write_item("Delete", request),
            "Query": self._query,
            "Scan": self._scan,
            "BatchGetItem": self._batch_get_item,
            "BatchWriteItem": self._batch_write_item,
            "TransactWriteItems": self._transact_write_items,
            "CreateTable": self._create_table,
            "DescribeTable": self._describe_table,
        }

    def fork(
        self, choices: Choices | None = None, now_s: Callable[[], float] = lambda: 0.0
    ) -> "Service":
        """Return a copy of the tables and remembered tokens; no transaction may be under way."""
        assert not self._commits
        copy = Service(choices, now_s)
        copy._tables = {name: table.fork() for name, table in self._tables.items()}
        copy._remembered = dict(self._remembered)
        return copy

    def items(self, table: str, partition: str) -> list[Item]:
        """Return the current items of a partition whose key is text, in order."""
        return self._table(table).items({"S": partition})

    def partitions(self, table: str) -> list[str]:
        """Return the keys of partitions, which are text, in order; some may be empty by now."""
        return [order.decode() for order in sorted(self._table(table).partitions)]

    def key(self, table: str, item: Item) -> Key:
        """Return the order of the key in an item, or in a key."""
        return self._table(table).schema.key_in(item)

    def size_bytes(self, table: str, key: Key) -> int:
        """Return the size of the current item, 0 if it does not exist."""
        return self._table(table).state(key).size

    def answer(self, operation: str, request: Request) -> Answer:
        """Return the document of the answer.

        Raises:
            ServiceError: the service refuses the request.
            UnknownFormError: the fake does not know such a request.
        """
        carry_out = self._operations.get(operation)
        if carry_out is None:
            raise UnknownFormError(f"the operation {operation}")
        if operation in _KNOWN:
            require_known(request, _KNOWN[operation], operation)
        if operation not in _UNTHROTTLED and self.choices.throttles(operation):
            raise self._throttled(operation, request)
        return carry_out(request)

    @staticmethod
    def _throttled(operation: str, request: Request) -> ServiceError:
        if operation != "TransactWriteItems":
            return ServiceError(
                "ProvisionedThroughputExceededException",
                "The level of configured provisioned throughput for the table was exceeded",
            )
        reasons: list[Answer] = [{"Code": "None"} for _ in request["TransactItems"]]
        reasons[0] = {
            "Code": "ThrottlingError",
            "Message": "Throughput exceeds the current capacity",
        }
        return _cancelled(reasons)

    def _table(self, name: str) -> Table:
        table = self._tables.get(name)
        if table is None:
            raise table_missing()
        return table

    # Tables

    def _create_table(self, request: Request) -> Answer:
        schema = schema_of(request)
        with self._lock:
            if schema.name in self._tables:
                raise ServiceError("ResourceInUseException", f"Table already exists: {schema.name}")
            self._tables[schema.name] = Table(schema)
        return {"TableDescription": {**schema.description, "TableStatus": "ACTIVE"}}

    def _describe_table(self, request: Request) -> Answer:
        schema = self._table(request["TableName"]).schema
        return {"Table": {**schema.description, "TableStatus": "ACTIVE"}}

    # Reads

    def _seen(self, table: Table, key: Key, *, is_consistent: bool) -> Item | None:
        commit = self._commits.get((table.schema.name, key))
        if commit is not None and commit.has_begun:
            commit.finish()
        state = table.state(key)
        if not is_consistent:
            state = state.before(self.choices.stale_by(state.writes))
        return state.item

    def _get_item(self, request: Request) -> Answer:
        table = self._table(request["TableName"])
        projected = _projection_of(request)
        key = table.schema.key_of(request["Key"])
        with self._lock:
            item = self._seen(table, key, is_consistent=request.get("ConsistentRead", False))
        if item is None:
            return {}
        return {"Item": item if projected is None else projected.of(item)}

    def _query(self, request: Request) -> Answer:
        with self._lock:
            return queries.query(self._table(request["TableName"]), request, self.choices)

    def _scan(self, request: Request) -> Answer:
        with self._lock:
            return queries.scan(self._table(request["TableName"]), request, self.choices)

    def _batch_get_item(self, request: Request) -> Answer:
        wanted = request["RequestItems"]
        parts: list[tuple[str, Item, Key]] = []
        for name, asked in wanted.items():
            require_known(asked, _GET - {"Key"} | {"Keys"}, "BatchGetItem")
            schema = self._table(name).schema
            parts += [(name, key, schema.key_of(key)) for key in asked["Keys"]]
        _require_batch(parts, _READ_AT_ONCE_MAX, "BatchGetItem")
        projections = {name: _projection_of(asked) for name, asked in wanted.items()}
        left_out = self._left_out(len(parts))
        responses: dict[str, list[Item]] = {name: [] for name in wanted}
        unprocessed: dict[str, list[Item]] = {}
        size = 0
        is_first = True
        for number in self.choices.write_order(len(parts)):
            name, key, order = parts[number]
            if number in left_out or size > _BATCH_BYTES_MAX:
                unprocessed.setdefault(name, []).append(key)
                continue
            if not is_first:
                self.choices.between()
            is_first = False
            with self._lock:
                is_consistent = wanted[name].get("ConsistentRead", False)
                item = self._seen(self._table(name), order, is_consistent=is_consistent)
            if item is not None:
                size += item_size(item)
                projected = projections[name]
                responses[name].append(item if projected is None else projected.of(item))
        left = {name: {**wanted[name], "Keys": keys} for name, keys in unprocessed.items()}
        return {"Responses": responses, "UnprocessedKeys": left}

    def _left_out(self, parts: int) -> frozenset[int]:
        left_out = frozenset(self.choices.left_out(parts))
        assert len(left_out) < parts, "at least one part of a batch is processed"
        return left_out

    # Writes

    def _apply(self, write: Write, new: Item | None) -> Item | None:
        """Make a write visible; return the item before it."""
        old = write.table.write(write.place[1], new).item
        if self.observe is not None:
            self.observe(write.place[0], old, new)
        return old

    def _write_item(self, kind: str, request: Request) -> Answer:
        wanted = request.get("ReturnValues", "NONE")
        if wanted != "NONE" and wanted not in _RETURNED[kind]:
            raise UnknownFormError(f"{kind} with ReturnValues {wanted}")
        write = write_of(kind, request, self._table)
        with self._lock:
            if write.place in self._commits:
                raise ServiceError(
                    "TransactionConflictException", "Transaction is ongoing for the item"
                )
            old = write.table.state(write.place[1]).item
            write.require_condition(old)
            new = write.result(old)
            if new is not None or old is not None:
                self._apply(write, new)
        returned = {"ALL_OLD": old, "ALL_NEW": new}.get(wanted)
        return {} if returned is None else {"Attributes": returned}

    def _batch_write_item(self, request: Request) -> Answer:
        parts: list[tuple[str, Request, Write]] = []
        for name, asked in request["RequestItems"].items():
            for each in asked:
                ((form, parameters),) = each.items()
                require_known(each, frozenset({"PutRequest", "DeleteRequest"}), "BatchWriteItem")
                require_known(parameters, frozenset({"Item", "Key"}), form)
                kind = form.removesuffix("Request")
                parts.append(
                    (name, each, write_of(kind, {"TableName": name, **parameters}, self._table))
                )
        places = [write.place for _, _, write in parts]
        _require_batch(places, _WRITTEN_AT_ONCE_MAX, "BatchWriteItem")
        left_out = self._left_out(len(parts))
        unprocessed: dict[str, list[Request]] = {}
        is_first = True
        for number in self.choices.write_order(len(parts)):
            name, each, write = parts[number]
            if number not in left_out and not is_first:
                self.choices.between()
            with self._lock:
                if number in left_out or write.place in self._commits:
                    unprocessed.setdefault(name, []).append(each)
                else:
                    is_first = False
                    self._apply(write, write.item)
        return {"UnprocessedItems": unprocessed}

    # Transactions

    def _transact_write_items(self, request: Request) -> Answer:
        writes = [self._action(each) for each in request["TransactItems"]]
        _require_transaction(writes)
        token = request.get("ClientRequestToken")
        with self._lock:
            if token is not None:
                if self._is_done(token, request):
                    return {}
                self._remembered[token] = _Remembered(_content(request))
            try:
                results = self._checked(writes)
            except BaseException:
                self._remembered.pop(token or "", None)
                raise
            commit = _Commit(self, self._in_order(writes, results))
            self._commits.update(dict.fromkeys([write.place for write in writes], commit))
        try:
            while commit.parts:
                self.choices.between()
                with self._lock:
                    commit.go_on()
        finally:  # the service goes on if the client ends in `between`
            with self._lock:
                commit.finish()
                if token is not None:
                    self._remembered[token].done_s = self.now_s()
        return {}

    def _in_order(
        self, writes: Sequence[Write], results: Sequence[Item | None]
    ) -> list[tuple[Write, Item | None]]:
        """Return the parts in the order in which they end."""
        order = self.choices.write_order(len(writes))
        if not self.choices.frees_checked():
            order = sorted(order, key=lambda number: writes[number].kind == "ConditionCheck")
        return [(writes[number], results[number]) for number in order]

    def end_part(self, write: Write, result: Item | None) -> None:
        """Make a part of a transaction visible; from now on, its item may be written."""
        if write.kind != "ConditionCheck":
            self._apply(write, result)
        del self._commits[write.place]

    def _action(self, action: Request) -> Write:
        if len(action) != 1 or not action.keys() <= PARAMETERS.keys():
            raise UnknownFormError(f"TransactWriteItems with {sorted(action)}")
        ((kind, parameters),) = action.items()
        require_known(parameters, PARAMETERS[kind], kind)
        return write_of(kind, parameters, self._table)

    def _is_done(self, token: str, request: Request) -> bool:
        """Whether the token's transaction has succeeded and is remembered."""
        known = self._remembered.get(token)
        if known is None:
            return False
        if known.done_s is not None and self.now_s() - known.done_s >= _TOKENS_KEPT_S:
            return False
        if known.content != _content(request):
            raise ServiceError(
                "IdempotentParameterMismatchException",
                "Request parameters do not match the parameters of the token's first request",
            )
        if known.done_s is None:
            raise ServiceError(
                "TransactionInProgressException", "A transaction with the token is in progress"
            )
        return True

    def _checked(self, writes: Sequence[Write]) -> list[Item | None]:
        """Return the items after the writes.

        Raises:
            ServiceError: the transaction is cancelled.
        """
        results: list[Item | None] = []
        reasons: list[Answer] = []
        for write in writes:
            reason: Answer = {"Code": "None"}
            result = None
            if write.place in self._commits:
                reason = {
                    "Code": "TransactionConflict",
                    "Message": "Transaction is ongoing for the item",
                }
            else:
                old = write.table.state(write.place[1]).item
                try:
                    write.require_condition(old)
                    result = write.result(old) if write.kind != "ConditionCheck" else old
                except ServiceError as error:
                    code = _REASONS[error.code]
                    reason = {"Code": code, "Message": error.message, **error.extra}
            results.append(result)
            reasons.append(reason)
        if any(reason["Code"] != "None" for reason in reasons):
            raise _cancelled(reasons)
        if sum(item_size(item) for item in results if item) > _TRANSACTION_BYTES_MAX:
            raise invalid("Collection size of items in the transaction exceeded the limit: 4 MB")
        return results


_REASONS = {
    "ConditionalCheckFailedException": "ConditionalCheckFailed",
    "ValidationException": "ValidationError",
}


def _cancelled(reasons: Sequence[Answer]) -> ServiceError:
    codes = ", ".join(reason["Code"] for reason in reasons)
    return ServiceError(
        "TransactionCanceledException",
        f"Transaction cancelled, please refer cancellation reasons for specific reasons [{codes}]",
        {"CancellationReasons": list(reasons)},
    )


def _content(request: Request) -> bytes:
    return msgspec.json.encode(request["TransactItems"])


def _projection_of(request: Request) -> Projection | None:
    names = names_of(request)
    if "ProjectionExpression" not in request:
        require_all_used(names, {})
        return None
    found = projection(request["ProjectionExpression"], names)
    require_all_used(names, {}, found.uses)
    return found


def _require_batch(parts: Sequence[Any], amount_max: int, operation: str) -> None:
    if not 1 <= len(parts) <= amount_max:
        raise invalid(
            f"1 validation error detected: {operation} has 1 to {amount_max} requests, "
            f"not {len(parts)}"
        )
    if _has_duplicates([str(part) for part in parts]):
        raise invalid("Provided list of item keys contains duplicates")


def _require_transaction(writes: Sequence[Write]) -> None:
    if not 1 <= len(writes) <= _TRANSACTION_MAX:
        raise invalid(
            "1 validation error detected: Member must have length less than or equal to "
            f"{_TRANSACTION_MAX}, and at least 1"
        )
    if _has_duplicates([write.place for write in writes]):
        raise invalid("Transaction request cannot include multiple operations on one item")


def _has_duplicates(keys: Iterable[Any]) -> bool:
    found = list(keys)
    return len(set(found)) < len(found)
