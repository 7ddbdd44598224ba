"""The scheduled function, and what it logs."""

from dataclasses import dataclass, field

import pytest

from functions.cleanup.handler import handler
from graveler.aws import wiring
from graveler.aws.dynamodb.cleanup import Swept
from graveler.errors import ThrottledError
from tests.support.invocation import Context
from tests.support.lines import lines_of


@dataclass
class Store:
    """Has so many pieces of work that are due."""

    due: int
    failing: int = 0
    asked: list[int] = field(default_factory=list)

    def sweep(self, now_ns: int, pieces_max: int) -> Swept:
        assert now_ns > 0
        self.asked.append(pieces_max)
        swept = min(self.due, pieces_max)
        self.due -= swept
        failed, self.failing = self.failing, 0
        return Swept(swept - failed, tuple(ThrottledError(f"{n}") for n in range(failed)))


def test_everything_due_is_dropped_and_logged(monkeypatch: pytest.MonkeyPatch) -> None:
    store = Store(45)
    monkeypatch.setattr(wiring, "cleanup", lambda: store)
    lines = lines_of(monkeypatch, "graveler-cleanup")
    assert handler({}, Context()) == {"done": 45}
    assert store.due == 0
    assert (lines.last["message"], lines.last["PiecesDropped"]) == ("sweep", 45)
    assert "ServerErrors" not in lines.last


def test_failed_pieces_stop_no_others_and_are_reported_at_the_end(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    store = Store(45, failing=3)
    monkeypatch.setattr(wiring, "cleanup", lambda: store)
    lines = lines_of(monkeypatch, "graveler-cleanup")
    with pytest.raises(ThrottledError):
        handler({}, Context())
    assert store.due == 0
    assert (lines.last["level"], lines.last["error"]) == ("ERROR", "ThrottledError")
    assert (lines.last["PiecesDropped"], lines.last["PiecesFailed"]) == (42, 3)
    assert "3 pieces failed" in lines.last["problem"]


def test_without_time_left_the_rest_is_left_to_the_next_call(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    store = Store(45)
    monkeypatch.setattr(wiring, "cleanup", lambda: store)
    assert handler({}, Context(time_left_ms=59_000)) == {"done": 0}
    assert store.asked == []


def test_a_failed_sweep_is_logged_and_raises(monkeypatch: pytest.MonkeyPatch) -> None:
    store = Store(1)
    monkeypatch.setattr(store, "sweep", lambda *_: 1 // 0)
    monkeypatch.setattr(wiring, "cleanup", lambda: store)
    lines = lines_of(monkeypatch, "graveler-cleanup")
    with pytest.raises(ZeroDivisionError):
        handler({}, Context())
    assert (lines.last["level"], lines.last["error"]) == ("ERROR", "ZeroDivisionError")
