"""An object whose name moves during a collection's look stays, at whatever step the name moves.

The rows are those of the table in docs/adr/0034-what-a-collection-sees.md.
"""

from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from functools import cache, partial
from itertools import pairwise
from typing import Any

import pytest

from graveler.branches.lookup import read_repository
from graveler.engine import Engine
from graveler.errors import (
    ContentionError,
    InvalidInputError,
    NotFoundError,
    PreconditionFailedError,
)
from graveler.limits import CLAIM_LIFE_S, TOKEN_RETENTION_S
from graveler.model import Event, Repository
from graveler.model.events import heads_in
from graveler.model.tasks import TaskKind, TaskMessage
from graveler.open_repository import OpenRepository
from graveler.operations import branches, links, merges, objects, repositories, retention, writes
from graveler.operations.collection_reads import active_metaranges, begin_scan
from graveler.operations.prefixes.requests import PrefixRequest, start_copy, start_move
from graveler.operations.tasks.requests import never_covers, start
from graveler.ports import RefStore
from graveler.retention.candidates import MINIMUM_AGE_S
from graveler.retention.rules import make_rules
from graveler.times import NS_PER_S
from tests.support.checks.cases import for_each
from tests.support.fakes.engines import MemoryWorld
from tests.support.fakes.memory import CountingNames, FixedClock
from tests.support.fakes.memory_collection import MemoryCollection
from tests.support.fakes.memory_objects import nothing
from tests.support.fakes.tasks import run
from tests.support.faults.counting import engine_around
from tests.support.worlds.lake import (
    NAMESPACE,
    REPO,
    commit,
    content,
    named,
    new_lake,
    upload,
)
from tests.support.worlds.scenarios import REPO as SCENARIO_REPO
from tests.support.worlds.scenarios import SCENARIOS, Scenario, prepared_world

DAY_S = 24 * 60 * 60


@cache
def _old_lake() -> MemoryWorld:
    """Rules of no days; `precious` in the head of `z`, and `staged` on main, both old.

    Nothing else keeps them: the first commit has neither.
    """
    world = new_lake()
    engine = world.engine()
    retention.set_rules(engine, REPO, make_rules(0, [("main", 0)]))
    for name in ("dev", "z"):
        branches.create(engine, REPO, name=name, source="main")
    upload(engine, b"precious", b"precious", "z")
    commit(engine, "z")
    upload(engine, b"other", b"other")
    commit(engine)
    upload(engine, b"m", b"staged before it")
    upload(engine, b"z/staged", b"staged")
    world.clock.tick(3 * DAY_S)
    return world


def old_lake() -> MemoryWorld:
    """Return the lake, whose stores return one record a page."""
    world = _old_lake().anew()
    world.refs.page_amount = world.staging.page_amount = 1
    return world


class AtStep:
    """Acts before the n-th call of a port, or between two pages, whatever comes n-th."""

    def __init__(self, world: MemoryWorld, number: int, act: Callable[[], object]) -> None:
        self._world, self._number, self._act = world, number, act
        self.count = 0
        self.pages(self.step)

    def pages(self, between: Callable[[], None]) -> None:
        self._world.refs.between = self._world.staging.between = between

    def step(self) -> None:
        self.count += 1
        if self.count == self._number:
            self.pages(nothing)
            self._act()
            self.pages(self.step)

    def __call__(self, _name: str, call: Callable[[], Any]) -> Any:
        self.step()
        return call()


def sweep_all(world: MemoryWorld, engine: Engine, act: Callable[[], object] = nothing) -> None:
    """Look once, and delete what may be deleted, whatever was marked; act when the look began."""
    run = MemoryCollection(engine, world.files.read_all, REPO, MINIMUM_AGE_S)
    steps = iter([act])

    def between() -> None:
        next(steps, nothing)()

    run.between = between
    run.list_candidates()
    run.marked = run.candidates
    run.look()
    while run.delete_batch():
        pass


def nothing_by(_engine: Engine) -> None:
    """Do nothing."""


def each_step(
    during: Callable[[Engine], object], before: Callable[[Engine], object] = nothing_by
) -> Iterator[tuple[MemoryWorld, int]]:
    """Yield a world for each step of a look, at which users did what `during` does."""
    number, steps = 1, 1
    while number <= steps:
        world = old_lake()
        before(world.engine())
        at = AtStep(world, number, partial(during, world.engine()))
        sweep_all(world, engine_around(world.engine(), at))
        at.pages(nothing)
        steps = at.count
        yield world, number
        number += 1


def name_by_hand(engine: Engine, source: bytes, path: bytes, ref: str = "main") -> None:
    found = objects.stat(engine, REPO, ref, source)
    data = links.StoredData(found.physical_address, found.entry.checksum, found.entry.size_bytes)
    links.stage(engine, REPO, "main", path, data)


def move_by_hand(engine: Engine) -> None:
    name_by_hand(engine, b"z/staged", b"a")
    writes.delete(engine, REPO, "main", b"z/staged")


def copy_from_a_head_by_hand(engine: Engine) -> None:
    name_by_hand(engine, b"precious", b"a", "z")
    branches.delete(engine, REPO, "z")


def move_shallow(engine: Engine) -> None:
    writes.copy(engine, REPO, "main", b"a", source_ref=None, source_path=b"z/staged", shallow=True)
    writes.delete(engine, REPO, "main", b"z/staged")


def move_prefix(engine: Engine) -> None:
    request = PrefixRequest(source_prefix="z/", destination_prefix="a/")
    task = start_move(engine, REPO, "main", request, "somebody")
    run(engine, TaskMessage(REPO, task.id))


def describe_and_reset(engine: Engine) -> None:
    first = named(engine, "z~1")
    writes.set_user_metadata(engine, REPO, "z", b"precious", {"owner": "ann"})
    branches.hard_reset(engine, REPO, "z", ref=first)


def restore_entry_and_describe(engine: Engine) -> None:
    writes.delete(engine, REPO, "z", b"precious")
    branches.reset(engine, REPO, "z", kind="object", path=b"precious")
    describe_and_reset(engine)


def rename(*names: str) -> Callable[[Engine], None]:
    def do(engine: Engine) -> None:
        for source, name in pairwise(names):
            branches.create(engine, REPO, name=name, source=source)
            branches.delete(engine, REPO, source)

    return do


def merge_and_delete(engine: Engine) -> None:
    merges.merge(engine, REPO, "z", "dev", merges.MergeRequest("ann"))
    branches.delete(engine, REPO, "z")


def commit_rename_and_reset(engine: Engine) -> None:
    first = named(engine, "main~1")
    commit(engine)
    branches.create(engine, REPO, name="a", source="main")
    branches.hard_reset(engine, REPO, "main", ref=first)


MOVES: dict[str, tuple[Callable[[Engine], object], str, bytes]] = {
    "staged by hand": (move_by_hand, "main", b"a"),
    "staged by hand from a head": (copy_from_a_head_by_hand, "main", b"a"),
    "shallow copy": (move_shallow, "main", b"a"),
    "prefix move": (move_prefix, "main", b"a/staged"),
    "metadata, then hard reset": (describe_and_reset, "z", b"precious"),
    "restored entry, metadata, hard reset": (restore_entry_and_describe, "z", b"precious"),
    "renamed once": (rename("z", "a"), "a", b"precious"),
    "renamed twice": (rename("z", "b", "a"), "a", b"precious"),
    "renamed three times": (rename("z", "y", "b", "a"), "a", b"precious"),
    "renamed away and back": (rename("z", "a", "z"), "z", b"precious"),
    "merged, and the source deleted": (merge_and_delete, "dev", b"precious"),
    "committed, and given to another branch": (commit_rename_and_reset, "a", b"z/staged"),
}


@for_each("name", MOVES)
def test_an_object_whose_name_moves_during_a_look_stays(name: str) -> None:
    move, ref, path = MOVES[name]
    for world, _ in each_step(move):
        assert content(world.engine(), ref, path) in (b"precious", b"staged")


def test_a_merge_in_progress_keeps_its_source_which_is_deleted_during_a_look() -> None:
    number, steps = 1, 1
    while number <= steps:
        world = old_lake()
        engine = world.engine()

        def delete_and_collect(world: MemoryWorld = world) -> None:
            sweep_all(world, world.engine(), lambda: branches.delete(world.engine(), REPO, "z"))

        at = AtStep(world, number, delete_and_collect)
        with suppress(NotFoundError):  # the source was deleted before the merge read it
            request = merges.MergeRequest("ann")
            made = merges.merge(engine_around(engine, at), REPO, "z", "dev", request)
            assert content(world.engine(), made.id, b"precious") == b"precious"
        at.pages(nothing)
        steps = max(steps, at.count)
        number += 1
    assert steps > 5


def test_an_open_task_keeps_the_source_of_its_merge() -> None:
    world = old_lake()
    engine = world.engine()
    task = merges.start_merge(engine, REPO, "z", "dev", merges.MergeRequest("ann"))
    branches.delete(engine, REPO, "z")
    sweep_all(world, engine)
    run(engine, TaskMessage(REPO, task.id))
    assert content(engine, "dev", b"precious") == b"precious"


def test_both_commits_of_an_open_replay_count_as_heads() -> None:
    engine = old_lake().engine()
    repository = read_repository(engine, REPO)
    both = {named(engine, "z~1"), named(engine, "z")}
    covers = " ".join(sorted(both))
    start(repository, TaskKind.REVERT, {}, user="", covers=covers, is_covered=never_covers)
    branches.delete(engine, REPO, "z")
    assert both <= {commit_id for _, commit_id in retention.heads_now(repository)}


def test_a_bare_repository_of_the_namespace_stops_each_run() -> None:
    engine = old_lake().engine()
    repository = read_repository(engine, REPO)
    scan = begin_scan(repository)
    repositories.create(engine, name="bare", storage_namespace=NAMESPACE, bare=True, read_only=True)
    with pytest.raises(InvalidInputError, match="'bare' is bare"):
        begin_scan(repository)
    with pytest.raises(InvalidInputError, match="'bare' is bare"):
        active_metaranges(scan)


def test_an_open_task_keeps_the_commit_from_which_it_copies_a_prefix() -> None:
    world = old_lake()
    engine = world.engine()
    task = start_copy(engine, REPO, "dev", PrefixRequest("prec", "copied/prec", "z@"), "ann")
    branches.delete(engine, REPO, "z")
    sweep_all(world, engine)
    run(engine, TaskMessage(REPO, task.id))
    assert content(engine, "dev", b"copied/precious") == b"precious"


def test_a_task_that_ends_during_a_look_keeps_what_it_merged() -> None:
    task_id = ""

    def begin(engine: Engine) -> None:
        nonlocal task_id
        task_id = merges.start_merge(engine, REPO, "z", "dev", merges.MergeRequest("ann")).id
        branches.delete(engine, REPO, "z")

    for world, _ in each_step(lambda engine: run(engine, TaskMessage(REPO, task_id)), begin):
        assert content(world.engine(), "dev", b"precious") == b"precious"


def copy_shallow(engine: Engine) -> None:
    writes.copy(engine, REPO, "main", b"a", source_ref=None, source_path=b"z/staged", shallow=True)


def copy_prefix(engine: Engine) -> None:
    request = PrefixRequest(source_prefix="z/staged", destination_prefix="a")
    run(engine, TaskMessage(REPO, start_copy(engine, REPO, "main", request, "somebody").id))


@for_each("copy", [copy_shallow, copy_prefix])
def test_a_copy_whose_source_is_deleted_and_collected_meanwhile_names_no_lost_data(
    copy: Callable[[Engine], object],
) -> None:
    number, steps = 1, 1
    while number <= steps:
        world = old_lake()

        def delete_and_collect(world: MemoryWorld = world) -> None:
            writes.delete(world.engine(), REPO, "main", b"z/staged")
            sweep_all(world, world.engine())

        at = AtStep(world, number, delete_and_collect)
        with suppress(NotFoundError):
            copy(engine_around(world.engine(), at))
        at.pages(nothing)
        with suppress(NotFoundError):  # there was nothing to copy
            assert content(world.engine(), "main", b"a") == b"staged"
        steps, number = max(steps, at.count), number + 1
    assert steps > 5


def test_what_was_no_head_when_the_look_began_is_deleted() -> None:
    world = old_lake()
    engine = world.engine()
    uri = objects.stat(engine, REPO, "z", b"precious").physical_address
    sweep_all(world, engine, lambda: branches.delete(engine, REPO, "z"))
    assert engine.objects.head(uri) is not None
    sweep_all(world, engine)
    assert engine.objects.head(uri) is None


@pytest.mark.parametrize("slow_s", [0, 2 * 3600])
def test_a_branch_that_no_listing_shows_is_seen_by_its_events(slow_s: int) -> None:
    """It is renamed to a name that the listing has passed, and back before the next one."""
    world = old_lake()
    clock = FixedClock(world.clock.now_ns() - slow_s * NS_PER_S)
    renaming = replace(world.engine(), clock=clock, names=CountingNames(clock))
    listings: list[list[str]] = []

    def hide() -> None:
        world.refs.between = nothing
        rename("z", "a")(renaming)

    def beside(name: str, call: Callable[[], Any]) -> Any:
        if name != "refs.branches":
            return call()
        if listings:
            rename("a", "z")(renaming)
        world.refs.between = hide
        page = call()
        listings.append([branch.name for branch in page.results])
        return page

    sweep_all(world, engine_around(world.engine(), beside))
    assert listings == [["dev", "main"]] * 2
    assert content(world.engine(), "a", b"precious") == b"precious"


def test_a_hard_reset_whose_event_is_not_visible_yet_hides_no_head() -> None:
    """DynamoDB may show the new head of a transaction in progress before its event."""

    class LateEvents:
        def __init__(self, refs: RefStore) -> None:
            self._refs = refs

        def __getattr__(self, name: str) -> Any:
            return getattr(self._refs, name)

        def events_since(self, repository: Repository, since_s: int) -> Iterator[Event]:
            found = self._refs.events_since(repository, since_s)
            return (event for event in found if event.kind != "branch_reset")

    number, steps = 1, 1
    while number <= steps:
        world = old_lake()
        at = AtStep(world, number, partial(describe_and_reset, world.engine()))
        engine = engine_around(world.engine(), at)
        sweep_all(world, replace(engine, refs=LateEvents(engine.refs)))
        at.pages(nothing)
        assert content(world.engine(), "z", b"precious") == b"precious"
        steps, number = at.count, number + 1


def test_staging_by_hand_claims_an_old_address_of_the_repository_only() -> None:
    world = old_lake()
    engine = world.engine()
    young = upload(engine, b"young", b"young").physical_address
    repository = read_repository(engine, REPO)
    for uri in (young, "s3://elsewhere/x", f"{NAMESPACE}/data/of/others"):
        links.stage(engine, REPO, "main", b"a", links.StoredData(uri, "any", 1))
        assert list(engine.refs.claimed_addresses(repository.record)) == []
    name_by_hand(engine, b"z/staged", b"a")
    (claimed,) = engine.refs.claimed_addresses(repository.record)
    assert objects.stat(engine, REPO, "main", b"a").entry.address == claimed


def test_a_claim_lives_for_as_long_as_a_collection_may_need_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    world = old_lake()
    expiries: list[int] = []

    def claim(_self: object, _of: object, _addresses: object, expires_s: int) -> None:
        expiries.append(expires_s)

    monkeypatch.setattr(type(world.refs), "claim_addresses", claim)
    engine = world.engine()
    began_s = engine.now_s()
    copy_shallow(engine)
    (expires_s,) = expiries
    assert began_s <= expires_s - CLAIM_LIFE_S <= engine.now_s()


def test_a_copy_whose_source_is_replaced_meanwhile_claims_what_it_copies() -> None:
    world = old_lake()
    engine = world.engine()
    old = objects.stat(engine, REPO, "z", b"precious").entry.address
    is_replaced: list[bool] = []

    def replacing(name: str, call: Callable[[], Any]) -> Any:
        if name == "refs.claim_addresses" and not is_replaced:
            is_replaced.append(True)
            beside = partial(writes.copy, engine, REPO, "main", b"z/staged", shallow=True)
            beside(source_ref="z", source_path=b"precious")
            # The first copy's own claim counts for nothing here.
            world.refs.records_of(read_repository(engine, REPO).record).claimed.clear()
        return call()

    copy_shallow(engine_around(world.engine(), replacing))
    assert objects.stat(engine, REPO, "main", b"a").entry.address == old
    assert old in engine.refs.claimed_addresses(read_repository(engine, REPO).record)


def test_a_change_of_metadata_costs_no_claim() -> None:
    world = old_lake()
    engine = world.engine()
    writes.set_user_metadata(engine, REPO, "z", b"precious", {"k": "v"})
    assert list(engine.refs.claimed_addresses(read_repository(engine, REPO).record)) == []


def test_a_repository_that_begins_to_share_the_namespace_stops_the_run() -> None:
    world = old_lake()
    engine = world.engine()
    collection = MemoryCollection(engine, world.files.read_all, REPO, MINIMUM_AGE_S)
    collection.list_candidates()
    collection.look_at_staged()
    repositories.create(engine, name="reader", storage_namespace=NAMESPACE, read_only=True)
    with pytest.raises(ContentionError, match="'reader' began to share the namespace of 'lake'"):
        collection.look_at_commits()
    collection.look_at_staged()
    collection.look_at_commits()


def test_a_scan_of_staged_entries_that_outlasts_their_tokens_stops_the_run() -> None:
    world = old_lake()
    collection = MemoryCollection(world.engine(), world.files.read_all, REPO, MINIMUM_AGE_S)
    collection.list_candidates()
    ticks = iter([0, 0, TOKEN_RETENTION_S // 2 + 1])
    collection.between = lambda: world.clock.tick(next(ticks, 0))
    with pytest.raises(PreconditionFailedError, match="the staged entries took longer to read"):
        collection.look_at_staged()
    collection.look()


@for_each("scenario", SCENARIOS)
def test_an_event_names_each_head_that_an_operation_sets_or_replaces(scenario: Scenario) -> None:
    world = prepared_world()
    engine = world.engine()

    def heads() -> retention.Heads:
        repository = world.refs.repository(SCENARIO_REPO)
        return (
            set()
            if repository is None
            else retention.listed_heads(OpenRepository(engine, repository))
        )

    before = heads()
    scenario.run(engine)
    changed = before ^ heads() if world.refs.repository(SCENARIO_REPO) else set()
    assert changed <= {head for event in world.refs.events for head in heads_in(event)}
