"""Random requests to DynamoDB: the forms that the adapters send, and wrong ones."""

from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

Request = dict[str, Any]

REFS: Request = {
    "TableName": "random-refs",
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
            "IndexName": "by-generation",
            "KeySchema": [
                {"AttributeName": "partition", "KeyType": "HASH"},
                {"AttributeName": "generation", "KeyType": "RANGE"},
            ],
            "Projection": {"ProjectionType": "ALL"},
        }
    ],
}
STAGING: Request = {
    "TableName": "random-staging",
    "BillingMode": "PAY_PER_REQUEST",
    "AttributeDefinitions": [
        {"AttributeName": "partition", "AttributeType": "S"},
        {"AttributeName": "sort", "AttributeType": "B"},
    ],
    "KeySchema": [
        {"AttributeName": "partition", "KeyType": "HASH"},
        {"AttributeName": "sort", "KeyType": "RANGE"},
    ],
}
TABLES = (REFS, STAGING)

# One example in so many has a fault at a place.
_RARE = 40
_ATTRIBUTES = ("a", "b", "generation")
_SORTS: dict[str, list[Request]] = {
    "random-refs": [{"S": text} for text in ("branch#a", "branch#b", "tag#é", "tag#")],
    "random-staging": [{"B": text} for text in ("YQ==", "YQA=", "/w==", "////")],
}
_WRONG_SORTS: list[Request] = [{"S": ""}, {"N": "1"}, {"B": ""}, {"S": "s" * 1025}]

_LEAVES: SearchStrategy[Request] = st.one_of(
    st.sampled_from(["", "a", "ab", "b", "é"]).map(lambda text: {"S": text}),
    st.sampled_from(["0", "1", "-1", "1.50", "10", "1E2", "0.0"]).map(lambda text: {"N": text}),
    st.sampled_from(["YQ==", "YWI=", "/w=="]).map(lambda text: {"B": text}),
    st.booleans().map(lambda value: {"BOOL": value}),
    st.just({"NULL": True}),
    st.sets(st.sampled_from("abc"), min_size=1).map(lambda texts: {"SS": sorted(texts)}),
    st.sets(st.sampled_from(["1", "2"]), min_size=1).map(lambda texts: {"NS": sorted(texts)}),
)
_LISTS = st.lists(_LEAVES, max_size=4).map(lambda values: {"L": values})
_VALUES = st.one_of(
    _LEAVES,
    _LISTS,
    _LISTS,
    st.dictionaries(st.sampled_from("ab"), _LEAVES).map(lambda values: {"M": values}),
)
_NUMBERS = st.sampled_from(["0", "1", "3"]).map(lambda text: {"N": text})
_SETS = st.sets(st.sampled_from("abc"), min_size=1).map(lambda texts: {"SS": sorted(texts)})


def _is_rare(draw: DrawFn) -> bool:
    return draw(st.integers(0, _RARE)) == _RARE


class _Expressions:
    """Draws the expressions of one request, and collects their placeholders."""

    def __init__(self, draw: DrawFn) -> None:
        self._draw = draw
        self._names: Request = {}
        self._values: Request = {}

    def parameters(self) -> Request:
        """Return the placeholders, with a fault now and then."""
        names, values = dict(self._names), dict(self._values)
        if _is_rare(self._draw):
            names["#unused"] = "unused"
        if _is_rare(self._draw):
            values[":unused"] = {"S": "unused"}
        if values and _is_rare(self._draw):
            del values[next(iter(values))]
        found = {"ExpressionAttributeNames": names, "ExpressionAttributeValues": values}
        return {name: content for name, content in found.items() if content}

    def name(self, attribute: str) -> str:
        self._names[f"#{attribute}"] = attribute
        return f"#{attribute}"

    def value(self, value: Request) -> str:
        alias = f":{len(self._values)}"
        self._values[alias] = value
        return alias

    def some(self, values: SearchStrategy[Request]) -> str:
        return self.value(self._draw(values))

    def path(self) -> str:
        name = self.name(self._draw(st.sampled_from("ab")))
        if self._draw(st.integers(0, 3)):
            return name
        step = self._draw(st.sampled_from(["[0]", "[1]", "[3]", "."]))
        return name + (step + self.name("b") if step == "." else step)

    def condition(self, depth: int = 2) -> str:
        forms = (self._existence, self._function, self._size, self._comparison)
        return self._draw(st.sampled_from([*forms, self._joined] if depth else forms))(depth)

    def _existence(self, _: int) -> str:
        attribute = self._draw(st.sampled_from(["sort", *_ATTRIBUTES]))
        function = self._draw(st.sampled_from(["attribute_exists", "attribute_not_exists"]))
        return f"{function} ({self.name(attribute)})"

    def _function(self, _: int) -> str:
        if self._draw(st.booleans()):
            return f"contains ({self.path()}, {self.some(_LEAVES)})"
        prefix = self._draw(st.sampled_from([{"S": "a"}, {"B": "YQ=="}]))
        return f"begins_with ({self.path()}, {self.value(prefix)})"

    def _size(self, _: int) -> str:
        return f"size ({self.path()}) {self._comparator()} {self.some(_NUMBERS)}"

    def _comparison(self, _: int) -> str:
        comparison = self._comparator()
        values = _VALUES if comparison in ("=", "<>") else _NUMBERS
        return f"{self.path()} {comparison} {self.some(values)}"

    def _comparator(self) -> str:
        return self._draw(st.sampled_from(["=", "<>", "<", "<=", ">", ">="]))

    def _joined(self, depth: int) -> str:
        if self._draw(st.integers(0, 2)) == 0:
            return f"(NOT {self.condition(depth - 1)})"
        joined = self._draw(st.sampled_from([" AND ", " OR "]))
        return f"({self.condition(depth - 1)}{joined}{self.condition(depth - 1)})"

    def update(self) -> str:
        clauses: dict[str, list[str]] = {}
        for _ in range(self._draw(st.integers(1, 3))):
            kind, action = self._action()
            clauses.setdefault(kind, []).append(action)
        if _is_rare(self._draw):
            clauses.setdefault("SET", []).append(f"{self.name('sort')} = {self.some(_VALUES)}")
        return " ".join(f"{kind} {', '.join(actions)}" for kind, actions in clauses.items())

    def _action(self) -> tuple[str, str]:
        actions = (self._set, self._set, self._set, self._change, self._add, self._remove)
        return self._draw(st.sampled_from(actions))()

    def _set(self) -> tuple[str, str]:
        return "SET", f"{self.path()} = {self.some(_VALUES)}"

    def _change(self) -> tuple[str, str]:
        path, other = self.path(), self.path()
        forms = {
            f"list_append ({other}, {{}})": _LISTS,
            f"list_append (if_not_exists ({other}, {{}}), {{}})": _LISTS,
            f"if_not_exists ({other}, {{}})": _VALUES,
            f"{other} + {{}}": _NUMBERS,
            f"{other} - {{}}": _NUMBERS,
            other: _NUMBERS,
        }
        form = self._draw(st.sampled_from([*forms]))
        values = [self.some(forms[form]) for _ in range(form.count("{}"))]
        return "SET", f"{path} = {form.format(*values)}"

    def _add(self) -> tuple[str, str]:
        if self._draw(st.booleans()):
            attribute = self._draw(st.sampled_from(_ATTRIBUTES))
            return "ADD", f"{self.name(attribute)} {self.some(_NUMBERS)}"
        return self._draw(
            st.sampled_from(["ADD", "DELETE"])
        ), f"{self.name('a')} {self.some(_SETS)}"

    def _remove(self) -> tuple[str, str]:
        return "REMOVE", self.path()


def _key(draw: DrawFn, partition: str, table: str) -> Request:
    sorts = _WRONG_SORTS if _is_rare(draw) else _SORTS[table]
    key = {"partition": {"S": partition}, "sort": draw(st.sampled_from(sorts))}
    if _is_rare(draw):
        del key[draw(st.sampled_from(["partition", "sort"]))]
    return key


def _item(draw: DrawFn, partition: str, table: str) -> Request:
    item = _key(draw, partition, table)
    for attribute in ("a", "b"):
        if draw(st.booleans()):
            item[attribute] = draw(_VALUES)
    if draw(st.booleans()):
        item["generation"] = draw(_LEAVES if _is_rare(draw) else _NUMBERS)
    return item


def _write(draw: DrawFn, partition: str, kind: str) -> Request:
    """Return the parameters of a Put, an Update, a Delete or a ConditionCheck."""
    table = draw(st.sampled_from([*_SORTS]))
    expressions = _Expressions(draw)
    request: Request = {"TableName": table}
    if kind == "Put":
        request["Item"] = _item(draw, partition, table)
    else:
        request["Key"] = _key(draw, partition, table)
    if kind == "Update":
        request["UpdateExpression"] = expressions.update()
    if kind == "ConditionCheck" or draw(st.integers(0, 3)) == 0:
        request["ConditionExpression"] = expressions.condition()
        if draw(st.booleans()):
            request["ReturnValuesOnConditionCheckFailure"] = "ALL_OLD"
    if "ConditionExpression" in request or "UpdateExpression" in request:
        request |= expressions.parameters()
    return request


def _single(draw: DrawFn, partition: str) -> tuple[str, Request]:
    kind = draw(st.sampled_from(["Put", "Put", "Update", "Update", "Delete"]))
    request = _write(draw, partition, kind)
    returned = {"Update": ["NONE", "ALL_OLD", "ALL_NEW"]}.get(kind, ["NONE", "ALL_OLD"])
    return f"{kind}Item", request | {"ReturnValues": draw(st.sampled_from(returned))}


def _transaction(draw: DrawFn, partition: str) -> tuple[str, Request]:
    kinds = draw(
        st.lists(
            st.sampled_from(["Put", "Update", "Delete", "ConditionCheck"]), min_size=1, max_size=3
        )
    )
    writes = [{kind: _write(draw, partition, kind)} for kind in kinds]
    return "TransactWriteItems", {"TransactItems": writes}


def _get(draw: DrawFn, partition: str) -> tuple[str, Request]:
    table = draw(st.sampled_from([*_SORTS]))
    key = _key(draw, partition, table)
    return "GetItem", {"TableName": table, "Key": key, "ConsistentRead": True}


def _batch_get(draw: DrawFn, partition: str) -> tuple[str, Request]:
    wanted: Request = {}
    for table in draw(st.sets(st.sampled_from([*_SORTS]), min_size=1)):
        keys = [_key(draw, partition, table) for _ in range(draw(st.integers(1, 3)))]
        wanted[table] = {"Keys": keys, "ConsistentRead": True}
    return "BatchGetItem", {"RequestItems": wanted}


def _batch_write(draw: DrawFn, partition: str) -> tuple[str, Request]:
    wanted: Request = {}
    for table in draw(st.sets(st.sampled_from([*_SORTS]), min_size=1)):
        wanted[table] = [
            {"PutRequest": {"Item": _item(draw, partition, table)}}
            if draw(st.booleans())
            else {"DeleteRequest": {"Key": _key(draw, partition, table)}}
            for _ in range(draw(st.integers(1, 3)))
        ]
    return "BatchWriteItem", {"RequestItems": wanted}


def _query(draw: DrawFn, partition: str) -> tuple[str, Request]:
    table = draw(st.sampled_from([*_SORTS]))
    expressions = _Expressions(draw)
    is_indexed = table == "random-refs" and draw(st.booleans())
    request: Request = {"TableName": table, "ScanIndexForward": draw(st.booleans())}
    if is_indexed:
        request["IndexName"] = "by-generation"
    if not is_indexed or _is_rare(draw):
        request["ConsistentRead"] = True
    condition = f"{expressions.name('partition')} = {expressions.value({'S': partition})}"
    kind = draw(st.integers(0, 8))
    name = expressions.name("generation" if is_indexed else "sort") if kind else ""
    bounds = _NUMBERS if is_indexed else st.sampled_from(_SORTS[table])
    if 1 <= kind <= 5:
        comparison = draw(st.sampled_from(["=", "<", "<=", ">", ">="]))
        condition += f" AND {name} {comparison} {expressions.some(bounds)}"
    elif kind == 6:
        condition += (
            f" AND {name} BETWEEN {expressions.some(bounds)} AND {expressions.some(bounds)}"
        )
    elif kind > 6:
        prefix = {"S": draw(st.sampled_from(["branch#", "t", ""]))}
        if table == "random-staging":
            prefix = {"B": draw(st.sampled_from(["YQ==", "/w=="]))}
        condition += f" AND begins_with({name}, {expressions.value(prefix)})"
    request["KeyConditionExpression"] = condition
    if not is_indexed and draw(st.booleans()):
        request["Limit"] = draw(st.integers(0 if _is_rare(draw) else 1, 3))
    if draw(st.integers(0, 3)) == 0:
        request["FilterExpression"] = expressions.condition(1)
    if draw(st.integers(0, 3)) == 0:
        projected = draw(st.sets(st.sampled_from(["sort", *_ATTRIBUTES]), min_size=1))
        request["ProjectionExpression"] = ", ".join(map(expressions.name, sorted(projected)))
    elif _is_rare(draw):
        request["Select"] = "COUNT"
    if not is_indexed and draw(st.integers(0, 3)) == 0:
        request["ExclusiveStartKey"] = _key(draw, partition, table)
    return "Query", request | expressions.parameters()


_KINDS = (_single, _single, _single, _transaction, _get, _batch_get, _batch_write, _query, _query)


@st.composite
def requests(draw: DrawFn, partition: str) -> tuple[str, Request]:
    """Draw an operation and its parameters, for items of a partition."""
    return draw(st.sampled_from(_KINDS))(draw, partition)
