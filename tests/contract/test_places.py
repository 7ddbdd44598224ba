"""The contract of every PlaceStore."""

import pytest

from graveler.errors import StaleVersionError
from graveler.model import Repository
from graveler.model.places import Place, Places
from tests.contract.conftest import DynamoDBStores, Losing, Stores, create

WAITING = {"CA2": 7, "CA3": 6}
TAKEN = {"CA1": Place("runner", 4_000_000_000 * 10**9), "é": Place("other", 1)}


def stored(stores: Stores, repository: Repository, kind: str = "tasks") -> Places:
    return stores.refs.replace_places(repository, Places(kind), Places(kind, TAKEN, WAITING))


def test_places_are_stored_as_they_are(stores: Stores, repository: Repository) -> None:
    assert stores.refs.places(repository, "tasks") == Places("tasks")
    made = stored(stores, repository)
    assert stores.refs.places(repository, "tasks") == made == Places("tasks", TAKEN, WAITING, 1)
    emptied = stores.refs.replace_places(repository, made, Places("tasks"))
    assert stores.refs.places(repository, "tasks") == emptied == Places("tasks", version=2)


def test_places_are_those_of_one_repository_and_one_kind(
    stores: Stores, repository: Repository
) -> None:
    stored(stores, repository)
    assert stores.refs.places(repository, "exports") == Places("exports")
    assert stores.refs.places(create(stores), "tasks") == Places("tasks")


def test_of_two_writers_that_read_the_same_places_one_is_refused(
    stores: Stores, repository: Repository
) -> None:
    made = stored(stores, repository)
    with pytest.raises(StaleVersionError):
        stored(stores, repository)
    stores.refs.replace_places(repository, made, Places("tasks"))
    with pytest.raises(StaleVersionError):
        stores.refs.replace_places(repository, made, Places("tasks", TAKEN))
    assert stores.refs.places(repository, "tasks").taken == {}


def test_places_are_stored_although_the_answer_was_lost(
    dynamodb_stores: DynamoDBStores, lose: Losing
) -> None:
    repository = create(dynamodb_stores)
    lose("PutItem")
    assert stored(dynamodb_stores, repository) == Places("tasks", TAKEN, WAITING, 1)


def test_places_may_have_work_that_waits_alone(stores: Stores, repository: Repository) -> None:
    made = stores.refs.replace_places(repository, Places("tasks"), Places("tasks", {}, WAITING))
    assert stores.refs.replace_places(repository, made, Places("tasks")).version == 2
