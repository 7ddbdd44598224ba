"""Two operations at once end as if one had come after the other.

One of them is stopped before each of its calls to a store, and another process does the other one
whole. What is seen afterwards, and what each of the two was told, must be as in one of the two
orders.
"""

import pytest

from graveler.errors import ContentionError, UnknownOutcomeError
from tests.support.faults.counting import engine_around
from tests.support.faults.faults import Meanwhile
from tests.support.worlds.scenarios import SCENARIOS, Scenario, outside, prepared_world

CALLS_MAX = 200
BY_NAME = {scenario.name: scenario for scenario in SCENARIOS}
# Who meets on `main`, where changes are staged, and who on the branches that have none.
ON_MAIN = (
    "upload",
    "upload over another",
    "upload where nothing is",
    "upload where something was deleted",
    "stage",
    "copy",
    "set user metadata",
    "delete",
    "delete many",
    "commit",
    "reset",
    "reset of a prefix",
    "reset of an object",
    "create branch",
    "create tag",
    "merge into what has not moved",
)
AGAINST = ("upload over another", "delete", "set user metadata", "commit", "reset")
ON_OTHERS = ("merge", "squash", "revert", "cherry-pick", "hard reset", "delete branch")
AGAINST_ON_OTHERS = ("merge", "revert", "delete branch", "hard reset")
PAIRS = [
    (BY_NAME[one], BY_NAME[other])
    for group, against in ((ON_MAIN, AGAINST), (ON_OTHERS, AGAINST_ON_OTHERS))
    for one in group
    for other in against
]


def in_a_row(*scenarios: Scenario) -> tuple[object, list[object]]:
    """What is seen after the operations, and the errors of each."""
    world = prepared_world()
    errors: list[object] = [type(scenario.attempt(world.engine())) for scenario in scenarios]
    return outside(world.engine()), errors


@pytest.mark.parametrize(
    ("scenario", "other"), PAIRS, ids=lambda scenario: scenario.name.replace(" ", "-")
)
def test_interleaved_operations_end_like_consecutive_ones(scenario, other):
    first, (seen_last, errors) = in_a_row(scenario, other), in_a_row(other, scenario)
    orders = [first, (seen_last, errors[::-1])]
    alone, _ = in_a_row(other)
    for number in range(1, CALLS_MAX):
        world = prepared_world()
        told: list[object] = []
        engine = world.engine()
        outside(engine)  # fills its caches with what the other one makes old
        pause = Meanwhile(number, lambda: told.append(other.attempt(world.engine())))  # noqa: B023
        error = scenario.attempt(engine_around(engine, pause))
        if not pause.has_happened:
            return
        found = (outside(world.engine()), [type(error), type(told[0])])
        gave_up = isinstance(error, ContentionError) and found[0] == alone
        # The other one took back what was just written: whether before or after, nobody can tell.
        cannot_tell = isinstance(error, UnknownOutcomeError) and found[0] in [o[0] for o in orders]
        assert found in orders or gave_up or cannot_tell, (
            f"before call {number}: {error!r}, {told[0]!r}"
        )
    pytest.fail("the operation never ends")
