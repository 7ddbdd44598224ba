"""What somebody who guesses learns from the server's behaviour: nothing."""

import pytest

from graveler.errors import AuthenticationError
from graveler.http.auth import Authenticator
from graveler.operations.accounts import installation
from graveler.ports import Credential, User
from tests.support.fakes.memory import FixedClock, MemoryAccountStore

KEY, SECRET = "AKIAIOSFODNN7EXAMPLQ", "a secret"


class Recording(MemoryAccountStore):
    """Records which methods were called, with how many counters and hints."""

    def __init__(self):
        super().__init__()
        self.calls = []

    def look_up(self, access_key_id, counters=(), hint=""):
        self.calls.append(("look_up", len(counters), bool(hint)))
        return super().look_up(access_key_id, counters, hint)

    def user(self, name):
        self.calls.append(("user",))
        return super().user(name)

    def count_failure(self, counters, expires_at):
        self.calls.append(("count_failure", len(counters)))
        super().count_failure(counters, expires_at)


@pytest.mark.parametrize("is_remembered", [False, True])
def test_a_wrong_secret_and_an_unknown_key_take_the_same_requests(is_remembered):
    """And so the same time, because the rest takes microseconds."""
    store = Recording()
    installation.set_up(store, User("ann", 1), Credential(KEY, SECRET, "ann", 1))
    authenticator = Authenticator(store, FixedClock())
    if is_remembered:
        authenticator.log_in(KEY, SECRET, "192.0.2.1")
    taken = []
    for key in (KEY, "AKIAUNKNOWNUNKNOWNQQ"):
        store.calls.clear()
        with pytest.raises(AuthenticationError):
            authenticator.log_in(key, "a guess", "192.0.2.1")
        taken.append(list(store.calls))
    assert taken[0] == taken[1] == [("look_up", 2, False), ("count_failure", 2)]
