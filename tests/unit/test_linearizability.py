"""The checker of histories: what one branch, doing one thing at a time, can answer, and what not."""

import random
from dataclasses import replace
from itertools import count
from math import inf

from tests.support.checks.cases import for_each
from tests.support.checks.linearizability import (
    UNKNOWN,
    UNSTAGED,
    Operation,
    State,
    Value,
    check_history,
    check_key,
)

A, B, C = Value("a"), Value("b"), Value("c")
EMPTY = State((None,), UNSTAGED)


def of(start: float, end: float, kind: str, value=None, outcome="ok", **more) -> Operation:
    return Operation(f"c{start}", kind, start, end, outcome, value, **more)


def in_turn(*asked: tuple) -> list[Operation]:
    """Operations one after the other: kind, value, outcome."""
    return [of(10 * at, 10 * at + 5, *each) for at, each in enumerate(asked)]


def holds(*operations: Operation, start: State | None = EMPTY) -> bool:
    return check_key(operations, start) is None


@for_each(
    "asked",
    [
        [("read", None), ("write", A), ("read", A), ("read_head", None)],
        [("write", A), ("commit", A), ("read_head", A), ("commit", A, "no_changes")],
        [("write", A), ("delete",), ("read", None), ("write_if_absent", B), ("read", B)],
        [("write", A), ("write_if_absent", B, "exists"), ("read", A)],
        [("write", A), ("set_metadata", "m"), ("read", Value("a", "m"))],
        [("set_metadata", "m", "absent"), ("delete",), ("commit", None, "no_changes")],
        [("write", A), ("reset",), ("read", None), ("write", B), ("reset_object",), ("read", None)],
        [("write", A), ("commit", A), ("write", B), ("hard_reset", None), ("read", B)],
        [("move", A), ("read", A), ("read_head", A), ("tombstone",), ("read", None)],
        [("write", A), ("delete_branch",), ("read", None, "no_branch"), ("create_branch", C)],
        [("delete_branch",), ("create_branch", C), ("read", C), ("create_branch", C, "exists")],
    ],
)
def test_answers_of_one_thing_at_a_time_hold(asked):
    assert holds(*in_turn(*asked))


@for_each(
    ("kind", "value", "sees"),
    [("write", B, B), ("delete", None, None), ("set_metadata", "m", Value("a", "m"))],
)
def test_what_a_commit_missed_may_be_seen_and_then_be_gone(kind, value, sees):
    start = State((A,), UNSTAGED)
    history = [
        of(1, inf, kind, value, "unknown", may_vanish=True),
        of(2, 3, "read", sees),
        of(4, 5, "commit", A),
        of(6, 7, "read", A),
    ]
    assert holds(*history, start=start)
    assert not holds(*(replace(each, may_vanish=False) for each in history), start=start)
    assert not holds(replace(history[0], outcome="ok", returned=1.5), *history[1:], start=start)


def test_a_commit_may_undo_a_part_of_a_hard_reset_that_is_not_acknowledged():
    start = State((A,), UNSTAGED)
    history = [
        of(1, inf, "hard_reset", B, "unknown", may_vanish=True),
        of(2, 3, "read_head", B),
        of(4, 5, "commit", A),
        of(6, 7, "read", A),
    ]
    assert holds(*history, start=start)
    assert not holds(*(replace(each, may_vanish=False) for each in history), start=start)
    assert not holds(replace(history[0], outcome="ok", returned=1.5), *history[1:], start=start)


def test_metadata_alone_are_never_what_a_reset_covered():
    torn = of(1, inf, "reset_object", None, "unknown", may_vanish=True)
    reads = [of(number, number + 0.5, "read", (A, B)[number % 2]) for number in range(4, 10)]
    assert not holds(torn, of(2, 20, "set_metadata", "m"), *reads, start=State((A,), B))


def test_what_a_reset_covered_may_be_there_again_if_a_commit_missed_the_reset():
    start = State((A,), B)
    history = [
        of(1, inf, "reset_object", None, "unknown", may_vanish=True),
        of(2, 3, "read", A),
        of(4, 5, "commit", B),
        of(6, 7, "read", B),
    ]
    assert holds(*history, start=start)
    assert not holds(*(replace(each, may_vanish=False) for each in history), start=start)
    assert not holds(replace(history[0], outcome="ok", returned=1.5), *history[1:], start=start)


def test_metadata_that_a_merge_missed_may_be_of_the_head_before():
    history = [
        of(1, inf, "set_metadata", "m", "unknown", may_vanish=True),
        of(2, 3, "move", B),
        of(4, 5, "read", Value("a", "m")),
    ]
    start = State((A,), UNSTAGED)
    assert holds(*history, start=start)
    assert not holds(*(replace(each, may_vanish=False) for each in history), start=start)


def test_metadata_that_are_decided_again_may_be_seen_of_the_head_before_until_they_are_acknowledged():
    history = [
        of(1, 6, "set_metadata", "m", may_vanish=True),
        of(2, 3, "move", B),
        of(4, 5, "read", Value("a", "m")),
        of(7, 8, "read", Value("b", "m")),
    ]
    start = State((A,), UNSTAGED)
    assert holds(*history, start=start)
    assert not holds(*(replace(each, may_vanish=False) for each in history), start=start)
    late = replace(history[2], invoked=7, returned=8)
    assert not holds(history[0], history[1], late, start=start)


@for_each(
    "asked",
    [
        [("write", A), ("read", None)],
        [("write", A), ("write", B), ("read", A)],
        [("write", A), ("read_head", A)],
        [("write", A), ("commit", None)],
        [("write", A), ("commit", A, "no_changes")],
        [("write", A), ("move", B)],  # over what is not committed
        [("write", A), ("write_if_absent", B)],
        [("write_if_absent", B, "exists")],
        [("write_if_absent", A), ("write_if_absent", A)],  # of one description
        [("write", A), ("set_metadata", "m", "absent")],
        [("write", A), ("set_metadata", "m"), ("read", A)],
        [("write", A), ("reset",), ("read", A)],
        [("write", A), ("reset_object",), ("read", A)],
        [("write", A), ("commit", A), ("hard_reset", None), ("read", A)],
        [("write", A), ("delete_branch",), ("create_branch", None), ("read", A)],
        [("delete_branch",), ("write", A)],
        [("write", A), ("write", A, "no_branch")],
    ],
)
def test_answers_of_no_order_are_found(asked):
    assert not holds(*in_turn(*asked))


def test_answers_that_overlap_may_come_in_any_order():
    writes = [of(0, 9, "write", A), of(1, 8, "write", B)]
    assert holds(*writes, of(10, 11, "read", A))
    assert holds(*writes, of(10, 11, "read", B))
    assert not holds(*writes, of(10, 11, "read", A), of(12, 13, "read", B))


def test_what_was_not_answered_may_happen_late_or_never_but_once():
    unknown = of(0, inf, "write", A, "unknown")
    assert holds(unknown, of(5, 6, "read", None), of(7, 8, "read", A))
    assert holds(unknown, of(5, 6, "read", None))
    assert not holds(unknown, of(5, 6, "read", A), of(7, 8, "read", None))
    written = of(7, 8, "write", B)
    assert not holds(unknown, of(5, 6, "read", A), written, of(9, 10, "read", A))


def test_a_refusal_has_no_effect():
    refused = of(2, 3, "write_if_absent", B, "exists")
    assert not holds(of(0, 1, "write", A), refused, of(4, 5, "read", B))
    assert holds(of(0, 1, "write", A), replace(refused, outcome="refused"), of(4, 5, "read", A))


def test_a_commit_decides_before_readers_of_the_head_see_it():
    commit = of(0, 10, "commit", None, parent=None)
    late = of(1, 2, "write", A)
    assert holds(commit, late, of(3, 4, "read_head", None), of(5, 6, "read", A))
    full = of(2, 20, "commit", A)
    begun = [of(0, 1, "write", A), full, of(3, 4, "write", B)]
    assert holds(*begun, of(5, 6, "read_head", None), of(21, 22, "read_head", A))
    assert not holds(*begun, of(5, 6, "read_head", A), of(7, 8, "read_head", None))
    assert not holds(*begun, of(21, 22, "read_head", None))


def test_what_was_answered_before_a_commit_began_is_in_it():
    assert not holds(of(0, 1, "write", A), of(2, 3, "write", B), of(4, 9, "commit", A))


def test_metadata_set_beside_a_merge_keep_the_merged_content():
    start = State((A,), UNSTAGED)
    beside = [of(0, 9, "move", B, parent=A), of(1, 8, "set_metadata", "m")]
    assert holds(*beside, of(10, 11, "read", Value("b", "m")), start=start)
    assert not holds(*beside, of(10, 11, "read", Value("a", "m")), start=start)


def test_a_commit_stands_on_the_head_it_names():
    first = of(0, 1, "write", A), of(2, 3, "commit", A, parent=None)
    second = of(4, 5, "write", B), of(6, 7, "commit", B, parent=A)
    assert holds(*first, *second)
    assert not holds(*first, second[0], replace(second[1], parent=None))


def test_a_commit_that_was_not_answered_holds_what_is_visible():
    unknown = of(2, inf, "commit", UNKNOWN, "unknown")
    assert holds(of(0, 1, "write", A), unknown, of(3, 4, "read_head", A))
    assert not holds(of(0, 1, "write", A), unknown, of(3, 4, "read_head", B))


def test_keys_are_checked_apart_and_the_failure_is_a_picture():
    good = [of(0, 1, "write", A, key=("main", b"p")), of(2, 3, "read", A, key=("main", b"p"))]
    bad = [of(0, 1, "write", A, key=("dev", b"p")), of(2, 3, "read", C, key=("dev", b"p"))]
    assert check_history(good, {}) == []
    (found,) = check_history([*good, *bad], {("dev", b"p"): B}, branches=["main", "dev"])
    assert found.key == ("dev", b"p")
    assert found.stuck is bad[1]
    shown = str(found)
    assert "path 'p' of branch 'dev'" in shown
    assert "read c" in next(line for line in shown.splitlines() if line.startswith(">>"))
    assert "staged a" in shown


def test_a_long_history_is_checked():
    asked, now, value = [], count(), None
    for number in range(5_000):
        value = Value(str(number))
        asked += [of(next(now), next(now), "write", value), of(next(now), next(now), "read", value)]
    assert holds(*asked)
    assert not holds(*asked, of(next(now), next(now), "read", A))


def _apply(state: State, kind: str, value: Value) -> tuple[State, object, str]:
    """State after, value and outcome, of a branch that does one thing at a time."""
    visible, clean = state.visible, state._replace(staged=UNSTAGED)
    written = (state._replace(staged=value), value, "ok")
    refused = (state, value, "exists")
    return {
        "read": (state, visible, "ok"),
        "read_head": (state, state.heads[0], "ok"),
        "write": written,
        "write_if_absent": written if visible is None else refused,
        "tombstone": (state._replace(staged=None), None, "ok"),
        "commit": (clean, None, "no_changes")
        if state.is_clean
        else (State((visible,), UNSTAGED), visible, "ok"),
        "reset": (clean, None, "ok"),
    }[kind]


@for_each("seed", range(200))
def test_histories_that_happened_hold_and_a_wrong_read_does_not(seed):
    chance = random.Random(seed)
    state, operations = EMPTY, []
    kinds = ("read", "read_head", "write", "write_if_absent", "tombstone", "commit", "reset")
    for at in range(12):
        kind = chance.choice(kinds)
        state, value, outcome = _apply(state, kind, Value(f"v{at}"))
        start, end = at - chance.random() * 2, at + chance.random() * 2
        operations.append(of(start, end, kind, value, outcome))
    chance.shuffle(operations)
    assert holds(*operations)
    assert not holds(*operations, of(20, 21, "read", Value("nobody's")))
