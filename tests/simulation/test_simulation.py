"""Whatever clients do at once, and whatever goes wrong meanwhile, what is promised holds.

A part of what `make simulate` runs, the same each time. A failure prints the smallest schedule that
was found; `python -m tests.simulation --one --mix <mix> --seed <seed>` prints it again.
"""

import pytest

from tests.simulation.machine import run
from tests.simulation.report import report
from tests.simulation.shrink import shrink
from tests.simulation.workload import MIXES, draw

SCHEDULES = 1_000


@pytest.mark.simulation
@pytest.mark.parametrize("mix", MIXES)
def test_every_schedule_keeps_the_promises(mix):
    for seed in range(SCHEDULES):
        outcome = run(draw(seed, (mix,)))
        if outcome.problems:
            pytest.fail(f"mix {mix!r}: {report(shrink(outcome))}", pytrace=False)
