"""A model of one path of a branch whose operations run one at a time.

- heads: the value in the branch's head, then the values of commits that are decided but not yet the
  head. A commit decides its content before it becomes the head; writes in between come after it.
  Only readers of `branch@` can tell the two moments apart.
- staged: nothing (UNSTAGED), a tombstone (None), or a value. Readers of the branch see what is
  staged, or else the newest of the heads.

Values are unique tokens: a physical address and user metadata.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple


class _Sentinel:
    def __init__(self, name: str) -> None:
        self._name = name

    def __repr__(self) -> str:
        return self._name


UNSTAGED = _Sentinel("nothing")
# An unknown value: of a commit's parent, or of a commit without an answer.
UNKNOWN = _Sentinel("unknown")


class Value(NamedTuple):
    """An object: the address of its data, and its user metadata."""

    address: str
    metadata: str = ""

    def __repr__(self) -> str:
        return f"{self.address}+{self.metadata}" if self.metadata else self.address


Key = tuple[str, bytes]  # branch, path


@dataclass(frozen=True, slots=True)
class Operation:
    """One request of a client to one path of a branch, and its answer.

    kind is one of KINDS. outcome is "ok", the reason of a definite refusal ("exists", "absent",
    "no_branch", "no_changes", "mismatch", or "refused" for any other), or "unknown".
    value: the written value, what was read, the value in the commit that was made or reset to, or
    the new metadata of "set_metadata". parent: the value in the first parent of the commit made.
    required: the address of the object that a write "if_match" requires, or that a task replaces
    which writes if absent.
    may_vanish: others saw parts of its transaction, and nobody knows whether a commit or a merge
    missed them. So its effect may be seen, and then be gone, or be of another head
    (docs/adr/0012-gates.md, "Open risks").
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
    required: str | None = None
    may_vanish: bool = False


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


def _meets(state: State, operation: Operation) -> bool:
    return state.visible is not None and state.visible.address == operation.required


def _write_if_absent(state: State, operation: Operation) -> list[State | None]:
    # A task may write over its own copy.
    return _write(state, operation) if state.visible is None or _meets(state, operation) else []


def _write_if_match(state: State, operation: Operation) -> list[State | None]:
    return _write(state, operation) if _meets(state, operation) else []


def _delete_if_match(state: State, operation: Operation) -> list[State | None]:
    return _tombstone(state, operation) if _meets(state, operation) else []


def _delete(state: State, operation: Operation) -> list[State | None]:
    gone = state._replace(staged=None)
    # Of an object that is not there, nothing has to be written.
    return [gone, state] if state.visible is None else [gone]


def _tombstone(state: State, operation: Operation) -> list[State | None]:
    return [state._replace(staged=None)]


def _take(state: State, operation: Operation) -> list[State | None]:
    """A task moves what readers see to another path."""
    return _tombstone(state, operation) if state.visible == operation.value else []


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


def no_changes(state: State, operation: Operation) -> list[State | None]:
    return [state, state._replace(staged=UNSTAGED)] if state.is_clean else []


def _join(state: State, operation: Operation) -> list[State | None]:
    """A commit that somebody else asked for holds all that is staged."""
    return [state] if state.is_clean and state.heads[-1] == operation.value else []


def _join_move(state: State, operation: Operation) -> list[State | None]:
    return [state] if operation.value in state.heads else []


def _reset(state: State, operation: Operation) -> list[State | None]:
    return [state._replace(staged=UNSTAGED)] if len(state.heads) == 1 else []


def vanish(state: State, operation: Operation, values: Iterable[Any]) -> list[State | None]:
    """A commit takes off what was staged, and has missed it. What a reset covered is one of values."""
    made = state.staged
    if operation.kind == "reset_object":
        return [state._replace(staged=each) for each in values] if made is UNSTAGED else []
    if operation.kind == "set_metadata" and isinstance(made, Value):
        made = made.metadata
    return [state._replace(staged=UNSTAGED)] if made == operation.value else []


def of_another_head(
    state: State, operation: Operation, values: Iterable[Any]
) -> list[State | None]:
    """A merge missed a change that was decided before it: about one of the values."""
    if operation.kind == "set_metadata":
        described = (each for each in values if isinstance(each, Value))
        made = [each._replace(metadata=operation.value) for each in described]
    elif operation.kind == "reset_object":
        made = list(values)
    elif operation.kind == "hard_reset":  # what was restored is of the head before
        moved = state._replace(heads=(operation.value,))
        return [moved._replace(staged=each) for each in values] if len(state.heads) == 1 else []
    elif operation.kind in ("write_if_absent", "write_if_match", "delete_if_match"):
        made = [operation.value]
    else:
        made = []
    return [state._replace(staged=each) for each in made]


def _reset_object(state: State, operation: Operation) -> list[State | None]:
    # A commit that is decided, and not yet the head, decides anew.
    return _reset(state, operation)


def _hard_reset(state: State, operation: Operation) -> list[State | None]:
    return [state._replace(heads=(operation.value,))] if len(state.heads) == 1 else []


def _delete_branch(state: State, operation: Operation) -> list[State | None]:
    return [None]


KINDS: Mapping[str, tuple[Step, ...]] = {
    "write": (_write,),
    "write_if_absent": (_write_if_absent,),
    "write_if_match": (_write_if_match,),
    "delete_if_match": (_delete_if_match,),
    "delete": (_delete,),
    "tombstone": (_tombstone,),
    "take": (_take,),
    "set_metadata": (_set_metadata,),
    "read": (_read,),
    "read_head": (_read_head,),
    "commit": (_decide_commit, _publish),
    "move": (_decide_move, _publish),  # merge, revert, cherry-pick
    "join": (_join,),  # answered with the commit of another request
    "join_move": (_join_move,),
    "reset": (_reset,),
    "reset_object": (_reset_object,),
    "hard_reset": (_hard_reset,),
    "delete_branch": (_delete_branch,),
    # Those that find no branch, or do not mind.
    "create_branch": (),
    "create_repository": (),
    "delete_repository": (),
}
READS = ("read", "read_head")
# What looks at the object before it writes. It looks again if the head moves in between.
DECIDED_AGAIN = ("set_metadata", "write_if_absent", "write_if_match", "delete_if_match")
# Whoever can tell a commit that is decided from one that is the head.
SEE_BOTH = ("read_head", "reset_object")

REFUSALS: Mapping[tuple[str, str], Callable[[State, Operation], bool]] = {
    ("write_if_absent", "exists"): lambda state, _: state.visible is not None,
    ("write_if_match", "mismatch"): lambda state, asked: not _meets(state, asked),
    ("delete_if_match", "mismatch"): lambda state, asked: not _meets(state, asked),
    ("set_metadata", "absent"): lambda state, _: state.visible is None,
}
