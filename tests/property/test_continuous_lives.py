"""Names that move while a collection looks: what is alive without a break is never deleted.

Users act between any two steps of a look, and between any two pages that it reads. Actions follow
from a seed.
"""

from collections.abc import Callable
from contextlib import suppress
from functools import cache
from random import Random

import pytest

from graveler.branches.heads import seal
from graveler.branches.lookup import current_branch
from graveler.committed.store import Breaking
from graveler.errors import GravelerError
from graveler.identity import ID_LENGTH
from graveler.operations import (
    branches,
    commits,
    links,
    merges,
    objects,
    replays,
    repositories,
    retention,
    writes,
)
from graveler.retention.candidates import MINIMUM_AGE_S
from graveler.retention.rules import make_rules
from graveler.staging.listing import CommonPrefix, PageQuery
from tests.support.fakes.engines import MemoryWorld, memory_world
from tests.support.fakes.memory_collection import MemoryCollection
from tests.support.fakes.memory_objects import nothing
from tests.support.worlds.lake import NAMESPACE, REPO, commit, upload

DAY_S = 24 * 60 * 60
PATHS = (b"a", b"b/1", b"b/2", b"z")
NAMES = ("a", "dev", "main", "z")
SEEDS = 40
MORE_SEEDS = 1_000


@cache
def old_world() -> MemoryWorld:
    """A repository with old objects: committed, only on a branch, only staged, and given up."""
    world = memory_world(Breaking(2), step_ns=0)
    engine = world.engine()
    repositories.create(engine, name=REPO, storage_namespace=NAMESPACE)
    for path in PATHS[:3]:
        upload(engine, path, b"first " + path)
    commit(engine)
    branches.create(engine, REPO, name="dev", source="main")
    upload(engine, b"z", b"on dev", "dev")
    commit(engine, "dev")
    branches.create(engine, REPO, name="z", source="dev")
    upload(engine, b"a", b"second")
    commit(engine)
    for branch in NAMES[1:]:
        upload(engine, b"b/2", b"staged on " + branch.encode(), branch)
        upload(engine, b"z", b"staged, too, on " + branch.encode(), branch)
    world.clock.tick(3 * DAY_S)
    return world


class Crowd:
    """Users who pass one object on from name to name, and what was alive since a moment.

    A seed decides what they do. Most actions give the object another name, or leave it only one.
    """

    def __init__(self, seed: int) -> None:
        self.chance = Random(seed)
        self.world = old_world().anew()
        self.engine = self.world.engine()
        self.world.refs.page_amount = self.world.staging.page_amount = 1
        rules = make_rules(self.chance.randrange(3), [("main", self.chance.randrange(3))])
        retention.set_rules(self.engine, REPO, rules)
        self.first = commits.get(self.engine, REPO, "main~2").id
        self.passed_on = ""
        self.always: set[str] = set()
        self.said: list[str] = []
        # What gives the object another name, and what users do besides.
        self.gives: tuple[Callable[[], object], ...] = (
            *(self.by_hand, self.by_hand, self.metadata, self.metadata, self.copy, self.commit),
            *(self.rename, self.merge, self.cherry_pick, self.create),
        )
        self.others: tuple[Callable[[], object], ...] = (
            *(self.remove, self.reset, self.hard_reset, self.upload, self.revert, self.seal),
        )

    def act(self) -> None:
        """Do some actions, one after the other, or mostly none."""
        if self.chance.random() < 0.8:
            return
        for _ in range(self.chance.randrange(1, 4)):
            if self.chance.random() < 0.2:
                self.do(self.chance.choice(self.others))
            else:
                self.do(self.chance.choice(self.gives))
                self.do(self.keep_one)

    def do(self, action: Callable[[], object]) -> None:
        with suppress(GravelerError):
            action()
            self.said.append(action.__name__)
        self.always &= self.alive()

    def interrupt(self) -> None:
        """Act between two steps, or two pages, of the collection."""
        self.let(nothing)
        self.act()
        self.let(self.interrupt)

    def let(self, between: Callable[[], None]) -> None:
        self.world.refs.between = self.world.staging.between = between

    def names(self) -> dict[tuple[str, bytes], str]:
        """Return the data of all objects that readers of a branch or of its head see."""
        listed = branches.list_page(self.engine, REPO, prefix="", after="", amount=100).results
        refs = [ref for branch in listed for ref in (branch.name, branch.commit_id)]
        return {
            (ref, each.path): each.physical_address
            for ref in refs
            for each in objects.list_objects(self.engine, REPO, ref, PageQuery(1000)).results
            if not isinstance(each, CommonPrefix)
        }

    def alive(self) -> set[str]:
        return set(self.names().values())

    def held(self) -> list[tuple[str, bytes]]:
        """Return the branches and paths of the object that is passed on."""
        names = self.names()
        if self.passed_on not in self.always:
            self.passed_on = self.chance.choice(sorted(self.always) or [""])
        held = [name for name, uri in names.items() if uri == self.passed_on]
        return [(ref, path) for ref, path in held if len(ref) < ID_LENGTH]

    def place(self) -> tuple[str, bytes]:
        """Return a branch and a path, mostly those of the object that is passed on."""
        held = self.held()
        if held and self.chance.random() < 0.8:
            return self.chance.choice(held)
        return self.branch(), self.chance.choice(PATHS)

    def branch(self) -> str:
        listed = branches.list_page(self.engine, REPO, prefix="", after="", amount=100).results
        return self.chance.choice(listed).name

    def ref(self) -> str:
        return self.place()[0] + self.chance.choice(("", "", "~1", "~2"))

    def by_hand(self) -> None:
        """Move an object as older clients do: stage its address elsewhere, and delete it."""
        ref, path = self.place()
        uri = objects.stat(self.engine, REPO, ref, path).physical_address
        data = links.StoredData(physical_address=uri, checksum="any", size_bytes=1)
        target = self.branch(), self.chance.choice(PATHS)
        links.stage(self.engine, REPO, *target, data)
        self.always &= self.alive()
        if (ref, path) != target:
            writes.delete(self.engine, REPO, ref, path)

    def copy(self) -> None:
        ref, path = self.place()
        to, at = self.branch(), self.chance.choice(PATHS)
        writes.copy(self.engine, REPO, to, at, source_ref=ref, source_path=path, shallow=True)

    def metadata(self) -> None:
        """Change the metadata, and perhaps take the object out of the branch's head."""
        branch, path = self.place()
        value = {"k": str(self.chance.random())}
        writes.set_user_metadata(self.engine, REPO, branch, path, value)
        if self.chance.random() < 0.5:
            branches.hard_reset(self.engine, REPO, branch, ref=self.first)

    def rename(self) -> None:
        """Give a branch another name; its staged changes are lost."""
        old = self.place()[0]
        branches.create(self.engine, REPO, name=self.chance.choice(NAMES), source=old)
        branches.delete(self.engine, REPO, old)

    def merge(self) -> None:
        request = merges.MergeRequest("somebody", strategy="source-wins")
        merges.merge(self.engine, REPO, self.place()[0], self.branch(), request)

    def cherry_pick(self) -> None:
        request = replays.CherryPickRequest(self.ref(), "somebody", parent_number=1)
        replays.cherry_pick(self.engine, REPO, self.branch(), request)

    def revert(self) -> None:
        request = replays.RevertRequest(self.ref(), "somebody", parent_number=1)
        replays.revert(self.engine, REPO, self.branch(), request)

    def create(self) -> None:
        branches.create(self.engine, REPO, name=self.chance.choice(NAMES), source=self.ref())

    def commit(self) -> None:
        commit(self.engine, self.place()[0])

    def seal(self) -> None:
        seal(*current_branch(self.engine, REPO, self.place()[0]))

    def keep_one(self) -> None:
        """Leave the object that is passed on one name: a staged one, or that in a head."""
        held = self.held()
        if not held:
            return
        kept, kept_path = self.chance.choice(held)
        for branch, path in held:
            with suppress(GravelerError):
                if branch != kept:
                    self.chance.choice((self.drop, self.drop, self.erase))(branch, path)
                elif path != kept_path:
                    writes.delete(self.engine, REPO, branch, path)
        token = current_branch(self.engine, REPO, kept)[1].staging_token
        if self.engine.staging.get(token, kept_path) is not None:
            branches.hard_reset(self.engine, REPO, kept, ref=self.first)

    def drop(self, branch: str, _path: bytes) -> None:
        branches.delete(self.engine, REPO, branch)

    def erase(self, branch: str, path: bytes) -> None:
        writes.delete(self.engine, REPO, branch, path)
        commit(self.engine, branch)

    def remove(self) -> None:
        writes.delete(self.engine, REPO, *self.place())

    def upload(self) -> None:
        branch, path = self.place()
        upload(self.engine, path, b"new", branch)

    def reset(self) -> None:
        branch, path = self.place()
        kind = self.chance.choice(("object", "object", "common_prefix", "reset"))
        branches.reset(self.engine, REPO, branch, kind=kind, path=path)

    def hard_reset(self) -> None:
        branches.hard_reset(self.engine, REPO, self.branch(), ref=self.ref())

    def run(self) -> None:
        """Collect, in looks during which the users act."""
        run = MemoryCollection(
            self.engine, self.world.files.read_all, REPO, MINIMUM_AGE_S, batch_objects=2
        )
        run.list_candidates()
        # The mark protects nothing: a look has to see all that lives.
        run.marked = run.candidates
        for _ in range(2):
            self.act()
            self.always = self.alive()
            run.between = self.interrupt
            self.let(self.interrupt)
            run.look()
            self.let(nothing)
            while run.delete_batch():
                self.act()
            gone = {f"{NAMESPACE}/{address}" for address in run.deleted}
            assert not gone & self.always, self.said


def collect(seeds: range) -> None:
    for seed in seeds:
        try:
            Crowd(seed).run()
        except Exception as error:
            error.add_note(f"seed {seed}")
            raise


def test_what_is_alive_without_a_break_is_never_deleted() -> None:
    collect(range(SEEDS))


@pytest.mark.long
def test_what_is_alive_without_a_break_is_never_deleted_in_many_schedules() -> None:
    collect(range(SEEDS, MORE_SEEDS))
