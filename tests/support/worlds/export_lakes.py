"""Branches whose export is pending, and runners that work step by step."""

from dataclasses import replace

from graveler.export.record import ExportRequest
from graveler.operations import branches
from graveler.operations.exports.advance import advance
from graveler.ports import Clock
from tests.support.faults.counting import engine_around
from tests.support.faults.runners import SteppedRunner
from tests.support.worlds.export_world import REPO, ExportWorld, export_world
from tests.support.worlds.lake import commit, upload

LATEST = "s3://out/latest"
REQUEST = ExportRequest(REPO, "main")


def lake_of_twelve() -> ExportWorld:
    """Return a branch of twelve objects whose export is pending."""
    made = export_world()
    for number in range(12):
        upload(made.engine(), b"%02d" % number, b"x%d" % number)
    commit(made.engine())
    made.configure(LATEST, is_continuous=True)
    return made


def due_messages(lake: ExportWorld) -> list[ExportRequest]:
    """Return the messages whose time of delivery has come."""
    now_ns = lake.world.clock.peek_ns
    return [request for due_ns, request in lake.world.export_queue.waiting if due_ns <= now_ns]


def is_exported(lake: ExportWorld, path: str = LATEST) -> bool:
    """Whether the path holds the branch's objects, and the record says so."""
    head = branches.get(lake.engine(), REPO, lake.branch).commit_id
    known = lake.destination(path)
    is_whole = (known.exported_commit, known.touched_commits) == (head, ())
    return is_whole and lake.exported(path) == lake.content_of(head)


def stepped(lake: ExportWorld, name: str, clock: Clock | None = None) -> SteppedRunner:
    """Return an invocation of the export function that waits before each call to a store.

    clock is that of its machine.
    """

    def work(runner: SteppedRunner) -> None:
        own = replace(lake.engine(), clock=clock or lake.world.clock)
        engine = engine_around(own, runner)
        advance(engine, REQUEST, runner=name, time_left_s=lambda: 900)

    return SteppedRunner(name, work)


def step(lake: ExportWorld, runner: SteppedRunner, until: int | None = None) -> None:
    """Continue a runner until that many objects are written; until it ends if None."""
    while not runner.is_done and (until is None or len(lake.writes) < until):
        lake.runner = runner.name
        runner.step()
    lake.runner = ""
    assert lake.violations == []
