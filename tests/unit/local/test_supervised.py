"""A process of the stack that ends is started again, unless it cannot start."""

from collections.abc import Callable
from pathlib import Path

import pytest

from graveler_embedded.processes import START_TIMEOUT_S, StartError
from graveler_embedded.supervised import (
    DELAY_FIRST_S,
    DELAY_MAX_S,
    FAILED_STARTS_MAX,
    STABLE_S,
    Supervised,
)
from tests.unit.local.conftest import Clock


class ScriptedProcess:
    """A process that ends and becomes ready when the test says so."""

    name = "api"

    def __init__(self, log: Path) -> None:
        self.log = log
        self.has_ended = False
        self.is_ready = False

    def check_alive(self) -> None:
        if self.has_ended:
            raise StartError("api ended with exit code -9: killed")

    def wait_until(self, is_ready: Callable[[], bool]) -> None:
        self.check_alive()
        if not is_ready():
            raise StartError("api was not ready in time")

    def stop(self) -> int:
        self.has_ended = True
        return 0

    def kill(self) -> None:
        self.has_ended = True


class World:
    """One supervised process, the clock, and the lines that the user reads."""

    def __init__(self, folder: Path) -> None:
        self.clock = Clock()
        self.lines: list[str] = []
        self.starts: list[ScriptedProcess] = []
        self._log = folder / "api.log"
        self._log.touch()
        self.supervised = Supervised(
            self._start, lambda: self.last.is_ready, self.lines.append, self.clock
        )

    @property
    def last(self) -> ScriptedProcess:
        return self.starts[-1]

    def become_ready(self) -> None:
        self.last.is_ready = True
        if len(self.starts) == 1:
            self.supervised.wait_until_ready()
        self.supervised.watch()

    def end(self) -> None:
        self.last.has_ended = True
        self.supervised.watch()

    def delay_s(self) -> float:
        """Watch until the next start; return the seconds that passed."""
        starts, began_s = len(self.starts), self.clock.now_s
        self.supervised.watch()
        while len(self.starts) == starts:
            assert self.clock.now_s - began_s < 2 * DELAY_MAX_S, "no start"
            self.clock.advance(0.5)
            self.supervised.watch()
        return self.clock.now_s - began_s

    def _start(self) -> ScriptedProcess:
        self.starts.append(ScriptedProcess(self._log))
        return self.last


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)


def test_a_process_that_ran_for_long_is_started_again_at_once(world: World) -> None:
    world.become_ready()
    world.clock.advance(STABLE_S)
    world.end()
    assert world.delay_s() == 0
    world.become_ready()
    assert world.lines == [
        "api ended with exit code -9: killed; next start in 0 s",
        "api is ready again",
    ]


def test_repeated_kills_double_the_delay_up_to_its_maximum_and_never_end_the_stack(
    world: World,
) -> None:
    world.become_ready()
    delays_s = []
    for _ in range(5 * FAILED_STARTS_MAX):
        world.end()
        delays_s.append(world.delay_s())
        world.become_ready()
    assert delays_s[:5] == [DELAY_FIRST_S, 1, 2, 4, 8]
    assert set(delays_s[4:]) == {DELAY_MAX_S}
    world.clock.advance(STABLE_S)
    world.end()
    assert world.delay_s() == 0


def test_a_process_that_is_killed_while_it_starts_is_started_again(world: World) -> None:
    world.become_ready()
    for _ in range(FAILED_STARTS_MAX):
        world.end()
        world.delay_s()
    world.become_ready()
    world.end()  # the failed starts before count no more
    world.delay_s()
    world.become_ready()


def test_a_process_that_never_becomes_ready_again_ends_the_stack_with_the_reason(
    world: World,
) -> None:
    world.become_ready()
    world.end()
    for _ in range(FAILED_STARTS_MAX - 1):
        world.delay_s()
        world.end()
    world.delay_s()
    world.last.has_ended = True
    with pytest.raises(StartError, match=r"exit code -9: killed; 8 starts in a row failed$"):
        world.supervised.watch()


def test_a_start_that_hangs_is_killed_and_repeated(world: World) -> None:
    world.become_ready()
    world.end()
    world.delay_s()
    hanging = world.last
    world.clock.advance(START_TIMEOUT_S)
    world.supervised.watch()
    assert not hanging.has_ended
    world.clock.advance(1)
    world.supervised.watch()
    assert hanging.has_ended
    world.delay_s()
    world.become_ready()
    assert world.lines[-1] == "api is ready again"


def test_a_first_start_that_fails_ends_the_stack_at_once(world: World) -> None:
    world.last.has_ended = True
    with pytest.raises(StartError, match="ended with exit code -9"):
        world.supervised.wait_until_ready()
    assert len(world.starts) == 1


def test_a_process_that_waits_for_its_start_can_be_stopped(world: World) -> None:
    world.become_ready()
    world.end()
    world.supervised.stop()
    assert len(world.starts) == 1
