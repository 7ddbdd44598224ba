"""A store fails a call, or does it and the answer is lost: the client's next attempt mends it.

The adapters find out by themselves what a lost answer meant wherever a store lets them
(`tests/contract`). This is what is left: the operation ends with an error, and the client repeats
it in the same process.
"""

from contextlib import suppress

import pytest

from graveler.errors import ThrottledError, UnknownOutcomeError
from tests.support.faults.counting import engine_around
from tests.support.faults.faults import FailAt
from tests.support.worlds.scenarios import (
    DONE_ALREADY,
    SCENARIOS,
    commit,
    contents,
    outside,
    prepared_world,
    upload,
)

CALLS_MAX = 200
FAILURES = [
    pytest.param(UnknownOutcomeError("no answer"), True, id="landed, answer lost"),
    pytest.param(ThrottledError("slow down"), False, id="refused"),
]


@pytest.mark.parametrize(("error", "landed"), FAILURES)
@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda scenario: scenario.name)
def test_the_next_attempt_neither_loses_nor_doubles(scenario, error, landed):
    before, after = scenario.outcomes()
    for number in range(1, CALLS_MAX):
        world = prepared_world()
        fault = FailAt(number, error, landed=landed)
        engine = engine_around(world.engine(), fault)
        failed = scenario.attempt(engine)
        if not fault.has_failed:
            return
        # Lost answers to what nobody sees are reported as if nothing was done.
        assert error in (failed, getattr(failed, "__cause__", None)), number
        seen = outside(world.engine())
        assert seen in (before, after) or scenario.has_steps, number
        if seen == after and scenario.repeats_itself:
            continue
        again = scenario.attempt(engine)
        if again is not None:
            assert seen == after, f"call {number}: {again!r}"
            assert isinstance(again, DONE_ALREADY), number
        assert outside(world.engine()) == after, number
    pytest.fail("the operation never ends")


def test_a_write_without_an_ack_is_there_whole_or_not_at_all():
    there = []
    for number in range(1, 6):
        world = prepared_world()
        before = contents(world.engine(), "main")
        fault = FailAt(number, UnknownOutcomeError("no answer"), landed=True)
        with suppress(UnknownOutcomeError, ThrottledError):
            upload(engine_around(world.engine(), fault), b"f")
        seen = contents(world.engine(), "main")
        assert seen.items() >= before.items()
        assert seen.keys() - before.keys() <= {b"f"}
        there.append(b"f" in seen)
        commit(world.engine())
        assert contents(world.engine(), "main@") == seen
    assert {*there} == {False, True}
