"""Moves, copies, writers and a collection at once: whatever a reader sees has its data.

Each round lets old objects move and be copied between paths and branches while a collection looks.
A seed decides what is asked for, every step, and where runners die.
"""

import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from random import Random
from typing import Any
from unittest.mock import patch

import pytest

from graveler.committed.store import Breaking
from graveler.engine import Engine
from graveler.errors import GravelerError
from graveler.model.tasks import LEASE_S, TaskMessage
from graveler.operations import branches, objects, repositories, retention, writes
from graveler.operations.prefixes import walk
from graveler.operations.prefixes.requests import IfExists, PrefixRequest, start_copy, start_move
from graveler.operations.tasks.requests import status
from graveler.retention.candidates import MINIMUM_AGE_S
from graveler.retention.rules import make_rules
from graveler.staging.listing import PageQuery
from tests.simulation.scheduler import Scheduler, SeededChooser
from tests.support.fakes.engines import memory_world
from tests.support.fakes.memory_collection import MemoryCollection
from tests.support.fakes.tasks import run
from tests.support.faults.counting import engine_around
from tests.support.faults.faults import Crash
from tests.support.worlds.lake import NAMESPACE, REPO, commit, upload

SEEDS = 300
MORE_SEEDS = 3_000
ROUNDS = 3
DAY_S = 24 * 60 * 60
PATHS = (b"a/1", b"a/2", b"a/b/1", b"b/1", b"b/2", b"c/1", b"d/1")
PREFIXES = ("a/", "a/b/", "b/", "c/", "d/", "e/")
BRANCHES = ("main", "main", "dev")
RUNNERS_MAX = 6


class Crowd:
    """A world, and clients that act on it in small steps."""

    def __init__(self, seed: int) -> None:
        self.chance = Random(seed)
        self.world = memory_world(Breaking(2), step_ns=10**6)
        self.scheduler = Scheduler(SeededChooser(self.chance))
        self.deleted: set[str] = set()
        self.count = 0
        engine = self.world.engine()
        repositories.create(engine, name=REPO, storage_namespace=NAMESPACE)
        if self.chance.random() < 0.6:  # else commits keep all that was ever committed
            retention.set_rules(engine, REPO, make_rules(0, [("main", 0), ("dev", 0)]))
        for path in self.chance.sample(PATHS, 5):
            self.write(engine, "main", path)
        if self.chance.random() < 0.3:
            commit(engine)
        branches.create(engine, REPO, name="dev", source="main")

    def write(self, engine: Engine, branch: str, path: bytes) -> None:
        self.count += 1
        upload(engine, path, b"%d" % self.count, branch)

    def round(self) -> None:
        """Let some clients act beside a collection, a few days after the last round."""
        chance = self.chance
        self.world.clock.tick(chance.choice((3 * DAY_S, 3 * DAY_S, DAY_S // 2)))
        clients = [self.transfer] * chance.choice((1, 2, 3)) + [self.use] * chance.choice((0, 1, 2))
        for number, client in enumerate([self.collect, *clients]):
            self.scheduler.add(f"client {number}", self.alone(client), number)
        assert self.scheduler.run()

    def alone(self, client: Callable[[Engine], None]) -> Callable[[], None]:
        """Return what the client does, in steps; a refusal ends it."""

        def act() -> None:
            with suppress(GravelerError):
                client(self.engine())

        return act

    def engine(self, dies_at: int = 0) -> Engine:
        """Return an engine that pauses before each call, and between the entries of a scan."""
        calls = 0

        def around(_name: str, call: Callable[[], Any]) -> Any:
            nonlocal calls
            self.pause()
            calls += 1
            if calls == dies_at:
                raise Crash
            return call()

        made = engine_around(self.world.engine(), around)
        scan = made.staging.scan

        def scan_in_steps(token: Any, start: bytes, end: bytes | None) -> Iterator[Any]:
            while (change := next(iter(scan(token, start, end)), None)) is not None:
                yield change
                start = change[0] + b"\0"

        made.staging.scan = scan_in_steps  # type: ignore[method-assign]
        return made

    def pause(self) -> None:
        if threading.current_thread() is threading.main_thread():
            self.scheduler.pause()

    # What clients do

    def collect(self, engine: Engine) -> None:
        """Collect; mostly, all that is old is marked, so that a single look decides."""
        collection = MemoryCollection(engine, self.world.files.read_all, REPO, MINIMUM_AGE_S)
        if self.chance.random() < 0.8:
            collection.list_candidates()
            collection.marked = set(collection.candidates)
            self.deleted |= collection.sweep()
        else:
            self.deleted |= collection.run()

    def transfer(self, engine: Engine) -> None:
        """Move or copy a prefix, with runners that may die."""
        chance = self.chance
        source, destination = chance.sample(PREFIXES, 2)
        branch, mode = chance.choice(BRANCHES), chance.choice(list(IfExists))
        if chance.random() < 0.6:
            request = PrefixRequest(source, destination, if_exists=mode)
            task = start_move(engine, REPO, branch, request, "ann")
        else:
            request = PrefixRequest(source, destination, chance.choice(BRANCHES), mode)
            task = start_copy(engine, REPO, branch, request, "ann")
        for number in range(RUNNERS_MAX):
            dies_at = chance.choice((0, 0, 0, chance.randint(1, 40)))
            with suppress(Crash):
                runner = f"{task.id} {number}"
                run(self.engine(dies_at), TaskMessage(REPO, task.id), runner=runner)
            if status(engine, REPO, task.id).has_ended:
                return
            self.world.clock.tick(LEASE_S + 1)

    def use(self, engine: Engine) -> None:
        """Do what users do."""
        for _ in range(self.chance.randint(1, 5)):
            action = self.chance.choice(
                [
                    *(self.copy, self.copy, self.delete, self.delete, self.commit, self.upload),
                    *(self.reset, self.reset_prefix, self.describe, self.branch, self.unbranch),
                ]
            )
            with suppress(GravelerError):
                action(engine, self.chance.choice(BRANCHES), self.chance.choice(PATHS))

    def copy(self, engine: Engine, branch: str, path: bytes) -> None:
        to, ref = self.chance.choice(PATHS), self.chance.choice(BRANCHES)
        writes.copy(engine, REPO, branch, to, source_ref=ref, source_path=path, shallow=True)

    def delete(self, engine: Engine, branch: str, path: bytes) -> None:
        writes.delete(engine, REPO, branch, path)

    def commit(self, engine: Engine, branch: str, _path: bytes) -> None:
        commit(engine, branch)

    def upload(self, engine: Engine, branch: str, path: bytes) -> None:
        self.write(engine, branch, path)

    def reset(self, engine: Engine, branch: str, _path: bytes) -> None:
        branches.reset(engine, REPO, branch, kind="reset")

    def reset_prefix(self, engine: Engine, branch: str, path: bytes) -> None:
        branches.reset(engine, REPO, branch, kind="common_prefix", path=path[:2])

    def describe(self, engine: Engine, branch: str, path: bytes) -> None:
        writes.set_user_metadata(engine, REPO, branch, path, {"count": str(self.count)})

    def branch(self, engine: Engine, _branch: str, _path: bytes) -> None:
        branches.create(engine, REPO, name="dev", source="main")

    def unbranch(self, engine: Engine, _branch: str, _path: bytes) -> None:
        branches.delete(engine, REPO, "dev")

    def lost(self) -> list[tuple[str, bytes]]:
        """Return what readers see without its data."""
        engine = self.world.engine()
        page = branches.list_page(engine, REPO, prefix="", after="", amount=10)
        refs = [ref for branch in page.results for ref in (branch.name, f"{branch.name}@")]
        return [
            (ref, item.path)
            for ref in refs
            for item in objects.list_objects(engine, REPO, ref, PageQuery(1000)).results
            if engine.objects.head(item.physical_address) is None
        ]


@pytest.mark.simulation
@pytest.mark.parametrize(
    "seeds", [range(SEEDS), pytest.param(range(SEEDS, MORE_SEEDS), marks=pytest.mark.long)], ids=str
)
def test_data_that_move_while_a_collection_looks_are_kept(seeds):
    collections = 0
    with patch.object(walk, "_STEP_CHANGES_MAX", 2), patch.object(walk, "_PAGE_PATHS", 3):
        for seed in seeds:
            crowd = Crowd(seed)
            for number in range(ROUNDS):
                crowd.round()
                assert crowd.lost() == [], f"seed {seed}, round {number}"
            collections += bool(crowd.deleted)
    assert collections > len(seeds) // 4  # the test tests something
