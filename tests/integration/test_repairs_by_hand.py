"""Repairs that docs/repairs.md makes with AWS's own tools, on items of the refs table."""

import base64
from collections.abc import Iterable, Iterator
from types import SimpleNamespace

import pytest

from graveler.access.policy import Effect, Policy, Statement
from graveler.access.standard import ADMINISTRATORS, GROUPS, POLICIES
from graveler.aws import wiring
from graveler.aws.aes_gcm import AesGcmCipher
from graveler.aws.dynamodb.accounts import DynamoAccountStore
from graveler.aws.dynamodb.models import (
    ACCOUNTS,
    CREDENTIAL,
    FIRST_ADMINISTRATOR,
    GROUP,
    INSTALLATION,
    OUTBOX,
    POLICY,
    partition_of,
)
from graveler.aws.dynamodb.tables import Tables, key
from graveler.aws.eventbridge import Published
from graveler.aws.system import SystemClock
from graveler.branches.lookup import read_repository
from graveler.errors import AlreadyExistsError, AuthenticationError
from graveler.http.auth import Authenticator
from graveler.model import Event
from graveler.operations import branches
from graveler.operations.accounts.installation import set_up
from graveler.ports import Credential, User
from graveler_functions.events.handler import handler
from tests.support.fakes.invocation import Context
from tests.support.worlds.server_world import ServerWorld, open_world

pytestmark = pytest.mark.server


CIPHER = AesGcmCipher(b"k" * 32, "the key")
FULL_ACCESS = "AuthFullAccess"


@pytest.fixture
def world(dynamodb_endpoint: str) -> Iterator[ServerWorld]:
    with open_world(dynamodb_endpoint) as world:
        yield world


@pytest.fixture
def tables(world: ServerWorld) -> Iterator[Tables]:
    made = world.tables()
    forget_accounts(made)
    yield made
    forget_accounts(made)


def forget_accounts(tables: Tables) -> None:
    """Other tests set up the same tables."""
    for page in tables.pages(tables.query(ACCOUNTS, "")):
        for raw in page:
            delete(tables, raw["sort"]["S"])


def delete(tables: Tables, name: str) -> None:
    """As `aws dynamodb delete-item` of the accounts partition."""
    tables.dynamodb.call("DeleteItem", tables.delete(key(ACCOUNTS, name)))


def test_without_its_mark_the_deployment_is_set_up_once_more(tables: Tables) -> None:
    store = DynamoAccountStore(tables, CIPHER)
    first = Credential("AKIAJFIRST", "lost", "admin", 0)
    second = Credential("AKIAJSECOND", "new", "admin", 1)
    store.set_up(User("admin", 0), first)
    with pytest.raises(AlreadyExistsError):
        store.set_up(User("admin", 1), second)

    delete(tables, FIRST_ADMINISTRATOR)
    assert not store.is_set_up()
    store.set_up(User("admin", 1), second)

    assert user_of(store, second) == "admin"
    assert user_of(store, first) == "admin"  # works on until it is deleted as well
    delete(tables, CREDENTIAL + "AKIAJFIRST")
    with pytest.raises(AuthenticationError):
        user_of(store, first)


def test_an_installation_without_an_administrator_is_set_up_once_more(tables: Tables) -> None:
    store = DynamoAccountStore(tables, CIPHER)
    set_up(store, User("boss", 0), Credential("AKIAJTHIRD", "lost", "boss", 0))
    store.create_user(User("eve", 0))
    store.delete_user("boss")
    delete(tables, FIRST_ADMINISTRATOR)
    set_up(store, User("eve", 1), Credential("AKIAJFOURTH", "new", "eve", 1))
    assert store.user("eve") == User("eve", 0)
    assert [group.name for group in store.groups_of("eve", "", "", 9).results] == ["Admins"]
    assert [user.name for user in store.members("Admins", "", "", 9).results] == ["eve"]


def test_administrators_who_took_their_own_rights_get_them_back(tables: Tables) -> None:
    store = DynamoAccountStore(tables, CIPHER)
    set_up(store, User("anna", 0), Credential("AKIAJANNA", "kept", "anna", 0))
    store.update_policy(Policy(FULL_ACCESS, (Statement(Effect.DENY, ("auth:*",), "*"),), 0))
    store.detach_from_group(FULL_ACCESS, ADMINISTRATORS)

    for name in (FIRST_ADMINISTRATOR, GROUP + ADMINISTRATORS, POLICY + FULL_ACCESS):
        delete(tables, name)
    set_up(store, User("bert", 1), Credential("AKIAJBERT", "new", "bert", 1))
    effective = {policy.name: policy.statements for policy in store.effective_policies("bert")}
    assert effective == {name: POLICIES[name] for name in GROUPS[ADMINISTRATORS]}

    assert list(store.effective_policies("anna")) == []  # until somebody adds her again
    store.add_member(ADMINISTRATORS, "anna")
    assert len(store.effective_policies("anna")) == len(effective)
    for name in ("anna", "bert"):
        store.delete_user(name)


def user_of(store: DynamoAccountStore, pair: Credential) -> str:
    """Return the user whom a request with the pair is found to be of."""
    basic = base64.b64encode(f"{pair.access_key_id}:{pair.secret_access_key}".encode()).decode()
    return Authenticator(store, SystemClock()).user_of(f"Basic {basic}", [])


def test_key_pairs_go_on_under_another_signing_key(tables: Tables) -> None:
    pair = Credential("AKIAJFIFTH", "mine", "carol", 0)
    store = DynamoAccountStore(tables, CIPHER)
    store.create_user(User("carol", 0))
    store.create_key(pair)
    delete(tables, INSTALLATION)
    fresh = DynamoAccountStore(tables, CIPHER)
    for _ in range(2):
        assert user_of(fresh, pair) == "carol"
    with pytest.raises(AuthenticationError):
        user_of(fresh, Credential("AKIAJFIFTH", "guess", "carol", 0))


def test_without_its_record_the_installation_gets_another_signing_key(tables: Tables) -> None:
    old = DynamoAccountStore(tables, CIPHER)
    before = old.installation().signing_key

    delete(tables, INSTALLATION)

    after = DynamoAccountStore(tables, CIPHER).installation().signing_key
    assert after != before
    assert old.installation().signing_key == before  # a process that runs keeps what it has


def test_items_of_the_outbox_are_published_again_as_records_of_the_stream(
    world: ServerWorld, tables: Tables, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = world.new_repository()
    branches.create(world.engine(), name, name="dev", source="main")
    published: list[Event] = []

    class Bus:
        def publish(self, events: Iterable[Event]) -> Published:
            published.extend(events)
            return Published(len(published))

    monkeypatch.setattr(wiring, "adapters", lambda: SimpleNamespace(event_bus=Bus()))
    repository = read_repository(world.engine(), name)
    (items,) = tables.pages(tables.query(partition_of(repository.record), OUTBOX))
    # What the runbook has jq make of them.
    records = [
        {
            "eventName": "INSERT",
            "dynamodb": {
                "Keys": {"partition": item["partition"], "sort": item["sort"]},
                "NewImage": item,
                "SequenceNumber": item["sort"]["S"],
            },
        }
        for item in items
    ]

    answer = handler({"Records": records}, Context("by hand"))

    assert answer == {"batchItemFailures": []}
    assert {each.kind for each in published} == {"repository_created", "branch_created"}
