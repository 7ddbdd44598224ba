"""The two tables: requests to them, built from PynamoDB's items, conditions and actions."""

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import uuid4

from pynamodb.expressions.condition import Condition
from pynamodb.expressions.update import Action, Update
from pynamodb.models import Model

from graveler.aws.dynamodb.client import DynamoDB, binary
from graveler.aws.dynamodb.coalescing import BatchCall, Coalescer
from graveler.aws.dynamodb.models import COMMITS_BY_GENERATION, RefsItem
from graveler.aws.errors import RequestRefusedError
from graveler.errors import ThrottledError, UnknownOutcomeError
from graveler.threads import ContextThreads

# A raw item or key, as DynamoDB writes it; a request's parameters.
Raw = Mapping[str, Any]
Request = dict[str, Any]
# Tables and keys of items to read.
Wanted = Sequence[tuple[str, Raw]]

_BATCH_READ_MAX = 100
# The maximum of keys in a coalesced read: callers would wait long for more items.
_COALESCED_KEYS_MAX = 50
_BATCH_WRITE_MAX = 25
_BATCHES_AT_ONCE = 8


def key(partition: str, sort: str) -> Request:
    """Return the key of an item of the refs table."""
    return {"partition": {"S": partition}, "sort": {"S": sort}}


@dataclass(frozen=True, slots=True)
class Tables:
    """The names of the two tables, and the client that reaches them."""

    refs: str
    staging: str
    dynamodb: DynamoDB
    coalescer: Coalescer = field(default_factory=Coalescer, compare=False)

    # Parts of requests

    def put(self, item: Model, condition: Condition | None = None) -> Request:
        """Return the parameters that put an item into its table."""
        raw = item.serialize()
        table = self.staging if "token" in raw else self.refs
        return with_condition({"TableName": table, "Item": raw}, condition)

    def update(
        self, item_key: Raw, actions: Sequence[Action], condition: Condition | None = None
    ) -> Request:
        """Return the parameters that update an item of the refs table."""
        names: dict[str, str] = {}
        values: dict[str, Any] = {}
        request: Request = {"TableName": self.refs, "Key": item_key}
        request["UpdateExpression"] = Update(*actions).serialize(names, values)
        return with_condition(request, condition, names, values)

    def delete(self, item_key: Raw, condition: Condition | None = None) -> Request:
        """Return the parameters that delete an item of the refs table."""
        return with_condition({"TableName": self.refs, "Key": item_key}, condition)

    def check(self, item_key: Raw, condition: Condition) -> Request:
        """Return the parameters of a transaction's check of an item of the refs table."""
        return with_condition({"TableName": self.refs, "Key": item_key}, condition)

    def absent(self, item_key: Raw) -> Request:
        """Return the parameters of a transaction's check that the refs table lacks the item."""
        return self.check(item_key, RefsItem.sort.does_not_exist())

    def present(self, item_key: Raw) -> Request:
        """Return the parameters of a transaction's check that the refs table has the item."""
        return self.check(item_key, RefsItem.sort.exists())

    def query(self, partition: str, prefix: str, limit: int | None = None) -> Request:
        """Return the parameters of a consistent query for sort keys with a prefix."""
        request: Request = {
            "TableName": self.refs,
            "KeyConditionExpression": "#p = :p",
            "ExpressionAttributeNames": {"#p": "partition"},
            "ExpressionAttributeValues": {":p": {"S": partition}},
            "ConsistentRead": True,
        }
        if prefix:  # DynamoDB refuses an empty one
            request["KeyConditionExpression"] += " AND begins_with(#s, :s)"
            request["ExpressionAttributeNames"]["#s"] = "sort"
            request["ExpressionAttributeValues"][":s"] = {"S": prefix}
        if limit is not None:
            request["Limit"] = limit
        return request

    # Requests

    def get(self, partition: str, sort: str) -> Raw | None:
        """Return the current item of the refs table; None if it does not exist."""
        return self.item(self.refs, key(partition, sort))

    def item(self, table: str, item_key: Raw) -> Raw | None:
        """Return the current item of the key; None if it does not exist."""
        request = {"TableName": table, "Key": item_key, "ConsistentRead": True}
        answer: Raw = self.dynamodb.call("GetItem", request)
        return answer.get("Item")

    def get_together(self, subject: str, wanted: Wanted) -> Sequence[Raw | None]:
        """Return the current items of the keys, None for each that does not exist.

        Concurrent reads of the same subject share a request.

        Raises:
            ThrottledError: DynamoDB does not answer in time.
        """
        batch = BatchCall(
            self._get_each,
            lambda asked, more: sum(map(len, asked)) + len(more) <= _COALESCED_KEYS_MAX,
        )
        try:
            return self.coalescer.call((self.refs, subject), batch, wanted)
        except UnknownOutcomeError as error:
            raise ThrottledError(f"a read was not answered: retry later ({error})") from error

    def _get_each(self, asked: Sequence[Wanted]) -> Sequence[Sequence[Raw | None]]:
        """Return the current items for each sequence of keys; equal keys are read once."""
        keys = {self._identity(table, key): (table, key) for each in asked for table, key in each}
        found: dict[Hashable, Raw] = {}
        if len(keys) == 1:
            ((identity, (table, key)),) = keys.items()
            item = self.item(table, key)
            found = {} if item is None else {identity: item}
        else:
            wanted: dict[str, Request] = {}
            for table, key in keys.values():
                wanted.setdefault(table, {"Keys": [], "ConsistentRead": True})["Keys"].append(key)
            for table, items in self.get_requests(wanted).items():
                found |= {self._identity(table, item): item for item in items}
        return [[found.get(self._identity(*one)) for one in each] for each in asked]

    def _identity(self, table: str, item: Raw) -> Hashable:
        """Return the item's primary key."""
        if table == self.refs:
            return item["partition"]["S"], item["sort"]["S"]
        path = item["path"]["B"]
        # Our requests have bytes; DynamoDB's answers have base64.
        return item["token"]["S"], path if isinstance(path, bytes) else binary(item["path"])

    def get_batch(self, table: str, keys: Sequence[Raw]) -> list[Raw]:
        """Return the current items that exist among the keys, in any order."""
        found: list[Raw] = []
        for start in range(0, len(keys), _BATCH_READ_MAX):
            wanted = {
                table: {"Keys": keys[start : start + _BATCH_READ_MAX], "ConsistentRead": True}
            }
            found += self.get_requests(wanted).get(table, [])
        return found

    def get_requests(self, wanted: Raw) -> dict[str, list[Raw]]:
        """Return the items of one BatchGetItem, by table; repeat it for unprocessed keys.

        Raises:
            ThrottledError: keys stay unprocessed.
        """
        found: dict[str, list[Raw]] = {}
        for _ in self.dynamodb.retries.attempts():
            answer = self.dynamodb.call("BatchGetItem", {"RequestItems": wanted})
            for table, items in answer["Responses"].items():
                found.setdefault(table, []).extend(items)
            wanted = answer.get("UnprocessedKeys") or {}
            if not wanted:
                return found
        raise _left_out("BatchGetItem")

    def write_batch(self, table: str, writes: Sequence[Raw]) -> None:
        """Do any number of PutRequests and DeleteRequests of distinct keys, in any order.

        Raises:
            ThrottledError: some writes stay unprocessed; the others are done.
        """
        batches = [
            {table: writes[start : start + _BATCH_WRITE_MAX]}
            for start in range(0, len(writes), _BATCH_WRITE_MAX)
        ]
        if len(batches) <= 1:
            for batch in batches:
                self._write_requests(batch)
            return
        with ContextThreads(_BATCHES_AT_ONCE) as pool:
            for _ in pool.map(self._write_requests, batches):
                pass

    def _write_requests(self, wanted: Raw) -> None:
        for _ in self.dynamodb.retries.attempts():
            answer = self.dynamodb.call("BatchWriteItem", {"RequestItems": wanted})
            wanted = answer.get("UnprocessedItems") or {}
            if not wanted:
                return
        raise _left_out("BatchWriteItem")

    def transact(self, writes: Sequence[Raw]) -> None:
        """Do all the writes or none; each is {"Put" | "Update" | "Delete": parameters}.

        Raises:
            TransactionCancelledError: a condition did not hold.
            UnknownOutcomeError: the answer was lost.
        """
        # For ten minutes, the token makes a repeated request the same transaction.
        request = {"TransactItems": writes, "ClientRequestToken": str(uuid4())}
        self.dynamodb.call("TransactWriteItems", request)

    def pages(self, request: Request) -> Iterator[list[Raw]]:
        """Yield the pages of a query, fetched one by one."""
        while True:
            answer = self.dynamodb.call("Query", request)
            yield answer["Items"]
            if "LastEvaluatedKey" not in answer:
                return
            request = {**request, "ExclusiveStartKey": answer["LastEvaluatedKey"]}

    # Tables

    def create(self) -> None:
        """Create the tables unless they exist. Deployments create theirs with CDK instead."""
        for description in (_refs_description(self.refs), _staging_description(self.staging)):
            try:
                self.dynamodb.call("CreateTable", description)
            except RequestRefusedError as error:
                if error.code != "ResourceInUseException":
                    raise


def _left_out(operation: str) -> Exception:
    return ThrottledError(f"DynamoDB leaves out parts of {operation}: retry later")


def with_condition(
    request: Request,
    condition: Condition | None,
    names: dict[str, str] | None = None,
    values: dict[str, Any] | None = None,
) -> Request:
    """Return the request with the condition, and with its placeholders' names and values."""
    names = {} if names is None else names
    values = {} if values is None else values
    if condition is not None:
        request["ConditionExpression"] = condition.serialize(names, values)
    if names:
        request["ExpressionAttributeNames"] = {alias: name for name, alias in names.items()}
    if values:
        request["ExpressionAttributeValues"] = values
    return request


def _refs_description(name: str) -> Request:
    return {
        "TableName": name,
        "BillingMode": "PAY_PER_REQUEST",
        "AttributeDefinitions": [
            {"AttributeName": "partition", "AttributeType": "S"},
            {"AttributeName": "sort", "AttributeType": "S"},
            {"AttributeName": "generation", "AttributeType": "N"},
        ],
        "KeySchema": [
            {"AttributeName": "partition", "KeyType": "HASH"},
            {"AttributeName": "sort", "KeyType": "RANGE"},
        ],
        "GlobalSecondaryIndexes": [
            {
                "IndexName": COMMITS_BY_GENERATION,
                "KeySchema": [
                    {"AttributeName": "partition", "KeyType": "HASH"},
                    {"AttributeName": "generation", "KeyType": "RANGE"},
                ],
                "Projection": {"ProjectionType": "ALL"},
            }
        ],
        "StreamSpecification": {"StreamEnabled": True, "StreamViewType": "NEW_IMAGE"},
    }


def _staging_description(name: str) -> Request:
    return {
        "TableName": name,
        "BillingMode": "PAY_PER_REQUEST",
        "AttributeDefinitions": [
            {"AttributeName": "token", "AttributeType": "S"},
            {"AttributeName": "path", "AttributeType": "B"},
        ],
        "KeySchema": [
            {"AttributeName": "token", "KeyType": "HASH"},
            {"AttributeName": "path", "KeyType": "RANGE"},
        ],
    }
