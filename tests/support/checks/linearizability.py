"""Checks that the answers of concurrent clients are linearizable.

The history is split by key: a branch's name and a path. Each part is searched for an order of its
operations in which every answer is right and which respects time: an operation that returned
before another was invoked comes first (Wing and Gong's search). A configuration is the set of
operations done so far and the state that they leave; none is visited twice (Lowe). Operations
without an answer may take effect at any later time, or never.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from math import inf
from typing import Any

from tests.support.checks.timeline import timeline
from tests.support.worlds.path_model import (
    DECIDED_AGAIN,
    KINDS,
    READS,
    REFUSALS,
    SEE_BOTH,
    UNKNOWN,
    UNSTAGED,
    Key,
    Operation,
    State,
    Step,
    Value,
    no_changes,
    of_another_head,
    vanish,
)

__all__ = [
    "UNKNOWN",
    "UNSTAGED",
    "Operation",
    "State",
    "Value",
    "Violation",
    "check_history",
    "check_key",
]


@dataclass(frozen=True, slots=True)
class _Task:
    """One moment of an operation.

    after: the number of the moment that must precede it. until: that of the moment it must precede.
    """

    number: int
    operation: Operation
    apply: Callable[[State | None], list[State | None]]
    after: int | None = None
    until: int | None = None
    is_required: bool = True
    returned: float = inf


@dataclass(frozen=True, slots=True)
class Violation:
    """A key whose answers no order of its operations explains."""

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
    """Return the violations of a whole history, at most one a key.

    initial: the values of the heads at the beginning, for branches that exist then.
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
    tasks = _tasks(operations, () if start is None else start.heads)
    search = _Search(tasks)
    stuck = search.run(start)
    if stuck is None:
        return None
    ordered = sorted(operations, key=lambda operation: operation.invoked)
    states = tuple(sorted(search.last_states, key=repr))
    return Violation(ordered[0].key, tuple(ordered), stuck, states)


def _tasks(operations: Sequence[Operation], heads: Iterable[Any]) -> list[_Task]:
    fused = not any(operation.kind in SEE_BOTH for operation in operations)
    seen = _observed(operations)
    deletions = [each for each in operations if each.kind == "delete_repository"]
    tasks: list[_Task] = []
    for operation in sorted(operations, key=lambda operation: operation.invoked):
        is_lost = operation.kind == "create_branch" and any(
            _beside(operation, d) for d in deletions
        )
        if operation.outcome == "no_branch" and any(_beside(operation, d) for d in deletions):
            continue  # the repository's name goes before its branches do
        if operation.outcome == "unknown":
            if operation.kind in READS or not _matters(operation, seen):
                continue
        elif operation.outcome == "refused":
            continue
        # A branch may be created in the deleted repository.
        is_required = operation.outcome != "unknown" and not is_lost
        moments = _appliers(operation, fused=fused)
        is_again = operation.outcome == "ok" and operation.kind in DECIDED_AGAIN
        if operation.may_vanish and (is_again or not is_required):
            contents = (each.value for each in operations if each.kind != "set_metadata")
            values = [each for each in dict.fromkeys((*heads, *contents)) if each is not UNKNOWN]
            first = _either(moments[0], operation, values)
            doubtful = [first, *moments[1:], _on_branch(partial(vanish, values=values), operation)]
            if is_required:  # what others saw before it was decided again
                until = len(tasks) + len(doubtful)
                tasks += _moments(operation, doubtful, len(tasks), until=until)
                moments = [_changing(moments[0])]
            else:
                moments = doubtful
        tasks += _moments(operation, moments, len(tasks), is_required=is_required)
    return tasks


def _changing(
    apply: Callable[[State | None], list[State | None]],
) -> Callable[[State | None], list[State | None]]:
    """What is decided again does not leave what was decided before it."""
    return lambda state: [after for after in apply(state) if after != state]


def _moments(
    operation: Operation,
    moments: Sequence[Callable[[State | None], list[State | None]]],
    first: int,
    *,
    is_required: bool = False,
    until: int | None = None,
) -> Iterator[_Task]:
    """The moments of an operation in their order; first is the number of the first of them."""
    returned = operation.returned if is_required else inf
    for number, apply in enumerate(moments, first):
        before = number - 1 if number > first else None
        yield _Task(number, operation, apply, before, until, is_required, returned)


def _beside(operation: Operation, deletion: Operation) -> bool:
    """Whether the repository was being deleted while the operation ran, by another operation."""
    if deletion is operation or deletion.outcome == "no_branch":
        return False
    ended = inf if deletion.outcome == "unknown" else deletion.returned
    return deletion.invoked <= operation.returned and operation.invoked <= ended


def _observed(operations: Sequence[Operation]) -> set[str] | None:
    """The addresses that anybody was told of; None if some answer depends on any value."""
    seen = set()
    for operation in operations:
        if operation.outcome in ("exists", "mismatch") or operation.kind == "set_metadata":
            return None
        if operation.required is not None:
            seen.add(operation.required)
        if operation.outcome == "ok" or operation.kind in ("commit", "move", "hard_reset"):
            for value in (operation.value, operation.parent):
                if isinstance(value, Value):
                    seen.add(value.address)
    return seen


def _matters(operation: Operation, seen: set[str] | None) -> bool:
    """Whether an unanswered operation can explain anything: a write that nobody saw cannot."""
    is_write = operation.kind in ("write", "write_if_absent", "write_if_match")
    return not is_write or seen is None or operation.value.address in seen


def _appliers(
    operation: Operation, *, fused: bool
) -> list[Callable[[State | None], list[State | None]]]:
    kind, outcome = operation.kind, operation.outcome
    if outcome == "no_branch":
        return [lambda state: [None] if state is None else []]
    if kind == "delete_repository":
        return [lambda _: [None]]
    if kind in ("create_branch", "create_repository"):
        made = State((operation.value,), UNSTAGED)
        if outcome == "exists":
            return [lambda state: [] if state is None else [state]]
        return [lambda state: [made] if state is None else []]
    steps = [_on_branch(step, operation) for step in _steps(kind, outcome)]
    return [_both(*steps)] if fused and len(steps) == 2 else steps


def _either(
    apply: Callable[[State | None], list[State | None]], operation: Operation, values: Iterable[Any]
) -> Callable[[State | None], list[State | None]]:
    late = _on_branch(lambda state, asked: of_another_head(state, asked, values), operation)
    return lambda state: [*apply(state), *late(state)]


def _steps(kind: str, outcome: str) -> tuple[Step, ...]:
    if outcome == "no_changes":
        return (no_changes,)
    holds = REFUSALS.get((kind, outcome))
    if holds is not None:
        return (lambda state, asked: [state] if holds(state, asked) else [],)
    assert outcome in ("ok", "unknown"), (kind, outcome)
    return KINDS[kind]


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
        """Return None if an order exists; else the first answer without an explanation."""
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
        if task.until is not None and self._is_done(task.until, position, done):
            return False
        return task.after is None or self._is_done(task.after, position, done)

    def _is_done(self, number: int, position: int, done: frozenset[int]) -> bool:
        return number in done or self._position.get(number, len(self._ends)) < position


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
