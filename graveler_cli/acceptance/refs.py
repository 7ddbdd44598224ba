"""Steps on commits and refs: the work with branches, tags and history."""

from graveler_cli.acceptance.api import expect_among, expect_equal
from graveler_cli.acceptance.world import AcceptanceWorld


def commit_and_log(world: AcceptanceWorld) -> None:
    """Commit staged changes; read the commit from the log and by its ID."""
    branch = world.create_branch("commits")
    first = world.head("commits")
    world.upload("commits", "a", b"1")
    staged = world.api.send("GET", f"{branch}/diff").expect(200)
    expect_equal("the uncommitted changes", staged.each("path"), ["a"])
    body = {"message": "first", "metadata": {"run": world.run_id}}
    made = world.api.send("POST", f"{branch}/commits", body).expect(201)
    commit = made.text("id")
    expect_equal("the commit's parents", made.value("parents"), [first])
    expect_equal("the branch's head", world.head("commits"), commit)
    found = world.api.send("GET", f"{world.path}/commits/{commit}").expect(200)
    expect_equal("the commit's message", found.value("message"), "first")
    expect_equal("the commit's metadata", found.value("metadata"), {"run": world.run_id})
    if world.user:
        expect_equal("the committer", found.value("committer"), world.user)
    staged = world.api.send("GET", f"{branch}/diff").expect(200)
    expect_equal("the changes after the commit", staged.each("path"), [])
    world.api.send("POST", f"{branch}/commits", {"message": "nothing"}).expect(400)
    world.upload("commits", "a", b"2")
    second = world.commit("commits", "second")
    log = world.api.send("GET", f"{world.path}/refs/commits/commits", amount="2").expect(200)
    expect_equal("the log", log.each("id"), [second, commit])
    world.expect_content(commit, "a", b"1")
    world.expect_content("commits~1", "a", b"1")
    world.expect_content("commits", "a", b"2")
    world.read(first, "a").expect(404)


def branch_in_isolation(world: AcceptanceWorld) -> None:
    """Create a branch, change it without effect on its source, reset and delete it."""
    branch = world.create_branch("isolated")
    world.upload("isolated", "only-here", b"1")
    world.read("main", "only-here").expect(404)
    world.commit("isolated", "only here")
    world.read("main", "only-here").expect(404)
    listed = world.api.send("GET", f"{world.path}/branches", prefix="isolated").expect(200)
    expect_equal("the branches", listed.each("id"), ["isolated"])
    again = {"name": "isolated", "source": "main"}
    world.api.send("POST", f"{world.path}/branches", again).expect(409)
    world.upload("isolated", "only-here", b"2")
    world.api.send("PUT", branch, {"type": "reset"}).expect(204)
    world.expect_content("isolated", "only-here", b"1")
    world.api.send("DELETE", branch).expect(204)
    world.api.send("GET", branch).expect(404)


def diff(world: AcceptanceWorld) -> None:
    """Compare two refs: added, changed and removed objects, and no others."""
    world.create_branch("left")
    for path in ("changed", "removed", "same"):
        world.upload("left", path, b"1")
    world.commit("left", "base")
    right = world.create_branch("right", "left")
    world.upload("right", "changed", b"2")
    world.upload("right", "added", b"2")
    world.api.send("DELETE", f"{right}/objects", path="removed").expect(204)
    world.commit("right", "changes")
    found = world.api.send("GET", f"{world.path}/refs/left/diff/right").expect(200)
    changes = dict(zip(found.each("path"), found.each("type"), strict=True))
    expected = {"added": "added", "changed": "changed", "removed": "removed"}
    expect_equal("the differences", changes, expected)


def merge(world: AcceptanceWorld) -> None:
    """Merge a branch once: its changes arrive, and those of the destination stay."""
    world.create_branch("destination")
    world.create_branch("source", "destination")
    world.upload("source", "theirs", b"theirs")
    theirs = world.commit("source", "theirs")
    world.upload("destination", "ours", b"ours")
    ours = world.commit("destination", "ours")
    url = f"{world.path}/refs/source/merge/destination"
    merged = world.api.send("POST", url, {"message": "merged"}).expect(200).text("reference")
    expect_equal("the head after the merge", world.head("destination"), merged)
    found = world.api.send("GET", f"{world.path}/commits/{merged}").expect(200)
    expect_equal("the parents of the merge", found.value("parents"), [ours, theirs])
    for path in ("ours", "theirs"):
        world.expect_content("destination", path, path.encode())
    world.read("source", "ours").expect(404)


def merge_conflict(world: AcceptanceWorld) -> None:
    """Refuse a merge with a conflict, which changes nothing; then let one side win."""
    world.create_branch("one")
    world.upload("one", "x", b"0")
    world.commit("one", "base")
    world.create_branch("two", "one")
    for branch in ("one", "two"):
        world.upload(branch, "x", branch.encode())
        world.commit(branch, f"by {branch}")
    before = world.head("one")
    url = f"{world.path}/refs/two/merge/one"
    world.api.send("POST", url, {}).expect(409)
    expect_equal("the head after a refused merge", world.head("one"), before)
    world.expect_content("one", "x", b"one")
    world.api.send("POST", url, {"strategy": "source-wins"}).expect(200)
    world.expect_content("one", "x", b"two")


def pull_request(world: AcceptanceWorld) -> None:
    """Create a pull request and merge it."""
    world.create_branch("proposed")
    world.create_branch("reviewed")
    world.upload("proposed", "p", b"proposal")
    world.commit("proposed", "proposal")
    body = {"title": "t", "source_branch": "proposed", "destination_branch": "reviewed"}
    made = world.api.send("POST", f"{world.path}/pulls", body).expect(201).text("id")
    pull = f"{world.path}/pulls/{made}"
    world.api.send("PUT", f"{pull}/merge").expect(200)
    found = world.api.send("GET", pull).expect(200)
    expect_equal("the state of the pull request", found.value("status"), "merged")
    expect_equal("its commit", found.value("merged_commit_id"), world.head("reviewed"))
    world.expect_content("reviewed", "p", b"proposal")


def tag(world: AcceptanceWorld) -> None:
    """Tag a commit, read by the tag after the branch has moved, and delete the tag."""
    world.create_branch("tagged")
    world.upload("tagged", "a", b"1")
    commit = world.commit("tagged", "release")
    body = {"id": "v1", "ref": "tagged"}
    made = world.api.send("POST", f"{world.path}/tags", body).expect(201)
    expect_equal("the commit of the tag", made.value("commit_id"), commit)
    world.api.send("POST", f"{world.path}/tags", body).expect(409)
    world.upload("tagged", "a", b"2")
    world.commit("tagged", "later")
    world.expect_content("v1", "a", b"1")
    listed = world.api.send("GET", f"{world.path}/tags").expect(200)
    expect_among("the tags", ["v1"], listed.each("id"))
    world.api.send("DELETE", f"{world.path}/tags/v1").expect(204)
    world.api.send("GET", f"{world.path}/tags/v1").expect(404)


def revert_and_cherry_pick(world: AcceptanceWorld) -> None:
    """Revert a commit, then restore its change by cherry-pick."""
    branch = world.create_branch("reverted")
    world.upload("reverted", "a", b"1")
    world.commit("reverted", "good")
    world.upload("reverted", "a", b"2")
    bad = world.commit("reverted", "bad")
    body = {"ref": bad, "parent_number": 0}
    world.api.send("POST", f"{branch}/revert", body).expect(204)
    world.expect_content("reverted", "a", b"1")
    picked = world.api.send("POST", f"{branch}/cherry-pick", {"ref": bad}).expect(201)
    expect_equal("the head after the cherry-pick", world.head("reverted"), picked.text("id"))
    world.expect_content("reverted", "a", b"2")


def protect_branch(world: AcceptanceWorld) -> None:
    """Refuse writes, commits, reverts and its deletion on a protected branch; let a merge pass."""
    protected = world.create_branch("stable")
    world.create_branch("feature")
    rules = f"{world.path}/settings/branch_protection"
    world.api.send("PUT", rules, [{"pattern": "stable"}]).expect(204)
    found = world.api.send("GET", rules).expect(200)
    expect_equal("the protection rules", found.value(), [{"pattern": "stable"}])
    target = f"{protected}/objects"
    kind = {"Content-Type": "application/octet-stream"}
    refused = world.api.send("POST", target, content=b"1", headers=kind, path="a")
    refused.expect(403)
    world.api.send("POST", f"{protected}/commits", {"message": "m"}).expect(403)
    undone = {"ref": "stable", "parent_number": 1}
    world.api.send("POST", f"{protected}/revert", undone).expect(403)
    world.api.send("DELETE", protected).expect(403)
    world.upload("feature", "a", b"reviewed")
    world.commit("feature", "feature")
    world.api.send("POST", f"{world.path}/refs/feature/merge/stable", {}).expect(200)
    world.expect_content("stable", "a", b"reviewed")
    world.api.send("PUT", rules, []).expect(204)
