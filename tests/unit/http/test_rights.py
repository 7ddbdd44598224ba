import pytest

from graveler.access.needs import Permission
from graveler.access.policy import Effect, Policy, Statement
from graveler.errors import AccessDeniedError
from graveler.http.rights import RIGHTS_AGE_MAX_S, USERS_MAX, Authorizer
from tests.support.fakes.memory import FixedClock, MemoryAccountStore

READ = Permission("fs:ReadObject", "arn:lakefs:fs:::repository/lake/object/a")
WRITE = Permission("fs:WriteObject", "arn:lakefs:fs:::repository/lake/object/a")


class Accounts(MemoryAccountStore):
    """Each user has one policy, which allows the actions that the test gives."""

    def __init__(self):
        super().__init__()
        self.allowed = ["fs:ReadObject"]
        self.asked = []

    def effective_policies(self, user):
        self.asked.append(user)
        return [Policy("p", (Statement(Effect.ALLOW, tuple(self.allowed), "*"),), 1)]


@pytest.fixture
def clock():
    return FixedClock()


@pytest.fixture
def accounts():
    return Accounts()


@pytest.fixture
def authorizer(accounts, clock):
    return Authorizer(accounts, clock)


def test_policies_are_read_once_in_their_time(authorizer, accounts, clock):
    for _ in range(10):
        authorizer.of_request("ann", {}).require(READ)
    assert accounts.asked == ["ann"]
    clock.tick(RIGHTS_AGE_MAX_S)
    authorizer.of_request("ann", {}).require(READ)
    assert accounts.asked == ["ann"] * 2


def test_a_refusal_reads_them_again_once_for_each_request(authorizer, accounts):
    authorizer.of_request("ann", {}).require(READ)
    rights = authorizer.of_request("ann", {})
    for _ in range(5):
        with pytest.raises(AccessDeniedError):
            rights.require(WRITE)
        with pytest.raises(AccessDeniedError):
            rights.require_somewhere("fs:ListRepositories")
    assert accounts.asked == ["ann"] * 2
    accounts.allowed = ["fs:WriteObject"]
    authorizer.of_request("ann", {}).require(WRITE)
    assert accounts.asked == ["ann"] * 3


def test_rows_that_are_left_out_read_nothing(authorizer, accounts):
    rights = authorizer.of_request("ann", {})
    assert [rights.allows(need) for need in (READ, WRITE, WRITE)] == [True, False, False]
    assert accounts.asked == ["ann"]


def test_of_several_needs_one_must_be_allowed(authorizer, accounts):
    rights = authorizer.of_request("ann", {})
    assert rights.allows_each([READ, WRITE]) == [True, False]
    assert rights.allows_each([]) == []
    with pytest.raises(AccessDeniedError, match="not allowed to fs:WriteObject"):
        rights.allows_each([WRITE])


def test_a_process_that_changed_policies_forgets_the_old_ones(authorizer, accounts):
    authorizer.of_request("ann", {}).require(READ)
    accounts.allowed = ["fs:WriteObject"]
    authorizer.forget()
    with pytest.raises(AccessDeniedError):
        authorizer.of_request("ann", {}).require(READ)


def test_the_memory_of_users_is_bounded(authorizer):
    for number in range(2 * USERS_MAX + 1):
        authorizer.of_request(f"user-{number}", {}).require(READ)
        assert len(authorizer._rights._held) <= USERS_MAX


def test_a_refusal_names_the_permission_and_the_remedy(authorizer):
    with pytest.raises(AccessDeniedError) as raised:
        authorizer.of_request("ann", {}).require(WRITE)
    assert raised.value.message == "insufficient permissions: not allowed to fs:WriteObject"
    assert raised.value.details == f"{WRITE}: ask an administrator for a policy that allows it"
