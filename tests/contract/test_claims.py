"""The contract of every ClaimStore."""

import pytest

from graveler.errors import UnknownOutcomeError
from graveler.model import Repository
from tests.contract.conftest import DynamoDBStores, Losing, Stores, create, no_request_arrives

EXPIRES_S = 4_000_000_000


def test_claims_of_every_call_are_returned(stores: Stores, repository: Repository) -> None:
    assert list(stores.refs.claimed_addresses(repository)) == []
    stores.refs.claim_addresses(repository, ["data/x/1", "data/x/2,é"], EXPIRES_S)
    stores.refs.claim_addresses(repository, ["data/x/3"], EXPIRES_S)
    found = stores.refs.claimed_addresses(repository)
    assert sorted(found) == ["data/x/1", "data/x/2,é", "data/x/3"]


def test_an_address_may_be_claimed_again(stores: Stores, repository: Repository) -> None:
    for expires_s in (EXPIRES_S, EXPIRES_S + 1):
        stores.refs.claim_addresses(repository, ["data/x/1"], expires_s)
    assert set(stores.refs.claimed_addresses(repository)) == {"data/x/1"}


def test_a_claim_is_its_repositorys(stores: Stores, repository: Repository) -> None:
    stores.refs.claim_addresses(repository, ["data/x/1"], EXPIRES_S)
    assert list(stores.refs.claimed_addresses(create(stores))) == []


def test_any_number_of_addresses_can_be_claimed(stores: Stores, repository: Repository) -> None:
    addresses = [f"data/{'x' * 20}/{number:020},{'s' * 43}" for number in range(5_000)]
    stores.refs.claim_addresses(repository, addresses, EXPIRES_S)
    assert sorted(stores.refs.claimed_addresses(repository)) == addresses


def test_a_claim_is_stored_although_its_answer_was_lost(
    dynamodb_stores: DynamoDBStores, lose: Losing
) -> None:
    repository = create(dynamodb_stores)
    lose("PutItem")
    dynamodb_stores.refs.claim_addresses(repository, ["data/x/1"], EXPIRES_S)
    assert set(dynamodb_stores.refs.claimed_addresses(repository)) == {"data/x/1"}


def test_a_claim_that_was_not_stored_is_not_acknowledged(dynamodb_stores: DynamoDBStores) -> None:
    repository = create(dynamodb_stores)
    with no_request_arrives(dynamodb_stores, "PutItem"), pytest.raises(UnknownOutcomeError):
        dynamodb_stores.refs.claim_addresses(repository, ["data/x/1"], EXPIRES_S)
    assert list(dynamodb_stores.refs.claimed_addresses(repository)) == []
