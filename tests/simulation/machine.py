"""Runs one schedule: clients over a world, to their ends, and then the verdict."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from random import Random
from typing import Any, TypeVar
from zlib import crc32

from graveler.aws.dynamodb.tables import Tables
from graveler.dump.files import RefsDump
from graveler.engine import Engine
from graveler.model import CommitID, Repository
from graveler.open_repository import OpenRepository
from tests.simulation.actor import Actor
from tests.simulation.files import SharedCommitted
from tests.simulation.hooking import Hooks
from tests.simulation.host import Host
from tests.simulation.lives import Named, Outbox
from tests.simulation.schedule import Fault, Op, Schedule
from tests.simulation.scheduler import Scheduler, SeededChooser, WrittenChooser
from tests.simulation.spark import without_spark
from tests.simulation.steps import Steps
from tests.simulation.stores import SeededFaults, WrittenFaults
from tests.simulation.tasks import Deliveries, Ledger, stepwise
from tests.simulation.transport import SeededChoices, simulated_dynamodb
from tests.simulation.uploads import Uploads
from tests.simulation.verdict import judge
from tests.simulation.worlds import REPO, Start, new_world, stored_value
from tests.support.checks.linearizability import Operation, Value

W = TypeVar("W")

Log = list[tuple[str, Op, str, tuple[Any, ...], Fault | None]]


@dataclass(frozen=True, slots=True)
class Problem:
    """What is wrong after a schedule: the invariant, and how it was broken."""

    kind: str
    text: str


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of a schedule, which is written down whole."""

    schedule: Schedule
    problems: tuple[Problem, ...]
    log: Log

    @property
    def kinds(self) -> frozenset[str]:
        return frozenset(problem.kind for problem in self.problems)


class Simulation:
    """A world while a schedule runs in it, and what is remembered for the verdict."""

    def __init__(self, schedule: Schedule, *, change: "Change | None", is_logged: bool) -> None:
        chance = Random(f"steps {schedule.seed}")
        written = schedule.steps
        self.schedule_seed = self._seed = schedule.seed
        self.scheduler = Scheduler(
            SeededChooser(chance) if written is None else WrittenChooser(written)
        )
        # A write that nobody confirms may be seen and lost, if the gate that it checked is freed before
        # the write is visible. So clients do not fail then.
        is_early = not schedule.seed % 4
        pages = Random(f"pages {schedule.seed}").choice((1, 1, 2, 100))
        self.choices = SeededChoices(schedule.seed, pages, self.scheduler.pause)
        self.choices.frees_checked_early = is_early
        self.start: Start = new_world(schedule.world, self.choices)
        self.world = self.start.world
        self.outbox = self.world.contents.events = Outbox(self.scheduler.tick)
        self.world.contents.on_state = self.outbox.note_state
        if change is not None:
            change(self.world)
        self.faults = (
            SeededFaults(chance, has_any=not is_early)
            if schedule.faults is None
            else WrittenFaults(schedule.faults)
        )
        self.log: Log | None = [] if is_logged else None
        self.files = self.world.files
        self.operations = [op for program in schedule.programs for op in program]
        self.paths = tuple(sorted({op.path for op in self.operations}))
        self.history: list[Operation] = list(self.start.before)
        self.unresolved: list[tuple[Any, ...]] = []
        self.made: set[str] = set(self.world.objects.uris()) - self.start.foreign.keys()
        self.protected: list[str] = []
        self.dumps: list[RefsDump] = []
        self.is_exported: dict[str, bool] = {}
        self.exported_first = self.world.exports.recorded()
        self.ledger = Ledger(self.scheduler.tick)
        self.deliveries = Deliveries(self.world)
        self.steps = Steps(self)
        self.uploads = Uploads(self.scheduler.tick)
        self.world.contents.on_task = self.steps.has_stored
        self.world.contents.on_upload = self.steps.has_completed
        self.choices.has_ended = self.steps.has_ended
        self.problems: list[Problem] = []
        self._committed = SharedCommitted(self.files, breaking=self.world.breaking)
        self.reader = self.new_engine()
        self.repository = self.world.refs.repository(REPO)
        self.first_heads = self._first_heads()
        self.named = Named(self)
        if self.start.expires:
            self.scheduler.after_step = self.named.look
        self.actors: list[Actor] = []
        self.working: set[Host] = set()  # those in the middle of an operation
        self.nights = 0  # how often days have passed
        self.watchers: dict[Any, Any] = {}
        self._values: dict[tuple[str, str, bytes], Value | None] = {}
        self.world.objects.between = self.scheduler.pause
        self.world.objects.page_amount = pages
        if self.start.has_hooks:
            self.watcher(Hooks)

    def _first_heads(self) -> dict[str, CommitID]:
        """Note the heads that branches have first, and return them."""
        if self.repository is None:
            return {}
        branches = self.world.refs.records_of(self.repository).branches
        heads = {name: branch.commit_id for name, branch in branches.items()}
        self.outbox.begin_with(REPO, heads)
        return heads

    def ancestors(self, repository: Repository, commit_id: CommitID) -> set[CommitID]:
        """Return the commit and all that lead to it."""
        commits = self.world.refs.records_of(repository).commits
        found: set[CommitID] = set()
        pending = [commit_id]
        while pending:
            each = pending.pop()
            if each not in found and each in commits:
                found.add(each)
                pending += commits[each].parents
        return found

    def new_engine(self, tables: Tables | None = None) -> Engine:
        """A process with caches of its own, but for files, which never change."""
        return self.world.engine(self._committed, tables)

    def is_chosen(self, op: Op, one_in: int) -> bool:
        """Whether something befalls an operation: by the seed, and the same when it shrinks."""
        return crc32(f"{self._seed} {op.id}".encode()) % one_in == 0

    def choose(self, op: Op, what: str, amount: int) -> int:
        """A number below amount for an operation; as is_chosen."""
        return crc32(f"{self._seed} {op.id} {what}".encode()) % amount

    def watcher(self, kind: Callable[["Simulation"], W]) -> W:
        """Return what watches one kind of operation; its judge() is asked at the end."""
        if kind not in self.watchers:
            self.watchers[kind] = kind(self)
        found: W = self.watchers[kind]
        return found

    def problem(self, kind: str, text: str) -> None:
        self.problems.append(Problem(kind, text))

    @property
    def made_elsewhere(self) -> list[str]:
        """What other repositories made inside of this one's data."""
        prefixes = tuple(self.protected)
        made = self.made & self.world.objects.ever
        return [uri for uri in made if uri.startswith(prefixes)] if prefixes else []

    @property
    def created_in_parts(self) -> set[str]:
        """The names whose records others saw before, or after, other parts of their creation."""
        torn = self.choices.torn
        return {op.branch for op in self.operations if op.id in torn and "create" in op.kind}

    def value_in(
        self, repository: Repository | None, commit_id: CommitID, path: bytes
    ) -> Value | None:
        """What a commit holds at the path."""
        found = repository or self.repository
        assert found is not None
        key = (found.uid, commit_id, path)
        if key not in self._values:
            content = OpenRepository(self.reader, found).content(commit_id)
            self._values[key] = stored_value(found, content.get(path))
        return self._values[key]


# Makes a world worse, or better: for tests of the machine itself.
Change = Callable[[Any], None]


def run(schedule: Schedule, *, change: Change | None = None, is_logged: bool = False) -> Outcome:
    """Run a schedule to its end; what was chosen by its seed is written down."""
    simulation = Simulation(schedule, change=change, is_logged=is_logged)
    simulation.actors += [
        Actor(simulation, number, program) for number, program in enumerate(schedule.programs)
    ]
    for actor in simulation.actors:
        simulation.scheduler.add(actor.name, actor.run, actor.number)
    clock = simulation.world.clock
    with (
        stepwise(simulation.scheduler, clock),
        simulated_dynamodb(schedule.seed, clock),
        without_spark(),
    ):
        if simulation.scheduler.run():
            judge(simulation)
        else:
            simulation.problem("endless", "the clients never come to an end")
            for actor in simulation.actors:
                actor.end()
    written = replace(
        schedule, steps=tuple(simulation.scheduler.steps), faults=dict(simulation.faults.found)
    )
    return Outcome(written, tuple(simulation.problems), simulation.log or [])
