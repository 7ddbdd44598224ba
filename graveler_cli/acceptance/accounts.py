"""Steps on users and their rights."""

import time

from graveler_cli.acceptance.api import CheckFailedError, SkippedError, expect_equal
from graveler_cli.acceptance.world import AcceptanceWorld, Thing

# Processes of the server cache a key for some seconds.
_WITHDRAWN_WITHIN_S = 30.0


def user_with_policy(world: AcceptanceWorld) -> None:
    """Create a user who may only read, check what it may and may not do, withdraw its key."""
    name = f"{world.repository}-user"
    thing = Thing(f"user {name}", f"/auth/users/{name}")
    made = world.create(thing, "/auth/users", {"id": name})
    if made.status == 401:
        raise SkippedError("this key pair may not manage users")
    if made.status == 501:
        raise SkippedError("this server does not manage users")
    made.expect(201)
    policy = f"{world.repository}-policy"
    statement = {
        "effect": "allow",
        "action": ["fs:Read*", "fs:List*"],
        "resource": f"arn:lakefs:fs:::repository/{world.repository}*",
    }
    thing = Thing(f"policy {policy}", f"/auth/policies/{policy}")
    body = {"id": policy, "statement": [statement]}
    world.create(thing, "/auth/policies", body).expect(201)
    pair = world.api.send("POST", f"/auth/users/{name}/credentials").expect(201)
    access_key_id = pair.text("access_key_id")
    user = world.api.as_user(access_key_id, pair.text("secret_access_key"))
    expect_equal("the user", user.send("GET", "/user").expect(200).value("user", "id"), name)
    user.send("GET", world.path).expect(401)
    world.api.send("PUT", f"/auth/users/{name}/policies/{policy}").expect(201)
    user.send("GET", world.path).expect(200)
    user.send("GET", f"{world.path}/refs/main/objects/ls").expect(200)
    refused = {"name": "by-a-reader", "source": "main"}
    user.send("POST", f"{world.path}/branches", refused).expect(401)
    world.api.send("GET", f"{world.path}/branches/by-a-reader").expect(404)
    wrong = world.api.as_user(access_key_id, "wrong")
    wrong.send("GET", world.path).expect(401)
    world.api.send("DELETE", f"/auth/users/{name}/credentials/{access_key_id}").expect(204)
    deadline_s = time.monotonic() + _WITHDRAWN_WITHIN_S
    while user.send("GET", world.path).expect(200, 401).status != 401:
        if time.monotonic() > deadline_s:
            raise CheckFailedError(f"a deleted key still works after {_WITHDRAWN_WITHIN_S:.0f} s")
        time.sleep(0.5)
