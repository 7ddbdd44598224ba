"""The function of the export queue, with messages as SQS delivers them."""

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import pytest

from graveler.aws import wiring
from graveler.engine import Engine
from graveler.errors import ThrottledError
from graveler.export.record import (
    BranchExport,
    ExportConfiguration,
    ExportRequest,
    ExportRun,
    ExportState,
    Progress,
)
from graveler.model import CommitID, Event
from graveler.model.events import DETAIL_TYPES, detail_of
from graveler_functions.export.handler import handler
from tests.support.checks.lines import lines_of
from tests.support.fakes.invocation import Context


@dataclass
class Exports:
    """Replaces `advance`, and records its calls; branches named "bad" fail."""

    engine: object = field(default_factory=object)
    requests: list[ExportRequest] = field(default_factory=list)
    runners: list[str] = field(default_factory=list)
    times_left_s: list[Callable[[], float]] = field(default_factory=list)

    def advance(
        self,
        engine: Engine,
        request: ExportRequest,
        *,
        runner: str,
        time_left_s: Callable[[], float],
    ) -> BranchExport | None:
        assert engine is self.engine
        if request.branch == "bad":
            raise ThrottledError("not now")
        self.requests.append(request)
        self.runners.append(runner)
        self.times_left_s.append(time_left_s)
        if request.branch == "gone":
            return None
        run = ExportRun(
            id=f"{request.repository}-{request.branch}-1",
            commit_id=CommitID("c" * 64),
            configuration=ExportConfiguration("s3://out"),
            started_ns=1,
            progress=Progress(done=7, total=9, failed=2, first_errors=("secret/key",)),
        )
        return BranchExport(
            request.branch,
            run.configuration,
            ExportState.FAILED,
            run=run,
            error_message="secret/key of an object",
        )


@pytest.fixture
def looked_after(monkeypatch: pytest.MonkeyPatch) -> Exports:
    made = Exports()
    monkeypatch.setattr(wiring, "adapters", lambda: SimpleNamespace(engine=made.engine))
    monkeypatch.setattr("graveler_functions.export.handler.advance", made.advance)
    return made


def message(number: int, body: object) -> dict[str, Any]:
    return {
        "messageId": f"message-{number}",
        "receiptHandle": "AQEB",
        "body": body if isinstance(body, str) else json.dumps(body, ensure_ascii=False),
        "attributes": {
            "ApproximateReceiveCount": "1",
            "SentTimestamp": "1795179612345",
            "SenderId": "AIDA",
            "ApproximateFirstReceiveTimestamp": "1795179612346",
        },
        "messageAttributes": {},
        "md5OfBody": "e4e68fb7bd0e697a0ae8f1bb342846b3",
        "eventSource": "aws:sqs",
        "eventSourceARN": "arn:aws:sqs:eu-west-1:123456789012:exports",
        "awsRegion": "eu-west-1",
    }


def from_bus(kind: str, branch: str) -> dict[str, Any]:
    """Return an event as EventBridge delivers it to a queue."""
    event = Event("d8qj3tkbtms0fh2ok8ng", kind, "lake", 1_795_179_612 * 10**9, {"branch": branch})
    return {
        "version": "0",
        "id": "6f7e1c1e-5b5a-4b5e-9d0a-3f1d2c4b5a69",
        "detail-type": DETAIL_TYPES[kind],
        "source": "graveler",
        "account": "123456789012",
        "time": "2026-11-20T13:00:12Z",
        "region": "eu-west-1",
        "resources": [],
        "detail": json.loads(detail_of(event)),
    }


def failures(*messages: dict[str, Any]) -> list[str]:
    """Return the IDs of the messages to deliver again."""
    answer = handler({"Records": list(messages)}, Context())
    assert set(answer) == {"batchItemFailures"}
    return [failure["itemIdentifier"] for failure in answer["batchItemFailures"]]


def test_events_and_requests_name_the_branch(looked_after: Exports) -> None:
    request = {"repository": "lake", "branch": "feature/é"}
    assert failures(message(1, from_bus("commit_created", "main")), message(2, request)) == []
    assert looked_after.requests == [
        ExportRequest("lake", "main"),
        ExportRequest("lake", "feature/é"),
    ]


def test_a_run_knows_its_runner_and_its_time(looked_after: Exports) -> None:
    context = Context()
    handler({"Records": [message(1, from_bus("export_requested", "main"))]}, context)
    assert looked_after.runners == ["request-1"]
    (time_left_s,) = looked_after.times_left_s
    assert time_left_s() == 900.0
    context.time_left_ms = 1_500
    assert time_left_s() == 1.5


def test_only_failed_messages_are_delivered_again(looked_after: Exports) -> None:
    messages = [
        message(n, {"repository": "lake", "branch": branch})
        for n, branch in enumerate(["main", "bad", "other"])
    ]
    assert failures(*messages) == ["message-1"]
    assert [request.branch for request in looked_after.requests] == ["main", "other"]


@pytest.mark.parametrize(
    "body",
    ["", "no JSON", "[]", "{}", '{"repository": "lake"}', '{"detail": {"repository": "lake"}}',
     '{"repository": "lake", "branch": 1}'],
)  # fmt: skip
def test_a_message_without_a_branch_fails(looked_after: Exports, body: str) -> None:
    assert failures(message(1, body)) == ["message-1"]
    assert looked_after.requests == []


def test_a_message_is_logged_with_its_outcome_and_without_keys(
    looked_after: Exports, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = lines_of(monkeypatch, "graveler-export")
    request = {"repository": "lake", "branch": "main"}
    assert failures(message(1, request), message(2, request | {"branch": "gone"})) == []
    first, second = lines.all
    assert (first["repository"], first["ref"], first["message_id"]) == ("lake", "main", "message-1")
    assert (first["state"], first["done"], first["total"], first["failed"]) == (
        "export-failed",
        7,
        9,
        2,
    )
    assert first["lambda_request_id"] == "request-1"
    assert (second["ref"], second["level"]) == ("gone", "INFO")
    assert "state" not in second
    assert "secret" not in lines.text


def test_a_failed_message_is_logged_with_the_reason(
    looked_after: Exports, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = lines_of(monkeypatch, "graveler-export")
    assert failures(message(1, {"repository": "lake", "branch": "bad"})) == ["message-1"]
    assert (lines.last["level"], lines.last["error"]) == ("ERROR", "ThrottledError")
    assert lines.last["exception"].endswith("ThrottledError: not now")
    assert lines.last["ServerErrors"] == 1
    assert lines.last["ref"] == "bad"
