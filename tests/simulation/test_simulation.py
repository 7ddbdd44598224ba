"""Whatever clients do at once, and whatever goes wrong meanwhile, what is promised holds.

A part of what `make simulate` runs, the same each time. A failure prints the smallest schedule that
was found; `python -m tests.simulation --one --mix <mix> --seed <seed>` prints it again.
"""

import pytest

from tests.simulation.machine import run
from tests.simulation.report import report
from tests.simulation.shrink import shrink
from tests.simulation.workload import MIXES, draw

SCHEDULES = 50
MORE_SCHEDULES = 2_000

each_mix = pytest.mark.parametrize("mix", MIXES)


@pytest.mark.simulation
@each_mix
def test_every_schedule_keeps_the_promises(mix):
    check(mix, range(SCHEDULES))


@pytest.mark.long
@each_mix
def test_many_more_schedules_keep_the_promises(mix):
    check(mix, range(SCHEDULES, MORE_SCHEDULES))


def check(mix: str, seeds: range) -> None:
    """Run a schedule of each seed."""
    for seed in seeds:
        outcome = run(draw(seed, (mix,)))
        if outcome.problems:
            pytest.fail(f"mix {mix!r}: {report(shrink(outcome))}", pytrace=False)
