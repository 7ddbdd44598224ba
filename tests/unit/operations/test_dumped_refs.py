"""A dump has what is renamed meanwhile, at whatever step, under one of its names.

One of the new names was another ref's, which is deleted before: the dump may have listed that one.
Each old name is given to another ref at once.
"""

from collections.abc import Callable, Iterator
from functools import cache
from itertools import pairwise, product
from typing import Any

from graveler.branches.complete_listings import every_branch
from graveler.branches.lookup import read_repository
from graveler.dump.files import read
from graveler.dump.records import BRANCHES, TAGS
from graveler.engine import Engine
from graveler.operations import branches, dumps, merges, tags
from tests.support.checks.cases import for_each
from tests.support.fakes.engines import MemoryWorld
from tests.support.fakes.memory_objects import nothing
from tests.support.faults.counting import engine_around
from tests.support.worlds.lake import NAMESPACE, REPO, commit, named, new_lake

NAMES = ("z", "c", "b", "a")
TAKEN = "b"


@cache
def _lake() -> MemoryWorld:
    """`z` and `vz` name a commit of their own; `b` and `vb` exist, too."""
    world = new_lake()
    engine = world.engine()
    branches.create(engine, REPO, name=TAKEN, source="main")
    tags.create(engine, REPO, name=f"v{TAKEN}", ref="main")
    branches.create(engine, REPO, name="z", source="main")
    head = commit(engine, "z", allow_empty=True)
    tags.create(engine, REPO, name="vz", ref=head.id)
    return world


class Renames:
    """Renames a branch and a tag at some steps of a dump, one or several times."""

    def __init__(self, world: MemoryWorld, first: int, gap: int, times: int) -> None:
        self.world, self.first, self.gap = world, first, gap
        self.left = list(pairwise(NAMES[: times + 1]))
        self.count = 0
        world.refs.page_amount = 1
        world.refs.between = self.step

    def __call__(self, _name: str, call: Callable[[], Any]) -> Any:
        self.step()
        return call()

    def step(self) -> None:
        self.count += 1
        while self.left and self.count >= self.first:
            self.world.refs.between = nothing
            self.rename(self.world.engine(), *self.left.pop(0))
            self.world.refs.between = self.step
            self.first += self.gap

    def rename(self, engine: Engine, old: str, new: str) -> None:
        self.free(engine, new)
        branches.create(engine, REPO, name=new, source=old)
        branches.delete(engine, REPO, old)
        tags.create(engine, REPO, name=f"v{new}", ref=f"v{old}")
        tags.delete(engine, REPO, f"v{old}")
        branches.create(engine, REPO, name=old, source="main")
        tags.create(engine, REPO, name=f"v{old}", ref="main")

    def free(self, engine: Engine, name: str) -> None:
        """Delete what has the name; a dump may have listed it."""
        if name == TAKEN:
            branches.delete(engine, REPO, name)
            tags.delete(engine, REPO, f"v{name}")


class Conversions(Renames):
    """Makes a tag of the branch, and a branch of the tag."""

    def rename(self, engine: Engine, old: str, new: str) -> None:
        self.free(engine, new)
        if named_by_branch(engine, old):
            tags.create(engine, REPO, name=new, ref=old)
            branches.delete(engine, REPO, old)
        else:
            branches.create(engine, REPO, name=new, source=old)
            tags.delete(engine, REPO, old)


class Merges(Renames):
    """Merges the branch into `main`, and deletes it."""

    def rename(self, engine: Engine, old: str, new: str) -> None:
        request = merges.MergeRequest("somebody", message=new, force=True)
        merges.merge(engine, REPO, old, "main", request)
        branches.delete(engine, REPO, old)


def named_by_branch(engine: Engine, name: str) -> bool:
    return name in {each.name for each in every_branch(read_repository(engine, REPO))}


def dumped_beside(
    times: int, gap: int, kind: type[Renames] = Renames
) -> Iterator[tuple[MemoryWorld, Any]]:
    """Yield a dump for each of its steps, at which the renames begin, and its world."""
    first, steps = 1, 1
    while first <= steps:
        world = _lake().anew()
        renames = kind(world, first, gap, times)
        dumped = dumps.dump(engine_around(world.engine(), renames), REPO)
        world.refs.between = nothing
        steps = renames.count if first == 1 else steps
        yield world, dumped
        first += 1


@for_each(("times", "gap"), product((1, 2, 3), (0, 2)))
def test_what_is_renamed_meanwhile_is_dumped(times: int, gap: int) -> None:
    for world, dumped in dumped_beside(times, gap):
        committed, head = world.engine().committed, named(_lake().engine(), "z")
        for kind, file_id, prefix in (
            (BRANCHES, dumped.branches_id, ""),
            (TAGS, dumped.tags_id, "v"),
        ):
            found = list(read(committed, NAMESPACE, file_id, kind))
            names = [each.name for each in found]
            assert names == sorted(set(names))
            assert head in {
                each.commit_id for each in found if each.name.removeprefix(prefix) in NAMES
            }


def test_a_branch_that_is_a_tag_for_a_while_is_dumped() -> None:
    for world, dumped in dumped_beside(2, 6, Conversions):
        committed, head = world.engine().committed, named(_lake().engine(), "z")
        found = [
            *read(committed, NAMESPACE, dumped.branches_id, BRANCHES),
            *read(committed, NAMESPACE, dumped.tags_id, TAGS),
        ]
        assert head in {each.commit_id for each in found if each.name != "vz"}


def test_a_branch_that_is_merged_meanwhile_and_deleted_is_dumped() -> None:
    for world, dumped in dumped_beside(1, 0, Merges):
        engine = world.engine()
        found = list(read(engine.committed, NAMESPACE, dumped.branches_id, BRANCHES))
        heads = {each.commit_id for each in found}
        assert heads & {named(_lake().engine(), "z"), named(engine, "main")}
