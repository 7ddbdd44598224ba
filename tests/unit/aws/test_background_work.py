"""A runner shows that its work goes on while the work waits."""

import threading

import pytest

from graveler.aws import background_work, deadlines


def test_beats_come_while_the_work_waits_and_end_with_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(background_work, "_BEAT_S", 0.001)
    beats = threading.Semaphore(0)
    with background_work.runner(beats.release, 60):
        for _ in range(3):
            assert beats.acquire(timeout=10)
        assert background_work.patience_s("list_objects_v2")
        assert background_work.patience_s("put_object")
        assert not background_work.patience_s("delete_objects")
        assert deadlines.left_s() <= 60
    while beats.acquire(blocking=False):
        pass
    assert not beats.acquire(timeout=0.01)
    assert not background_work.patience_s("list_objects_v2")
