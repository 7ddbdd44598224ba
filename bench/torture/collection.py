"""A garbage collection beside clients that give old objects new names all the time.

The rules keep only heads, and objects are garbage after seconds. That is safe here: all uploads end
long before the collection begins, and there are none beside it. There are no blows, because a job
whose stores die ends without an effect.
"""

import re
import subprocess
import sys
import time
from collections.abc import Callable

from bench.torture import life_requests
from bench.torture.client import Client, calm_client
from bench.torture.life_requests import scenario
from bench.torture.lives import OWN, Life
from bench.torture.world import World
from graveler_embedded.config import ROOT

_PREPARE_S = 6.0
_MINIMUM_AGE_S = 4
_JOB_S_MAX = 600
_OBJECTS = 6


def run(world: World) -> str:
    """Wait until clients are prepared, and run the job; return its result as a text."""
    client = calm_client(world)
    rules = {"default_retention_days": 0, "branches": []}
    world.calm(client.http, "PUT", world.url("/settings/gc_rules"), body=rules)
    time.sleep(_PREPARE_S + _MINIMUM_AGE_S)
    world.collection.begins.set()
    options = ("--repository", world.repository, "--debug-minimum-age-s", f"{_MINIMUM_AGE_S}")
    try:
        job = subprocess.run(
            (sys.executable, "-m", "graveler_embedded.job", "garbage-collection", *options),
            env=world.stack.environment,
            cwd=ROOT,
            capture_output=True,
            text=True,
            timeout=_JOB_S_MAX,
            check=False,
        )
    finally:
        world.collection.over.set()
    deleted = re.search(r"deleted +(\d+ objects)", job.stdout)
    if job.returncode or deleted is None:
        output = (job.stdout + job.stderr)[-2000:]
        world.ledger.problem(f"the collection ended with {job.returncode}:\n{output}")
    return f"collection of {deleted[1] if deleted else 'nothing'}"


@scenario
def collected(client: Client) -> None:
    """Rename old objects and their branch while a collection runs."""
    collection = client.world.collection
    if collection.begins.is_set():
        collection.over.wait(1.0)
        return
    life = life_requests.begin(client, client.world.first_commit)
    for number in range(2 * _OBJECTS):
        life_requests.write(client, life)
        if number == _OBJECTS:
            life_requests.commit(client, life)
    garbage = life_requests.write(client, life)  # something to collect, in any case
    _delete(client, life, garbage)
    life.objects.pop(garbage)
    collection.begins.wait()
    while not collection.over.is_set():
        life = client.chance.choice(_MOVES)(client, life)
        time.sleep(client.chance.choice((0.0, 0.05, 0.3)))


def _delete(client: Client, life: Life, path: str) -> None:
    record = client.record("life_delete_object", "", life.branch, path)
    url, query = f"/branches/{life.branch}/objects", {"path": path}
    life_requests.sure(client, life, record, "DELETE", url, (204,), query=query)


def _path(client: Client, life: Life) -> str:
    return client.chance.choice(sorted(life.objects))


def rename(client: Client, life: Life) -> Life:
    """Give an object another name by a copy, and delete the old one."""
    path, record = _path(client, life), client.record("life_copy", "", life.branch, "")
    url, query = f"/branches/{life.branch}/objects/copy", {"dest_path": f"{OWN}{record.id}"}
    life_requests.sure(client, life, record, "POST", url, (201,), {"src_path": path}, query)
    _delete(client, life, path)
    life.objects[query["dest_path"]] = life.objects.pop(path)
    return life


def _rename_by_hand(client: Client, life: Life) -> Life:
    """Stage an object's address under another name, and delete the old one."""
    path, record = _path(client, life), client.record("life_stage", "", life.branch, "")
    got = client.record("life_stat", "", life.branch, path)
    stat = life_requests.sure(
        client, life, got, "GET", f"/refs/{life.branch}/objects/stat", (200,), query={"path": path}
    )
    body = {name: stat.json[name] for name in ("physical_address", "checksum", "size_bytes")}
    url, query = f"/branches/{life.branch}/objects", {"path": f"{OWN}{record.id}"}
    life_requests.sure(client, life, record, "PUT", url, (201,), body, query)
    _delete(client, life, path)
    life.objects[query["path"]] = life.objects.pop(path)
    return life


def _describe(client: Client, life: Life) -> Life:
    """Give an object metadata, and perhaps reset everything else."""
    path, record = _path(client, life), client.record("life_describe", "", life.branch, "")
    url = f"/branches/{life.branch}/objects/stat/user_metadata"
    body = {"set": {"by": record.id}}
    life_requests.sure(client, life, record, "PUT", url, (204,), body, {"path": path})
    if client.chance.random() < 0.2:
        kept = life.objects[path]
        if life_requests.reset(client, life):
            life.objects = {path: kept}
    return life


def _commit(client: Client, life: Life) -> Life:
    life_requests.commit(client, life)
    return life


def _rename_branch(client: Client, life: Life) -> Life:
    """Commit, create another branch at the head, and delete this one."""
    life_requests.commit(client, life)
    other = life_requests.begin(client, life.branch)
    other.commits, other.objects = life.commits | other.commits, dict(life.objects)
    other.is_exact = life.is_exact
    life_requests.end(client, life)
    return other


_MOVES: tuple[Callable[[Client, Life], Life], ...] = (
    *(rename, _rename_by_hand, _rename_by_hand, _describe, _describe, _commit, _rename_branch),
)
ACTIONS = {collected.__name__: collected}
