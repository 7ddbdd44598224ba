"""The step on wrong input: each request is refused by a 4xx, and none changes anything."""

from graveler_cli.acceptance.api import expect_equal
from graveler_cli.acceptance.world import AcceptanceWorld

_OBJECTS = "{repository}/branches/main/objects"

# Method, path, body, query, and the status.
_WRONG: tuple[tuple[str, str, object, dict[str, str], int], ...] = (
    ("POST", "/repositories", {"name": "UPPER", "storage_namespace": "s3://b/x"}, {}, 400),
    ("POST", "/repositories", {"name": "good-name"}, {}, 400),
    ("GET", "/repositories/graveler-acceptance-none", None, {}, 404),
    ("GET", "/no-such-operation", None, {}, 404),
    ("PATCH", "/repositories", None, {}, 405),
    ("POST", "{repository}/branches", {"name": "a b", "source": "main"}, {}, 400),
    ("POST", "{repository}/branches", {"name": "wrong", "source": "nowhere"}, {}, 404),
    ("POST", "{repository}/branches", {"name": 7, "source": "main"}, {}, 400),
    ("POST", "{repository}/branches/main/commits", {"message": "nothing staged"}, {}, 400),
    ("POST", "{repository}/branches/nowhere/commits", {"message": "m"}, {}, 404),
    ("POST", "{repository}/tags", {"id": "wrong", "ref": "main~99"}, {}, 404),
    ("POST", "{repository}/refs/main/merge/nowhere", {}, {}, 404),
    ("DELETE", "{repository}/branches/main", None, {}, 403),
    ("GET", "{repository}/refs/main/objects", None, {"path": "nothing"}, 404),
    ("GET", "{repository}/refs/main/objects", None, {}, 400),
    ("GET", "{repository}/refs/main/objects/ls", None, {"amount": "many"}, 400),
    ("DELETE", _OBJECTS, None, {}, 400),
    ("PUT", "{repository}/settings/gc_rules", {"default_retention_days": "x"}, {}, 400),
)


def refuse_wrong_input(world: AcceptanceWorld) -> None:
    """Send wrong names, bodies, refs, parameters and JSON; compare the refs before and after."""
    before = _refs(world)
    for method, path, body, query, status in _WRONG:
        url = path.replace("{repository}", world.path)
        world.api.send(method, url, body, query=query).expect(status).text("message")
    kind = {"Content-Type": "application/json"}
    broken = world.api.send("POST", f"{world.path}/branches", content=b'{"name":', headers=kind)
    broken.expect(400)
    expect_equal("the refs after the refusals", _refs(world), before)


def _refs(world: AcceptanceWorld) -> object:
    branches = world.api.send("GET", f"{world.path}/branches", amount="1000").expect(200)
    tags = world.api.send("GET", f"{world.path}/tags", amount="1000").expect(200)
    return branches.value("results"), tags.value("results")
