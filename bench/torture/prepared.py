"""What each repository of the torture begins with, for scenarios of one client."""

from typing import TYPE_CHECKING

from bench.torture import life_verdict
from bench.torture.gateway import SOURCES
from bench.torture.lives import BULK
from bench.torture.tasks import wait_until_none_is_open

if TYPE_CHECKING:
    from bench.torture.actions import Client
    from bench.torture.world import World

_UPLOADED, _COPIES = 40, 4
_OCTETS = {"Content-Type": "application/octet-stream"}


def prepare(world: "World", client: "Client") -> None:
    """Make a branch whose merges wait for a hook, a tag, and many objects on SOURCES."""
    body = {"name": world.held, "source": "main"}
    world.calm(client, "POST", world.url("/branches"), body=body, accepted=(201, 409))
    _put(world, client, world.held, "held/object", b"held")
    action = world.hooks.action("pre-merge", "hold")
    _put(world, client, world.held, "_lakefs_actions/hold.yaml", action)
    _commit(world, client, world.held)
    body = {"id": "first", "ref": world.first_commit}
    world.calm(client, "POST", world.url("/tags"), body=body, accepted=(201, 409))
    for number in range(_UPLOADED):
        _put(world, client, SOURCES, f"{BULK}0/{number}", f"bulk {number}".encode())
    url = world.url(f"/branches/{SOURCES}/objects/copy_prefix")
    for copy in range(1, _COPIES + 1):
        body = {"src_prefix": f"{BULK}0/", "if_exists": "skip"}
        query = {"dest_prefix": f"{BULK}{copy}/"}
        world.calm(client, "POST", url, query, body, accepted=(202,))
    wait_until_none_is_open(world, client, world.repository)
    _commit(world, client, SOURCES)
    world.lives.bulk = life_verdict.bulk_of(world, client)
    assert len(world.lives.bulk) == _UPLOADED * (_COPIES + 1), world.lives.bulk


def _put(world: "World", client: "Client", branch: str, path: str, data: bytes) -> None:
    url, query = world.url(f"/branches/{branch}/objects"), {"path": path}
    world.calm(client, "POST", url, query, data, headers=_OCTETS)


def _commit(world: "World", client: "Client", branch: str) -> None:
    body = {"message": f"prepared {branch}"}
    url = world.url(f"/branches/{branch}/commits")
    world.calm(client, "POST", url, body=body, accepted=(201, 400))
