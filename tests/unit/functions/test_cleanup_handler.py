"""The scheduled function, and what it logs."""

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import pytest

from graveler.aws import wiring
from graveler.aws.dynamodb.cleanup import SweepResult
from graveler.errors import ThrottledError
from graveler_functions.cleanup.handler import handler
from tests.support.checks.lines import lines_of
from tests.support.fakes.invocation import Context


@dataclass
class Store:
    """Has so many pieces of work that are due."""

    due: int
    failing: int = 0

    def sweep(self, now_ns: int, has_time: Callable[[], bool]) -> SweepResult:
        assert now_ns > 0
        done, failed = 0, 0
        while self.due and has_time():
            self.due -= 1
            failed += self.failing > failed
            done += 1
        failures = tuple(ThrottledError(f"{n}") for n in range(failed))
        return SweepResult(done - failed, failures)


@dataclass
class Heartbeats:
    """Has noted a collection at some time; it may be out of order."""

    collected: int = 0
    fails: bool = False
    beats: list[int] = field(default_factory=list)
    watched: list[str] = field(default_factory=list)

    def beat(self, now_ns: int) -> None:
        if self.fails:
            raise ThrottledError("the table is busy")
        self.beats.append(now_ns)

    def collected_ns(self, watched: Iterable[str], now_ns: int) -> int:
        self.watched += watched
        return self.collected or now_ns


@pytest.fixture(autouse=True)
def adapters(monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    made = SimpleNamespace(heartbeats=Heartbeats(), cleanup=Store(0))
    monkeypatch.setattr(wiring, "adapters", lambda: made)
    return made


@pytest.fixture
def heartbeats(adapters: SimpleNamespace) -> Heartbeats:
    made: Heartbeats = adapters.heartbeats
    return made


def metrics_of(line: dict[str, Any]) -> set[str]:
    """The names of what CloudWatch takes of the line."""
    if "_aws" not in line:
        return set()
    (directive,) = line["_aws"]["CloudWatchMetrics"]
    return {each["Name"] for each in directive["Metrics"]}


def test_each_sweep_lets_the_stream_beat_and_measures_the_age_of_the_last_collection(
    monkeypatch: pytest.MonkeyPatch, heartbeats: Heartbeats
) -> None:
    monkeypatch.setenv("GRAVELER_WATCHED_COLLECTIONS", "sweep#lake,sweep#other")
    heartbeats.collected = time.time_ns() - 3_600 * 10**9
    lines = lines_of(monkeypatch, "graveler-cleanup")
    handler({}, Context())
    assert len(heartbeats.beats) == 1
    assert heartbeats.watched == ["sweep#lake", "sweep#other"]
    assert 3_600 <= lines.last["CollectionAge"] < 3_700
    # An idle sweep has no other metrics: each that always reports costs money.
    assert metrics_of(lines.last) == {"CollectionAge"}


def test_an_age_of_zero_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GRAVELER_WATCHED_COLLECTIONS", "sweep#")
    lines = lines_of(monkeypatch, "graveler-cleanup")
    handler({}, Context())
    assert lines.last["CollectionAge"] == 0
    assert metrics_of(lines.last) == {"CollectionAge"}


def test_without_a_schedule_no_collection_is_watched(
    monkeypatch: pytest.MonkeyPatch, heartbeats: Heartbeats
) -> None:
    lines = lines_of(monkeypatch, "graveler-cleanup")
    handler({}, Context())
    assert heartbeats.beats
    assert "CollectionAge" not in lines.last
    assert metrics_of(lines.last) == set()


def test_a_failed_sign_of_life_stops_no_sweep_and_is_reported(
    monkeypatch: pytest.MonkeyPatch, adapters: SimpleNamespace, heartbeats: Heartbeats
) -> None:
    heartbeats.fails = True
    store = Store(45)
    adapters.cleanup = store
    lines = lines_of(monkeypatch, "graveler-cleanup")
    with pytest.raises(ThrottledError, match="the table is busy"):
        handler({}, Context())
    assert store.due == 0
    assert lines.last["problem"] == "no sign of life could be stored"


def test_everything_due_is_dropped_and_logged(
    monkeypatch: pytest.MonkeyPatch, adapters: SimpleNamespace
) -> None:
    store = Store(45)
    adapters.cleanup = store
    lines = lines_of(monkeypatch, "graveler-cleanup")
    assert handler({}, Context()) == {"done": 45}
    assert store.due == 0
    assert (lines.last["message"], lines.last["PiecesDropped"]) == ("sweep", 45)
    assert "ServerErrors" not in lines.last


def test_failed_pieces_stop_no_others_and_are_reported_at_the_end(
    monkeypatch: pytest.MonkeyPatch,
    adapters: SimpleNamespace,
) -> None:
    store = Store(45, failing=3)
    adapters.cleanup = store
    lines = lines_of(monkeypatch, "graveler-cleanup")
    with pytest.raises(ThrottledError):
        handler({}, Context())
    assert store.due == 0
    assert (lines.last["level"], lines.last["error"]) == ("ERROR", "ThrottledError")
    assert (lines.last["PiecesDropped"], lines.last["PiecesFailed"]) == (42, 3)
    assert "3 pieces failed" in lines.last["problem"]


def test_without_time_left_the_rest_is_left_to_the_next_call(
    monkeypatch: pytest.MonkeyPatch,
    adapters: SimpleNamespace,
) -> None:
    store = Store(45)
    adapters.cleanup = store
    assert handler({}, Context(time_left_ms=59_000)) == {"done": 0}
    assert store.due == 45


def test_a_failed_sweep_is_logged_and_raises(
    monkeypatch: pytest.MonkeyPatch, adapters: SimpleNamespace
) -> None:
    store = Store(1)
    monkeypatch.setattr(store, "sweep", lambda *_: 1 // 0)
    adapters.cleanup = store
    lines = lines_of(monkeypatch, "graveler-cleanup")
    with pytest.raises(ZeroDivisionError):
        handler({}, Context())
    assert (lines.last["level"], lines.last["error"]) == ("ERROR", "ZeroDivisionError")
