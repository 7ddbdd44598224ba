"""Wherever a process dies, nothing is lost or half done, and the next attempt succeeds."""

from collections.abc import Iterator
from contextlib import suppress

import pytest

from tests.support.fakes.engines import MemoryWorld
from tests.support.faults.counting import engine_around
from tests.support.faults.faults import Crash, CrashAt
from tests.support.worlds.scenarios import (
    DONE_ALREADY,
    SCENARIOS,
    Scenario,
    commit,
    contents,
    outside,
    prepared_world,
    upload,
)

CALLS_MAX = 200


def crashes(scenario: Scenario) -> Iterator[tuple[str, MemoryWorld]]:
    """The world after each crash, and at which call that was."""
    for number in range(1, CALLS_MAX):
        world = prepared_world()
        try:
            scenario.run(engine_around(world.engine(), CrashAt(number)))
        except Crash as crash:
            yield f"after call {number}, {crash}", world
        else:
            return
    pytest.fail("the operation never ends")


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda scenario: scenario.name)
def test_a_crash_leaves_all_or_nothing_and_the_next_attempt_succeeds(scenario):
    before, after = scenario.outcomes()
    assert before != after
    places = 0
    for place, world in crashes(scenario):
        places += 1
        seen = outside(world.engine())
        assert seen in (before, after) or scenario.has_steps, place
        if seen == after and scenario.repeats_itself:
            continue
        error = scenario.attempt(world.engine())
        if error is not None:
            assert seen == after, f"{place}: {error!r}"
            assert isinstance(error, DONE_ALREADY), place
        assert outside(world.engine()) == after, place
    assert places >= 2


@pytest.mark.parametrize(
    "scenario",
    [s for s in SCENARIOS if s.name in ("commit", "merge", "revert", "reset of a prefix")],
    ids=lambda scenario: scenario.name,
)
def test_the_next_commit_holds_what_the_crashed_operation_had_sealed(scenario):
    for place, world in crashes(scenario):
        engine = world.engine()
        seen = contents(engine, "main")
        upload(engine, b"later", b"later")
        expected = contents(engine, "main")
        assert {path: expected[path] for path in seen} == seen, place
        commit(engine)
        assert contents(world.engine(), "main@") == expected, place


def test_a_process_that_lives_on_is_not_misled():
    """Its caches were filled before another process crashed; what they say is checked."""
    for number in range(1, 20):
        world = prepared_world()
        witness = world.engine()
        before = contents(witness, "main")
        with suppress(Crash):
            commit(engine_around(world.engine(), CrashAt(number)))
        assert contents(witness, "main") == before
        upload(witness, b"later")
        assert contents(world.engine(), "main") == contents(witness, "main")
        commit(witness)
        assert contents(world.engine(), "main@") == contents(witness, "main")
