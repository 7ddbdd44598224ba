"""The weaknesses of the fake of DynamoDB: each is decided by its choices, and none is more."""

from base64 import b64encode
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

import pytest

from tests.support.fakes.dynamodb.choices import Choices, WorstChoices
from tests.support.fakes.dynamodb.errors import ServiceError, UnknownFormError
from tests.support.fakes.dynamodb.service import Service
from tests.support.worlds.dynamodb_requests import REFS, STAGING

TABLE = "random-refs"
Request = dict[str, Any]
Item = dict[str, Any]


class Stale(Choices):
    """Reads are late by one write."""

    def stale_by(self, earlier: int, /) -> int:
        return min(earlier, 1)

    def index_stale_by(self, earlier: int, /) -> int:
        return min(earlier, 1)


class Meanwhile(Choices):
    """Others act between the writes of a transaction or a batch."""

    def __init__(self, act: Callable[[], None]) -> None:
        self._act = act

    def between(self) -> None:
        self._act()


def new_service(choices: Choices | None = None) -> Service:
    service = Service(choices)
    for table in (REFS, STAGING):
        service.answer("CreateTable", table)
    return service


@pytest.fixture
def service() -> Service:
    return new_service()


def key(sort: str = "s") -> Item:
    return {"partition": {"S": "p"}, "sort": {"S": sort}}


def item(sort: str = "s", value: str = "1") -> Item:
    return {**key(sort), "value": {"S": value}}


def put(service: Service, sort: str = "s", value: str = "1", **more: Any) -> None:
    service.answer("PutItem", {"TableName": TABLE, "Item": item(sort, value), **more})


def value_of(service: Service, sort: str = "s", *, consistent: bool = True) -> str | None:
    request = {"TableName": TABLE, "Key": key(sort), "ConsistentRead": consistent}
    found = service.answer("GetItem", request).get("Item")
    return None if found is None else found["value"]["S"]


def queried(service: Service, **more: Any) -> Request:
    request = {
        "TableName": TABLE,
        "KeyConditionExpression": "#p = :p",
        "ExpressionAttributeNames": {"#p": "partition"},
        "ExpressionAttributeValues": {":p": {"S": "p"}},
        "ConsistentRead": True,
    }
    return service.answer("Query", request | more)


def sorts(answer: Request) -> list[str]:
    return [each["sort"]["S"] for each in answer["Items"]]


def transact(service: Service, *writes: Request, token: str | None = None) -> None:
    request: Request = {"TransactItems": list(writes)}
    if token is not None:
        request["ClientRequestToken"] = token
    service.answer("TransactWriteItems", request)


def put_of(sort: str = "s", value: str = "1", **more: Any) -> Request:
    return {"Put": {"TableName": TABLE, "Item": item(sort, value), **more}}


def counted(sort: str = "s") -> Request:
    return {
        "Update": {
            "TableName": TABLE,
            "Key": key(sort),
            "UpdateExpression": "ADD #n :one",
            "ExpressionAttributeNames": {"#n": "n"},
            "ExpressionAttributeValues": {":one": {"N": "1"}},
        }
    }


ABSENT: Request = {
    "ConditionExpression": "attribute_not_exists(#s)",
    "ExpressionAttributeNames": {"#s": "sort"},
}


def codes(error: pytest.ExceptionInfo[ServiceError]) -> list[str]:
    return [reason["Code"] for reason in error.value.extra["CancellationReasons"]]


class TestReads:
    def test_a_read_that_is_not_consistent_may_be_late(self, service: Service) -> None:
        put(service)
        put(service, value="2")
        service.choices = Stale()
        assert value_of(service, consistent=False) == "1"
        assert value_of(service) == "2"
        late = queried(service, ConsistentRead=False)
        assert [each["value"]["S"] for each in late["Items"]] == ["1"]

    def test_a_late_read_finds_what_was_deleted_and_misses_what_is_new(
        self, service: Service
    ) -> None:
        put(service, "deleted")
        service.answer("DeleteItem", {"TableName": TABLE, "Key": key("deleted")})
        put(service, "new")
        service.choices = Stale()
        assert sorts(queried(service, ConsistentRead=False)) == ["deleted"]
        assert sorts(queried(service)) == ["new"]
        wanted = {TABLE: {"Keys": [key("deleted"), key("new")]}}
        late = service.answer("BatchGetItem", {"RequestItems": wanted})
        assert late["Responses"] == {TABLE: [item("deleted")]}

    def test_an_index_is_late_and_never_consistent(self, service: Service) -> None:
        request = {
            "IndexName": "by-generation",
            "ExpressionAttributeNames": {"#p": "partition"},
        }
        generation = {"generation": {"N": "5"}}
        service.answer("PutItem", {"TableName": TABLE, "Item": item() | generation})
        assert sorts(queried(service, **request, ConsistentRead=False)) == ["s"]
        service.choices = Stale()
        assert sorts(queried(service, **request, ConsistentRead=False)) == []
        with pytest.raises(ServiceError, match="Consistent reads are not supported"):
            queried(service, **request)

    def test_pages_end_early_and_all_together_have_each_item_once(self) -> None:
        service = new_service(WorstChoices())
        service.choices.throttles = lambda _: False  # type: ignore[method-assign]
        expected = [str(number) for number in range(7)]
        for sort in expected:
            put(service, sort)
        found, pages, start = [], 0, {}
        while True:
            answer = queried(service, **start)
            found += sorts(answer)
            pages += 1
            if "LastEvaluatedKey" not in answer:
                break
            start = {"ExclusiveStartKey": answer["LastEvaluatedKey"]}
        assert found == expected
        assert answer["Items"] == []
        assert pages > 3

    def test_a_page_has_a_megabyte(self, service: Service) -> None:
        for sort in "abcd":
            put(service, sort, "x" * 350_000)
        answer = queried(service)
        assert sorts(answer) == ["a", "b"]
        assert answer["LastEvaluatedKey"] == key("b")

    def test_keys_of_a_batch_stay_unprocessed(self, service: Service) -> None:
        service.choices = WorstChoices()
        wanted = {TABLE: {"Keys": [key("a"), key("b"), key("c")], "ConsistentRead": True}}
        answer = service.answer("BatchGetItem", {"RequestItems": wanted})
        assert answer["UnprocessedKeys"] == {TABLE: {"Keys": [key("b")], "ConsistentRead": True}}


class TestWrites:
    def test_writes_of_a_batch_stay_unprocessed(self, service: Service) -> None:
        service.choices = WorstChoices()
        writes = [{"PutRequest": {"Item": item(sort)}} for sort in "abc"]
        answer = service.answer("BatchWriteItem", {"RequestItems": {TABLE: writes}})
        assert answer == {"UnprocessedItems": {TABLE: [writes[1]]}}
        service.choices = Choices()
        assert sorts(queried(service)) == ["a", "c"]

    def test_items_of_a_batch_are_read_one_by_one(self, service: Service) -> None:
        service.choices = Meanwhile(lambda: put(service, "b"))
        wanted = {TABLE: {"Keys": [key("a"), key("b")], "ConsistentRead": True}}
        answer = service.answer("BatchGetItem", {"RequestItems": wanted})
        assert answer["Responses"][TABLE] == [item("b")]

    def test_writes_of_a_batch_become_visible_one_by_one(self, service: Service) -> None:
        seen: list[list[str]] = []
        service.choices = Meanwhile(lambda: seen.append(sorts(queried(service))))
        writes = [{"PutRequest": {"Item": item(sort)}} for sort in "abc"]
        service.answer("BatchWriteItem", {"RequestItems": {TABLE: writes}})
        assert seen == [["a"], ["a", "b"]]

    def test_a_failed_condition_returns_the_item_if_asked(self, service: Service) -> None:
        put(service)
        with pytest.raises(ServiceError) as refused:
            put(service, value="2", **ABSENT, ReturnValuesOnConditionCheckFailure="ALL_OLD")
        assert refused.value.document()["Item"] == item()
        with pytest.raises(ServiceError) as refused:
            put(service, value="2", **ABSENT)
        assert "Item" not in refused.value.document()
        assert value_of(service) == "1"

    @pytest.mark.parametrize("positions", [(0, 2), (2, 0)])
    def test_removed_list_elements_have_the_positions_of_before(
        self, service: Service, positions: Sequence[int]
    ) -> None:
        listed = {"L": [{"S": each} for each in "abcd"]}
        service.answer("PutItem", {"TableName": TABLE, "Item": {**key(), "l": listed}})
        removed = ", ".join(f"#l[{position}]" for position in positions)
        answer = service.answer(
            "UpdateItem",
            {
                "TableName": TABLE,
                "Key": key(),
                "UpdateExpression": f"REMOVE {removed} SET #l[9] = :e, #l[1] = :x",
                "ExpressionAttributeNames": {"#l": "l"},
                "ExpressionAttributeValues": {":e": {"S": "e"}, ":x": {"S": "x"}},
                "ReturnValues": "ALL_NEW",
            },
        )
        assert answer["Attributes"]["l"] == {"L": [{"S": each} for each in "xde"]}

    def test_a_throttled_request_has_no_effect(self, service: Service) -> None:
        service.choices.throttles = lambda _: True  # type: ignore[method-assign]
        with pytest.raises(ServiceError) as refused:
            put(service)
        assert refused.value.code == "ProvisionedThroughputExceededException"
        with pytest.raises(ServiceError) as cancelled:
            transact(service, put_of("a"), put_of("b"))
        assert codes(cancelled) == ["ThrottlingError", "None"]
        service.choices = Choices()
        assert sorts(queried(service)) == []


class TestTransactions:
    def test_all_conditions_hold_or_nothing_is_written(self, service: Service) -> None:
        put(service, "b")
        asked = {"ReturnValuesOnConditionCheckFailure": "ALL_OLD"}
        with pytest.raises(ServiceError) as cancelled:
            transact(service, put_of("a"), put_of("b", "2", **ABSENT, **asked))
        assert codes(cancelled) == ["None", "ConditionalCheckFailed"]
        assert cancelled.value.extra["CancellationReasons"][1]["Item"] == item("b")
        assert sorts(queried(service)) == ["b"]

    def test_writes_become_visible_one_by_one(self, service: Service) -> None:
        seen: list[list[str]] = []
        service.choices = Meanwhile(lambda: seen.append(sorts(queried(service))))
        transact(service, put_of("a"), put_of("b"))
        assert seen == [[], ["a"]]

    def test_a_read_of_an_item_sees_all_of_it_or_nothing(self, service: Service) -> None:
        seen: list[tuple[str | None, list[str]]] = []

        def look() -> None:
            seen.append((value_of(service, "b"), sorts(queried(service))))

        service.choices = Meanwhile(look)
        transact(service, put_of("a"), put_of("b"), put_of("c"))
        assert seen == [(None, []), ("1", ["a", "b", "c"])]

    def test_what_it_checked_may_change_before_it_is_visible(self, service: Service) -> None:
        class Frees(Meanwhile):
            def frees_checked(self) -> bool:
                return True

        seen: list[list[str]] = []

        def change() -> None:
            with suppress(ServiceError):
                put(service, "checked")
                seen.append(sorts(queried(service)))

        service.choices = Frees(change)
        check = {"TableName": TABLE, "Key": key("checked"), **ABSENT}
        transact(service, {"ConditionCheck": check}, put_of("a"))
        assert seen == [["checked"]]
        assert sorts(queried(service)) == ["a", "checked"]

    def test_other_writes_of_its_items_conflict_meanwhile(self, service: Service) -> None:
        found: list[Any] = []

        def others() -> None:
            service.choices = Choices()
            for write in (
                lambda: put(service, "checked", "other"),
                lambda: transact(service, put_of("c"), put_of("a", "other", **ABSENT)),
            ):
                with pytest.raises(ServiceError) as refused:
                    write()
                found.append(refused.value)
            batch = [{"PutRequest": {"Item": item("a", "other")}}]
            found.append(service.answer("BatchWriteItem", {"RequestItems": {TABLE: batch}}))
            put(service, "independent")

        service.choices = Meanwhile(others)
        check = {"TableName": TABLE, "Key": key("checked"), **ABSENT}
        transact(service, put_of("a"), {"ConditionCheck": check})
        single, cancelled, batch = found
        assert single.code == "TransactionConflictException"
        reasons = [each["Code"] for each in cancelled.extra["CancellationReasons"]]
        assert reasons == ["None", "TransactionConflict"]
        assert len(batch["UnprocessedItems"][TABLE]) == 1
        assert sorts(queried(service)) == ["a", "independent"]
        put(service, "checked")

    def test_a_client_that_ends_meanwhile_does_not_stop_it(self, service: Service) -> None:
        def end() -> None:
            raise InterruptedError

        service.choices = Meanwhile(end)
        with pytest.raises(InterruptedError):
            transact(service, put_of("a"), put_of("b"))
        service.choices = Choices()
        assert sorts(queried(service)) == ["a", "b"]
        transact(service, put_of("a"))

    def test_a_token_repeats_no_effect_for_ten_minutes(self, service: Service) -> None:
        now_s = [0.0]
        service.now_s = lambda: now_s[0]
        found = []
        for now_s[0] in (0, 599, 600):
            transact(service, counted(), token="t")
            found.append(service.items(TABLE, "p")[0]["n"])
        assert found == [{"N": "1"}, {"N": "1"}, {"N": "2"}]

    def test_a_token_belongs_to_one_content(self, service: Service) -> None:
        transact(service, put_of(), token="t")
        with pytest.raises(ServiceError) as refused:
            transact(service, put_of(value="2"), token="t")
        assert refused.value.code == "IdempotentParameterMismatchException"

    def test_a_cancelled_transaction_is_tried_again_with_its_token(self, service: Service) -> None:
        put(service)
        with pytest.raises(ServiceError):
            transact(service, put_of(value="2", **ABSENT), token="t")
        service.answer("DeleteItem", {"TableName": TABLE, "Key": key()})
        transact(service, put_of(value="2", **ABSENT), token="t")
        assert value_of(service) == "2"

    def test_a_token_is_in_progress_until_all_is_visible(self, service: Service) -> None:
        found: list[str] = []

        def repeat() -> None:
            with pytest.raises(ServiceError) as refused:
                transact(service, put_of("a"), token="t")
            found.append(refused.value.code)

        service.choices = Meanwhile(repeat)
        transact(service, put_of("a"), token="t")
        assert found == ["TransactionInProgressException"]


TOO_MUCH: dict[str, tuple[str, Request]] = {
    "a large item": (
        "PutItem",
        {"TableName": TABLE, "Item": item(value="x" * 410_000)},
    ),
    "many keys": (
        "BatchGetItem",
        {"RequestItems": {TABLE: {"Keys": [key(str(number)) for number in range(101)]}}},
    ),
    "many writes": (
        "BatchWriteItem",
        {"RequestItems": {TABLE: [{"DeleteRequest": {"Key": key(str(n))}} for n in range(26)]}},
    ),
    "a key twice in a batch": (
        "BatchWriteItem",
        {"RequestItems": {TABLE: [{"DeleteRequest": {"Key": key()}}] * 2}},
    ),
    "many actions": (
        "TransactWriteItems",
        {"TransactItems": [put_of(str(number)) for number in range(101)]},
    ),
    "a large transaction": (
        "TransactWriteItems",
        {"TransactItems": [put_of(str(number), "x" * 350_000) for number in range(12)]},
    ),
    "an item twice": ("TransactWriteItems", {"TransactItems": [put_of(), counted()]}),
    "a long expression": (
        "UpdateItem",
        {
            "TableName": TABLE,
            "Key": key(),
            "UpdateExpression": "REMOVE " + ", ".join(f"#l[{n}]" for n in range(600)),
            "ExpressionAttributeNames": {"#l": "l"},
        },
    ),
    "a long sort key": ("DeleteItem", {"TableName": TABLE, "Key": key("s" * 1025)}),
    "an empty sort key": ("DeleteItem", {"TableName": TABLE, "Key": key("")}),
    "a number of 39 digits": (
        "PutItem",
        {"TableName": TABLE, "Item": {**key(), "n": {"N": "1" * 39}}},
    ),
}


@pytest.mark.parametrize("case", TOO_MUCH)
def test_a_request_beyond_a_limit_is_refused_and_has_no_effect(service: Service, case: str) -> None:
    with pytest.raises(ServiceError) as refused:
        service.answer(*TOO_MUCH[case])
    assert refused.value.code == "ValidationException"
    assert service.items(TABLE, "p") == []


UNKNOWN: dict[str, tuple[str, Request]] = {
    "operation": ("TransactGetItems", {}),
    "parameter": ("GetItem", {"TableName": TABLE, "Key": key(), "AttributesToGet": ["a"]}),
    "attribute without a placeholder": (
        "PutItem",
        {"TableName": TABLE, "Item": item(), "ConditionExpression": "attribute_exists(sort)"},
    ),
    "returned values": (
        "UpdateItem",
        {"TableName": TABLE, "Key": key(), "ReturnValues": "UPDATED_NEW"},
    ),
}


@pytest.mark.parametrize("case", UNKNOWN)
def test_an_unknown_form_of_a_request_fails_the_test(service: Service, case: str) -> None:
    with pytest.raises(UnknownFormError):
        service.answer(*UNKNOWN[case])


def test_a_fork_and_its_origin_change_apart(service: Service) -> None:
    put(service)
    fork = service.fork(Stale())
    put(fork, value="2")
    put(service, "more")
    assert value_of(fork, consistent=False) == "1"
    assert value_of(fork) == "2"
    assert value_of(service) == "1"
    assert sorts(queried(fork)) == ["s"]


def test_an_observer_sees_each_write_when_it_becomes_visible(service: Service) -> None:
    seen: list[tuple[str, Item | None, Item | None]] = []
    service.observe = lambda *write: seen.append(write)
    path = {"partition": {"S": "p"}, "sort": {"B": b64encode(b"\xff").decode()}}
    staged = {"Put": {"TableName": "random-staging", "Item": path}}
    transact(service, put_of(), staged)
    service.answer("DeleteItem", {"TableName": TABLE, "Key": key()})
    service.answer("DeleteItem", {"TableName": TABLE, "Key": key("never")})
    assert seen == [
        (TABLE, None, item()),
        ("random-staging", None, path),
        (TABLE, item(), None),
    ]
