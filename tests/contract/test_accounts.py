"""The contract of every AccountStore."""

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from uuid import uuid4

import pytest

from graveler.aws.dynamodb.accounts import DynamoAccountStore
from graveler.aws.dynamodb.tables import Tables
from graveler.errors import AlreadyExistsError, CorruptDataError
from graveler.ports import AccountStore, Credential, User
from tests.contract.conftest import DynamoDBStores
from tests.support.memory import MemoryAccountStore

USER = User("admin", 1_700_000_000)
CREDENTIAL = Credential("AKIAJEXAMPLEEXAMPLEQ", "secret/+=é", "admin", 1_700_000_001)


class ContextCipher:
    """No encryption at all, but as strict about contexts as a real one."""

    def encrypt(self, plaintext: bytes, context: Mapping[str, str]) -> bytes:
        return repr(sorted(context.items())).encode() + b"\0" + plaintext[::-1]

    def decrypt(self, ciphertext: bytes, context: Mapping[str, str]) -> bytes:
        stored, _, reversed_plaintext = ciphertext.partition(b"\0")
        if stored != repr(sorted(context.items())).encode():
            raise CorruptDataError("encrypted in another context")
        return reversed_plaintext[::-1]


@dataclass(frozen=True)
class World:
    """Two processes of one deployment."""

    first: AccountStore
    second: AccountStore


@pytest.fixture
def fresh_tables(dynamodb_stores: DynamoDBStores) -> Tables:
    """Accounts belong to a deployment, not to a repository: each test has tables of its own."""
    suffix = uuid4().hex[:8]
    tables = Tables(f"refs-{suffix}", f"staging-{suffix}", dynamodb_stores.tables.dynamodb)
    tables.create()
    return tables


@pytest.fixture(params=["memory", pytest.param("dynamodb", marks=pytest.mark.server)])
def world(request: pytest.FixtureRequest) -> World:
    if request.param == "memory":
        store = MemoryAccountStore()
        return World(store, store)
    tables = request.getfixturevalue("fresh_tables")
    return World(
        DynamoAccountStore(tables, ContextCipher()), DynamoAccountStore(tables, ContextCipher())
    )


def test_the_installation_is_one_and_the_same(world: World) -> None:
    installation = world.first.installation()
    assert world.second.installation() == installation
    assert len(installation.signing_key) == 32


def test_before_set_up_there_is_nobody(world: World) -> None:
    assert not world.first.is_set_up()
    assert world.first.user("admin") is None
    assert world.first.credential(CREDENTIAL.access_key_id) is None


def test_set_up_stores_the_first_administrator(world: World) -> None:
    world.first.set_up(USER, CREDENTIAL)
    assert world.second.is_set_up()
    assert world.second.user("admin") == USER
    assert world.second.credential(CREDENTIAL.access_key_id) == CREDENTIAL


def test_set_up_happens_once(world: World) -> None:
    world.first.set_up(USER, CREDENTIAL)
    other = Credential("AKIAJOTHEROTHEROTHEQ", "other", "second", 1)
    with pytest.raises(AlreadyExistsError):
        world.second.set_up(User("second", 1), other)
    assert world.first.user("second") is None
    assert world.first.credential(other.access_key_id) is None


@pytest.mark.server
class TestDynamoDB:
    def test_first_calls_at_the_same_time_make_one_installation(self, fresh_tables: Tables) -> None:
        stores = [DynamoAccountStore(fresh_tables, ContextCipher()) for _ in range(8)]
        with ThreadPoolExecutor(8) as pool:
            made = list(pool.map(lambda store: store.installation(), stores))
        assert len({installation.id for installation in made}) == 1
        assert len({installation.signing_key for installation in made}) == 1

    @pytest.mark.parametrize("operation", ["TransactWriteItems", "PutItem"])
    def test_a_lost_answer_goes_unnoticed(
        self, fresh_tables: Tables, dynamodb_stores: DynamoDBStores, operation: str
    ) -> None:
        store = DynamoAccountStore(fresh_tables, ContextCipher())
        dynamodb_stores.http.to_lose[operation] = 1
        dynamodb_stores.http.forget_tokens = True
        try:
            store.installation()
            store.set_up(USER, CREDENTIAL)
        finally:
            dynamodb_stores.http.forget_tokens = False
        assert store.credential(CREDENTIAL.access_key_id) == CREDENTIAL
        assert dynamodb_stores.http.to_lose[operation] == 0

    def test_the_table_does_not_hold_the_secret(self, fresh_tables: Tables) -> None:
        store = DynamoAccountStore(fresh_tables, ContextCipher())
        store.set_up(USER, CREDENTIAL)
        stored = fresh_tables.dynamodb.call("Scan", {"TableName": fresh_tables.refs})
        assert stored["Count"] == 3
        assert CREDENTIAL.secret_access_key not in repr(stored)

    def test_a_secret_moved_to_another_record_is_not_decrypted(self, fresh_tables: Tables) -> None:
        store = DynamoAccountStore(fresh_tables, ContextCipher())
        store.set_up(USER, CREDENTIAL)
        raw = fresh_tables.get("accounts", f"credential#{CREDENTIAL.access_key_id}")
        assert raw is not None
        moved = {**raw, "sort": {"S": "credential#OTHER"}}
        fresh_tables.dynamodb.call("PutItem", {"TableName": fresh_tables.refs, "Item": moved})
        with pytest.raises(CorruptDataError):
            store.credential("OTHER")
