"""Two changes of accounts at once: the first is paused before each of its requests in turn, and the
second runs whole meanwhile. Whatever the order, what is listed is what is in effect.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from itertools import count
from typing import Any

import pytest

from graveler.access.policy import Effect, Policy, Statement
from graveler.aws.dynamodb.accounts import DynamoAccountStore
from graveler.aws.dynamodb.client import DynamoDB, binary
from graveler.aws.dynamodb.models import ACCOUNTS
from graveler.aws.dynamodb.tables import Raw, Tables, key
from graveler.errors import GravelerError, NotFoundError
from graveler.ports import AccountStore, Credential, ExternalPrincipal, Group, User
from tests.contract.accounts import ContextCipher, stored

ROLE = "arn:aws:sts::123456789012:assumed-role/Reader"
OLD_KEY, NEW_KEY = (Credential(f"AKIAJ{age}", "secret", "ann", 5) for age in ("OLD", "NEW"))

Change = Callable[[AccountStore], None]

CHANGES: dict[str, Change] = {
    "delete user": lambda store: store.delete_user("ann"),
    "delete group": lambda store: store.delete_group("Readers"),
    "delete policy": lambda store: store.delete_policy("Read"),
    "add member": lambda store: store.add_member("Readers", "ann"),
    "remove member": lambda store: store.remove_member("Readers", "ann"),
    "attach to user": lambda store: store.attach_to_user("Read", "ann"),
    "attach to group": lambda store: store.attach_to_group("Read", "Readers"),
    "detach from group": lambda store: store.detach_from_group("Read", "Readers"),
    "create key pair": lambda store: store.create_key(NEW_KEY),
    "delete key pair": lambda store: store.delete_key("ann", OLD_KEY.access_key_id),
    "create principal": lambda store: store.create_principal(ExternalPrincipal(ROLE, "ann")),
    "delete principal": lambda store: store.delete_principal("ann", ROLE),
}


def in_turn(*names: str) -> Change:
    def change(store: AccountStore) -> None:
        for name in names:
            with suppress(GravelerError):
                (CHANGES | CREATIONS)[name](store)

    return change


CREATIONS: dict[str, Change] = {
    "create user": lambda store: store.create_user(User("ann", 9)),
    "create group": lambda store: store.create_group(Group("Readers", 9)),
    "create policy": lambda store: store.create_policy(policy("Read")),
}
SECOND_CHANGES = {
    "remove and add member": in_turn("remove member", "add member"),
    "replace user": in_turn("delete user", "create user"),
    "replace user, add member": in_turn("delete user", "create user", "add member"),
    "replace user, create principal": in_turn("delete user", "create user", "create principal"),
    "replace group, add member": in_turn("delete group", "create group", "add member"),
    "replace principal": in_turn("delete principal", "create principal"),
}


def policy(name: str) -> Policy:
    return Policy(name, (Statement(Effect.ALLOW, ("fs:*",), "*"),), 1)


@contextmanager
def paused_before(
    request_number: int, meanwhile: Callable[[], None], monkeypatch: pytest.MonkeyPatch
) -> Iterator[list[str]]:
    """Run `meanwhile` before that request to DynamoDB; yield the requests until then."""
    call, seen = DynamoDB.call, []

    def call_or_pause(self: DynamoDB, operation: str, *parameters: Any) -> Any:
        seen.append(operation)
        if len(seen) == request_number:
            context.undo()
            meanwhile()
        return call(self, operation, *parameters)

    with monkeypatch.context() as context:
        context.setattr(DynamoDB, "call", call_or_pause)
        yield seen


Items = Sequence[Raw]


def beginning(tables: Tables, store: AccountStore) -> Items:
    """Return the items of ann with a key pair, the group Readers and the policy Read."""
    for create in CREATIONS.values():
        create(store)
    store.create_policy(policy("List"))
    store.attach_to_group("List", "Readers")
    store.create_key(OLD_KEY)
    return [decoded(raw) for raw in stored(tables)]


def decoded(raw: Raw) -> Raw:
    """Return the item as it is sent: binary values arrive in base64."""
    return {name: {"B": binary(value)} if "B" in value else value for name, value in raw.items()}


def begin_anew(tables: Tables, items: Items) -> None:
    kept = {raw["sort"]["S"] for raw in items}
    sorts = [raw["sort"]["S"] for raw in stored(tables)]
    new = [{"DeleteRequest": {"Key": key(ACCOUNTS, sort)}} for sort in sorts if sort not in kept]
    puts = [{"PutRequest": {"Item": raw}} for raw in items]
    tables.write_batch(tables.refs, [*new, *puts])


def assert_listed_is_in_effect(store: AccountStore) -> None:
    groups = store.groups_of("ann", "", "", 10).results
    assert [user.name for user in store.members("Readers", "", "", 10).results] == ["ann"] * len(
        groups
    )
    listed = {each.name for each in store.policies_of_user("ann", "", "", 10).results}
    for group in groups:
        listed |= {each.name for each in store.policies_of_group(group.name, "", "", 10).results}
    assert {each.name for each in store.effective_policies("ann")} == listed
    user = store.user("ann")
    keys = [each.access_key_id for each in store.keys_of("ann", "", "", 10).results]
    for pair in (OLD_KEY, NEW_KEY):
        found = store.look_up(pair.access_key_id).key
        works = found is not None and user is not None and found.user_uid == user.uid
        assert works == (pair.access_key_id in keys)
    principals: Sequence[ExternalPrincipal] = store.principals_of("ann", "", "", 10).results
    assert (store.principal(ROLE) is not None) == bool(principals)


# What replaces the user is alike: `make test` has it all once, and of these two the changes that
# they concern.
CONCERNED = {
    "replace user": ("add member", "attach to user"),
    "replace user, create principal": ("create principal", "delete principal", "delete user"),
}


def pairs() -> Iterator[Any]:
    for second in SECOND_CHANGES:
        firsts = CONCERNED.get(second, tuple(CHANGES))
        yield pytest.param(second, firsts, id=second)
        if others := [each for each in CHANGES if each not in firsts]:
            yield pytest.param(second, others, id=f"{second}, others", marks=pytest.mark.long)


@pytest.mark.parametrize(("second", "firsts"), [*pairs()])
def test_what_is_listed_is_in_effect_however_two_changes_interleave(
    fresh_tables: Tables, monkeypatch: pytest.MonkeyPatch, second: str, firsts: Sequence[str]
) -> None:
    first, other = (DynamoAccountStore(fresh_tables, ContextCipher()) for _ in range(2))
    apart = beginning(fresh_tables, other)
    in_turn("add member", "attach to user", "attach to group", "create principal")(other)
    joined = [decoded(raw) for raw in stored(fresh_tables)]
    for name in firsts:
        is_addition = name.startswith(("add", "attach", "create"))
        request_number, is_paused = 0, True
        while is_paused:
            request_number += 1
            begin_anew(fresh_tables, apart if is_addition else joined)
            meanwhile = partial(SECOND_CHANGES[second], other)
            with (
                paused_before(request_number, meanwhile, monkeypatch) as requests,
                suppress(GravelerError),
            ):
                CHANGES[name](first)
            is_paused = len(requests) == request_number
            assert_listed_is_in_effect(other)
            if "replace user" in second and is_paused:
                keys = other.keys_of("ann", "", "", 10).results
                assert OLD_KEY.access_key_id not in [each.access_key_id for each in keys]


def test_no_key_is_created_for_a_user_who_is_deleted_meanwhile(
    fresh_tables: Tables, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, other = (DynamoAccountStore(fresh_tables, ContextCipher()) for _ in range(2))
    items = beginning(fresh_tables, other)
    for request_number in count(1):
        begin_anew(fresh_tables, items)
        refused = False
        meanwhile = partial(CHANGES["delete user"], other)
        with paused_before(request_number, meanwhile, monkeypatch) as requests:
            try:
                first.create_key(NEW_KEY)
            except NotFoundError:
                refused = True
        if len(requests) != request_number:
            break  # the user was deleted during each request before
        assert refused
