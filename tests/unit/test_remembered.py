"""What a process remembers counts only while wall clock and monotonic clock both say it is young."""

import base64
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from graveler.branches.lookup import known_repository
from graveler.errors import AuthenticationError, NotFoundError
from graveler.http.auth import Authenticator
from graveler.http.rights import Authorizer
from graveler.operations import branches, repositories
from graveler.operations.accounts import installation
from graveler.operations.two_step_writes import branch_now, prepare
from graveler.ports import Credential, User
from graveler_gateway.lake.engine.lakes import EngineLakes
from tests.support.fakes.engines import MemoryWorld
from tests.support.fakes.memory import MemoryAccountStore, MemoryRefStore
from tests.support.worlds.lake import REPO, new_lake

KEY, SECRET = "AKIAIOSFODNN7EXAMPLQ", "c2VjcmV0LXNlY3JldC1zZWNyZXQtc2VjcmV0LTEyMw=="

# Ends what a process remembers, elsewhere; and whether the process still believes in it.
Remembered = tuple[Callable[[], object], Callable[[], bool]]


def accounts() -> MemoryAccountStore:
    made = MemoryAccountStore()
    installation.set_up(made, User("ann", 1), Credential(KEY, SECRET, "ann", 1))
    return made


def refused(error: type[Exception], ask: Callable[[], object]) -> Callable[[], bool]:
    def is_believed() -> bool:
        try:
            ask()
        except error:
            return False
        return True

    return is_believed


def a_right(world: MemoryWorld) -> Remembered:
    stored = accounts()
    authorizer = Authorizer(stored, world.clock)

    def is_believed() -> bool:
        return authorizer.rights("ann")[0].allows_somewhere("fs:ReadObject")

    return lambda: stored.delete_user("ann"), is_believed


def a_key(world: MemoryWorld) -> Remembered:
    stored = accounts()
    authenticator = Authenticator(stored, world.clock)
    basic = "Basic " + base64.b64encode(f"{KEY}:{SECRET}".encode()).decode()
    ask = partial(authenticator.user_of, basic, [])
    return lambda: stored.delete_key("ann", KEY), refused(AuthenticationError, ask)


def a_session(world: MemoryWorld) -> Remembered:
    stored = accounts()
    authenticator = Authenticator(stored, world.clock)
    cookie = f"internal_auth_session={authenticator.log_in(KEY, SECRET).token}"
    ask = partial(authenticator.user_of, None, [cookie])
    return lambda: stored.delete_key("ann", KEY), refused(AuthenticationError, ask)


def a_key_of_the_gateway(world: MemoryWorld) -> Remembered:
    stored: Any = accounts()
    lakes = EngineLakes(world.engine(), stored, requests=None)  # type: ignore[arg-type]
    return lambda: stored.delete_key("ann", KEY), lambda: lakes.key_pair(KEY) is not None


def a_repository(world: MemoryWorld) -> Remembered:
    engine = world.engine()
    ask = partial(known_repository, engine, REPO)
    return lambda: repositories.delete(world.engine(), REPO), refused(NotFoundError, ask)


def the_branch_of_a_write(world: MemoryWorld) -> Remembered:
    engine = world.engine()
    branches.create(engine, REPO, name="dev", source="main")
    prepared = prepare(engine, REPO, "dev", b"path", metadata={})
    ask = partial(branch_now, prepared)
    return lambda: branches.delete(world.engine(), REPO, "dev"), refused(NotFoundError, ask)


REMEMBERED = [a_right, a_key, a_session, a_key_of_the_gateway, a_repository, the_branch_of_a_write]


@pytest.mark.parametrize(
    ("jump_s", "then_s"),
    [(-3600, 0), (3600, 0), (-3, 6)],
    ids=["set back", "frozen", "set back a little"],
)
@pytest.mark.parametrize("remember", REMEMBERED)
def test_nothing_is_believed_after_the_clock_was_set_back_or_the_process_was_frozen(
    remember: Callable[[MemoryWorld], Remembered], jump_s: int, then_s: int
) -> None:
    world = new_lake()
    world.clock.step_ns = 0
    end, is_believed = remember(world)
    assert is_believed()
    end()
    assert is_believed()  # for some seconds
    world.clock.step(jump_s)
    world.clock.tick(then_s)
    assert not is_believed()


@pytest.mark.parametrize("remember", REMEMBERED)
def test_nothing_is_believed_that_was_read_before_the_process_was_frozen(
    remember: Callable[[MemoryWorld], Remembered], monkeypatch: pytest.MonkeyPatch
) -> None:
    world = new_lake()
    world.clock.step_ns = 0

    def then_frozen(read: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any, **options: Any) -> Any:
            found = read(*args, **options)
            world.clock.step(10)
            return found

        return call

    for store, reads in (
        (MemoryAccountStore, ("effective_policies", "look_up", "key_pair", "user")),
        (MemoryRefStore, ("repository", "branch")),
    ):
        for read in reads:
            monkeypatch.setattr(store, read, then_frozen(getattr(store, read)))
    end, is_believed = remember(world)
    assert is_believed()
    monkeypatch.undo()
    end()
    assert not is_believed()
