"""The simulator itself: it is the same twice, it finds faults that are planted, and makes them small."""

from contextlib import suppress
from itertools import count
from types import SimpleNamespace

import pytest
from msgspec.structs import replace

from graveler.aws.dynamodb.branches import branch_item
from graveler.aws.dynamodb.models import RefsItem
from graveler.aws.dynamodb.records import cleanup_partition
from graveler.aws.dynamodb.tables import key
from graveler.aws.dynamodb.tags import _tag_item
from graveler.aws.errors import ConditionFailedError
from graveler.branches.changes import StagedSource
from graveler.errors import GravelerError
from graveler.operations import commits
from graveler.operations.tasks import waiting
from graveler.ports import Staged
from tests.simulation.machine import Outcome, run
from tests.simulation.report import label, report
from tests.simulation.schedule import Op, Schedule
from tests.simulation.shrink import shrink
from tests.simulation.workload import MIXES, draw

FOUND_WITHIN = 2_000
# Faults that few schedules meet, by kind or by what plants them: from this seed on, they are found
# soon.
FIRST_SEEDS = {"status": 5_400, "_stage_under_closed_tokens": 2_500}


def _stage_under_an_old_token(world) -> None:
    """Writes go where the branch's changes were before the first commit."""
    first: dict[str, str] = {}

    def stale(stage, token, changes):
        return stage(first.setdefault(token.partition(":")[0], token), changes)

    _stage_under_closed_tokens(world)
    world.plant("staging.stage", stale)


def _forget_sealed_tokens(world) -> None:
    """What was staged before a commit seals it is gone."""

    def seal(real, repository, branch, new_token):
        sealed = replace(real(repository, branch, new_token), sealed_tokens=())
        _store(world, repository, sealed)
        return sealed

    world.plant("refs.seal_token", seal)


def _store(world, repository, branch) -> None:
    """Store a branch, whatever it was."""
    tables = world.refs.tables
    tables.dynamodb.call("PutItem", tables.put(branch_item(repository, branch)))


def _never_end(world) -> None:
    """Whoever seals a token has been too slow."""

    def seal(*_):
        while True:
            world.objects.between()

    world.plant("refs.seal_token", seal)


def _raise_nonsense(world) -> None:
    def seal(_real, _repository, _branch, new_token):
        raise KeyError(new_token)

    world.plant("refs.seal_token", seal)


def _compact_without_tombstones(world) -> None:
    """What was deleted before a compaction shows what is committed."""
    world.plant(
        "staging.fill",
        lambda fill, token, changes: fill(token, [c for c in changes if c[1] is not None]),
    )


def _offer_nothing(world) -> None:
    """A token that a compaction fills is not registered before the branch takes it."""

    def take(replace_sealed, repository, old, **options):
        offer = world.refs.offer_token(options["token"], options["offer"])
        try:
            replace_sealed(repository, old, **{**options, "offer": offer})
        except GravelerError:
            world.refs.tables.dynamodb.call(
                "DeleteItem", world.refs.tables.delete(key(cleanup_partition(offer), offer))
            )
            raise

    world.plant("refs.offer_token", lambda _real, _token, drop_after_ns: drop_after_ns)
    world.plant("refs.replace_sealed", take)


def _move_whoever_was_first(world) -> None:
    """The head moves, though somebody else has moved it."""

    def move(real, repository, old, **options):
        now = world.refs.branch(repository, old.name)
        if now is not None and now.sealed_tokens[-len(old.sealed_tokens) :] == old.sealed_tokens:
            old = now if len(now.sealed_tokens) == len(old.sealed_tokens) else old
        real(repository, old, **options)

    world.plant("refs.move_branch", move)


def _forget_events(world) -> None:
    """A commit without its event."""
    world.plant(
        "refs.move_branch", lambda real, *args, **options: real(*args, **{**options, "event": None})
    )


def _collect_what_is_staged(world) -> None:
    """Scans find nothing that garbage collection would have to keep."""
    world.plant("staging.scan", lambda *_: iter(()))


def _read_on(world) -> None:
    """Whoever asks for a part gets all."""
    real = world.objects.get_stored

    def read(uri, byte_range=None, *, if_match=""):
        return real(uri, if_match=if_match)

    world.objects.get_stored = read


def _require_no_etag(world) -> None:
    """Data that others replaced are read."""
    real = world.objects.get_stored
    world.objects.get_stored = lambda uri, byte_range=None, *, if_match="": real(uri, byte_range)  # noqa: ARG005


def _remember_tombstones_as_nothing(world) -> None:
    world.plant(
        "staging.stage",
        lambda stage, token, changes: stage(token, [c for c in changes if c[1] is not None]),
    )


def _stage_under_closed_tokens(world) -> None:
    """A seal keeps nobody out."""
    world.plant("staging.close", lambda *_: None)


def _take_equal_values_for_ones_own(world) -> None:
    """Who creates what is there already is told that it was its own doing."""

    def careless(stage_if, repository, branch, changes, event):
        get, token = world.staging.get, branch.staging_token
        if any(get(token, each.path) != Staged(each.value) for each in changes):
            stage_if(repository, branch, changes, event)

    world.plant("staging.stage_if", careless)


def _replace_what_was_not_read(world) -> None:
    """A conditional change does not mind what was staged since its writer looked."""

    def careless(stage_if, repository, branch, changes, event):
        get, token = world.staging.get, branch.staging_token
        found = [replace(each, replaces=get(token, each.path)) for each in changes]
        stage_if(repository, branch, found, event)

    world.plant("staging.stage_if", careless)


def _merge_over_edits(world) -> None:
    """A merge does not mind what was staged since it looked."""
    world.plant(
        "refs.move_branch",
        lambda real, *args, **options: real(*args, **{**options, "is_clean": False}),
    )


def _end_tasks_beside_their_effects(world) -> None:
    """The end of a task is stored after its commit, and not with it."""

    def move(real, repository, old, *, ends=None, **options):
        real(repository, old, **options)
        if ends is not None:
            world.objects.between()
            world.refs.replace_task(repository, ends.old, ends.new, ends.event)

    world.plant("refs.move_branch", move)


def _end_tasks_whatever_they_are(world) -> None:
    """A task that was cancelled, or that another runner ended, ends again."""

    def move(real, repository, old, *, ends=None, **options):
        if ends is not None:
            now = world.refs.task(repository, ends.old.id)
            ends = replace(ends, old=now)
        real(repository, old, ends=ends, **options)

    world.plant("refs.move_branch", move)


def _forget_events_of_tasks(world) -> None:
    """The event of a new task does not lead to a message."""
    world.plant(
        "refs.create_task",
        lambda real, repository, task, last, event: real(
            repository, task, last, replace(event, kind="task_forgotten")
        ),
    )


def _deliver_no_delayed_messages(world) -> None:
    """Only a message that is sent without a delay arrives."""
    real = world.task_queue.send
    world.task_queue.send = lambda message, delay_s=0: delay_s or real(message)


def _give_all_branches_one_identity(world) -> None:
    """As earlier versions stored branches: another branch of the name is the same one."""
    repository = world.refs.repository("lake")
    for branch in list(world.refs.records_of(repository).branches.values()):
        _store(world, repository, replace(branch, uid=""))
    world.plant(
        "refs.create_branch",
        lambda real, repository, branch, *more: real(repository, replace(branch, uid=""), *more),
    )


def _restore_what_is_restored(world) -> None:
    """A name is restored, though the restore has ended."""

    tables = world.refs.tables

    def restoring(item_of):
        def restore(_real, repository, restored):
            for each in restored:
                world.objects.between()
                put = tables.put(item_of(repository, each), RefsItem.sort.does_not_exist())
                with suppress(ConditionFailedError):
                    tables.dynamodb.call("PutItem", put)

        return restore

    world.plant("refs.restore_branches", restoring(branch_item))
    world.plant("refs.restore_tags", restoring(_tag_item))


def _overlook_moves(world) -> None:
    """A collection knows only the heads that it lists."""
    world.plant("refs.events_since", lambda *_: iter(()))


def _stop_the_monotonic_clock(world) -> None:
    """Only the wall clock measures how long a lease has lasted."""
    real = world.clock.moment
    world.clock.moment = lambda: replace(real(), monotonic_ns=0)


each_fault = pytest.mark.parametrize(
    ("plant", "mix", "kind"),
    [
        (_end_tasks_beside_their_effects, "tasks", "effect"),
        (_forget_events_of_tasks, "tasks", "event"),
        (_replace_what_was_not_read, "matching", "linearizable"),
        (_forget_sealed_tokens, "commits", "linearizable"),
        (_compact_without_tombstones, "compactions", "linearizable"),
        (_offer_nothing, "compactions", "leak"),
        (_raise_nonsense, "commits", "unexpected"),
        (_move_whoever_was_first, "commits", "linearizable"),
        (_remember_tombstones_as_nothing, "writes", "linearizable"),
        (_forget_events, "writes", "event"),
        (_collect_what_is_staged, "collect", "collected"),
        (_give_all_branches_one_identity, "prefix_lives", "stranger"),
        (_restore_what_is_restored, "restores", "undone"),
        (_stop_the_monotonic_clock, "clock_steps", "destination"),
        (_require_no_etag, "replaced", "replaced"),
        # Found later.
        *(
            pytest.param(*fault, marks=pytest.mark.long)
            for fault in (
                (_deliver_no_delayed_messages, "tasks", "stuck"),
                (_overlook_moves, "expiry", "living"),
                (_end_tasks_whatever_they_are, "tasks", "status"),
                (_merge_over_edits, "metadata", "linearizable"),
                (_read_on, "described", "meter"),
                (_stage_under_an_old_token, "writes", "linearizable"),
                (_stage_under_closed_tokens, "writes", "linearizable"),
                (_take_equal_values_for_ones_own, "described", "linearizable"),
            )
        ),
    ],
)


@each_fault
def test_a_planted_fault_is_found_soon(plant, mix, kind):
    assert kind in _first(mix, kind, plant).kinds


@pytest.mark.long
@each_fault
def test_the_schedule_that_found_a_fault_is_made_smaller(plant, mix, kind):
    found = _first(mix, kind, plant)
    smaller = shrink(found, plant)
    assert kind in smaller.kinds
    assert smaller.schedule.size <= found.schedule.size


_COMMIT = Op("commit_by_task", text="again", id=1)
_WRITE = Op("upload", text="x", id=2)
_COMMIT_TOO = Op("commit_by_task", text="again", id=3)
_RUN = Op("run_tasks", id=4)
_START = Op("start_commit", text="again", id=5)


@pytest.mark.parametrize(
    ("name", "wrong", "programs"),
    [
        # A request joins a task that lacks its writes.
        ("has_staged", lambda *_: False, ((_COMMIT,), (_WRITE, _COMMIT_TOO), (_RUN,))),
        # Results of slices are taken, although the branch's version says that they are too old.
        pytest.param(
            "StagedSource",
            SimpleNamespace(of=lambda branch: StagedSource.of(replace(branch, version=0))),
            ((_WRITE,), (_START, _RUN)),
            marks=pytest.mark.long,
        ),
    ],
)
def test_a_commit_by_a_task_that_lacks_a_write_is_found(monkeypatch, name, wrong, programs):
    def late(world) -> None:
        world.service.choices.frees_checked_early = True

    monkeypatch.setattr(commits, name, wrong)
    outcomes = (
        run(Schedule("sliced_staged", programs, seed=seed), change=late)
        for seed in range(3 * FOUND_WITHIN)
    )
    assert any(outcome.kinds == {"linearizable"} for outcome in outcomes)


@pytest.mark.long
def test_an_answer_that_the_branch_does_not_have_is_found(monkeypatch):
    """The outcome of an ended task is taken, although the branch was reset."""
    monkeypatch.setattr(waiting, "leads_to", lambda *_: True)
    assert "outcome" in _first("replays", "outcome").kinds


def _calls(outcome: Outcome) -> list[tuple[object, ...]]:
    """Who called what, in order, and what went wrong; arguments may hold functions."""
    return [(client, op, name, fault) for client, op, name, _, fault in outcome.log]


def test_clients_that_never_finish_are_reported():
    program = (Op("upload", id=1), Op("commit", id=2))
    outcome = run(Schedule("plain", (program, program)), change=_never_end)
    assert outcome.kinds == {"endless"}


def _first(mix: str, kind: str, change=None) -> Outcome:
    first = FIRST_SEEDS.get(kind) or FIRST_SEEDS.get(getattr(change, "__name__", ""), 0)
    for seed in range(first, first + FOUND_WITHIN):
        outcome = run(draw(seed, (mix,)), change=change)
        if outcome.problems and outcome.problems[0].kind == kind:
            return outcome
    raise AssertionError(f"{kind} was not found in {FOUND_WITHIN} schedules")


@pytest.mark.parametrize("mix", MIXES)
def test_a_seed_gives_the_same_run_each_time(mix):
    for seed in range(5):
        one, other = (run(draw(seed, (mix,)), is_logged=True) for _ in range(2))
        assert _calls(one) == _calls(other)
        assert one.schedule == other.schedule
        assert one.problems == other.problems


@pytest.mark.parametrize("mix", MIXES)
def test_a_saved_run_can_be_replayed(mix):
    for seed in range(5):
        drawn = run(draw(seed, (mix,)), is_logged=True)
        again = run(drawn.schedule, is_logged=True)
        assert _calls(again) == _calls(drawn)
        assert again.problems == drawn.problems


def test_a_shrunk_schedule_keeps_what_the_failure_needs():
    """A tombstone that is lost takes one deletion: no other client, and no fault."""
    found = _first("writes", "linearizable", _remember_tombstones_as_nothing)
    smaller = shrink(found, _remember_tombstones_as_nothing)
    operations = [op for program in smaller.schedule.programs for op in program]
    assert [op.kind for op in operations] == ["delete"]
    assert not smaller.schedule.faults
    assert label(smaller) == "linearizable: delete"
    shown = report(smaller)
    assert f"seed {found.schedule.seed}" in shown
    assert "staging.stage" in shown


def test_one_client_alone_is_always_right():
    numbers = count(1)
    kinds = ("upload", "get", "commit", "get_head", "delete", "list", "commit", "hard_reset")
    program = tuple(Op(kind, "main", b"b", "c1", next(numbers)) for kind in kinds)
    outcome = run(Schedule("plain", (program,), faults={}))
    assert outcome.problems == ()


def test_faults_of_every_kind_are_tried():
    expected = {
        "crash before",
        "crash after",
        "crash, done late",
        "throttled",
        "pause",
        "repeated",
        "slow",
        "cut off",
        "lost, done",
        "lost, not done",
        "lost, done late",
    }
    kinds = set()
    for seed in range(1_000):
        kinds |= {fault.kind for fault in run(draw(seed, ("writes",))).schedule.faults.values()}
        if kinds >= expected:
            break
    assert kinds == expected
