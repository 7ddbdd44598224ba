"""Makes a schedule that fails smaller: fewer clients, operations, faults and changes of client."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import groupby

from tests.simulation.machine import Change, Outcome, run
from tests.simulation.schedule import Schedule

RUNS_MAX = 800


def shrink(failed: Outcome, change: Change | None = None) -> Outcome:
    """The smallest run that was found which breaks the same invariant."""
    wanted = failed.problems[0].kind
    runs = 0

    def fails(schedule: Schedule) -> Outcome | None:
        nonlocal runs
        runs += 1
        if runs > RUNS_MAX:
            return None
        outcome = run(schedule, change=change)
        return outcome if wanted in outcome.kinds else None

    best = fails(failed.schedule)
    assert best is not None, f"seed {failed.schedule.seed} is not the same twice"
    shrunk = True
    while shrunk and runs < RUNS_MAX:
        shrunk = False
        for smaller in (_fewer_clients, _fewer_operations, _fewer_faults, _fewer_switches):
            best, improved = _try_all(best, smaller, fails)
            shrunk = shrunk or improved
    return run(best.schedule, change=change, is_logged=True)


def _try_all(
    best: Outcome,
    smaller: Callable[[Schedule], Iterator[Schedule]],
    fails: Callable[[Schedule], Outcome | None],
) -> tuple[Outcome, bool]:
    improved = False
    again = True
    while again:
        again = False
        for candidate in smaller(best.schedule):
            outcome = fails(candidate)
            if outcome is not None and outcome.schedule.size < best.schedule.size:
                best, improved, again = outcome, True, True
                break
    return best, improved


def _fewer_clients(schedule: Schedule) -> Iterator[Schedule]:
    for number, program in enumerate(schedule.programs):
        if program:  # its number stays with the others
            programs = (*schedule.programs[:number], (), *schedule.programs[number + 1 :])
            yield replace(schedule, programs=programs)


def _fewer_operations(schedule: Schedule) -> Iterator[Schedule]:
    for number, program in enumerate(schedule.programs):
        for at in range(len(program)):
            less = program[:at] + program[at + 1 :]
            programs = (*schedule.programs[:number], less, *schedule.programs[number + 1 :])
            yield replace(schedule, programs=programs)


def _fewer_faults(schedule: Schedule) -> Iterator[Schedule]:
    faults = schedule.faults or {}
    yield replace(schedule, faults={})
    for place in faults:
        yield replace(schedule, faults={k: v for k, v in faults.items() if k != place})


def _fewer_switches(schedule: Schedule) -> Iterator[Schedule]:
    """Without one stretch of steps: the client takes them later; or a stretch put off."""
    stretches = [list(group) for _, group in groupby(schedule.steps or ())]
    for at in range(len(stretches) - 1, -1, -1):
        rest = stretches[:at] + stretches[at + 1 :]
        yield replace(schedule, steps=tuple(step for stretch in rest for step in stretch))
        for later in range(at + 1, len(stretches)):
            if stretches[later][0] == stretches[at][0]:
                moved = [*stretches[:at], *stretches[at + 1 : later], stretches[at]]
                moved += stretches[later:]
                yield replace(schedule, steps=tuple(step for one in moved for step in one))
                break
