"""What the background process delivers, and what it leaves behind when it ends."""

import logging
import time

import pytest

from graveler.model.events import DETAIL_TYPES
from graveler_embedded import background
from graveler_embedded.background import CALLS_FOR_EXPORT, CALLS_FOR_TASKS, OUTBOX_ITEMS, QUEUES
from graveler_embedded.bus import LocalEventBus
from graveler_embedded.event_patterns import matches
from graveler_embedded.lambda_runtime import TIMEOUT_S
from graveler_embedded.queues import Queues

EXPORT_QUEUE = "graveler-export"
TASK_QUEUE = "graveler-tasks"


def record(sort, kind="INSERT"):
    return {"eventName": kind, "dynamodb": {"Keys": {"sort": {"S": sort}}}}


def test_the_outbox_is_published_and_nothing_else_of_the_table():
    assert matches(OUTBOX_ITEMS, record("outbox#1"))
    assert not matches(OUTBOX_ITEMS, record("outbox#1", "REMOVE"))
    assert not matches(OUTBOX_ITEMS, record("branch#outbox#1"))


@pytest.mark.parametrize("kind", DETAIL_TYPES)
def test_exports_are_called_by_what_moves_a_branch_and_never_by_their_own_end(tmp_path, kind):
    moves = {"commit_created", "merge_completed", "revert_completed", "cherry_pick_completed"}
    moves |= {"import_completed", "branch_reset", "branch_deleted", "export_requested"}
    queues = Queues(tmp_path / "queues.sqlite", QUEUES)
    bus = LocalEventBus("graveler", [CALLS_FOR_EXPORT], queues, tmp_path / "events.jsonl")
    bus.put("graveler", DETAIL_TYPES[kind], {})
    assert len(queues.receive(EXPORT_QUEUE)) == (kind in moves)


@pytest.mark.parametrize("kind", DETAIL_TYPES)
def test_a_new_task_is_run_even_if_its_first_message_was_lost(tmp_path, kind):
    queues = Queues(tmp_path / "queues.sqlite", QUEUES)
    bus = LocalEventBus("graveler", [CALLS_FOR_TASKS], queues, tmp_path / "events.jsonl")
    bus.put("graveler", DETAIL_TYPES[kind], {})
    assert len(queues.receive(TASK_QUEUE)) == (kind == "task_started")


def test_no_other_event_calls_for_exports():
    assert not matches(CALLS_FOR_EXPORT.pattern, {"source": "x", "detail-type": "Commit Created"})


@pytest.mark.parametrize("name", [EXPORT_QUEUE, TASK_QUEUE])
def test_a_message_is_invisible_for_six_times_as_long_as_the_function_may_run(name):
    (queue,) = [queue for queue in QUEUES if queue.name == name]
    assert queue.visibility_timeout_s == 6 * TIMEOUT_S


def receives_of_next(folder):
    with background._queues(folder) as queues:
        (message,) = queues.receive(EXPORT_QUEUE)
        return message.receives


def test_a_message_that_was_under_way_is_due_at_the_next_start_and_a_stop_costs_it_no_try(tmp_path):
    with background._queues(tmp_path) as queues:
        queues.send(EXPORT_QUEUE, "x")
    for _ in range(10):
        assert receives_of_next(tmp_path) == 1


def test_a_message_under_way_at_a_crash_is_tried_again_but_not_forever(tmp_path):
    Queues(tmp_path / "queues.sqlite", QUEUES).send(EXPORT_QUEUE, "deadly")
    for receives in range(1, 6):
        queues = Queues(tmp_path / "queues.sqlite", QUEUES)
        queues.take_back(EXPORT_QUEUE, counts=True)
        assert [message.receives for message in queues.receive(EXPORT_QUEUE)] == [receives]
    with background._queues(tmp_path) as queues:
        assert queues.receive(EXPORT_QUEUE) == []
        assert [m.body for m in queues.receive(f"{EXPORT_QUEUE}-dead-letters")] == ["deadly"]


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
@pytest.mark.parametrize("end", [lambda: None, lambda: 1 / 0])
def test_the_process_ends_when_a_part_of_it_ends(end):
    background._run_all(lambda: time.sleep(30), end)


def test_the_last_line_of_the_log_is_the_failure(monkeypatch, tmp_path, caplog):
    monkeypatch.setattr(background, "main", lambda *_: 1 / 0)
    with caplog.at_level(logging.ERROR):
        assert background._exit_code(1, tmp_path) == 1
    assert caplog.text.endswith("ZeroDivisionError: division by zero\n")


def test_a_signal_ends_it_well(monkeypatch, tmp_path):
    def stopped(*_):
        raise SystemExit(0)

    monkeypatch.setattr(background, "main", stopped)
    assert background._exit_code(1, tmp_path) == 0
