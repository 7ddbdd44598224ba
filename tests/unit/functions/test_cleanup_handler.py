"""The function that a schedule calls, and what it tells of what it dropped."""

from dataclasses import dataclass, field

import pytest

from functions.cleanup.handler import handler
from graveler.aws import wiring
from tests.support.invocation import Context
from tests.support.lines import lines_of


@dataclass
class Store:
    """Has so many pieces of work that are due."""

    due: int
    asked: list[int] = field(default_factory=list)

    def sweep(self, now_ns: int, pieces_max: int) -> int:
        assert now_ns > 0
        self.asked.append(pieces_max)
        swept = min(self.due, pieces_max)
        self.due -= swept
        return swept


def test_everything_that_is_due_is_dropped_and_told(monkeypatch: pytest.MonkeyPatch) -> None:
    store = Store(45)
    monkeypatch.setattr(wiring, "cleanup", lambda: store)
    lines = lines_of(monkeypatch, "graveler-cleanup")
    assert handler({}, Context()) == {"done": 45}
    assert store.due == 0
    assert (lines.last["message"], lines.last["PiecesDropped"]) == ("sweep", 45)
    assert "ServerErrors" not in lines.last


def test_what_there_is_no_time_for_is_left_to_the_next_call(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    store = Store(45)
    monkeypatch.setattr(wiring, "cleanup", lambda: store)
    assert handler({}, Context(time_left_ms=59_000)) == {"done": 0}
    assert store.asked == []


def test_a_sweep_that_fails_is_told_and_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    store = Store(1)
    monkeypatch.setattr(store, "sweep", lambda *_: 1 // 0)
    monkeypatch.setattr(wiring, "cleanup", lambda: store)
    lines = lines_of(monkeypatch, "graveler-cleanup")
    with pytest.raises(ZeroDivisionError):
        handler({}, Context())
    assert (lines.last["level"], lines.last["error"]) == ("ERROR", "ZeroDivisionError")
