"""The runbook's queries of logs find lines as the functions write them, by fields that they have.

Lines of Lambda itself and of API Gateway are written here by their documentation: there is no AWS.
"""

import json
import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import msgspec
import pytest

import graveler_functions.export.handler as export
import graveler_functions.slices.handler as slices
import graveler_functions.tasks.handler as tasks
from graveler.aws import wiring
from graveler.aws.dynamodb.cleanup import SweepResult
from graveler.aws.eventbridge import Published
from graveler.branches.changes import StagedSource
from graveler.errors import CorruptDataError
from graveler.export.record import BranchExport, ExportConfiguration, ExportRun, ExportState
from graveler.model import CommitID, MetaRangeID
from graveler.model.tasks import Failure, Task, TaskKind
from graveler.operations import repositories
from graveler.operations.tasks.slices import SliceAnswer, SliceJob
from graveler_functions import task_messages
from graveler_functions.cleanup.handler import handler as clean_up
from graveler_functions.events.handler import handler as publish
from graveler_gateway.server.log import AccessLogEntry
from tests.support.checks.insights import Query
from tests.support.checks.lines import lines_of
from tests.support.clients.api import ApiClient
from tests.support.fakes.invocation import Context

ROOT = Path(__file__).parents[2]
RUNBOOK = (ROOT / "docs" / "operations.md").read_text()
# `ask LOG QUERY` of the shell blocks: the log's name, and the query.
ASKED = re.findall(r"^ask \"\$\((?:log_of )?([\w ]+)\)\" '([^']*)'", RUNBOOK, re.MULTILINE)

# With the JSON format, Lambda reports each call, and the runtime an exception, in one document.
OF_LAMBDA: list[dict[str, Any]] = [
    {
        "time": "2026-11-22T12:00:00.000Z",
        "type": "platform.report",
        "record": {
            "requestId": "1-2-3",
            "metrics": {"durationMs": 29000.0, "maxMemoryUsedMB": 300},
            "status": "timeout",
        },
    },
    {
        "time": "2026-11-22T12:00:00.000Z",
        "type": "platform.report",
        "record": {
            "requestId": "1-2-3",
            "metrics": {"durationMs": 20.0},
            "status": "error",
            "errorType": "Runtime.ExitError",
        },
    },
    {
        "timestamp": "2026-11-22T12:00:00Z",
        "log_level": "ERROR",
        "errorMessage": "Unable to import module 'graveler_functions.api.handler'",
        "errorType": "Runtime.ImportModuleError",
        "requestId": "",
        "stackTrace": [],
    },
]
UNREMARKABLE_OF_LAMBDA: list[dict[str, Any]] = [
    {"time": "…", "type": "platform.start", "record": {"requestId": "1-2-3", "version": "7"}},
    {
        "time": "…",
        "type": "platform.report",
        "record": {"requestId": "1-2-3", "metrics": {"durationMs": 5.0}, "status": "success"},
    },
]


@pytest.fixture
def logs(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> dict[str, list[dict[str, Any]]]:
    """Lines by the name of the log, of work that succeeds and of work that fails."""
    found = {"api": _of_the_api(monkeypatch)}
    found["cleanup"] = _of_the_cleanup(monkeypatch)
    found["events"] = _of_the_events(monkeypatch)
    found["export"] = _of_exports(monkeypatch)
    # Both have the same lines: `graveler_functions.task_messages` writes them.
    found["tasks"] = _of_tasks(monkeypatch)
    found["hooks"] = _of_tasks(monkeypatch)
    found["slices"] = _of_slices(monkeypatch)
    found["gateway_log"] = _of_the_gateway(capsys)
    found["api"] += [*OF_LAMBDA, *UNREMARKABLE_OF_LAMBDA]
    found["output AccessLog"] = [
        {
            "request_id": "1",
            "status": status,
            "integration_error": error,
            "path": "/api/v1/user",
            "ip": "192.0.2.1",
            "user_agent": "agent",
        }
        for status, error in (("200", ""), ("503", "Service Unavailable"), ("401", ""))
    ]
    # Queries may ask for slow work.
    for lines in found.values():
        lines += [{**line, "Latency": 70_000.0} for line in lines if "Latency" in line]
    return found


def _of_the_api(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    api = ApiClient()
    lines = lines_of(monkeypatch, "graveler-api")
    repositories.create(api.engine, name="lake", storage_namespace="s3://bucket/lake")
    branch = "/repositories/lake/branches/main"
    api.ask("GET", branch)
    api.ask("POST", f"{branch}/commits", {"message": "why", "allow_empty": True})
    api.ask("GET", "/repositories/lake/refs/main/diff/main")
    api.ask("GET", "/repositories/lake/branches/none")

    def fail(*_: object) -> None:
        raise CorruptDataError("a range is damaged")

    monkeypatch.setattr(api.engine.refs, "branch", fail)
    api.ask("GET", branch)
    return [*lines.all, {**lines.last, "request_id": "PASTE"}]


def _of_the_cleanup(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    class Store:
        def sweep(self, *_: object) -> SweepResult:
            return SweepResult(0)

    class Heartbeats:
        def beat(self, now_ns: int) -> None:
            assert now_ns

        def collected_ns(self, watched: object, now_ns: int) -> int:
            return now_ns if watched else 0

    adapters = SimpleNamespace(cleanup=Store(), heartbeats=Heartbeats())
    monkeypatch.setattr(wiring, "adapters", lambda: adapters)
    monkeypatch.setenv("GRAVELER_WATCHED_COLLECTIONS", "sweep#")
    lines = lines_of(monkeypatch, "graveler-cleanup")
    clean_up({}, Context())
    return lines.all


def _of_the_events(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    class Bus:
        def publish(self, events: list[object]) -> Published:
            return Published(0, "ThrottlingException" if events else "")

    monkeypatch.setattr(wiring, "adapters", lambda: SimpleNamespace(event_bus=Bus()))
    lines = lines_of(monkeypatch, "graveler-events")
    keys = {"partition": {"S": "repository#lake#1"}, "sort": {"S": "outbox#1"}}
    event = {"id": "1", "kind": "tag_created", "repository": "lake", "time_ns": 1, "detail": {}}
    for content in (event, {"id": 1}):
        image = {**keys, "event": {"S": json.dumps(content)}}
        change = {"Keys": keys, "NewImage": image, "SequenceNumber": "1"}
        publish({"Records": [{"eventName": "INSERT", "dynamodb": change}]}, Context())
    return lines.all


def _deliver(handler: Any, content: object, count: int = 2) -> None:
    """Deliver a message, first to what succeeds, then to what fails."""
    message = {"messageId": "1", "body": msgspec.json.encode(content).decode()}
    for _ in range(count):
        handler({"Records": [message]}, Context())


def _one_after_the_other(*outcomes: object) -> Any:
    left = list(outcomes)

    def give(*_: object, **__: object) -> object:
        outcome = left.pop(0)
        if isinstance(outcome, Exception):
            raise outcome
        return outcome

    return give


def _of_exports(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    run = ExportRun("1", CommitID("c" * 64), ExportConfiguration("s3://out"), started_ns=1)
    done = BranchExport("main", run.configuration, ExportState.IN_PROGRESS, run=run)
    monkeypatch.setattr(export, "advance", _one_after_the_other(done, CorruptDataError("damaged")))
    monkeypatch.setattr(wiring, "adapters", lambda: SimpleNamespace(engine=object()))
    lines = lines_of(monkeypatch, "graveler-export")
    _deliver(export.handler, {"repository": "lake", "branch": "main"})
    return [{**line, "ObjectsCopied": 3} for line in lines.all]


def _of_tasks(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    task = Task("CA1", TaskKind.COMMIT, "ann", create_time_ns=1, update_time_ns=1, branch="main")
    monkeypatch.setattr(task_messages, "advance", _one_after_the_other(task, ValueError("a bug")))
    monkeypatch.setattr(wiring, "adapters", lambda: SimpleNamespace(engine=object()))
    lines = lines_of(monkeypatch, "graveler-tasks")
    _deliver(tasks.handler, {"repository": "lake", "task_id": "CA1"})
    return lines.all


def _of_slices(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    failed = SliceAnswer(failure=Failure("corrupt_data", "a range is damaged"))
    monkeypatch.setattr(
        slices, "apply_job", _one_after_the_other(SliceAnswer(), failed, CorruptDataError("bad"))
    )
    monkeypatch.setattr(wiring, "adapters", lambda: SimpleNamespace(engine=object()))
    lines = lines_of(monkeypatch, "graveler-slices")
    job = msgspec.to_builtins(
        SliceJob(
            "lake", "1", "s3://b/lake", "CA1", MetaRangeID("a" * 64), StagedSource((), 1), "", None
        )
    )
    for _ in range(2):
        slices.handler(job, Context())
    with pytest.raises(CorruptDataError):
        slices.handler(job, Context())
    return lines.all


def _of_the_gateway(capsys: pytest.CaptureFixture[str]) -> list[dict[str, Any]]:
    capsys.readouterr()
    done = AccessLogEntry("1", "PUT", "agent", "PutObject", "lake", "main", "ada", 200, bytes_in=5)
    read = AccessLogEntry("2", "GET", "agent", "GetObject", "lake", "main", "ada", 200, bytes_out=5)
    failed = AccessLogEntry(
        "3", "GET", "agent", "GetObject", "lake", "main", "ada", 500, "InternalError"
    )
    failed.failed(CorruptDataError("a range is damaged"))
    for record in (done, read, failed):
        record.write()
    return [json.loads(line) for line in capsys.readouterr().out.splitlines()]


def test_the_queries_of_the_runbook_are_found():
    assert len(ASKED) > 12
    assert {name for name, _ in ASKED} >= {"api", "export", "tasks", "slices", "events", "cleanup"}


@pytest.mark.parametrize(("log", "text"), ASKED)
def test_a_query_finds_lines_and_names_their_fields(logs, log, text):
    query = Query(" ".join(text.split()))
    found = [line for line in logs[log] if query.selects(line)]
    assert found
    # Any other line, such as one of a library, is left out.
    is_library = query.selects({"level": "INFO", "message": "Found credentials"})
    assert is_library == (query.condition == "")
    known = {name for line in found for name in _names(line)}
    assert query.fields - known <= _OPTIONAL


# Fields that only some lines have, each tried by another test.
_OPTIONAL = {"other_ref", "gateway_request_id", "problem", "event_id", "partition", "sort"}


def _names(line: dict[str, Any], prefix: str = "") -> set[str]:
    """Return the names of a line's fields as queries write them."""
    names: set[str] = set()
    for name, value in line.items():
        names.add(prefix + name)
        if isinstance(value, dict):
            names |= _names(value, f"{prefix}{name}.")
    return names


@pytest.mark.parametrize("line", OF_LAMBDA)
def test_reports_of_lambda_itself_are_found_whatever_they_say(line):
    (query,) = (Query(" ".join(text.split())) for _, text in ASKED if "record.status" in text)
    assert query.selects(line)
    assert not any(query.selects(each) for each in UNREMARKABLE_OF_LAMBDA)
    assert not query.selects({"message": "request", "status": 500, "error": "ValueError"})
