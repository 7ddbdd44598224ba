"""The contract of every AccountStore: users, groups, policies, key pairs and principals."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext, suppress
from typing import Any

import pytest

from graveler.access.digests import secret_digest
from graveler.access.policy import Effect, Policy, Statement
from graveler.aws.dynamodb.accounts import DynamoAccountStore, policies
from graveler.aws.dynamodb.client import DynamoDB
from graveler.aws.dynamodb.models import ACCOUNTS, MEMBER_OF, PRINCIPAL, PrincipalItem
from graveler.aws.dynamodb.tables import Tables, key
from graveler.errors import (
    AlreadyExistsError,
    ContentionError,
    CorruptDataError,
    GravelerError,
    InvalidInputError,
    NotFoundError,
    PreconditionFailedError,
    UnknownOutcomeError,
)
from graveler.limits import GROUPS_OF_USER_MAX, POLICIES_ATTACHED_MAX
from graveler.model.settings import checksum_of
from graveler.ports import AccountStore, Credential, ExternalPrincipal, Group, User
from tests.contract.accounts import ContextCipher, World, stored
from tests.contract.conftest import DynamoDBStores, no_request_arrives, strong

ROLE = "arn:aws:sts::123456789012:assumed-role/Reader"


def policy(name: str, *actions: str, creation_date: int = 1) -> Policy:
    conditions = {"IpAddress": {"SourceIp": ["10.0.0.0/8"]}}
    statement = Statement(Effect.ALLOW, actions or ("fs:*",), "*", conditions)
    return Policy(name, (statement, Statement(Effect.DENY, ("auth:*",), "*")), creation_date)


def pair(user: str, access_key_id: str = "AKIAJ1") -> Credential:
    return Credential(access_key_id, f"secret of {access_key_id}", user, 5)


@pytest.fixture
def store(world: World) -> AccountStore:
    """Ann and Bob, the groups Readers and Writers, the policies Read and Write."""
    store = world.first
    for name in ("ann", "bob"):
        store.create_user(User(name, 1))
    for name in ("Readers", "Writers"):
        store.create_group(Group(name, 2, f"the {name}"))
    for name in ("Read", "Write"):
        store.create_policy(policy(name))
    return store


def effective(store: AccountStore, user: str) -> list[str]:
    return [each.name for each in store.effective_policies(user)]


def holders(store: AccountStore, name: str, prefix: str = "", after: str = "") -> list[str]:
    """Return the places of the holders, from pages of one."""
    found: list[str] = []
    while True:
        page = store.holders_of(name, prefix, after, 1)
        found += [holder.place for holder in page.results]
        after = page.next_after
        if not after:
            return found


def works(store: AccountStore, made: Credential) -> bool:
    """Return whether a request with the pair is one of its user."""
    key = store.look_up(made.access_key_id, hint=made.user).key
    user = store.user(made.user)
    if key is None or user is None or key.user_uid != user.uid:
        return False
    digest = secret_digest(
        store.installation().signing_key,
        made.access_key_id,
        made.user,
        user.uid,
        made.secret_access_key,
    )
    return digest == key.digest


class TestRecords:
    def test_what_is_stored_is_returned(self, store: AccountStore) -> None:
        assert store.user("ann") == User("ann", 1)
        assert store.group("Readers") == Group("Readers", 2, "the Readers")
        assert store.policy("Read") == policy("Read")

    def test_a_group_may_have_no_description(self, store: AccountStore) -> None:
        store.create_group(Group("Bare", 1))
        assert store.group("Bare") == Group("Bare", 1, "")

    @pytest.mark.parametrize("kind", ["user", "group", "policy"])
    def test_a_name_is_taken_once(self, store: AccountStore, kind: str) -> None:
        create: dict[str, Callable[[], None]] = {
            "user": lambda: store.create_user(User("ann", 9)),
            "group": lambda: store.create_group(Group("Readers", 9)),
            "policy": lambda: store.create_policy(policy("Read", creation_date=9)),
        }
        with pytest.raises(AlreadyExistsError):
            create[kind]()
        assert store.user("ann") == User("ann", 1)
        assert store.group("Readers") == Group("Readers", 2, "the Readers")
        assert store.policy("Read") == policy("Read")

    def test_what_is_not_there_is_not_deleted(self, store: AccountStore) -> None:
        for delete in (store.delete_user, store.delete_group, store.delete_policy):
            with pytest.raises(NotFoundError):
                delete("nobody")

    def test_pages_follow_the_bytes_of_the_names(self, store: AccountStore) -> None:
        for name in ("é", "Z", "a#b", "bo"):
            store.create_user(User(name, 1))
        page = store.users("", "", 3)
        assert [user.name for user in page.results] == ["Z", "a#b", "ann"]
        assert page.next_after == "ann"
        page = store.users("", "ann", 10)
        assert [user.name for user in page.results] == ["bo", "bob", "é"]
        assert page.next_after == ""
        assert [user.name for user in store.users("bo", "bo", 10).results] == ["bob"]
        assert [group.name for group in store.groups("W", "", 10).results] == ["Writers"]
        assert store.policies("", "", 1).next_after == "Read"

    def test_an_updated_policy_stays_attached_and_keeps_its_date(self, store: AccountStore) -> None:
        store.attach_to_user("Read", "ann")
        store.update_policy(policy("Read", "fs:ReadObject", creation_date=77))
        assert store.policy("Read") == policy("Read", "fs:ReadObject")
        assert store.effective_policies("ann") == (policy("Read", "fs:ReadObject"),)
        with pytest.raises(NotFoundError):
            store.update_policy(policy("Nothing"))

    def test_a_policy_is_changed_if_it_is_what_was_read(self, store: AccountStore) -> None:
        read, newer = policy("Read"), policy("Read", "fs:ReadObject")
        store.update_policy(newer, checksum_of(read))
        for change in (store.update_policy, lambda _, seen: store.delete_policy("Read", seen)):
            with pytest.raises(PreconditionFailedError):
                change(read, checksum_of(read))
            with pytest.raises(NotFoundError):
                store.delete_policy("Nothing", checksum_of(read))
        assert store.policy("Read") == newer
        store.delete_policy("Read", checksum_of(newer))
        assert store.policy("Read") is None
        with pytest.raises(NotFoundError):
            store.update_policy(read, checksum_of(newer))


class TestMembersAndAttachments:
    def test_a_user_has_its_own_policies_and_those_of_its_groups_once(
        self, store: AccountStore
    ) -> None:
        store.attach_to_user("Write", "ann")
        store.attach_to_group("Write", "Writers")
        store.attach_to_group("Read", "Writers")
        store.add_member("Writers", "ann")
        assert effective(store, "ann") == ["Read", "Write"]
        assert effective(store, "bob") == []
        assert effective(store, "nobody") == []

    def test_a_look_up_shows_each_change_at_once(self, world: World, store: AccountStore) -> None:
        reader = world.second
        assert effective(reader, "ann") == []
        store.add_member("Readers", "ann")
        assert effective(reader, "ann") == []
        store.attach_to_group("Read", "Readers")
        assert effective(reader, "ann") == ["Read"]
        store.attach_to_user("Write", "ann")
        assert effective(reader, "ann") == ["Read", "Write"]
        store.detach_from_group("Read", "Readers")
        assert effective(reader, "ann") == ["Write"]
        store.attach_to_group("Read", "Readers")
        store.remove_member("Readers", "ann")
        assert effective(reader, "ann") == ["Write"]
        store.delete_policy("Write")
        assert effective(reader, "ann") == []

    def test_lists_show_who_is_where(self, store: AccountStore) -> None:
        for user in ("ann", "bob"):
            store.add_member("Readers", user)
        store.add_member("Writers", "ann")
        page = store.members("Readers", "", "", 1)
        assert (page.results, page.next_after) == ((User("ann", 1),), "ann")
        assert store.members("Readers", "", "ann", 1).results == (User("bob", 1),)
        assert [group.name for group in store.groups_of("ann", "", "", 1).results] == ["Readers"]
        page_of_groups = store.groups_of("ann", "", "Readers", 1)
        assert [group.name for group in page_of_groups.results] == ["Writers"]
        assert page_of_groups.next_after == ""
        store.attach_to_user("Read", "ann")
        store.attach_to_group("Write", "Readers")
        assert store.policies_of_user("ann", "", "", 10).results == (policy("Read"),)
        assert store.policies_of_group("Readers", "W", "", 10).results == (policy("Write"),)
        for listed in (
            store.members("nobody", "", "", 10),
            store.groups_of("nobody", "", "", 10),
            store.policies_of_user("nobody", "", "", 10),
            store.policies_of_group("nobody", "", "", 10),
        ):
            assert listed.results == ()

    def test_the_holders_of_a_policy_are_listed_groups_first(self, store: AccountStore) -> None:
        store.create_policy(policy("Reader"))
        for user in ("ann", "bob"):
            store.attach_to_user("Read", user)
        for group in ("Readers", "Writers"):
            store.attach_to_group("Read", group)
        store.attach_to_user("Reader", "bob")
        store.add_member("Writers", "bob")
        assert holders(store, "Read") == ["group/Readers", "group/Writers", "user/ann", "user/bob"]
        assert holders(store, "Reader") == ["user/bob"]
        assert holders(store, "Write") == holders(store, "Nothing") == []
        assert holders(store, "Read", prefix="W") == ["group/Writers"]
        assert holders(store, "Read", prefix="b", after="user/a") == ["user/bob"]
        assert holders(store, "Read", prefix="a", after="user/b") == []
        assert holders(store, "Read", after="group/x") == ["user/ann", "user/bob"]
        store.detach_from_group("Read", "Readers")
        store.delete_user("bob")
        assert holders(store, "Read") == ["group/Writers", "user/ann"]
        store.delete_policy("Read")
        store.create_policy(policy("Read"))
        assert holders(store, "Read") == []

    def test_twice_is_refused_and_nothing_is_nothing(self, store: AccountStore) -> None:
        store.add_member("Readers", "ann")
        store.attach_to_user("Read", "ann")
        store.attach_to_group("Read", "Readers")
        with pytest.raises(AlreadyExistsError, match="Already exists"):
            store.add_member("Readers", "ann")
        with pytest.raises(AlreadyExistsError, match="Already exists"):
            store.attach_to_user("Read", "ann")
        with pytest.raises(AlreadyExistsError, match="Already exists"):
            store.attach_to_group("Read", "Readers")
        store.remove_member("Readers", "bob")
        store.detach_from_user("Read", "bob")
        store.detach_from_group("Write", "Readers")
        assert effective(store, "ann") == ["Read"]

    @pytest.mark.parametrize(("group", "user", "named"), [("X", "ann", "X"), ("Readers", "x", "x")])
    def test_members_need_a_group_and_a_user(
        self, store: AccountStore, group: str, user: str, named: str
    ) -> None:
        for change in (store.add_member, store.remove_member):
            with pytest.raises(NotFoundError, match=f"not found: .*'{named}'"):
                change(group, user)

    @pytest.mark.parametrize(("name", "holder"), [("X", "ann"), ("Read", "x")])
    def test_attachments_need_a_policy_and_a_holder(
        self, store: AccountStore, name: str, holder: str
    ) -> None:
        store.create_group(Group("ann", 1))
        for change in (
            store.attach_to_user,
            store.detach_from_user,
            store.attach_to_group,
            store.detach_from_group,
        ):
            with pytest.raises(NotFoundError, match="not found"):
                change(name, holder)

    def test_a_user_has_so_many_policies_and_groups_and_deleted_ones_make_room(
        self, store: AccountStore
    ) -> None:
        for number in range(POLICIES_ATTACHED_MAX + 1):
            store.create_policy(policy(f"p{number:03}"))
        for number in range(POLICIES_ATTACHED_MAX):
            store.attach_to_user(f"p{number:03}", "ann")
        with pytest.raises(InvalidInputError, match=str(POLICIES_ATTACHED_MAX)):
            store.attach_to_user(f"p{POLICIES_ATTACHED_MAX:03}", "ann")
        assert len(effective(store, "ann")) == POLICIES_ATTACHED_MAX
        store.delete_policy("p000")
        store.attach_to_user(f"p{POLICIES_ATTACHED_MAX:03}", "ann")
        assert len(effective(store, "ann")) == POLICIES_ATTACHED_MAX

    def test_a_user_is_in_so_many_groups(self, store: AccountStore) -> None:
        for number in range(GROUPS_OF_USER_MAX):
            store.create_group(Group(f"g{number:03}", 1))
            store.add_member(f"g{number:03}", "ann")
        with pytest.raises(InvalidInputError, match=str(GROUPS_OF_USER_MAX)):
            store.add_member("Readers", "ann")
        store.delete_group("g000")
        store.add_member("Readers", "ann")


class TestDeletion:
    def test_a_deleted_user_leaves_nothing_to_a_later_one_of_its_name(
        self, store: AccountStore
    ) -> None:
        store.add_member("Readers", "ann")
        store.attach_to_group("Read", "Readers")
        store.attach_to_user("Write", "ann")
        store.create_key(pair("ann"))
        store.create_principal(ExternalPrincipal(ROLE, "ann"))
        store.delete_user("ann")
        assert store.user("ann") is None
        assert not works(store, pair("ann"))
        assert store.principal(ROLE) is None
        store.create_user(User("ann", 9))
        assert effective(store, "ann") == []
        assert not works(store, pair("ann"))
        assert store.members("Readers", "", "", 10).results == ()
        assert store.keys_of("ann", "", "", 10).results == ()
        assert store.principals_of("ann", "", "", 10).results == ()
        store.create_principal(ExternalPrincipal(ROLE, "bob"))
        assert store.principal(ROLE) == ExternalPrincipal(ROLE, "bob")

    def test_a_deleted_group_leaves_nothing_to_a_later_one_of_its_name(
        self, store: AccountStore
    ) -> None:
        store.add_member("Readers", "ann")
        store.attach_to_group("Read", "Readers")
        store.delete_group("Readers")
        assert effective(store, "ann") == []
        store.create_group(Group("Readers", 9))
        store.attach_to_group("Write", "Readers")
        assert effective(store, "ann") == []
        assert store.members("Readers", "", "", 10).results == ()
        assert store.groups_of("ann", "", "", 10).results == ()
        assert store.policies_of_group("Readers", "", "", 10).results == (policy("Write"),)
        store.add_member("Readers", "ann")
        assert effective(store, "ann") == ["Write"]

    def test_a_deleted_policy_leaves_nothing_to_a_later_one_of_its_name(
        self, store: AccountStore
    ) -> None:
        store.attach_to_user("Read", "ann")
        store.attach_to_group("Read", "Readers")
        store.delete_policy("Read")
        store.create_policy(policy("Read", "*"))
        assert effective(store, "ann") == []
        assert store.policies_of_group("Readers", "", "", 10).results == ()
        store.attach_to_user("Read", "ann")
        assert store.effective_policies("ann") == (policy("Read", "*"),)


class TestKeys:
    def test_keys_are_listed_without_secrets_and_deleted(self, store: AccountStore) -> None:
        for number in range(3):
            store.create_key(pair("ann", f"AKIAJ{number}"))
        store.create_key(pair("bob", "AKIAJ9"))
        page = store.keys_of("ann", "", "", 2)
        assert [key.access_key_id for key in page.results] == ["AKIAJ0", "AKIAJ1"]
        assert page.next_after == "AKIAJ1"
        assert works(store, pair("ann", "AKIAJ1"))
        store.delete_key("ann", "AKIAJ1")
        assert not works(store, pair("ann", "AKIAJ1"))
        assert works(store, pair("ann", "AKIAJ2"))
        assert store.key_of("ann", "AKIAJ1") is None
        found = store.key_of("ann", "AKIAJ2")
        assert found is not None
        assert (found.access_key_id, found.creation_date) == ("AKIAJ2", 5)

    def test_a_key_is_its_user_s_alone(self, store: AccountStore) -> None:
        store.create_key(pair("ann"))
        assert store.key_of("bob", "AKIAJ1") is None
        for user, access_key_id in (("bob", "AKIAJ1"), ("ann", "AKIAJX"), ("nobody", "AKIAJ1")):
            with pytest.raises(NotFoundError, match="credentials not found"):
                store.delete_key(user, access_key_id)
        assert works(store, pair("ann"))

    def test_a_key_needs_a_user_and_an_id_of_its_own(self, store: AccountStore) -> None:
        with pytest.raises(NotFoundError, match="not found"):
            store.create_key(pair("nobody"))
        store.create_key(pair("ann"))
        with pytest.raises(AlreadyExistsError):
            store.create_key(Credential("AKIAJ1", "other", "bob", 1))
        assert works(store, pair("ann"))

    def test_a_signature_is_checked_with_the_secret_of_the_key(self, store: AccountStore) -> None:
        made = pair("ann")
        store.create_key(made)
        found = store.key_pair("AKIAJ1")
        assert found is not None
        key = store.look_up("AKIAJ1").key
        assert key is not None
        assert (found.access_key_id, found.secret_access_key) == ("AKIAJ1", made.secret_access_key)
        assert (found.user, found.user_uid) == ("ann", key.user_uid)

    def test_a_deleted_key_or_user_signs_nothing(self, store: AccountStore) -> None:
        assert store.key_pair("AKIAJ1") is None
        store.create_key(pair("ann"))
        store.delete_key("ann", "AKIAJ1")
        assert store.key_pair("AKIAJ1") is None
        store.create_key(pair("ann"))
        store.delete_user("ann")
        store.create_user(User("ann", 2))
        assert store.key_pair("AKIAJ1") is None

    def test_one_look_up_finds_key_user_and_failures(self, store: AccountStore) -> None:
        store.create_key(pair("ann"))
        counters = ["key#1", "address#1"]
        store.count_failure(counters, 100)
        store.count_failure(counters[:1], 100)
        found = store.look_up("AKIAJ1", counters, "ann")
        assert found.key is not None
        assert found.user == User("ann", 1)
        assert found.failures == (2, 1)
        found = store.look_up("AKIAJX", ["key#2"], "nobody")
        assert (found.key, found.user, found.failures) == (None, None, (0,))


class TestPrincipals:
    def test_a_principal_that_is_attached_again_has_another_attachment(
        self, store: AccountStore
    ) -> None:
        attachments = set()
        for _ in range(2):
            store.create_principal(ExternalPrincipal(ROLE, "ann"))
            found = store.principal(ROLE)
            assert found is not None
            attachments.add(found.attachment)
            store.delete_principal("ann", ROLE)
        assert len(attachments) == 2

    def test_a_principal_is_one_user_s(self, store: AccountStore) -> None:
        store.create_principal(ExternalPrincipal(ROLE, "ann"))
        store.create_principal(ExternalPrincipal(f"{ROLE}/x", "ann"))
        assert store.principal(ROLE) == ExternalPrincipal(ROLE, "ann")
        page = store.principals_of("ann", "", "", 1)
        assert page.results == (ExternalPrincipal(ROLE, "ann"),)
        assert page.next_after == ROLE
        with pytest.raises(AlreadyExistsError, match="Already exists"):
            store.create_principal(ExternalPrincipal(ROLE, "bob"))
        with pytest.raises(NotFoundError):
            store.create_principal(ExternalPrincipal("x", "nobody"))
        with pytest.raises(NotFoundError):
            store.delete_principal("bob", ROLE)
        store.delete_principal("ann", ROLE)
        assert store.principal(ROLE) is None
        assert store.principals_of("ann", "", "", 9).results == (
            ExternalPrincipal(f"{ROLE}/x", "ann"),
        )
        with pytest.raises(NotFoundError):
            store.delete_principal("ann", ROLE)


class TestDynamoDB:
    @pytest.fixture
    def world(self, fresh_tables: Tables) -> World:
        made = [DynamoAccountStore(fresh_tables, ContextCipher()) for _ in range(2)]
        return World(*made)

    def test_a_known_user_s_policies_take_one_request(
        self, store: AccountStore, dynamodb_stores: DynamoDBStores
    ) -> None:
        strong(dynamodb_stores)
        store.attach_to_user("Write", "ann")
        store.attach_to_group("Read", "Readers")
        store.add_member("Readers", "ann")
        trips = dynamodb_stores.round_trips
        for expected in (3, 1, 1):
            trips.clear()
            assert effective(store, "ann") == ["Read", "Write"]
            assert trips == ["BatchGetItem"] * expected

    def test_a_page_of_holders_reads_so_many_users_and_groups(
        self,
        store: AccountStore,
        dynamodb_stores: DynamoDBStores,
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        strong(dynamodb_stores)
        monkeypatch.setattr(policies, "HOLDERS_READ_MAX", 3)
        for number in range(5):
            store.create_user(User(f"u{number}", 1))
        store.attach_to_user("Read", "u3")
        after, found = "", []
        for expected in ("user/ann", "user/u1", ""):
            dynamodb_stores.round_trips.clear()
            page = store.holders_of("Read", "", after, 10)
            assert dynamodb_stores.round_trips.count("Query") <= 2
            assert page.next_after == expected
            after = page.next_after
            found.append([holder.place for holder in page.results])
        assert found == [[], [], ["user/u3"]]

    def test_a_key_s_look_up_takes_one_request(
        self, store: AccountStore, dynamodb_stores: DynamoDBStores
    ) -> None:
        strong(dynamodb_stores)
        store.create_key(pair("ann"))
        dynamodb_stores.round_trips.clear()
        store.look_up("AKIAJ1", ["key#1", "address#1"], "ann")
        assert dynamodb_stores.round_trips == ["BatchGetItem"]

    def test_a_membership_that_was_not_stored_is_not_acknowledged(
        self, store: AccountStore, dynamodb_stores: DynamoDBStores
    ) -> None:
        lost = no_request_arrives(dynamodb_stores, "TransactWriteItems")
        with lost, pytest.raises(UnknownOutcomeError):
            store.add_member("Readers", "ann")
        assert store.groups_of("ann", "", "", 10).results == ()

    def test_what_is_deleted_meanwhile_gets_nothing(
        self, store: AccountStore, world: World, dynamodb_stores: DynamoDBStores
    ) -> None:
        other = world.second
        for change, deletion in (
            (lambda: store.add_member("Readers", "ann"), lambda: other.delete_group("Readers")),
            (lambda: store.attach_to_user("Read", "ann"), lambda: other.delete_policy("Read")),
            (
                lambda: store.create_principal(ExternalPrincipal(ROLE, "bob")),
                lambda: other.delete_user("bob"),
            ),
        ):
            dynamodb_stores.http.before["TransactWriteItems"] = deletion
            with pytest.raises(NotFoundError):
                change()

    def test_what_was_made_again_meanwhile_keeps_what_it_has(
        self, store: AccountStore, world: World, dynamodb_stores: DynamoDBStores
    ) -> None:
        other, before = world.second, dynamodb_stores.http.before

        def make_again() -> None:
            other.delete_group("Writers")
            other.create_group(Group("Writers", 9))
            other.delete_policy("Read")
            other.create_policy(policy("Read"))
            other.delete_user("ann")
            other.create_user(User("ann", 9))
            other.add_member("Readers", "ann")

        store.add_member("Readers", "ann")
        before["TransactWriteItems"] = make_again
        with pytest.raises(NotFoundError):
            store.delete_group("Writers")
        assert store.group("Writers") == Group("Writers", 9)
        before["DeleteItem"] = make_again
        store.delete_policy("Read")
        assert store.policy("Read") == policy("Read")
        before["TransactWriteItems"] = make_again
        store.remove_member("Readers", "ann")
        assert [group.name for group in store.groups_of("ann", "", "", 10).results] == ["Readers"]

    @pytest.mark.parametrize("change", ["update", "delete"])
    @pytest.mark.parametrize("meanwhile", ["updated", "made again"])
    def test_a_policy_that_changes_after_it_was_compared_stays(
        self,
        store: AccountStore,
        world: World,
        dynamodb_stores: DynamoDBStores,
        change: str,
        meanwhile: str,
    ) -> None:
        read = policy("Read")

        def act() -> None:
            if meanwhile == "updated":
                world.second.update_policy(policy("Read", "fs:ReadObject"))
            else:
                world.second.delete_policy("Read")
                world.second.create_policy(policy("Read", creation_date=9))
            left.append(world.second.policy("Read"))

        left: list[Policy | None] = []
        if change == "update":
            dynamodb_stores.http.before["TransactWriteItems"] = act
            with pytest.raises(PreconditionFailedError):
                store.update_policy(policy("Read", "auth:*"), checksum_of(read))
        else:
            dynamodb_stores.http.before["DeleteItem"] = act
            # One that was made again is another policy: the one that was read is deleted.
            with (
                nullcontext()
                if meanwhile == "made again"
                else pytest.raises(PreconditionFailedError)
            ):
                store.delete_policy("Read", checksum_of(read))
        assert [store.policy("Read")] == left

    def test_a_user_who_joins_a_group_during_the_deletion_leaves_nothing(
        self,
        store: AccountStore,
        world: World,
        fresh_tables: Tables,
        dynamodb_stores: DynamoDBStores,
    ) -> None:
        dynamodb_stores.http.before["TransactWriteItems"] = lambda: world.second.add_member(
            "Readers", "ann"
        )
        store.delete_user("ann")
        sorts = [item["sort"]["S"] for item in stored(fresh_tables)]
        assert [sort for sort in sorts if sort.startswith(MEMBER_OF)] == []

    def test_of_two_users_who_get_a_principal_at_once_one_has_it(
        self, store: AccountStore, world: World, dynamodb_stores: DynamoDBStores
    ) -> None:
        dynamodb_stores.http.before["TransactWriteItems"] = lambda: world.second.create_principal(
            ExternalPrincipal(ROLE, "bob")
        )
        with pytest.raises(AlreadyExistsError):
            store.create_principal(ExternalPrincipal(ROLE, "ann"))
        assert store.principal(ROLE) == ExternalPrincipal(ROLE, "bob")

    def test_a_key_that_is_moved_to_another_user_signs_nothing(
        self, store: AccountStore, fresh_tables: Tables
    ) -> None:
        store.create_key(pair("ann"))
        bob = store.user("bob")
        assert bob is not None
        raw = fresh_tables.get("accounts", "credential#AKIAJ1")
        assert raw is not None
        moved = {**raw, "user": {"S": "bob"}, "uid": {"S": bob.uid}}
        fresh_tables.dynamodb.call("PutItem", {"TableName": fresh_tables.refs, "Item": moved})
        with pytest.raises(CorruptDataError):
            store.key_pair("AKIAJ1")

    @pytest.mark.parametrize("step", ["_drop_user", "_delete_of", "_delete_batch"])
    def test_an_interrupted_deletion_gives_nothing_away_and_is_finished_by_the_next(
        self, store: AccountStore, fresh_tables: Tables, monkeypatch: pytest.MonkeyPatch, step: str
    ) -> None:
        store.add_member("Readers", "ann")
        store.attach_to_group("Read", "Readers")
        for number in range(30):
            store.create_key(pair("ann", f"AKIAJ{number:02}"))
        store.create_principal(ExternalPrincipal(ROLE, "ann"))
        with monkeypatch.context() as patch:
            patch.setattr(DynamoAccountStore, step, lambda *_: 1 // 0)
            with pytest.raises(ZeroDivisionError):
                store.delete_user("ann")
        store.create_user(User("ann", 9))
        assert not works(store, pair("ann", "AKIAJ07"))
        assert store.key_pair("AKIAJ07") is None
        assert store.principal(ROLE) is None
        assert effective(store, "ann") == []
        assert store.members("Readers", "", "", 10).results == ()
        store.add_member("Readers", "ann")
        store.delete_user("bob")
        sorts = [item["sort"]["S"] for item in stored(fresh_tables)]
        rest = [sort for sort in sorts if sort.startswith(("cred", "key-of", "princ", "ending"))]
        assert rest == []
        assert [user.name for user in store.members("Readers", "", "", 10).results] == ["ann"]

    def test_an_interrupted_deletion_of_a_group_is_finished_by_the_next(
        self, store: AccountStore, fresh_tables: Tables, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        store.add_member("Readers", "ann")
        with monkeypatch.context() as patch:
            patch.setattr(DynamoAccountStore, "_delete_batch", lambda *_: 1 // 0)
            with pytest.raises(ZeroDivisionError):
                store.delete_group("Readers")
        store.delete_group("Writers")
        rest = [
            raw for raw in stored(fresh_tables) if raw["sort"]["S"].startswith(("member", "ending"))
        ]
        assert rest == []

    @pytest.mark.parametrize("kind", ["user", "group", "policy"])
    def test_what_is_attached_to_something_that_is_being_deleted_gives_no_right_later(
        self, store: AccountStore, world: World, kind: str
    ) -> None:
        other = world.second

        def attach() -> None:
            with suppress(NotFoundError, AlreadyExistsError):
                other.add_member("Readers", "ann")
            with suppress(NotFoundError, AlreadyExistsError):
                other.attach_to_group("Read", "Readers")
            with suppress(NotFoundError, AlreadyExistsError):
                other.attach_to_user("Read", "ann")

        def delete() -> None:
            if kind == "user":
                store.delete_user("ann")
            elif kind == "group":
                store.delete_group("Readers")
            else:
                store.delete_policy("Read")

        for _ in range(6):
            with ThreadPoolExecutor(2) as pool:
                list(pool.map(lambda work: work(), (attach, delete)))
            if kind == "user":
                store.create_user(User("ann", 1))
                assert effective(store, "ann") == []
                assert store.groups_of("ann", "", "", 10).results == ()
            elif kind == "group":
                store.create_group(Group("Readers", 1))
                assert store.policies_of_group("Readers", "", "", 10).results == ()
                assert store.members("Readers", "", "", 10).results == ()
            else:
                store.create_policy(policy("Read"))
                assert effective(store, "ann") == []

    def test_a_member_who_is_added_while_being_removed_is_listed_if_it_has_the_rights(
        self, store: AccountStore, world: World, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        store.attach_to_group("Read", "Readers")
        store.add_member("Readers", "ann")
        call, added = DynamoDB.call, []

        def call_and_add(self: DynamoDB, operation: str, *request: Any) -> Any:
            answer = call(self, operation, *request)
            if operation in ("UpdateItem", "TransactWriteItems") and not added:
                added.append("ann")
                world.second.add_member("Readers", "ann")
            return answer

        monkeypatch.setattr(DynamoDB, "call", call_and_add)
        store.remove_member("Readers", "ann")
        listed = [user.name for user in store.members("Readers", "", "", 10).results]
        assert (effective(store, "ann"), listed) == (["Read"], ["ann"])

    def test_a_principal_from_an_earlier_version_is_still_attached(
        self, store: AccountStore, fresh_tables: Tables
    ) -> None:
        store.create_principal(ExternalPrincipal(ROLE, "ann"))
        update = fresh_tables.update(
            key(ACCOUNTS, PRINCIPAL + ROLE), [PrincipalItem.attachment.remove()]
        )
        fresh_tables.dynamodb.call("UpdateItem", update)
        found = store.principal(ROLE)
        assert found == ExternalPrincipal(ROLE, "ann")
        assert found is not None
        assert found.attachment == ""

    def test_changes_of_one_user_and_one_group_at_once_are_all_kept(
        self, store: AccountStore, world: World
    ) -> None:
        for number in range(8):
            store.create_policy(policy(f"p{number}"))
        stores = (store, world.second)

        def attach(number: int) -> None:
            while True:
                with suppress(ContentionError):
                    stores[number % 2].attach_to_group(f"p{number}", "Readers")
                    return

        with ThreadPoolExecutor(4) as pool:
            list(pool.map(attach, range(8)))
        assert len(store.policies_of_group("Readers", "", "", 100).results) == 8

    def test_of_updates_at_once_of_the_policy_that_was_read_one_succeeds(
        self, store: AccountStore, world: World
    ) -> None:
        stores, read = (store, world.second), checksum_of(policy("Read"))

        def update(number: int) -> bool:
            try:
                stores[number % 2].update_policy(policy("Read", f"fs:{number}"), read)
            except PreconditionFailedError:
                return False
            return True

        with ThreadPoolExecutor(4) as pool:
            assert sum(pool.map(update, range(8))) == 1

    @pytest.mark.parametrize(
        "operation", ["TransactWriteItems", "PutItem", "UpdateItem", "DeleteItem", "BatchWriteItem"]
    )
    def test_lost_answers_go_unnoticed(
        self, store: AccountStore, dynamodb_stores: DynamoDBStores, operation: str
    ) -> None:
        changes: list[Callable[[], None]] = [
            lambda: store.create_user(User("eve", 1)),
            lambda: store.create_group(Group("Eves", 1)),
            lambda: store.create_policy(policy("Eve")),
            lambda: store.add_member("Eves", "eve"),
            lambda: store.attach_to_user("Eve", "eve"),
            lambda: store.attach_to_group("Eve", "Eves"),
            lambda: store.create_key(pair("eve", "AKIAJE")),
            lambda: store.create_principal(ExternalPrincipal(ROLE, "eve")),
            lambda: store.update_policy(policy("Eve", "fs:ReadBranch")),
            lambda: store.update_policy(
                policy("Eve", "fs:ReadObject"), checksum_of(policy("Eve", "fs:ReadBranch"))
            ),
            lambda: store.detach_from_user("Eve", "eve"),
            lambda: store.remove_member("Eves", "eve"),
            lambda: store.delete_principal("eve", ROLE),
            lambda: store.delete_key("eve", "AKIAJE"),
            lambda: store.delete_policy("Eve", checksum_of(policy("Eve", "fs:ReadObject"))),
            lambda: store.delete_group("Eves"),
            lambda: store.delete_user("eve"),
        ]
        lost = 0
        for change in changes:
            dynamodb_stores.http.to_lose[operation] = 1
            change()
            lost += 1 - dynamodb_stores.http.to_lose[operation]
            dynamodb_stores.http.to_lose[operation] = 0
        assert lost > 0
        assert store.user("eve") is None

    def test_a_change_that_was_refused_changes_nothing(
        self, store: AccountStore, fresh_tables: Tables
    ) -> None:
        store.attach_to_user("Read", "ann")
        before = stored(fresh_tables)
        refused: list[Callable[[], None]] = [
            lambda: store.add_member("Readers", "nobody"),
            lambda: store.attach_to_user("Read", "ann"),
            lambda: store.attach_to_group("Nothing", "Readers"),
            lambda: store.create_key(pair("nobody")),
            lambda: store.delete_principal("ann", ROLE),
            lambda: store.delete_group("Nothing"),
        ]
        for change in refused:
            with pytest.raises(GravelerError):
                change()
        after = stored(fresh_tables)
        assert after == before
