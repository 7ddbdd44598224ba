"""The requests on branches that one client has for itself: creation, writes, commits, end."""

from collections.abc import Callable
from contextlib import suppress
from functools import wraps
from typing import Any

from bench.torture.client import Client
from bench.torture.history import Record
from bench.torture.http_client import Reply
from bench.torture.ledger import md5
from bench.torture.lives import OWN, Life
from bench.torture.world import SOURCES

# A request waits for a task with hooks.
PATIENCE_S = 30.0


class DoubtError(Exception):
    """A request was refused, or its answer lost, so the branch's state is unknown."""


def scenario(play: Callable[[Client], None]) -> Callable[[Client], Record | None]:
    """Make an action of a scenario, which ends at the first doubt."""

    @wraps(play)
    def action(client: Client) -> Record | None:
        with suppress(DoubtError):
            play(client)
        return client.records[-1] if client.records else None

    return action


def sure(
    client: Client,
    life: Life,
    record: Record,
    method: str,
    url: str,
    accepted: tuple[int, ...],
    body: object = None,
    query: dict[str, Any] | None = None,
    headers: dict[str, str] | None = None,
    timeout_s: float = 0.0,
) -> Reply:
    """Send a request. Other answers put the life in doubt, and a refusal is a problem.

    Raises:
        DoubtError: the answer is not an accepted one.
    """
    state, life.state = life.state, "in doubt"
    reply = client.ask(record, method, url, query, body, headers, timeout_s)
    if reply.status in accepted:
        life.state = state
        return reply
    if not reply.is_unknown:
        client.world.ledger.problem(f"{record} was answered {reply.status} {reply.message}")
    raise DoubtError


def begin(client: Client, source: str, name: str = "") -> Life:
    """Create a branch, and give it its first commit.

    Raises:
        DoubtError: it is unknown whether it exists.
    """
    named = client.record("life_create", "", name or "new", "")
    life = Life(name or f"life-{named.id.replace('.', '-')}")
    named.branch = life.branch
    client.world.lives.of_round.append(life)
    body = {"name": life.branch, "source": source}
    sure(client, life, named, "POST", "/branches", (201,), body)
    # In doubt until it has its birth: without one, its commits cannot be attributed to it.
    life.birth = commit(client, life, allow_empty=True)
    client.world.lives.births[life.birth] = life
    return life


def commit(client: Client, life: Life, *, allow_empty: bool = False) -> str:
    """Commit, and return the commit's ID, "" if there was nothing to commit."""
    record = client.record("life_commit", "", life.branch, "")
    body = {"message": f"#{record.id}", "allow_empty": allow_empty}
    url = f"/branches/{life.branch}/commits"
    accepted = (201,) if allow_empty else (201, 400)
    reply = sure(client, life, record, "POST", url, accepted, body, timeout_s=PATIENCE_S)
    return acknowledged(life, record, reply.json["id"]) if reply.status == 201 else ""


def acknowledged(life: Life, record: Record, commit_id: str) -> str:
    """Note that the branch has the commit."""
    record.commit_id = commit_id
    life.commits[commit_id] = record
    return commit_id


def write(client: Client, life: Life, path: str = "", data: bytes = b"") -> str:
    """Upload an object of its own; return the path."""
    record = client.record("life_upload", "", life.branch, "")
    record.paths = (path or f"{OWN}{record.id}",)
    data = data or client.unique()
    url = f"/branches/{life.branch}/objects"
    headers = {"Content-Type": "application/octet-stream"}
    sure(client, life, record, "POST", url, (201,), data, {"path": record.paths[0]}, headers)
    if not path:
        life.objects[record.paths[0]] = md5(data)
    return record.paths[0]


def delete(client: Client, life: Life) -> None:
    record = client.record("life_delete", "", life.branch, "")
    sure(client, life, record, "DELETE", f"/branches/{life.branch}", (204,))
    life.state = "gone"


def end(client: Client, life: Life) -> None:
    """Delete the branch for good."""
    delete(client, life)
    client.world.lives.gone.append(client.world.url(f"/branches/{life.branch}"))


def replaced(client: Client, life: Life, source: str = "") -> Life:
    """Delete the branch, and create another of its name."""
    delete(client, life)
    return begin(client, source or client.world.first_commit, life.branch)


def reset(client: Client, life: Life) -> bool:
    """Reset the branch to its birth; return False if uncommitted changes forbid that."""
    record = client.record("life_hard_reset", "", life.branch, "")
    url, query = f"/branches/{life.branch}/hard_reset", {"ref": life.birth}
    if sure(client, life, record, "PUT", url, (204, 400), query=query).status == 400:
        return False
    life.is_reset, life.is_exact = True, False
    life.commits = {life.birth: life.commits[life.birth]}
    life.objects = {}
    return True


def source_of(client: Client, kind: str) -> str:
    """Return the ref at which a life begins, for a task of the kind."""
    return SOURCES if kind in ("copy", "move") else client.world.first_commit
