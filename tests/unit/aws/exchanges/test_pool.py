"""Connections that are kept: as few as are of use."""

from typing import Any

import pytest

from graveler.aws.exchanges import pool as pool_module
from graveler.aws.exchanges.connection import Host
from graveler.aws.exchanges.pool import IDLE_S_MAX, Pool
from graveler.aws.exchanges.time_budget import TimeBudget
from tests.support.fakes.memory_objects import FixedClock


class Stand:
    """In place of a connection whose answer was read to its end."""

    is_reusable = True

    def __init__(self, host: Host) -> None:
        self.host = host
        self.is_closed = False

    def is_open_and_silent(self) -> bool:
        return not self.is_closed

    def close(self) -> None:
        self.is_closed = True


def test_connections_that_nobody_will_use_again_are_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The one used last is taken first, so those below it would stay for ever."""
    clock = FixedClock()
    monkeypatch.setattr(pool_module, "moment", clock.moment)
    pool = Pool(lambda: TimeBudget(5))
    hosts = Host("http", "a", 80), Host("http", "b", 80)
    burst: list[Any] = [Stand(host) for host in hosts for _ in range(5)]
    for connection in burst:
        pool.give_back(connection)
    used = burst[-1]
    for passed_s in (IDLE_S_MAX / 2, IDLE_S_MAX / 2 + 1):
        clock.tick(passed_s)
        assert pool.take(hosts[1]) is used
        pool.give_back(used)
    assert [each for each in burst if not each.is_closed] == [used]
    assert pool.take(hosts[1]) is used


@pytest.mark.parametrize("jump_s", [-3600, 3600])
def test_a_connection_is_not_used_again_after_the_clock_was_set_back_or_the_process_was_frozen(
    jump_s: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = FixedClock()
    monkeypatch.setattr(pool_module, "moment", clock.moment)
    new, idle = Stand(Host("http", "a", 80)), Stand(Host("http", "a", 80))
    monkeypatch.setattr(pool_module, "opened", lambda *_: new)
    pool = Pool(lambda: TimeBudget(5))
    pool.give_back(idle)  # type: ignore[arg-type]
    clock.step(jump_s)
    assert pool.take(idle.host) is new  # type: ignore[comparison-overlap]
    assert idle.is_closed
