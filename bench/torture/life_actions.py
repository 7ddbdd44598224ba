"""Scenarios on branches of one client each: deletions, renames and resets beside tasks."""

import time
from collections.abc import Callable, Mapping
from functools import partial

from bench.torture import life_requests, tasks
from bench.torture.client import Client
from bench.torture.history import Record
from bench.torture.life_requests import DoubtError, scenario
from bench.torture.lives import BULK, Life, LifeTask
from bench.torture.world import SOURCES

_KINDS = ("commit", "commit", "merge", "merge", "copy", "move")


def _work(client: Client, life: Life, kind: str) -> LifeTask:
    """Start a task on the life.

    Raises:
        DoubtError: no answer says that it exists.
    """
    if kind == "commit":
        life_requests.write(client, life)
    record = client.record(f"life_{kind}_task", "", life.branch, "")
    prefix = f"{kind}-{record.id}/"
    if kind == "commit":
        task = tasks.start_commit(client, record)
    elif kind == "merge":
        task = tasks.start_merge(client, record, SOURCES)
    else:
        url = f"/branches/{life.branch}/objects/{kind}_prefix"
        query, body = {"dest_prefix": prefix}, {"src_prefix": BULK}
        task = tasks.start(client, record, url, query, body)
    if task is None:
        life.state = "in doubt"
        raise DoubtError
    work = LifeTask(task, kind, prefix if kind in ("copy", "move") else "")
    life.tasks.append(work)
    return work


def _pause(client: Client) -> None:
    time.sleep(client.chance.choice((0.0, 0.0, 0.02, 0.1, 0.5)))


def _begun(client: Client) -> tuple[Life, str]:
    """Begin a life for a kind of task; return both."""
    kind = client.chance.choice(_KINDS)
    life = life_requests.begin(client, life_requests.source_of(client, kind))
    return life, kind


@scenario
def life_recreated(client: Client) -> None:
    """Delete a branch under its task, and create another of the name."""
    life, kind = _begun(client)
    _work(client, life, kind)
    _pause(client)
    other = life_requests.replaced(client, life, life_requests.source_of(client, kind))
    life_requests.write(client, other)
    _pause(client)
    if client.chance.random() < 0.5:
        life_requests.commit(client, other)


@scenario
def life_ended(client: Client) -> None:
    """Delete a branch under its task for good."""
    life, kind = _begun(client)
    _work(client, life, kind)
    _pause(client)
    life_requests.end(client, life)


@scenario
def life_renamed(client: Client) -> None:
    """Rename a branch under its task: create the new name at the head, delete the old one."""
    life, kind = _begun(client)
    life_requests.write(client, life)
    life_requests.commit(client, life)
    kept, committed = dict(life.commits), dict(life.objects)
    _work(client, life, kind)
    _pause(client)
    other = life_requests.begin(client, life.branch, f"{life.branch}-renamed")
    other.commits, other.objects, other.is_exact = kept | other.commits, committed, False
    _pause(client)
    life_requests.end(client, life)
    life_requests.write(client, other)
    life_requests.commit(client, other)


@scenario
def life_reset(client: Client) -> None:
    """Reset a branch hard under its task, then write and commit."""
    life, kind = _begun(client)
    life_requests.write(client, life)
    life_requests.commit(client, life)
    _work(client, life, kind)
    _pause(client)
    life_requests.reset(client, life)
    life_requests.write(client, life)
    life_requests.commit(client, life)


@scenario
def life_cancelled(client: Client) -> None:
    """Cancel a task, and perhaps replace its branch."""
    life, kind = _begun(client)
    work = _work(client, life, kind)
    _pause(client)
    tasks.cancel(client, work.task)
    if client.chance.random() < 0.3:
        _pause(client)
        life_requests.write(
            client, life_requests.replaced(client, life, life_requests.source_of(client, kind))
        )


@scenario
def life_transfer(client: Client) -> None:
    """Copy or move many objects, with writes and a commit beside it."""
    life = life_requests.begin(client, SOURCES)
    _work(client, life, client.chance.choice(("copy", "move")))
    for _ in range(client.chance.choice((0, 1, 3))):
        life_requests.write(client, life)
        _pause(client)
        life_requests.commit(client, life)


@scenario
def life_called_back(client: Client) -> None:
    """Repeat a merge that was answered 503, when the branch has been replaced or reset."""
    world = client.world
    life = life_requests.begin(client, world.first_commit)
    world.hooks.hold(life.branch)
    try:
        record = client.record("life_merge", "", life.branch, "")
        url, body = f"/refs/{world.held}/merge/{life.branch}", {"message": f"#{record.id}"}
        again = {"graveler-task": ":3"}  # of a client that has followed all redirects
        reply = client.ask(record, "POST", url, again, body, timeout_s=life_requests.PATIENCE_S)
    finally:
        world.hooks.release(life.branch)
    if reply.status != 503 or not _ends(client, life):
        life.state = "in doubt"
        raise DoubtError
    if client.chance.random() < 0.5:
        life = life_requests.replaced(client, life)
    else:
        life_requests.reset(client, life)
    repeated = client.record("life_merge_again", "", life.branch, "")
    ask = partial(life_requests.sure, client, life, repeated, "POST", url, (200, 307, 400), body)
    reply = ask(timeout_s=life_requests.PATIENCE_S)
    if reply.status == 200:
        life_requests.acknowledged(life, repeated, reply.json["reference"])


def _ends(client: Client, life: Life) -> bool:
    """Wait until the only task of the branch has ended; return whether it is complete."""
    end_s = time.monotonic() + 15.0
    while time.monotonic() < end_s:
        listed = client.record("task_list", "", life.branch, "")
        reply = client.ask(listed, "GET", "/tasks", {"amount": 200})
        rows = reply.json["results"] if reply.status == 200 else ()
        states = [row["state"] for row in rows if row.get("branch") == life.branch]
        if states and states[0] in ("completed", "failed", "cancelled"):
            return bool(states[0] == "completed")
        time.sleep(0.3)
    return False


ACTIONS: Mapping[str, Callable[[Client], Record | None]] = {
    action.__name__: action
    for action in (
        *(life_recreated, life_ended, life_renamed, life_reset, life_cancelled, life_transfer),
        life_called_back,
    )
}
