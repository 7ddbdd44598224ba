"""The initial content of each repository."""

from random import Random

from bench.torture import life_verdict
from bench.torture.client import Client, calm_client
from bench.torture.lives import BULK
from bench.torture.tasks import wait_until_none_is_open
from bench.torture.world import HOT, SOURCES, World
from graveler_embedded.stores import BUCKET

_UPLOADED, _COPIES = 40, 4
_OCTETS = {"Content-Type": "application/octet-stream"}


def begin_repository(world: World, number: int) -> None:
    """Create a new repository with its branches, without faults."""
    chance = Random(f"{world.seed} repository {number}")
    world.repository = f"torture-{number}"
    world.paths = tuple(f"{HOT}{name}" for name in "abcd"[: chance.choice((2, 2, 3, 3, 4))])
    client = calm_client(world)
    body = {"name": world.repository, "storage_namespace": f"s3://{BUCKET}/{world.repository}"}
    world.calm(client.http, "POST", "/repositories", body=body, accepted=(201, 409))
    for name in ("dev", SOURCES):
        body = {"name": name, "source": "main"}
        world.calm(client.http, "POST", world.url("/branches"), body=body, accepted=(201, 409))
    head = world.head(client.http, "main")
    assert head is not None
    world.reset(head)
    _prepare(world, client)


def _prepare(world: World, client: Client) -> None:
    """Make a branch whose merges wait for a hook, a tag, and many objects on SOURCES."""
    body = {"name": world.held, "source": "main"}
    world.calm(client.http, "POST", world.url("/branches"), body=body, accepted=(201, 409))
    _put(world, client, world.held, "held/object", b"held")
    action = world.hooks.action("pre-merge", "hold")
    _put(world, client, world.held, "_lakefs_actions/hold.yaml", action)
    _commit(world, client, world.held)
    body = {"id": "first", "ref": world.first_commit}
    world.calm(client.http, "POST", world.url("/tags"), body=body, accepted=(201, 409))
    for number in range(_UPLOADED):
        _put(world, client, SOURCES, f"{BULK}0/{number}", f"bulk {number}".encode())
    url = world.url(f"/branches/{SOURCES}/objects/copy_prefix")
    for copy in range(1, _COPIES + 1):
        body = {"src_prefix": f"{BULK}0/", "if_exists": "skip"}
        query = {"dest_prefix": f"{BULK}{copy}/"}
        world.calm(client.http, "POST", url, query, body, accepted=(202,))
    wait_until_none_is_open(world, client, world.repository)
    _commit(world, client, SOURCES)
    world.lives.bulk = life_verdict.bulk_of(world, client)
    assert len(world.lives.bulk) == _UPLOADED * (_COPIES + 1), world.lives.bulk


def _put(world: World, client: Client, branch: str, path: str, data: bytes) -> None:
    url, query = world.url(f"/branches/{branch}/objects"), {"path": path}
    world.calm(client.http, "POST", url, query, data, headers=_OCTETS)


def _commit(world: World, client: Client, branch: str) -> None:
    body = {"message": f"prepared {branch}"}
    url = world.url(f"/branches/{branch}/commits")
    world.calm(client.http, "POST", url, body=body, accepted=(201, 400))
