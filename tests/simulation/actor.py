"""One client of a schedule: does its program, and writes down what it was told.

Each has caches of its own. When it crashes its operation ends where it stands, and the client goes
on in another process.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from hashlib import md5
from math import inf
from typing import TYPE_CHECKING, Any, TypeVar

from graveler.aws.dynamodb.cleanup import CleanupStore
from graveler.aws.dynamodb.staging import DynamoStagingStore
from graveler.aws.dynamodb.tables import Tables
from graveler.aws.errors import RequestRefusedError
from graveler.branches.data import read_content
from graveler.branches.views import ObjectStat
from graveler.dump.files import RefsDump
from graveler.errors import (
    CorruptDataError,
    GoneError,
    GravelerError,
    ThrottledError,
    UnknownOutcomeError,
)
from graveler.model import CommitID
from graveler.model.tasks import Task, TaskMessage
from tests.simulation.actions import ACTIONS
from tests.simulation.host import Host
from tests.simulation.outcomes import outcome_of
from tests.simulation.process import Process
from tests.simulation.schedule import Fault, Op, Place
from tests.simulation.stores import AGAIN, OVER_DYNAMODB, UNSURE, carry_out
from tests.simulation.tasks import Answer, Ledger, Workers
from tests.simulation.transport import EXPIRED, described
from tests.simulation.uploads import Uploads
from tests.simulation.worlds import DESCRIBED, DESCRIBED_TIMES, EXPORTED, NAMESPACE
from tests.support.checks.linearizability import UNKNOWN, Operation, Value
from tests.support.faults.counting import Port
from tests.support.faults.faults import Crash

if TYPE_CHECKING:
    from tests.simulation.machine import Simulation

W = TypeVar("W")

_CREATE_NAMES = ("create_branch", "create_tag")
_LOOKS_MAX = 30
# How many steps others make before a request of a slow operation, before a further page of its
# listing, and while a process is frozen.
_SLOW_STEPS = (0, 0, 0, 0, 10, 40)
_LISTING_STEPS = (0, 16, 16)
_FROZEN_STEPS = (0, 5, 30)


class Actor:
    """A client; see the module."""

    def __init__(self, simulation: "Simulation", number: int, program: tuple[Op, ...]) -> None:
        self.name = f"c{number}"
        self.number = number
        self.paths = simulation.paths
        self._simulation = simulation
        self._program = program
        self._op = program[0] if program else Op("")
        self._calls = 0
        self._invoked = self._asked = 0
        self._facts: dict[str, Any] = {}
        self.host = Host(simulation, number)
        self._start()

    def _start(self) -> None:
        """Be a new process."""
        process = self._process = Process(self._simulation, self)
        workers: Any = Port(Workers(self.start_worker), "slice_function", process.around)
        self.engine = replace(process.engine, slice_function=workers)

    def start_worker(self) -> Process:
        """Return a new process on the same machine."""
        return Process(self._simulation, self)

    def end(self) -> None:
        """Do nothing any more."""
        self._process.is_dead = True

    def run(self) -> None:
        for op in self._program:
            self._perform(op)

    def pause(self) -> None:
        """Let others go on, between two requests of a slow operation for some steps."""
        slow_steps = _LISTING_STEPS if self.host.is_listing else _SLOW_STEPS
        self._hold(slow_steps if self._op.is_slow else (0,))

    def freeze(self) -> None:
        """Let others go on while the process is frozen."""
        self._hold(_FROZEN_STEPS)

    def _hold(self, steps: tuple[int, ...]) -> None:
        self._simulation.scheduler.pause(steps[self.choose("hold", len(steps))])

    # What the stores are asked

    def request(self, operation: str, body: bytes, *, is_again: bool) -> tuple[Place, Fault | None]:
        """Return the place of a request to DynamoDB, and what goes wrong with it."""
        name = f"dynamodb.{operation}"
        is_listing = b"branch#" in body and b"ExclusiveStartKey" in body
        self.host.is_listing = is_listing and "look" in self._facts
        place, fault = self._place(AGAIN if is_again else name)
        if self._simulation.log is not None:
            self._log(name, (described(body),), fault)
        return place, fault

    def _place(self, name: str, *, is_prompt: bool = False) -> tuple[Place, Fault | None]:
        place = (self._op.id, self._calls)
        self._calls += 1
        reads_only = ACTIONS[self._op.kind].reads_only
        fault = self._simulation.faults(place, name, reads_only=reads_only, is_prompt=is_prompt)
        return place, fault

    def _log(self, name: str, args: tuple[Any, ...], fault: Fault | None = None) -> None:
        if self._simulation.log is not None:
            self._simulation.log.append((self.name, self._op, name, args, fault))

    def call(
        self, name: str, target: Callable[..., Any], args: tuple[Any, ...], options: dict[str, Any]
    ) -> Any:
        """Call a port; one of memory in a step, and perhaps with a fault."""
        simulation = self._simulation
        self._capture(name, args, options)
        if name.partition(".")[0] in OVER_DYNAMODB:
            self._log(name, args)
            return target(*args, **options)
        is_prompt = self.host.is_exporting and _is_at_destination(name, args)
        if is_prompt:
            self.host.is_writing = True
        else:
            self.pause()
        _, fault = self._place(name, is_prompt=is_prompt)
        self._log(name, args, fault)
        if name == "objects.delete_many" and "look" in self._facts:
            target = self._guarded(target, self._facts["look"])
        if name in {"objects.get", "objects.get_stored"}:
            target = self._metered(target)
        if fault is None:
            return target(*args, **options)
        try:
            return carry_out(
                fault,
                lambda: target(*args, **options),
                self.freeze,
                simulation.world.clock.tick,
                lambda work: simulation.scheduler.add_ghost(work, self.number),
            )
        except UnknownOutcomeError as error:
            if name in UNSURE:
                raise ThrottledError("simulated") from error
            raise

    def _guarded(self, delete_many: Callable[..., Any], look_step: int) -> Callable[..., Any]:
        """As delete_many of a collection; what is named since before its look must not go."""

        def delete(uris: Sequence[str]) -> Any:
            for uri in self._simulation.named.living(uris, look_step):
                self._simulation.problem("living", f"{uri} is deleted, and was named all the time")
            return delete_many(uris)

        return delete

    def _metered(self, get: Callable[..., Any]) -> Callable[..., Any]:
        """As get; what comes of the object store is counted."""
        read = self._simulation.world.objects.bytes_read

        def metered(uri: str, *wanted: object, **options: object) -> Any:
            read.clear()
            content = get(uri, *wanted, **options)
            self._facts["bytes"] = self._facts.get("bytes", 0) + read[uri]
            return content

        return metered

    def _capture(self, name: str, args: tuple[Any, ...], options: dict[str, Any]) -> None:
        """What the client could not know if its answer were lost."""
        facts = self._facts
        if name == "refs.replace_task":
            self.ledger.watch(name, args, options)
        elif name == "staging.stage_step":
            self._simulation.steps.send(self._op.id, *args)
        if name in ("refs.create_branch", "refs.create_tag"):
            facts["names"] = (args[0], args[1].commit_id)
        elif name == "refs.move_branch":
            commit = options["commit"]
            if not self.ledger.watch(name, args, options):
                facts.setdefault("moves", []).append((args[0], commit))
        elif name == "refs.create_task":
            self.ledger.origins[args[1].id] = (self._invoked, self._op)
        elif name == "refs.replace_task" and args[2].is_called_back:
            self.ledger.called_back.add(args[2].id)
        elif name == "objects.head" and self._op.kind in ("copy_shallow", "copy_across"):
            facts["uri"] = args[0]  # the data that the copy will name
        elif name in ("objects.put", "objects.copy"):
            uri = args[name == "objects.copy"]
            if "/data/" in uri:
                facts["uri"] = uri
                if uri.startswith(f"{NAMESPACE}/data/"):
                    self._simulation.made.add(uri)

    # What actions ask and tell

    def ref(self, op: Op) -> str:
        """What the operation refers to."""
        return self._simulation.start.commits.get(op.text, op.text)

    def requires(self, found: ObjectStat) -> None:
        """Write down the object that a conditional change requires."""
        self._facts["required"] = found.physical_address

    def reads_content(self, found: ObjectStat) -> None:
        """Read an object's content, and see how much came of the object store."""
        self._facts["bytes"] = 0
        try:
            content = read_content(self.engine, found).content
        except GoneError:
            return  # overwritten meanwhile, perhaps; what stays readable is looked at in the end
        amount = self._facts["bytes"]
        if amount > found.entry.size_bytes:
            size = found.entry.size_bytes
            self._simulation.problem("meter", f"{amount} bytes read of an object of {size}")
        if found.physical_address == DESCRIBED:
            digest = md5(content * DESCRIBED_TIMES, usedforsecurity=False).hexdigest()
            if digest != found.entry.checksum:
                self._simulation.problem("replaced", f"{content!r} is not what was staged")

    @property
    def tables(self) -> Tables:
        """The tables, as the client's present process reaches them."""
        return self._process.tables

    def watcher(self, kind: Callable[["Simulation"], W]) -> W:
        """Return what watches one kind of operation in the schedule."""
        return self._simulation.watcher(kind)

    def looks(self) -> None:
        """Write down that a collection begins to look for what is alive."""
        self._facts["look"] = len(self._simulation.scheduler.steps)

    def will_stage(self, uri: str) -> None:
        """Write down the address that the operation stages."""
        self._facts["uri"] = uri

    def protects(self, prefix: str) -> None:
        """Nobody may delete what lies there."""
        self._simulation.protected.append(prefix)

    @property
    def dump(self) -> RefsDump | None:
        return self._simulation.start.dump

    def has_dumped(self, dump: RefsDump) -> None:
        self._simulation.dumps.append(dump)

    def read_file(self, namespace: str, file_id: str) -> bytes:
        return self._simulation.files.read_all(namespace, file_id)

    def exports(self, branch: str, *, is_wanted: bool) -> None:
        self._simulation.is_exported[branch] = is_wanted

    def cleans_up(self) -> None:
        """Drop what can be dropped by now."""
        tables = self._process.tables
        cleanup = CleanupStore(tables, DynamoStagingStore(tables))
        cleanup.sweep(self.host.clock.now_ns())

    # Tasks

    @property
    def ledger(self) -> Ledger:
        return self._simulation.ledger

    def choose(self, what: str, amount: int) -> int:
        """A number below amount: by the seed, and the same when the schedule shrinks."""
        return self._simulation.choose(self._op, f"{what} {self._calls}", amount)

    def message(self) -> TaskMessage | None:
        """The next message for a runner, None if none comes soon."""
        for _ in range(_LOOKS_MAX):
            found = self._simulation.deliveries.receive(self.choose)
            if found is not None:
                return found
            self._simulation.scheduler.pause()
        return None

    def give_back(self, message: TaskMessage) -> None:
        """Leave a message to another runner."""
        self._simulation.deliveries.give_back(message)

    @property
    def uploads(self) -> Uploads:
        return self._simulation.uploads

    def asks(self) -> None:
        """Write down that a request of the operation begins."""
        self._asked = self._simulation.scheduler.tick()

    def was_given(self, task: Task) -> None:
        """Write down a task that answers the operation."""
        now = self._simulation.scheduler.tick()
        self.ledger.starts.append((self._op, self.name, self._invoked, task.id))
        self.saw(task, now)

    def saw(self, task: Task, now: float | None = None) -> None:
        """Write down the state of a task that an answer shows."""
        returned = self._simulation.scheduler.tick() if now is None else now
        commit_id = task.result.get("commit_id", "")
        seen = self.ledger.seen.setdefault(task.id, [])
        seen.append((self._invoked, returned, task.state.value, commit_id))

    # What it was told

    def _perform(self, op: Op) -> None:
        simulation = self._simulation
        action = ACTIONS[op.kind]
        self._op, self._calls, self._facts = op, 0, {}
        invoked = self._invoked = self._asked = simulation.scheduler.tick()
        self.host.begins_operation()
        result: Any = None
        try:
            result = action.do(self, op)
            outcome = "ok"
        except Crash:
            outcome = "unknown"
            self._start()
        except GravelerError as error:
            outcome = outcome_of(op, error)
            if isinstance(error, CorruptDataError):
                simulation.problem("corrupt", f"{op}: {error.message}")
        except Exception as error:  # noqa: BLE001 - whatever it is, it is a finding
            outcome = "unknown"
            if not isinstance(error, RequestRefusedError) or error.code != EXPIRED:
                simulation.problem("unexpected", f"{op}: {error!r}")
        self.host.ends_operation()
        returned = simulation.scheduler.tick() if outcome != "unknown" else inf
        if simulation.log is not None:
            simulation.log.append((self.name, op, f"= {outcome}", (result,), None))
        if action.history:
            self._write_down(op, invoked, returned, outcome, result)

    def _write_down(
        self, op: Op, invoked: float, returned: float, outcome: str, result: Any
    ) -> None:
        action = ACTIONS[op.kind]
        if action.history in ("read", "read_head") and outcome == "absent":
            outcome = "ok"
        had_effect = outcome in ("ok", "unknown")
        facts = self._facts
        if op.kind in _CREATE_NAMES and had_effect and "names" not in facts:
            return  # it was never asked for
        branches: tuple[str, ...] = (op.branch,)
        if action.scope == "repository":
            branches = tuple(
                sorted({"main", "dev", *(o.branch for o in self._simulation.operations)})
            )
        paths = (op.path,) if action.scope == "path" else self._simulation.paths
        keys = [(branch, path) for branch in branches for path in paths]
        if op.kind == "commit_by_task" and outcome == "no_changes":
            self.ledger.refusals.append((op, self.name, invoked, returned))
            return
        if action.history in ("commit", "move") and had_effect:
            moves = [move for move in facts.get("moves", ()) if move[1] is not None]
            if outcome == "ok" and result not in [commit.id for _, commit in moves]:
                answer = Answer(op, self.name, invoked, returned, result, self._asked)
                self.ledger.answers.append(answer)
                return
            self._simulation.unresolved += [
                (op, self.name, invoked, returned, outcome, key, moves) for key in keys if moves
            ]
            return
        self._simulation.history += [
            Operation(
                self.name,
                action.history,
                invoked,
                returned,
                outcome,
                self._value(op, outcome, key[1], result),
                UNKNOWN,
                key,
                str(op),
                facts.get("required"),
            )
            for key in keys
        ]

    def _value(self, op: Op, outcome: str, path: bytes, result: Any) -> Any:
        """The value of an operation at a path, for the history."""
        history = ACTIONS[op.kind].history
        if op.kind == "list":
            return (result or {}).get(path)
        if history in ("write", "write_if_absent", "write_if_match") and outcome == "unknown":
            return self._attempted(op)
        if outcome not in ("ok", "unknown"):
            return result
        if history == "hard_reset" and self._simulation.repository is not None:
            return self._simulation.value_in(None, CommitID(self.ref(op)), path)
        if op.kind in _CREATE_NAMES and "names" in self._facts:
            repository, commit_id = self._facts["names"]
            return self._simulation.value_in(repository, commit_id, path)
        return op.text if history == "set_metadata" else result

    def _attempted(self, op: Op) -> Value:
        """What a write would have staged."""
        if op.kind in ("stage", "stage_if_absent"):
            return Value(DESCRIBED)
        return Value(self._facts.get("uri", "never"))


def _is_at_destination(name: str, args: tuple[Any, ...]) -> bool:
    """Whether the call writes where an export goes."""
    if name in ("objects.put", "objects.delete"):
        return bool(args[0].startswith(EXPORTED))
    if name == "objects.delete_many":
        return bool(args[0][0].startswith(EXPORTED))
    return name == "objects.copy" and bool(args[1].startswith(EXPORTED))
