"""The checks of lives, their tasks and deleted names at the end of a round."""

from bench.torture.client import Client
from bench.torture.lives import BULK, OWN, Life, LifeTask
from bench.torture.verdict import log
from bench.torture.world import SOURCES, World

# A move that did not complete leaves so many at both paths.
_STEP_OBJECTS_MAX = 96


def check(world: World, client: Client) -> int:
    """Check all lives of the round, and end them; return their number. Tasks have settled."""
    lives = world.lives.of_round
    for life in lives:
        for work in life.tasks:
            _check_task(world, life, work)
    for life in lives:
        if life.state == "alive" and _check_history(world, client, life):
            _check_objects(world, client, life)
    _check_gone(world, client)
    for name in sorted({life.branch for life in lives if life.state != "gone"}):
        world.calm(client.http, "DELETE", world.url(f"/branches/{name}"), accepted=(204, 404))
    for name in world.lives.restored:
        world.calm(client.http, "DELETE", f"/repositories/{name}", accepted=(204, 404))
    world.lives.end_round()
    world.tasks = []
    return len(lives)


def _check_gone(world: World, client: Client) -> None:
    """Check that names stay deleted."""
    for url in world.lives.gone:
        reply = world.calm(client.http, "GET", url, accepted=(200, 404))
        if reply.status != 404:
            world.ledger.problem(f"{url} was deleted, and is there again: {reply.json}")


def _check_task(world: World, life: Life, work: LifeTask) -> None:
    """Check that a completed task made its commit on this life, and that any other made none."""
    task = work.task
    label = f"task {task.id} ({task.record.id}, {task.state}) of {life.branch}"
    made = world.journal.by_message.get((world.repository, f"#{task.record.id}"), [])
    found = [commit.id for commit in made]
    if task.state != "completed" and found:
        world.ledger.problem(f"{label} made {found}")
    if task.state != "completed" or work.kind not in ("commit", "merge"):
        return
    commit_id = task.result.get("commit_id", "")
    if found != [commit_id]:
        world.ledger.problem(f"{label} says {commit_id}, and events tell of {found}")
    owner = owner_of(world, commit_id)
    if owner is not life and life.birth:
        other = owner.birth if owner else "none"
        world.ledger.problem(f"{label} has changed the branch of birth {other}, not {life.birth}")


def owner_of(world: World, commit_id: str) -> Life | None:
    """Return the life on which the commit was made: that of its nearest birth in the history."""
    while True:
        if (life := world.lives.births.get(commit_id)) is not None:
            return life
        commit = world.journal.commits.get((world.repository, commit_id))
        if commit is None:
            return None
        commit_id = commit.parent


def _check_history(world: World, client: Client, life: Life) -> bool:
    """Check that the branch exists and has every acknowledged commit, also those of tasks."""
    head = world.head(client.http, life.branch)
    if head is None:
        world.ledger.problem(f"branch {life.branch} of birth {life.birth} is gone")
        return False
    wanted = {commit_id: f"{record.id} {record.name}" for commit_id, record in life.commits.items()}
    if not life.is_reset:
        wanted |= {
            work.task.result["commit_id"]: f"task {work.task.id}"
            for work in life.tasks
            if work.task.state == "completed" and work.kind in ("commit", "merge")
        }
    logged = set(log(world, client, head))
    for commit_id, origin in wanted.items():
        if commit_id not in logged:
            world.ledger.problem(f"the log of {life.branch} has no {commit_id} of {origin}")
    return True


def _check_objects(world: World, client: Client, life: Life) -> None:
    """Check that the branch has its own objects, those of its tasks, and no others."""
    found = _objects(world, client, life.branch)
    for path in life.objects if world.is_collected else ():
        query = {"path": path}
        url, accepted = world.url(f"/refs/{life.branch}/objects"), (200, 302, 404, 410)
        reply = world.calm(client.http, "GET", url, query, accepted=accepted)
        if reply.status not in (200, 302):
            world.ledger.problem(f"{life.branch} has lost {path}: {reply.status} {reply.message}")
    own = {path: checksum for path, checksum in found.items() if path.startswith(OWN)}
    for path, checksum in life.objects.items():
        if own.get(path) != checksum:
            world.ledger.problem(f"{life.branch} has {own.get(path)} at {path}, not {checksum}")
    for path in sorted(own.keys() - life.objects.keys()) if life.is_exact else ():
        world.ledger.problem(f"{life.branch} has {path}, which nobody wrote there")
    _check_transfers(world, life, found)


def _check_transfers(world: World, life: Life, found: dict[str, str]) -> None:
    bulk, works = world.lives.bulk, [work for work in life.tasks if work.prefix]
    strange = []
    for path, checksum in found.items():
        prefix, _, name = path.partition("/")
        if not prefix.startswith(("copy-", "move-")):
            continue
        if f"{prefix}/" not in [work.prefix for work in works]:
            strange.append(path)
        elif bulk.get(name) != checksum:
            world.ledger.problem(f"{life.branch} has {checksum} at {path}, not {bulk.get(name)}")
    if strange:
        text = f"{len(strange)} objects of tasks of another branch, such as {strange[0]}"
        world.ledger.problem(f"{life.branch} has {text}")
    for work in works if life.is_exact else ():
        _check_transfer(world, life, work, found)


def _check_transfer(world: World, life: Life, work: LifeTask, found: dict[str, str]) -> None:
    label = f"task {work.task.id} ({work.kind}, {work.task.state}) of {life.branch}"
    at_both = 0
    for name in world.lives.bulk:
        is_behind, is_ahead = f"{BULK}{name}" in found, f"{work.prefix}{name}" in found
        if work.kind == "copy":
            is_right = is_behind and (is_ahead or work.task.state != "completed")
        elif work.task.state == "completed":
            is_right = is_ahead and not is_behind
        else:
            at_both += is_ahead and is_behind
            is_right = (is_ahead or is_behind) and at_both <= _STEP_OBJECTS_MAX
        if not is_right:
            world.ledger.problem(f"{label} left {name} {is_behind=} {is_ahead=}")
            return


def _objects(world: World, client: Client, branch: str) -> dict[str, str]:
    """Return the checksums of all objects of the branch."""
    found: dict[str, str] = {}
    after = ""
    while True:
        query = {"amount": 1000, "after": after}
        reply = world.calm(client.http, "GET", world.url(f"/refs/{branch}/objects/ls"), query).json
        found |= {row["path"]: row["checksum"] for row in reply["results"]}
        if not reply["pagination"]["has_more"]:
            return found
        after = reply["pagination"]["next_offset"]


def bulk_of(world: World, client: Client) -> dict[str, str]:
    """Return the checksums of the objects that lives copy and move, by name below BULK."""
    found = _objects(world, client, SOURCES)
    return {path[len(BULK) :]: each for path, each in found.items() if path.startswith(BULK)}
