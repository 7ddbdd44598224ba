"""The functions of tasks and of slices, with messages and jobs as they arrive."""

import json
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import msgspec
import pytest

from graveler.aws import wiring
from graveler.errors import ThrottledError
from graveler.model.events import detail_of
from graveler.model.tasks import TaskState
from graveler.operations.leases import TIME_TO_END_S
from graveler.operations.scheduled_dumps import SCHEDULED
from graveler_functions.slices.handler import handler as apply_slices
from graveler_functions.tasks.handler import handler
from tests.support.checks.lines import lines_of
from tests.support.fakes.engines import MemoryWorld
from tests.support.fakes.invocation import Context
from tests.support.faults.counting import engine_around
from tests.support.faults.faults import FailAt
from tests.support.worlds.scenarios import outside
from tests.support.worlds.slices import slices_of
from tests.support.worlds.task_scenarios import SCENARIOS, assert_completed, task_now

COMMIT = SCENARIOS[0]


@pytest.fixture
def begun(monkeypatch: pytest.MonkeyPatch) -> Any:
    """A world where a commit was left to a task, and the message about it."""
    world, message = COMMIT.begun()
    monkeypatch.setattr(wiring, "adapters", lambda: SimpleNamespace(engine=world.engine()))
    return world, message


def message_of(content: Any, number: int = 1) -> dict[str, Any]:
    """Return a message as SQS delivers it."""
    body = content if isinstance(content, str) else msgspec.json.encode(content).decode()
    return {"messageId": f"message-{number}", "body": body, "eventSource": "aws:sqs"}


def from_bus(world: MemoryWorld) -> dict[str, Any]:
    """Return the event of the task's start as EventBridge delivers it to the queue."""
    (started,) = [event for event in world.refs.events if event.kind == "task_started"]
    envelope = {"version": "0", "source": "graveler", "detail-type": "Task Started"}
    return {**envelope, "detail": json.loads(detail_of(started))}


def deliver(*messages: dict[str, Any], context: Any = None) -> list[str]:
    """Return the IDs of the messages to deliver again."""
    answer = handler({"Records": list(messages)}, context or Context())
    assert set(answer) == {"batchItemFailures"}
    return [failure["itemIdentifier"] for failure in answer["batchItemFailures"]]


def test_the_message_of_the_schedule_starts_the_dumps(begun, monkeypatch):
    world, _ = begun
    engine = replace(world.engine(), dump_place="s3://elsewhere/dumps/")
    monkeypatch.setattr(wiring, "adapters", lambda: SimpleNamespace(engine=engine))
    already = len(world.task_queue.waiting)
    assert deliver(message_of(dict(SCHEDULED))) == []
    (_, message), *more = world.task_queue.waiting[already:]
    assert (message.repository, message.task_id[:2], more) == ("repo", "DR", [])


def test_the_message_of_the_schedule_comes_again_after_a_failure(monkeypatch):
    def refuse(_engine):
        raise ThrottledError("too fast")

    monkeypatch.setattr(wiring, "adapters", lambda: SimpleNamespace(engine=None))
    monkeypatch.setattr("graveler_functions.task_messages.start_all", refuse)
    assert deliver(message_of(dict(SCHEDULED))) == ["message-1"]


def test_a_message_runs_its_task(begun):
    world, message = begun
    assert deliver(message_of(message)) == []
    assert_completed(world, message, COMMIT)
    assert task_now(world, message).runner == Context().aws_request_id


def test_the_event_of_a_started_task_runs_it_too(begun):
    world, message = begun
    assert deliver(message_of(from_bus(world))) == []
    assert_completed(world, message, COMMIT)
    assert deliver(message_of(message)) == []
    assert_completed(world, message, COMMIT)


def test_one_bad_message_does_not_stop_the_others(begun):
    world, message = begun
    bad = [message_of(body, number) for number, body in enumerate(["{", {"repository": 1}], 2)]
    assert deliver(*bad, message_of(message)) == ["message-2", "message-3"]
    assert_completed(world, message, COMMIT)


def test_a_message_is_sent_again_after_an_error_of_a_store(begun, monkeypatch):
    """It would come back after the queue's visibility timeout only."""
    world, message = begun
    world.task_queue.waiting.clear()
    failing = engine_around(world.engine(), FailAt(1, ThrottledError("slow down"), landed=False))
    with monkeypatch.context() as patch:
        patch.setattr(wiring, "adapters", lambda: SimpleNamespace(engine=failing))
        assert deliver(message_of(message)) == []
    [(_, again)] = world.task_queue.waiting
    assert deliver(message_of(again)) == []
    assert_completed(world, message, COMMIT)


def test_a_message_stays_in_the_queue_if_it_cannot_be_sent_again(begun, monkeypatch):
    world, message = begun

    def fail(_name: str, _call: object) -> object:
        raise ThrottledError("slow down")

    failing = engine_around(world.engine(), fail)
    with monkeypatch.context() as patch:
        patch.setattr(wiring, "adapters", lambda: SimpleNamespace(engine=failing))
        assert deliver(message_of(message)) == ["message-1"]
    assert deliver(message_of(message)) == []
    assert_completed(world, message, COMMIT)


def test_a_function_that_is_about_to_end_leaves_the_task_to_the_next_one(begun):
    world, message = begun
    world.task_queue.waiting.clear()
    before = outside(world.engine())
    context = Context()
    context.time_left_ms = TIME_TO_END_S * 1000
    assert deliver(message_of(message), context=context) == []
    assert task_now(world, message).state is TaskState.WAITING
    assert outside(world.engine()) == before
    ((_, again),) = world.task_queue.waiting
    assert deliver(message_of(again)) == []
    assert_completed(world, message, COMMIT)


def test_the_log_says_which_task_and_how_far_but_not_what_it_holds(begun, monkeypatch):
    _, message = begun
    lines = lines_of(monkeypatch, "graveler-tasks")
    deliver(message_of(message), message_of({"repository": "none", "task_id": "CA"}, 2))
    line, of_nothing = lines.all
    shown = {name: line[name] for name in ("repository", "task_id", "task_kind", "ref", "state")}
    assert shown == {
        "repository": message.repository,
        "task_id": message.task_id,
        "task_kind": "commit",
        "ref": "main",
        "state": "completed",
    }
    assert (line["done"], line["total"]) == (3, 3)
    assert "state" not in of_nothing
    assert of_nothing["task_id"] == "CA"


def test_the_slice_function_answers_with_a_result_or_an_error(begun, monkeypatch):
    world, message = begun
    lines = lines_of(monkeypatch, "graveler-slices")
    jobs: list[Any] = []

    class Workers:
        def invoke(self, job: Any) -> Any:
            jobs.append(json.loads(json.dumps(job)))
            return json.loads(json.dumps(apply_slices(jobs[-1], Context())))

    engine = replace(world.engine(), slice_function=Workers())
    with slices_of(1), monkeypatch.context() as patch:
        patch.setattr(wiring, "adapters", lambda: SimpleNamespace(engine=engine))
        assert deliver(message_of(message)) == []
    assert_completed(world, message, COMMIT)
    assert len(lines.all) == len(jobs) > 1
    assert all(line["task_id"] == message.task_id for line in lines.all)
    answer = apply_slices({**jobs[0], "uid": "another"}, Context())
    assert answer["failure"]["code"] == "not_found"
    assert lines.last["problem"] == "not_found"
