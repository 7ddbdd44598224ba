"""The actions of clients that leave commits and merges of the shared branches to tasks.

The checker takes them for commits and merges that last until their task has ended.
"""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from bench.torture import tasks
from bench.torture.history import Record

if TYPE_CHECKING:
    from bench.torture.actions import Client


def commit_task(client: "Client") -> Record:
    record = client.record("commit_task", "commit", client.upload().branch)
    return _go_on(client, record, tasks.start_commit(client, record))


def merge_task(client: "Client") -> Record:
    branch = client.a_branch()
    client.commit(branch)  # merges need a clean branch
    record = client.record("merge_task", "move", branch)
    other = "dev" if branch == "main" else "main"
    source = client.chance.choice((other, other, client.a_commit()[0]))
    return _go_on(client, record, tasks.start_merge(client, record, source))


def _go_on(client: "Client", record: Record, task: tasks.StartedTask | None) -> Record:
    """Wait for the task, cancel it, or leave it to itself."""
    what = client.chance.choice(("follow", "follow", "follow", "cancel", "leave"))
    if task is not None and what == "cancel":
        tasks.cancel(client, task)
    elif task is not None and what == "follow":
        tasks.follow(client, task)
        if record.outcome == "ok":
            client.world.made(record)
    return record


ACTIONS: Mapping[str, Callable[["Client"], Record]] = {
    action.__name__: action for action in (commit_task, merge_task)
}
