"""Collections by several runners: leases, looks that expire, marks of other runs, and what they report."""

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from graveler.operations import collection_runs, writes
from graveler.retention.liveness import LOOK_S
from graveler.retention.runs import LEASE, LEASE_S, CollectionRun
from graveler.times import NS_PER_S
from graveler_jobs.garbage_collection import run
from graveler_jobs.garbage_collection.options import CollectionOptions
from graveler_jobs.garbage_collection.sweeping import Round
from graveler_jobs.session import JobDeployment
from tests.simulation.schedule import Op
from tests.simulation.spark import Driver, Objects, Spark
from tests.simulation.worlds import REPO
from tests.support.checks.linearizability import Value

if TYPE_CHECKING:
    from tests.simulation.actor import Actor
    from tests.simulation.machine import Simulation

# Longer than a look, than a lease, and than all that a request waits for.
_STALLS_S = (LOOK_S + 5, LEASE_S + 5, LEASE_S + 5, 60 * 60)


class Collections:
    """The collections of a schedule: what they may do, and what was shown of them."""

    def __init__(self, simulation: "Simulation") -> None:
        self.parts: dict[str, Mapping[str, Any]] = {}
        self.marked: list[str] = []
        self._simulation = simulation
        self._started = simulation.world.collection_jobs.started
        self._started.clear()
        self._shown: dict[str, CollectionRun] = {}

    def asked_run(self, choose: Callable[[str, int], int]) -> str:
        """Return the ID of a run that was asked for, "" if there is none; some are begun twice."""
        if not self._started:
            return ""
        index = choose("asked", len(self._started))
        run_id = self._started[index][1]
        if choose("twice", 3):
            del self._started[index]
        return run_id

    def saw(self, shown: CollectionRun) -> None:
        """Check that a run that has ended stays as it is."""
        before = self._shown.get(shown.run_id)
        if before is None:
            self._shown[shown.run_id] = shown
        elif before.summary != shown.summary:
            self._simulation.problem("status", f"{before} has ended, and is {shown}")

    def begins_request(self, this: Round, began_ns: int) -> Callable[[], None]:
        """Return the check of a request to delete that begins now, by a look that began then."""
        world = self._simulation.world
        has_lease = world.jobs.has_lease(this.repository, LEASE, this.holder)
        age_s = (world.clock.peek_ns - began_ns) / NS_PER_S

        def check() -> None:
            if not has_lease:
                self._simulation.problem("lease", f"{this.holder} deletes, and lost its lease")
            if age_s > LOOK_S + 1:
                self._simulation.problem("look", f"{this.holder} deletes by a look of {age_s} s")

        return check

    def judge(self) -> None:
        """A run ends once; what was shown of one that has ended is still true."""
        simulation = self._simulation
        # An event that is stored again, because its answer was lost, is the same.
        events = {event.id: event for event in simulation.outbox if event.kind == run.EVENT}
        ended = Counter(str(event.detail["run_id"]) for event in events.values())
        for run_id, times in ended.items():
            if times > 1:
                simulation.problem("status", f"collection {run_id} ended {times} times")
        if any(event.kind == "repository_deleted" for event in simulation.outbox):
            return
        for run_id in self._shown:
            self.saw(collection_runs.get_run(simulation.reader, REPO, run_id)[0])


def start_collection(actor: "Actor", op: Op) -> None:
    collection_runs.start_run(actor.engine, REPO, "somebody", is_dry=False)


def run_collection(actor: "Actor", op: Op) -> None:
    """What the job does: collect, mark for a later run, or sweep the mark of an earlier one."""
    seen = actor.watcher(Collections)
    asked, marked = seen.asked_run(actor.choose), seen.marked
    options = CollectionOptions(repository=REPO, run_id=asked)
    what = 0 if asked else actor.choose("what", 6)
    if what == 1:
        options = replace(options, do_sweep=False)
    elif what == 2 and marked:
        mark_id = marked[actor.choose("mark", len(marked))]
        options = replace(options, do_mark=False, mark_id=mark_id)
    store: Any = Objects(actor.engine.objects, seen.parts)
    engine = replace(actor.engine, objects=store)
    began_ns = 0

    def begins_look() -> None:
        nonlocal began_ns
        began_ns = actor.host.true_ns
        actor.looks()

    def begins_request(this: Round) -> Callable[[], None]:
        actor.host.is_deleting = True
        return seen.begins_request(this, began_ns)

    if actor.choose("takes over", 2):
        actor.host.await_other(lambda host: host.is_deleting)
        actor.host.let_clock_be_fast((LEASE_S + 10) * actor.choose("fast", 2))
        actor.host.pass_time((LEASE_S + 5) * actor.choose("late", 2))
    driver: Any = Driver(
        engine,
        actor.read_file,
        seen.parts,
        lambda: actor.host.wait(1),
        has_heart=bool(actor.choose("heart", 2)),
        marks_all=bool(actor.choose("all", 4)),
        begins_look=begins_look,
        begins_request=begins_request,
        marked=marked,
    )
    spark: Any = Spark()
    run.run(spark, JobDeployment(engine, engine.jobs, driver), options)


def copy_across(actor: "Actor", op: Op) -> Value:
    """Give an old object of main a second name on another branch."""
    made = writes.copy(
        actor.engine,
        REPO,
        op.branch,
        op.path,
        source_ref="main",
        source_path=op.text.encode(),
        shallow=True,
    )
    return Value(made.physical_address)


def show_collections(actor: "Actor", op: Op) -> None:
    page = collection_runs.list_runs(actor.engine, REPO, after="", amount=10)
    for each in page.results:
        if each.summary is not None:
            actor.watcher(Collections).saw(each)


def stall(actor: "Actor", op: Op) -> None:
    """Let time pass while the others stand still."""
    actor.host.pass_time(_STALLS_S[actor.choose("stall", len(_STALLS_S))])


COLLECTION_ACTIONS: Mapping[str, Callable[["Actor", Op], None]] = {
    each.__name__: each for each in (start_collection, run_collection, show_collections, stall)
}
