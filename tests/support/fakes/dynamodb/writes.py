"""One write of an item, as single requests, batches and transactions have it: what it asks for."""

from typing import Any, NamedTuple

from tests.support.fakes.dynamodb.errors import ServiceError, UnknownFormError, invalid
from tests.support.fakes.dynamodb.expressions import (
    Condition,
    Names,
    Placeholders,
    Values,
    condition,
)
from tests.support.fakes.dynamodb.tables import Find, Key, Table
from tests.support.fakes.dynamodb.updates import Update, update
from tests.support.fakes.dynamodb.values import Item, item_size, normal, normal_item

Request = dict[str, Any]
# A table's name and the order of a key.
Place = tuple[str, Key]

_CONDITIONAL = frozenset(
    {
        "TableName",
        "ConditionExpression",
        "ExpressionAttributeNames",
        "ExpressionAttributeValues",
        "ReturnValuesOnConditionCheckFailure",
    }
)
PARAMETERS = {
    "Put": _CONDITIONAL | {"Item"},
    "Update": _CONDITIONAL | {"Key", "UpdateExpression"},
    "Delete": _CONDITIONAL | {"Key"},
    "ConditionCheck": _CONDITIONAL | {"Key"},
}


class Write(NamedTuple):
    """What a request does to an item."""

    kind: str
    table: Table
    place: Place
    key: Item
    item: Item | None  # of a Put
    update: Update | None
    condition: Condition | None
    values: Values
    returns_old: bool

    def require_condition(self, old: Item | None) -> None:
        """Refuse the write if its condition does not hold."""
        if self.condition is not None and not self.condition.holds(old or {}, self.values):
            extra = {"Item": old} if self.returns_old and old is not None else {}
            raise ServiceError(
                "ConditionalCheckFailedException", "The conditional request failed", extra
            )

    def result(self, old: Item | None) -> Item | None:
        """Return the item after the write; None if it does not exist then."""
        if self.kind == "Put":
            return self.item
        if self.kind == "Delete":
            return None
        base = self.key if old is None else old
        if self.update is None:
            return base
        new = self.update.apply(base, self.values)
        self.table.schema.require_storable(new, item_size(new), is_update=True)
        return new


def names_of(request: Request) -> Names:
    """Return the names of the request's placeholders."""
    names = request.get("ExpressionAttributeNames")
    if names is None:
        return ()
    if not names:
        raise invalid("ExpressionAttributeNames must not be empty")
    return tuple(names.items())


def values_of(request: Request) -> Values:
    """Return the values of the request's placeholders."""
    values = request.get("ExpressionAttributeValues")
    if values is None:
        return {}
    if not values:
        raise invalid("ExpressionAttributeValues must not be empty")
    return {name: normal(value) for name, value in values.items()}


def require_all_used(names: Names, values: Values, *uses: Placeholders) -> None:
    """Refuse placeholders that no expression uses, or that have no value."""
    used_names = frozenset[str]().union(*[each.names for each in uses])
    used_values = frozenset[str]().union(*[each.values for each in uses])
    if used_values != values.keys():
        unknown, unused = used_values - values.keys(), values.keys() - used_values
        raise invalid(
            "An expression attribute value used in expression is not defined; "
            f"attribute value: {min(unknown)}"
            if unknown
            else "Value provided in ExpressionAttributeValues unused in expressions: "
            f"keys: {{{', '.join(sorted(unused))}}}"
        )
    if len(used_names) != len(names):
        unused_names = sorted({name for name, _ in names} - used_names)
        raise invalid(
            "Value provided in ExpressionAttributeNames unused in expressions: "
            f"keys: {{{', '.join(unused_names)}}}"
        )


def require_known(request: Request, known: frozenset[str], form: str) -> None:
    """Raise UnknownFormError if the request has other parameters."""
    if not request.keys() <= known:
        raise UnknownFormError(f"{form} with {sorted(request.keys() - known)}")


def write_of(kind: str, request: Request, find: Find) -> Write:
    """Return the write that a request asks for.

    Raises:
        ServiceError: the request is malformed, whatever the item is.
    """
    table = find(request["TableName"])
    names, values = names_of(request), values_of(request)
    uses: list[Placeholders] = []
    change = None
    if "UpdateExpression" in request:
        change = update(request["UpdateExpression"], names)
        uses.append(change.uses)
    test = None
    if "ConditionExpression" in request:
        test = condition("ConditionExpression", request["ConditionExpression"], names)
        uses.append(test.uses)
    require_all_used(names, values, *uses)
    if kind == "Put":
        item = normal_item(request["Item"])
        order = table.schema.key_in(item)
        table.schema.require_storable(item, item_size(item), is_update=False)
        key = item
    else:
        item, key = None, request["Key"]
        order = table.schema.key_of(key)
    for name in () if change is None else change.attributes & key.keys():
        raise invalid(
            f"One or more parameter values were invalid: Cannot update attribute {name}. "
            "This attribute is part of the key"
        )
    on_failure = request.get("ReturnValuesOnConditionCheckFailure", "NONE")
    if on_failure not in ("NONE", "ALL_OLD"):
        raise UnknownFormError(f"ReturnValuesOnConditionCheckFailure: {on_failure}")
    place = (table.schema.name, order)
    return Write(kind, table, place, key, item, change, test, values, on_failure == "ALL_OLD")
