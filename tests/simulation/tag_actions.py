"""Tags in schedules. In histories, a tag is a branch that nobody writes to.

So an acknowledged tag resolves, and of a branch and a tag with one name, one creation is refused.
"""

from collections import Counter
from typing import TYPE_CHECKING

from graveler.operations import tags
from tests.simulation.schedule import Op
from tests.simulation.worlds import REPO

if TYPE_CHECKING:
    from tests.simulation.actor import Actor
    from tests.simulation.machine import Simulation

# A branch or a tag has this name; only tags have the others.
SHARED = "shared"
TAGS = ("tag", "tag", "tag", SHARED, SHARED)


def create_tag(actor: "Actor", op: Op) -> None:
    tags.create(actor.engine, REPO, name=op.branch, ref=actor.ref(op))


def delete_tag(actor: "Actor", op: Op) -> None:
    tags.delete(actor.engine, REPO, op.branch)


def check_tags(simulation: "Simulation") -> None:
    """No name is a branch's and a tag's; each deletion is about a tag that was there."""
    there: Counter[tuple[object, ...]] = Counter()
    for event in simulation.outbox:
        change = {"tag_created": 1, "tag_deleted": -1}.get(event.kind, 0)
        if event.repository == REPO:  # a restore creates tags without events
            there[event.detail.get("tag"), event.detail.get("commit_id")] += change
    for tag, amount in there.items():
        if amount < 0:
            simulation.problem("event", f"{tag} was deleted more often than created")
    for records in simulation.world.refs.records.values():
        for name in records.branches.keys() & records.tags.keys():
            simulation.problem("name", f"{name} is a branch and a tag")
