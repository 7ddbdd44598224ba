"""The contract of every AccountStore."""

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial

import pytest
from msgspec import structs

from graveler.access.digests import secret_digest
from graveler.access.policy import Effect, Policy, Statement
from graveler.addresses import first_xid
from graveler.aws.dynamodb.accounts import DynamoAccountStore
from graveler.aws.dynamodb.models import AUDIT, CredentialItem, FirstAdministratorItem, UserItem
from graveler.aws.dynamodb.tables import Tables, key
from graveler.errors import AlreadyExistsError, CorruptDataError, NotFoundError
from graveler.model import Page
from graveler.model.audit import AuditRecord
from graveler.ports import AccountStore, Credential, Group, NewGroup, StandardAccess, User
from graveler.times import NS_PER_S
from tests.contract.accounts import ContextCipher, World, stored
from tests.contract.conftest import DynamoDBStores, strong

USER = User("admin", 1_700_000_000)
CREDENTIAL = Credential("AKIAJEXAMPLEEXAMPLEQ", "secret/+=é", "admin", 1_700_000_001)

ALL_POLICY = Policy("All", (Statement(Effect.ALLOW, ("fs:*", "auth:*"), "*"),), 7)
READ_POLICY = Policy("Read", (Statement(Effect.ALLOW, ("fs:Read*",), "*"),), 7)
STANDARD = StandardAccess(
    (ALL_POLICY, READ_POLICY),
    (NewGroup(Group("Admins", 7), ("All",)), NewGroup(Group("Viewers", 7), ("Read",))),
    "Admins",
)


def names(page: Page[User] | Page[Group] | Page[Policy]) -> list[str]:
    return [each.name for each in page.results]


def is_secret_of(store: AccountStore, pair: Credential) -> bool:
    """Return whether the pair's secret is the one that the store checks requests against."""
    key = store.look_up(pair.access_key_id).key
    assert key is not None
    assert (key.access_key_id, key.user) == (pair.access_key_id, pair.user)
    signing_key = store.installation().signing_key
    digest = secret_digest(
        signing_key, pair.access_key_id, pair.user, key.user_uid, pair.secret_access_key
    )
    return digest == key.digest


def test_the_installation_is_one_and_the_same(world: World) -> None:
    installation = world.first.installation()
    assert world.second.installation() == installation
    assert len(installation.signing_key) == 32


def test_before_set_up_there_is_nobody(world: World) -> None:
    assert not world.first.is_set_up()
    assert world.first.user("admin") is None
    assert world.first.look_up(CREDENTIAL.access_key_id).key is None


def test_set_up_stores_the_first_administrator(world: World) -> None:
    world.first.set_up(USER, CREDENTIAL, STANDARD)
    assert world.second.is_set_up()
    assert world.second.user("admin") == USER
    assert is_secret_of(world.second, CREDENTIAL)
    assert names(world.second.groups_of("admin", "", "", 10)) == ["Admins"]
    assert names(world.second.members("Admins", "", "", 10)) == ["admin"]
    assert world.second.effective_policies("admin") == (ALL_POLICY,)
    assert names(world.second.groups("", "", 10)) == ["Admins", "Viewers"]
    assert names(world.second.policies("", "", 10)) == ["All", "Read"]
    assert names(world.second.policies_of_group("Viewers", "", "", 10)) == ["Read"]


def test_set_up_happens_once(world: World) -> None:
    world.first.set_up(USER, CREDENTIAL, STANDARD)
    other = Credential("AKIAJOTHEROTHEROTHEQ", "other", "second", 1)
    with pytest.raises(AlreadyExistsError):
        world.second.set_up(User("second", 1), other, STANDARD)
    assert world.first.user("second") is None
    assert world.first.look_up(other.access_key_id).key is None


def test_an_upgrade_of_today_s_installation_changes_nothing(world: World) -> None:
    world.first.set_up(USER, CREDENTIAL, STANDARD)
    world.first.delete_group("Viewers")
    world.first.create_user(User("bob", 1))
    world.second.upgrade(STANDARD)
    assert world.first.group("Viewers") is None
    assert world.first.effective_policies("bob") == ()


def test_the_end_of_sessions_is_seen_by_all_and_never_goes_back(world: World) -> None:
    world.first.set_up(USER, CREDENTIAL, STANDARD)
    for before, kept in ((2_000, 2_000), (1_000, 2_000), (2_000, 2_000), (3_000, 3_000)):
        world.first.end_sessions("admin", before)
        expected = replace(USER, sessions_from=kept)
        assert world.second.user("admin") == expected
        assert world.second.look_up(CREDENTIAL.access_key_id, hint="admin").user == expected
    with pytest.raises(NotFoundError):
        world.first.end_sessions("nobody", 1)


class TestDynamoDB:
    def test_first_calls_at_the_same_time_make_one_installation(self, fresh_tables: Tables) -> None:
        stores = [DynamoAccountStore(fresh_tables, ContextCipher()) for _ in range(8)]
        with ThreadPoolExecutor(8) as pool:
            made = list(pool.map(lambda store: store.installation(), stores))
        assert len({installation.id for installation in made}) == 1
        assert len({installation.signing_key for installation in made}) == 1

    def test_a_user_who_was_made_again_during_the_set_up_is_not_promoted(
        self, fresh_tables: Tables, dynamodb_stores: DynamoDBStores
    ) -> None:
        first, second = (DynamoAccountStore(fresh_tables, ContextCipher()) for _ in range(2))
        second.create_user(USER)
        first.installation()
        left = []

        def make_again() -> None:
            second.delete_user("admin")
            second.create_user(USER)
            left.append(fresh_tables.get("accounts", "user#admin"))

        dynamodb_stores.http.before["TransactWriteItems"] = make_again
        with pytest.raises(AlreadyExistsError):
            first.set_up(USER, CREDENTIAL, STANDARD)
        assert [fresh_tables.get("accounts", "user#admin")] == left
        assert not first.is_set_up()

    def test_the_installation_that_is_made_first_is_everybodys(
        self, fresh_tables: Tables, dynamodb_stores: DynamoDBStores
    ) -> None:
        first, second = (DynamoAccountStore(fresh_tables, ContextCipher()) for _ in range(2))
        made = []
        dynamodb_stores.http.before["PutItem"] = lambda: made.append(second.installation())
        assert [first.installation()] == made

    @pytest.mark.parametrize("operation", ["TransactWriteItems", "PutItem"])
    def test_a_lost_answer_goes_unnoticed(
        self, fresh_tables: Tables, dynamodb_stores: DynamoDBStores, operation: str
    ) -> None:
        store = DynamoAccountStore(fresh_tables, ContextCipher())
        dynamodb_stores.http.to_lose[operation] = 1
        dynamodb_stores.http.forget_tokens = True
        try:
            store.installation()
            store.set_up(USER, CREDENTIAL, STANDARD)
        finally:
            dynamodb_stores.http.forget_tokens = False
        assert is_secret_of(store, CREDENTIAL)
        assert dynamodb_stores.http.to_lose[operation] == 0

    def test_the_table_does_not_hold_the_secret(self, fresh_tables: Tables) -> None:
        store = DynamoAccountStore(fresh_tables, ContextCipher())
        store.set_up(USER, CREDENTIAL)
        items = stored(fresh_tables)
        assert len(items) == 5
        assert CREDENTIAL.secret_access_key not in repr(items)

    @pytest.mark.parametrize("moved_to", ["credential#OTHER", "credential#AKIAJEXAMPLEEXAMPLEQ"])
    def test_a_secret_moved_to_another_record_or_user_does_not_match(
        self, fresh_tables: Tables, moved_to: str
    ) -> None:
        store = DynamoAccountStore(fresh_tables, ContextCipher())
        store.set_up(USER, CREDENTIAL)
        store.create_user(User("eve", 1))
        eve = fresh_tables.get("accounts", "user#eve")
        raw = fresh_tables.get("accounts", f"credential#{CREDENTIAL.access_key_id}")
        assert raw is not None
        assert eve is not None
        moved = {**raw, "sort": {"S": moved_to}, "user": {"S": "eve"}, "uid": eve["uid"]}
        fresh_tables.dynamodb.call("PutItem", {"TableName": fresh_tables.refs, "Item": moved})
        access_key_id = moved_to.removeprefix("credential#")
        secret = CREDENTIAL.secret_access_key
        assert not is_secret_of(store, Credential(access_key_id, secret, "eve", 1))

    def test_a_secret_from_before_groups_that_was_moved_is_not_taken_over(
        self, fresh_tables: Tables
    ) -> None:
        store = DynamoAccountStore(fresh_tables, ContextCipher())
        install_before_groups(store, fresh_tables)
        raw = fresh_tables.get("accounts", f"credential#{CREDENTIAL.access_key_id}")
        assert raw is not None
        moved = {**raw, "sort": {"S": "credential#OTHER"}}
        fresh_tables.dynamodb.call("PutItem", {"TableName": fresh_tables.refs, "Item": moved})
        with pytest.raises(CorruptDataError):
            store.upgrade(STANDARD)

    def test_users_from_before_groups_become_administrators(self, fresh_tables: Tables) -> None:
        store = DynamoAccountStore(fresh_tables, ContextCipher())
        install_before_groups(store, fresh_tables)
        key = store.look_up(CREDENTIAL.access_key_id).key
        assert key is not None
        assert not key.digest
        store.upgrade(STANDARD)
        assert store.effective_policies("admin") == (ALL_POLICY,)
        assert names(store.members("Admins", "", "", 10)) == ["admin"]
        assert is_secret_of(store, CREDENTIAL)
        [listed] = store.keys_of("admin", "", "", 10).results
        assert listed.access_key_id == CREDENTIAL.access_key_id

    def test_upgrades_at_the_same_time_are_one(self, fresh_tables: Tables) -> None:
        stores = [DynamoAccountStore(fresh_tables, ContextCipher()) for _ in range(6)]
        install_before_groups(stores[0], fresh_tables)
        with ThreadPoolExecutor(6) as pool:
            list(pool.map(lambda store: store.upgrade(STANDARD), stores))
        assert stores[0].effective_policies("admin") == (ALL_POLICY,)
        assert is_secret_of(stores[0], CREDENTIAL)
        raw = fresh_tables.get("accounts", "user#admin")
        assert raw is not None
        assert len(raw["groups"]["SS"]) == 1

    def test_a_user_who_is_deleted_or_upgraded_during_an_upgrade_stays_so(
        self, fresh_tables: Tables, dynamodb_stores: DynamoDBStores
    ) -> None:
        strong(dynamodb_stores)
        before = dynamodb_stores.http.before
        first, second = (DynamoAccountStore(fresh_tables, ContextCipher()) for _ in range(2))
        admin = fresh_tables.delete(key("accounts", "user#admin"))

        def uid_of_admin() -> str:
            user = second.user("admin")
            return "" if user is None else user.uid

        for change in (
            lambda: second.upgrade(STANDARD),
            lambda: fresh_tables.dynamodb.call("DeleteItem", admin),
        ):
            install_before_groups(first, fresh_tables)
            left = []

            def meanwhile(change=change, left=left) -> None:
                change()
                left.append(uid_of_admin())

            # The first transaction stores the groups, the second one upgrades the user.
            before["TransactWriteItems"] = partial(
                before.__setitem__, "TransactWriteItems", meanwhile
            )
            first.upgrade(STANDARD)
            assert [uid_of_admin()] == left

    def test_an_interrupted_upgrade_is_finished_and_brings_nothing_back(
        self, fresh_tables: Tables
    ) -> None:
        store = DynamoAccountStore(fresh_tables, ContextCipher())
        install_before_groups(store, fresh_tables)
        with pytest.raises(ZeroDivisionError):
            # After the groups and policies are stored.
            interrupted_at(store, "_without").upgrade(STANDARD)
        store.delete_group("Viewers")
        store.upgrade(STANDARD)
        assert store.group("Viewers") is None
        assert store.effective_policies("admin") == (ALL_POLICY,)

    def test_a_key_pair_from_before_groups_passes_to_no_later_user_of_the_name(
        self, fresh_tables: Tables
    ) -> None:
        store = DynamoAccountStore(fresh_tables, ContextCipher())
        install_before_groups(store, fresh_tables)
        with pytest.raises(ZeroDivisionError):
            # After the users are upgraded.
            interrupted_at(store, "_upgrade_key").upgrade(STANDARD)
        store.delete_user("admin")
        store.create_user(User("admin", CREDENTIAL.creation_date + 1))
        store.upgrade(STANDARD, CREDENTIAL.access_key_id)
        assert not is_secret_of(store, CREDENTIAL)
        assert store.keys_of("admin", "", "", 10).results == ()

    def test_a_key_pair_that_is_deleted_during_an_upgrade_is_not_listed(
        self, fresh_tables: Tables
    ) -> None:
        other = DynamoAccountStore(fresh_tables, ContextCipher())

        class MeanwhileDeleted(ContextCipher):
            def decrypt(self, ciphertext: bytes, context: Mapping[str, str]) -> bytes:
                if "access-key-id" in context:
                    other.upgrade(STANDARD)
                    other.delete_key("admin", CREDENTIAL.access_key_id)
                return super().decrypt(ciphertext, context)

        install_before_groups(other, fresh_tables)
        DynamoAccountStore(fresh_tables, MeanwhileDeleted()).upgrade(STANDARD)
        assert other.look_up(CREDENTIAL.access_key_id).key is None
        assert other.keys_of("admin", "", "", 10).results == ()


def install_before_groups(store: DynamoAccountStore, tables: Tables) -> None:
    """Store what set-up stored before groups existed."""
    store.installation()
    secret = ContextCipher().encrypt(
        CREDENTIAL.secret_access_key.encode(), {"access-key-id": CREDENTIAL.access_key_id}
    )
    for item in (
        FirstAdministratorItem(
            "accounts", "first-administrator", access_key_id=CREDENTIAL.access_key_id
        ),
        UserItem("accounts", "user#admin", creation_date=1),
        CredentialItem(
            "accounts",
            f"credential#{CREDENTIAL.access_key_id}",
            user="admin",
            secret=secret,
            creation_date=1,
        ),
    ):
        tables.dynamodb.call("PutItem", tables.put(item))


def interrupted_at(store: DynamoAccountStore, step: str) -> DynamoAccountStore:
    """Return the store as a process that dies where the step begins."""

    def die(*_: object) -> None:
        raise ZeroDivisionError

    dying = type("Dying", (DynamoAccountStore,), {"__slots__": (), step: die})
    made = dying(store.tables, store.cipher)
    assert isinstance(made, DynamoAccountStore)
    return made


NOVEMBER_S = 1_795_910_400  # 2026-11-29
DAY_S = 24 * 60 * 60


def audited(time_s: int) -> AuditRecord:
    return AuditRecord(
        id=first_xid(time_s),
        time_ns=time_s * NS_PER_S,
        user="amelie",
        address="203.0.113.7",
        operation="createUser",
        path="/api/v1/auth/users",
        request_id="r",
        resources=("arn:lakefs:auth:::user/bo",),
    )


def test_a_month_of_the_audit_is_read_newest_first_and_from_any_record_on(world: World) -> None:
    made = [audited(NOVEMBER_S - days * DAY_S) for days in (3, 1, 2, 40)]
    for record in made:
        world.first.keep_audit(record)
    newest = sorted(made[:3], key=lambda record: record.id, reverse=True)
    assert list(world.second.audit_of_month("2026-11", "")) == newest
    assert list(world.second.audit_of_month("2026-11", newest[0].id)) == newest[1:]
    assert list(world.second.audit_of_month("2026-10", "")) == made[3:]
    assert list(world.second.audit_of_month("2026-09", "")) == []


def test_a_record_of_the_audit_gets_its_outcome(world: World) -> None:
    world.first.keep_audit(audited(NOVEMBER_S))
    known = structs.replace(audited(NOVEMBER_S), status=201)
    world.second.keep_audit(known)
    assert list(world.first.audit_of_month("2026-11", "")) == [known]


def test_the_audit_expires_after_a_year_and_a_month(fresh_tables: Tables) -> None:
    DynamoAccountStore(fresh_tables, ContextCipher()).keep_audit(audited(NOVEMBER_S))
    raw = fresh_tables.get(f"{AUDIT}2026-11", first_xid(NOVEMBER_S))
    assert raw is not None
    assert int(raw["expires_at"]["N"]) == NOVEMBER_S + 396 * DAY_S
