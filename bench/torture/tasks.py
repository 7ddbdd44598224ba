"""Tasks that clients start: their beginning, their cancellation, and how they end.

A task may outlast the request and the round's load. Its record has no outcome until the task has
ended; `settle` waits for that when all is calm.
"""

import time
from collections.abc import Callable, Mapping
from typing import Any

from bench.torture.client import Client
from bench.torture.history import Record, StartedTask
from bench.torture.world import World

_OPEN = ("waiting", "running")
# A dead runner holds its task for 20 seconds, and five runners may die.
_END_S = 180.0
_PAUSE_S = 0.2


def start(
    client: Client,
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


def start_commit(client: Client, record: Record) -> StartedTask | None:
    url = f"/branches/{record.branch}/commits/async"
    return start(client, record, url, None, {"message": f"#{record.id}"})


def start_merge(client: Client, record: Record, source: str) -> StartedTask | None:
    body = {"message": f"#{record.id}", "strategy": "source-wins"}
    return start(client, record, f"/refs/{source}/merge/{record.branch}/async", None, body)


def follow(client: Client, task: StartedTask, patience_s: float = 3.0) -> bool:
    """Ask for the commit or merge until it has ended; return whether that was seen."""
    end_s = time.monotonic() + patience_s
    while time.monotonic() < end_s:
        asked = client.record("task_status", "", task.record.branch, "")
        status = client.ask(asked, "GET", f"{task.url}/{task.id}/status")
        if status.status == 200 and status.json["completed"]:
            return _take_end(client, task, status.json)
        time.sleep(_PAUSE_S)
    return False


def _take_end(client: Client, task: StartedTask, status: dict[str, Any]) -> bool:
    """Record the end of a task, and compare the answers of both operations."""
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


def cancel(client: Client, task: StartedTask) -> Record:
    """Ask to cancel the task. Its end shows whether it had an effect before."""
    record = client.record("cancel_task", "", task.record.branch, "")
    reply = client.ask(record, "DELETE", f"/tasks/{task.id}")
    if not reply.is_unknown and reply.status not in (200, 409):
        client.world.ledger.problem(f"{record} was answered {reply.status} {reply.message}")
    return record


def settle(world: World, client: Client) -> None:
    """Wait until no task is open, and record the ends of the round's tasks."""
    for repository in (world.repository, *world.lives.restored):
        wait_until_none_is_open(world, client, repository)
    for task in world.tasks:
        if task.state in _OPEN:
            task.ended(world.calm(client.http, "GET", world.url(f"/tasks/{task.id}")).json)


def wait_until_none_is_open(world: World, client: Client, repository: str) -> None:
    """Return when no task of the repository is open."""
    url, end_s = f"/repositories/{repository}/tasks", time.monotonic() + _END_S
    while True:
        rows = world.calm(client.http, "GET", url, {"amount": 1000}).json["results"]
        if not any(row["state"] in _OPEN for row in rows):
            return
        if time.monotonic() > end_s:
            raise TimeoutError(f"tasks of {repository} do not end")
        time.sleep(_PAUSE_S)


# The actions on the shared branches. For the checker, they last until their task has ended.


def commit_task(client: Client) -> Record:
    record = client.record("commit_task", "commit", client.upload().branch)
    return _go_on(client, record, start_commit(client, record))


def merge_task(client: Client) -> Record:
    branch = client.a_branch()
    client.commit(branch)  # merges need a clean branch
    record = client.record("merge_task", "move", branch)
    other = "dev" if branch == "main" else "main"
    source = client.chance.choice((other, other, client.a_commit()[0]))
    return _go_on(client, record, start_merge(client, record, source))


def _go_on(client: Client, record: Record, task: StartedTask | None) -> Record:
    """Wait for the task, cancel it, or leave it to itself."""
    what = client.chance.choice(("follow", "follow", "follow", "cancel", "leave"))
    if task is not None and what == "cancel":
        cancel(client, task)
    elif task is not None and what == "follow":
        follow(client, task)
        if record.outcome == "ok":
            client.world.made(record)
    return record


ACTIONS: Mapping[str, Callable[[Client], Record]] = {
    action.__name__: action for action in (commit_task, merge_task)
}
