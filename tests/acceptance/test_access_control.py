"""Users, groups, policies and key pairs with the official SDK, as an administrator does it."""

import time
from collections.abc import Callable, Iterator
from typing import Any
from uuid import uuid4

import lakefs
import lakefs_sdk
import pytest
from lakefs_sdk import models
from lakefs_sdk.client import LakeFSClient
from lakefs_sdk.exceptions import ApiException, NotFoundException, UnauthorizedException

from graveler.http.auth import MEMORY_S
from tests.acceptance.clients import key_pair
from tests.support.servers.stack import Stack

pytestmark = pytest.mark.server

STATEMENT = models.Statement(
    effect="allow",
    action=["fs:ReadRepository", "fs:List*"],
    resource="arn:lakefs:fs:::repository/lake",
    condition={"IpAddress": {"SourceIp": ["10.0.0.0/8"]}},
)


@pytest.fixture
def auth(client: lakefs.Client) -> lakefs_sdk.AuthApi:
    return client.sdk_client.auth_api


@pytest.fixture
def user(auth: lakefs_sdk.AuthApi) -> Iterator[str]:
    """A user of the test's own."""
    name = f"user-{uuid4().hex[:8]}"
    auth.create_user(user_creation=models.UserCreation(id=name))
    yield name
    auth.delete_user(name)


@pytest.fixture
def group(auth: lakefs_sdk.AuthApi) -> Iterator[str]:
    """A group of the test's own."""
    name = f"group-{uuid4().hex[:8]}"
    auth.create_group(group_creation=models.GroupCreation(id=name, description="a team"))
    yield name
    auth.delete_group(name)


@pytest.fixture
def policy(auth: lakefs_sdk.AuthApi) -> Iterator[str]:
    """A policy of the test's own."""
    name = f"policy-{uuid4().hex[:8]}"
    auth.create_policy(policy=models.Policy(id=name, statement=[STATEMENT]))
    yield name
    auth.delete_policy(name)


def eventually_refused(ask: Callable[[], object]) -> bool:
    """Return whether the request is refused before a withdrawn key must have ended everywhere."""
    for _ in range(4 * MEMORY_S):
        try:
            ask()
        except UnauthorizedException:
            return True
        time.sleep(0.5)
    return False


def ids(listed: Any) -> list[str]:
    return [row.id for row in listed.results]


def test_an_administrator_sees_the_standard_groups_and_policies(auth: lakefs_sdk.AuthApi) -> None:
    assert {"Admins", "Developers", "SuperUsers", "Viewers"} <= {*ids(auth.list_groups())}
    assert {"AuthFullAccess", "FSFullAccess", "FSReadAll"} <= {*ids(auth.list_policies())}
    me = auth.get_current_user().user.id
    assert me in ids(auth.list_group_members("Admins"))
    assert "AuthFullAccess" in ids(auth.list_user_policies(me, effective=True))


def test_users_groups_and_policies_are_managed(
    auth: lakefs_sdk.AuthApi, user: str, group: str, policy: str
) -> None:
    assert auth.get_user(user).id == user
    assert auth.get_group(group).description == "a team"
    assert auth.get_policy(policy).statement == [STATEMENT]
    assert user in ids(auth.list_users(prefix=user))
    auth.add_group_membership(group, user)
    auth.attach_policy_to_group(group, policy)
    auth.attach_policy_to_user(user, "FSReadAll")
    assert ids(auth.list_group_members(group)) == [user]
    assert ids(auth.list_user_groups(user)) == [group]
    assert ids(auth.list_group_policies(group)) == [policy]
    assert ids(auth.list_user_policies(user)) == ["FSReadAll"]
    assert ids(auth.list_user_policies(user, effective=True)) == ["FSReadAll", policy]
    other = models.Statement(effect="deny", action=["fs:*"], resource="*")
    updated = auth.update_policy(policy, models.Policy(id=policy, statement=[other]))
    assert updated.statement == [other]
    auth.detach_policy_from_user(user, "FSReadAll")
    auth.detach_policy_from_group(group, policy)
    auth.delete_group_membership(group, user)
    assert ids(auth.list_user_policies(user, effective=True)) == []


def test_a_leaked_key_is_rotated(stack: Stack, auth: lakefs_sdk.AuthApi, user: str) -> None:
    old, new = auth.create_credentials(user), auth.create_credentials(user)
    listed = auth.list_user_credentials(user)
    assert {row.access_key_id for row in listed.results} == {old.access_key_id, new.access_key_id}
    assert auth.get_credentials(user, new.access_key_id).creation_date == new.creation_date

    def whoami(pair: models.CredentialsWithSecret) -> str:
        theirs = {"username": pair.access_key_id, "password": pair.secret_access_key}
        configuration = lakefs_sdk.Configuration(**key_pair(stack) | theirs)
        return str(LakeFSClient(configuration).auth_api.get_current_user().user.id)

    assert whoami(old) == whoami(new) == user
    auth.delete_credentials(user, old.access_key_id)
    # Another process of the server may have seen the old pair, and believes in it for some seconds.
    assert eventually_refused(lambda: whoami(old))
    assert whoami(new) == user


def test_a_token_of_a_user_works(stack: Stack, auth: lakefs_sdk.AuthApi, user: str) -> None:
    pair = auth.create_credentials(user)
    login = models.LoginInformation(
        access_key_id=pair.access_key_id, secret_access_key=pair.secret_access_key
    )
    token = auth.login(login_information=login).token
    configuration = lakefs_sdk.Configuration(host=stack.endpoint, access_token=token)
    assert LakeFSClient(configuration).auth_api.get_current_user().user.id == user


def test_what_does_not_exist_is_not_found(auth: lakefs_sdk.AuthApi, user: str) -> None:
    for ask in (
        lambda: auth.get_user("nobody"),
        lambda: auth.get_group("nobody"),
        lambda: auth.get_policy("nothing"),
        lambda: auth.delete_credentials(user, "AKIAJNOTHING"),
        lambda: auth.attach_policy_to_user(user, "nothing"),
        lambda: auth.add_group_membership("nobody", user),
    ):
        with pytest.raises(NotFoundException):
            ask()
    with pytest.raises(ApiException) as taken:
        auth.create_user(user_creation=models.UserCreation(id=user))
    assert taken.value.status == 409
