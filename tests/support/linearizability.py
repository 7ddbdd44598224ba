"""Checks that the answers of concurrent clients are those of one branch that does one thing at a time.

The history is cut up by key: a branch's name and a path. Each part is searched for an order of its
operations in which every answer is right and which respects time: an operation that returned
before another was invoked comes first (Wing and Gong's search). A configuration is the set of
operations done so far and the state that they leave; none is visited twice (Lowe). Operations
without an answer may take effect at any later time, or never.

What a path of a branch is, in the model:

- heads: the value in the branch's head, and behind it the values of commits that are decided but
  not yet the head. A commit decides what it holds before it becomes the head, and writes that are
  made in between come after it. Only readers of `branch@` can tell the two moments apart.
- staged: nothing (UNSTAGED), a tombstone (None), or a value. Readers of the branch see what is
  staged, or else the newest of the heads.

Values are unique tokens: a physical address, and whatever else tells two values apart.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import inf
from typing import Any, NamedTuple

from tests.support.timeline import timeline


class _Sentinel:
    def __init__(self, name: str) -> None:
        self._name = name

    def __repr__(self) -> str:
        return self._name


UNSTAGED = _Sentinel("nothing")
# A value that nobody knows: of the parent of a commit, or of a commit that was not answered.
UNKNOWN = _Sentinel("unknown")


class Value(NamedTuple):
    """An object: where its data are, and its user metadata."""

    address: str
    metadata: str = ""

    def __repr__(self) -> str:
        return f"{self.address}+{self.metadata}" if self.metadata else self.address


Key = tuple[str, bytes]  # branch, path


@dataclass(frozen=True, slots=True)
class Operation:
    """What one client asked of one path of a branch, and what it was told.

    kind is one of KINDS. outcome is "ok", the reason of a definite refusal ("exists", "absent",
    "no_branch", "no_changes", or "refused" for any other), or "unknown".
    value: the written value, what was read, the value in the commit that was made or reset to, or
    the new metadata of "set_metadata". parent: the value in the first parent of the commit made.
    """

    client: str
    kind: str
    invoked: float
    returned: float
    outcome: str = "ok"
    value: Any = None
    parent: Any = UNKNOWN
    key: Key = ("main", b"")
    label: str = ""


class State(NamedTuple):
    """One path of a branch that exists."""

    heads: tuple[Any, ...]
    staged: Any

    @property
    def visible(self) -> Any:
        return self.heads[-1] if self.staged is UNSTAGED else self.staged

    @property
    def is_clean(self) -> bool:
        return self.staged is UNSTAGED or self.staged == self.heads[-1]


# None is the state of a branch that does not exist.
Step = Callable[[State, Operation], list[State | None]]


def _write(state: State, operation: Operation) -> list[State | None]:
    return [state._replace(staged=operation.value)]


def _write_if_absent(state: State, operation: Operation) -> list[State | None]:
    return _write(state, operation) if state.visible is None else []


def _delete(state: State, operation: Operation) -> list[State | None]:
    gone = state._replace(staged=None)
    # Of an object that is not there, nothing has to be written.
    return [gone, state] if state.visible is None else [gone]


def _tombstone(state: State, operation: Operation) -> list[State | None]:
    return [state._replace(staged=None)]


def _set_metadata(state: State, operation: Operation) -> list[State | None]:
    if state.visible is None:
        return []
    return [state._replace(staged=state.visible._replace(metadata=operation.value))]


def _read(state: State, operation: Operation) -> list[State | None]:
    return [state] if state.visible == operation.value else []


def _read_head(state: State, operation: Operation) -> list[State | None]:
    return [state] if state.heads[0] == operation.value else []


def _is_child(state: State, operation: Operation) -> bool:
    return operation.parent is UNKNOWN or operation.parent == state.heads[-1]


def _decide_commit(state: State, operation: Operation) -> list[State | None]:
    known = operation.value is UNKNOWN or operation.value == state.visible
    if not known or not _is_child(state, operation):
        return []
    return [State((*state.heads, state.visible), UNSTAGED)]


def _decide_move(state: State, operation: Operation) -> list[State | None]:
    if not state.is_clean or not _is_child(state, operation):
        return []
    return [State((*state.heads, operation.value), UNSTAGED)]


def _publish(state: State, operation: Operation) -> list[State | None]:
    if len(state.heads) < 2 or operation.value not in (UNKNOWN, state.heads[1]):
        return []
    return [state._replace(heads=state.heads[1:])]


def _no_changes(state: State, operation: Operation) -> list[State | None]:
    return [state, state._replace(staged=UNSTAGED)] if state.is_clean else []


def _reset(state: State, operation: Operation) -> list[State | None]:
    return [state._replace(staged=UNSTAGED)] if len(state.heads) == 1 else []


def _reset_object(state: State, operation: Operation) -> list[State | None]:
    if len(state.heads) == 1:
        return [state._replace(staged=UNSTAGED)]
    # Over a commit that is not the head yet, it is the head's value that comes back.
    return [state._replace(staged=UNSTAGED), state._replace(staged=state.heads[0])]


def _hard_reset(state: State, operation: Operation) -> list[State | None]:
    return [state._replace(heads=(operation.value,))] if len(state.heads) == 1 else []


def _delete_branch(state: State, operation: Operation) -> list[State | None]:
    return [None]


def _look(state: State, operation: Operation) -> list[State | None]:
    return [state]


KINDS: Mapping[str, tuple[Step, ...]] = {
    "write": (_write,),
    "write_if_absent": (_write_if_absent,),
    "delete": (_delete,),
    "tombstone": (_tombstone,),
    "set_metadata": (_set_metadata,),
    "read": (_read,),
    "read_head": (_read_head,),
    "commit": (_decide_commit, _publish),
    "move": (_decide_move, _publish),  # merge, revert, cherry-pick
    "reset": (_reset,),
    "reset_object": (_reset_object,),
    "hard_reset": (_hard_reset,),
    "delete_branch": (_delete_branch,),
    "create_branch": (),  # the one that finds no branch
}
_READS = ("read", "read_head")
# Whoever can tell a commit that is decided from one that is the head.
_SEE_BOTH = ("read_head", "reset_object")

_REFUSALS: Mapping[tuple[str, str], Callable[[State], bool]] = {
    ("write_if_absent", "exists"): lambda state: state.visible is not None,
    ("set_metadata", "absent"): lambda state: state.visible is None,
}


@dataclass(frozen=True, slots=True)
class _Task:
    """One moment of an operation, and the one of its moments that comes before."""

    number: int
    operation: Operation
    apply: Callable[[State | None], list[State | None]]
    after: int | None = None
    is_required: bool = True
    returned: float = inf


@dataclass(frozen=True, slots=True)
class Violation:
    """A key whose answers no order of its operations gives."""

    key: Key
    operations: tuple[Operation, ...]
    stuck: Operation
    states: tuple[State | None, ...]

    def __str__(self) -> str:
        branch, path = self.key
        states = "\n".join(f"    {_shown(state)}" for state in self.states)
        return (
            f"not linearizable: path {path.decode(errors='replace')!r} of branch {branch!r}\n"
            f"{timeline(self.operations, self.stuck)}\n"
            f"  >> marks the first answer that no order explains; the state before it could be:\n"
            f"{states}"
        )


def _shown(state: State | None) -> str:
    if state is None:
        return "there is no branch"
    return f"head {' then '.join(map(repr, state.heads))}, staged {state.staged!r}"


def check_history(
    operations: Iterable[Operation], initial: Mapping[Key, Any], branches: Iterable[str] = ("main",)
) -> list[Violation]:
    """The violations of a whole history, key by key.

    initial has the values of heads at the beginning, for branches that exist then.
    """
    parts: dict[Key, list[Operation]] = defaultdict(list)
    for operation in operations:
        parts[operation.key].append(operation)
    existing = set(branches)
    found = []
    for key, part in parts.items():
        start = State((initial.get(key),), UNSTAGED) if key[0] in existing else None
        violation = check_key(part, start)
        if violation is not None:
            found.append(violation)
    return found


def check_key(operations: Sequence[Operation], start: State | None) -> Violation | None:
    """The violation of the history of one key, if there is one."""
    tasks = _tasks(operations)
    search = _Search(tasks)
    stuck = search.run(start)
    if stuck is None:
        return None
    ordered = sorted(operations, key=lambda operation: operation.invoked)
    states = tuple(sorted(search.last_states, key=repr))
    return Violation(ordered[0].key, tuple(ordered), stuck, states)


def _tasks(operations: Sequence[Operation]) -> list[_Task]:
    fused = not any(operation.kind in _SEE_BOTH for operation in operations)
    seen = _observed(operations)
    tasks: list[_Task] = []
    for operation in sorted(operations, key=lambda operation: operation.invoked):
        if operation.outcome == "unknown":
            if operation.kind in _READS or not _matters(operation, seen):
                continue
        elif operation.outcome == "refused":
            continue
        is_required = operation.outcome != "unknown"
        returned = operation.returned if is_required else inf
        before = None
        for apply in _appliers(operation, fused=fused):
            number = len(tasks)
            tasks.append(_Task(number, operation, apply, before, is_required, returned))
            before = number
    return tasks


def _observed(operations: Sequence[Operation]) -> set[str] | None:
    """The addresses that anybody was told of; None if some answer depends on any value."""
    seen = set()
    for operation in operations:
        if operation.outcome == "exists" or operation.kind == "set_metadata":
            return None
        if operation.outcome == "ok" or operation.kind in ("commit", "move", "hard_reset"):
            for value in (operation.value, operation.parent):
                if isinstance(value, Value):
                    seen.add(value.address)
    return seen


def _matters(operation: Operation, seen: set[str] | None) -> bool:
    """Whether an unanswered operation can explain anything: a write that nobody saw cannot."""
    is_write = operation.kind in ("write", "write_if_absent")
    return not is_write or seen is None or operation.value.address in seen


def _appliers(
    operation: Operation, *, fused: bool
) -> list[Callable[[State | None], list[State | None]]]:
    kind, outcome = operation.kind, operation.outcome
    if outcome == "no_branch":
        return [lambda state: [None] if state is None else []]
    if kind == "create_branch":
        if outcome == "exists":
            return [lambda state: [] if state is None else [state]]
        made = State((operation.value,), UNSTAGED)
        return [lambda state: [made] if state is None else []]
    if outcome == "no_changes":
        return [_on_branch(_no_changes, operation)]
    holds = _REFUSALS.get((kind, outcome))
    if holds is not None:
        return [_on_branch(lambda state, _: [state] if holds(state) else [], operation)]
    assert outcome in ("ok", "unknown"), (kind, outcome)
    steps = [_on_branch(step, operation) for step in KINDS[kind]]
    return [_both(*steps)] if fused and len(steps) == 2 else steps


def _on_branch(step: Step, operation: Operation) -> Callable[[State | None], list[State | None]]:
    return lambda state: [] if state is None else step(state, operation)


def _both(
    first: Callable[[State | None], list[State | None]],
    second: Callable[[State | None], list[State | None]],
) -> Callable[[State | None], list[State | None]]:
    return lambda state: [last for middle in first(state) for last in second(middle)]


class _Search:
    """Depth first over configurations: a position in time, what is done, the state.

    The position is the first of the answers, in their order, that is not explained yet; what was
    answered before it is done, and is not carried along.
    """

    def __init__(self, tasks: Sequence[_Task]) -> None:
        required = (task for task in tasks if task.is_required)
        self._ends = sorted(required, key=lambda task: task.returned)
        self._position = {task.number: at for at, task in enumerate(self._ends)}
        self._candidates = _candidates(tasks, self._ends)
        self.last_states: set[State | None] = set()

    def run(self, start: State | None) -> Operation | None:
        """None if there is an order; else the answer that the search came furthest to."""
        furthest = -1
        seen = set()
        stack: list[tuple[int, frozenset[int], State | None]] = [(0, frozenset(), start)]
        while stack:
            position, done, state = stack.pop()
            while position < len(self._ends) and self._ends[position].number in done:
                done -= {self._ends[position].number}
                position += 1
            if position == len(self._ends):
                return None
            if (position, done, state) in seen:
                continue
            seen.add((position, done, state))
            if position > furthest:
                furthest = position
                self.last_states.clear()
            if position == furthest:
                self.last_states.add(state)
            for task in self._candidates[position]:  # the one that returns next is tried first
                if task.number in done or not self._is_due(task, position, done):
                    continue
                # What nobody has to explain, and changes nothing, need not have happened.
                stack += [
                    (position, done | {task.number}, after)
                    for after in task.apply(state)
                    if task.is_required or after != state
                ]
        return self._ends[furthest].operation

    def _is_due(self, task: _Task, position: int, done: frozenset[int]) -> bool:
        before = task.after
        if before is None or before in done:
            return True
        return self._position.get(before, len(self._ends)) < position


def _candidates(tasks: Sequence[_Task], ends: Sequence[_Task]) -> list[list[_Task]]:
    """For each answer, what may happen before it: itself last, and all that was asked by then.

    What was asked in the instant of the answer counts as asked at the same time.
    """
    asked = sorted(tasks, key=lambda task: task.operation.invoked)
    pending: dict[int, _Task] = {}
    found = []
    at = 0
    for end in ends:
        while at < len(asked) and asked[at].operation.invoked <= end.returned:
            pending[asked[at].number] = asked[at]
            at += 1
        del pending[end.number]
        found.append([*pending.values(), end])
    return found
