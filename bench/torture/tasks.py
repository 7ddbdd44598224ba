"""Tasks that clients start: their beginning, their cancellation, and how they end.

A task may outlast the request and the round's load. Its record has no outcome until the task has
ended; `settle` waits for that when all is calm.
"""

import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from bench.torture.history import Record

if TYPE_CHECKING:
    from bench.torture.actions import Client
    from bench.torture.world import World

_OPEN = ("waiting", "running")
# A runner that died keeps its task for 20 seconds, and five of them may die.
_END_S = 180.0
_PAUSE_S = 0.2


@dataclass(slots=True)
class StartedTask:
    """A task that the API has accepted; url: of its start. state is the last that was seen."""

    id: str
    url: str
    record: Record
    state: str = "waiting"
    result: dict[str, str] = field(default_factory=dict)

    def ended(self, row: dict[str, Any]) -> None:
        """Take the state of a task that has ended, and what it means for the record."""
        record, self.state = self.record, row["state"]
        self.result = row.get("result", {})
        record.returned = time.monotonic_ns()
        record.outcome = _outcome(record, row)
        if record.outcome == "ok" and record.kind:
            record.commit_id = self.result["commit_id"]


def _outcome(record: Record, row: dict[str, Any]) -> str:
    if row["state"] == "completed":
        return "ok"
    message, status = row.get("error", {}).get("message", ""), row.get("status_code", 0)
    if record.kind == "commit" and status == 404:
        return "no_branch"
    return "no_changes" if record.kind == "commit" and "no changes" in message else "refused"


def start(
    client: "Client",
    record: Record,
    url: str,
    query: dict[str, Any] | None = None,
    body: object = None,
) -> StartedTask | None:
    """Start a task by the record's request; return None if no answer says that it exists."""
    reply = client.ask(record, "POST", url, query, body)
    if record.outcome != "ok":
        return None
    record.outcome = "unknown"
    task = StartedTask(reply.json["id"], url, record)
    client.world.tasks.append(task)
    return task


def start_commit(client: "Client", record: Record) -> StartedTask | None:
    url = f"/branches/{record.branch}/commits/async"
    return start(client, record, url, None, {"message": f"#{record.id}"})


def start_merge(client: "Client", record: Record, source: str) -> StartedTask | None:
    body = {"message": f"#{record.id}", "strategy": "source-wins"}
    return start(client, record, f"/refs/{source}/merge/{record.branch}/async", None, body)


def follow(client: "Client", task: StartedTask, patience_s: float = 3.0) -> bool:
    """Ask for the commit or merge until it has ended; return whether that was seen."""
    end_s = time.monotonic() + patience_s
    while time.monotonic() < end_s:
        asked = client.record("task_status", "", task.record.branch, "")
        status = client.ask(asked, "GET", f"{task.url}/{task.id}/status")
        if status.status == 200 and status.json["completed"]:
            return _take_end(client, task, status.json)
        time.sleep(_PAUSE_S)
    return False


def _take_end(client: "Client", task: StartedTask, status: dict[str, Any]) -> bool:
    """Look at a task that has ended, and compare what both operations say of it."""
    asked = client.record("get_task", "", task.record.branch, "")
    reply = client.ask(asked, "GET", f"/tasks/{task.id}")
    if reply.status != 200:
        return False
    shown = {status.get("result", {}).get(name, "") for name in ("id", "reference")} - {""}
    result = {reply.json.get("result", {}).get("commit_id", "")} - {""}
    if reply.json["state"] in _OPEN or shown != result:
        client.world.ledger.problem(f"{task}: its status is {status}, and it is {reply.json}")
    task.ended(reply.json)
    return True


def cancel(client: "Client", task: StartedTask) -> Record:
    """Ask to cancel the task. Whether it had an effect before is seen when it has ended."""
    record = client.record("cancel_task", "", task.record.branch, "")
    reply = client.ask(record, "DELETE", f"/tasks/{task.id}")
    if not reply.is_unknown and reply.status not in (200, 409):
        client.world.ledger.problem(f"{record} was answered {reply.status} {reply.message}")
    return record


def settle(world: "World", client: "Client") -> None:
    """Wait until no task runs any more, and learn how those of the round have ended."""
    for repository in (world.repository, *world.lives.restored):
        wait_until_none_is_open(world, client, repository)
    for task in world.tasks:
        if task.state in _OPEN:
            task.ended(world.calm(client, "GET", world.url(f"/tasks/{task.id}")).json)


def wait_until_none_is_open(world: "World", client: "Client", repository: str) -> None:
    """Return when no task of the repository is open."""
    url, end_s = f"/repositories/{repository}/tasks", time.monotonic() + _END_S
    while True:
        rows = world.calm(client, "GET", url, {"amount": 1000}).json["results"]
        if not any(row["state"] in _OPEN for row in rows):
            return
        if time.monotonic() > end_s:
            raise TimeoutError(f"tasks of {repository} do not end")
        time.sleep(_PAUSE_S)
