"""Steps on work that a deployment does in the background: hooks, tasks, imports, exports, dumps."""

import secrets

from graveler_cli.acceptance.api import (
    CheckedAnswer,
    CheckFailedError,
    SkippedError,
    expect_among,
    expect_equal,
)
from graveler_cli.acceptance.world import AcceptanceWorld

# No host has a name below .invalid (RFC 2606), so this hook fails and reaches no server.
_ACTION = """\
name: acceptance
on:
  pre-commit:
    branches: [hooked]
hooks:
  - id: refuse
    type: webhook
    properties:
      url: https://graveler-acceptance.invalid/
      timeout: 5s
"""
_ACTION_FILE = "_lakefs_actions/acceptance.yaml"


def refuse_commit_by_hook(world: AcceptanceWorld) -> None:
    """Let an action file refuse a commit, find the run, and commit without the file."""
    branch = world.create_branch("hooked")
    before = world.head("hooked")
    world.upload("hooked", "a", b"1")
    world.upload("hooked", _ACTION_FILE, _ACTION.encode())
    refused = world.api.send("POST", f"{branch}/commits", {"message": "guarded"})
    if refused.status == 201:
        raise CheckFailedError(
            "a commit that its pre-commit hook must refuse was made: hooks do not run; if the "
            "deployment ignores actions on purpose, add --skip refuse-commit-by-hook"
        )
    refused.expect(412)
    expect_equal("the head after the refusal", world.head("hooked"), before)
    runs = world.api.send("GET", f"{world.path}/actions/runs").expect(200)
    expect_among("the runs of hooks", ["failed"], runs.each("status"))
    world.api.send("DELETE", f"{branch}/objects", path=_ACTION_FILE).expect(204)
    world.commit("hooked", "not guarded")
    world.expect_content("hooked", "a", b"1")


def commit_by_task(world: AcceptanceWorld) -> None:
    """Start a commit as a task, wait for it, and find it in the list of tasks."""
    branch = world.create_branch("by-task")
    world.upload("by-task", "a", b"1")
    started = world.api.send("POST", f"{branch}/commits/async", {"message": "by a task"})
    task = started.expect(202).text("id")
    status = f"{branch}/commits/async/{task}/status"
    ended = world.wait_for("the commit", lambda: world.api.send("GET", status), _is_completed)
    expect_equal("the commit of the task", ended.value("result", "id"), world.head("by-task"))
    world.expect_content(world.head("by-task"), "a", b"1")
    tasks = world.api.send("GET", f"{world.path}/tasks").expect(200)
    expect_among("the tasks", [task], tasks.each("id"))


def import_objects(world: AcceptanceWorld) -> None:
    """Import objects without copying them, from a readable place or from another repository."""
    if not world.can_import:
        raise SkippedError("the deployment allows no imports (its setting `readable`)")
    branch = world.create_branch("imported")
    contents: dict[str, bytes] = {}
    source = world.import_from
    if not source:
        source, contents = _fill_other_repository(world)
    paths = [{"type": "common_prefix", "path": source, "destination": "in/"}]
    body = {"paths": paths, "commit": {"message": "imported"}}
    started = world.api.send("POST", f"{branch}/import", body)
    if started.status == 403 and not world.import_from:
        raise SkippedError(f"{source} is not readable: name a place with --import-from")
    task = started.expect(202).text("id")
    ended = world.wait_for(
        "the import",
        lambda: world.api.send("GET", f"{branch}/import", id=task),
        _is_completed,
        _has_error,
    )
    if _has_error(ended):
        raise CheckFailedError(f"the import of {source} failed: {ended.value('error')}")
    listing = f"{world.path}/refs/imported/objects/ls"
    found = world.api.send("GET", listing, prefix="in/", amount="20").expect(200)
    if contents:
        expected = [f"in/{address.removeprefix(source)}" for address in sorted(contents)]
        expect_equal("the imported objects", found.each("path"), expected)
        for address, content in contents.items():
            world.expect_content("imported", f"in/{address.removeprefix(source)}", content)
    for path, size in zip(found.each("path"), found.each("size_bytes"), strict=True):
        if not contents and isinstance(size, int) and size < _READ_BYTES_MAX:
            read = world.read("imported", str(path)).expect(200)
            expect_equal(f"the size of {path}", len(read.content), size)
    if not ended.number("ingested_objects"):
        raise CheckFailedError(f"the import of {source} found no objects there")


# In a place that others fill, larger objects are not read.
_READ_BYTES_MAX = 1_000_000


def _fill_other_repository(world: AcceptanceWorld) -> tuple[str, dict[str, bytes]]:
    """Return the place of another repository's objects, and their content by address."""
    name = f"{world.repository}-other"
    path = world.create_repository(name, "other")
    contents = {}
    for number in range(3):
        content = secrets.token_bytes(1000)
        url = f"{path}/branches/main/objects"
        kind = {"Content-Type": "application/octet-stream"}
        made = world.api.send("POST", url, content=content, headers=kind, path=str(number))
        contents[made.expect(201).text("physical_address")] = content
    return f"{world.folder}/other/data/", contents


def export_branch(world: AcceptanceWorld) -> None:
    """Export a branch, then without objects, so that none stays; without a place, only ask."""
    branch = world.create_branch("exported")
    status = f"{branch}/export-status"
    world.api.send("GET", status).expect(200, 404)
    if not world.export_to:
        raise SkippedError("only the status was read: name a place with --export-to")
    place = f"{world.export_to.rstrip('/')}/{world.repository}"
    world.upload("exported", "a", b"exported")
    first = world.commit("exported", "to be exported")
    world.places.append(place)
    configuration = {"exportPath": place, "isContinuous": True}
    world.api.send("PUT", f"{branch}/continuous-export", configuration).expect(201)
    _expect_exported(world, status, first)
    paths = {"paths": ["a", "README.md"]}
    world.api.send("POST", f"{branch}/objects/delete", paths).expect(200)
    second = world.commit("exported", "nothing left")
    _expect_exported(world, status, second)
    world.api.send("DELETE", f"{branch}/continuous-export").expect(204)
    world.places.remove(place)


def _expect_exported(world: AcceptanceWorld, status: str, commit: str) -> None:
    def is_over(answer: CheckedAnswer) -> bool:
        return answer.text("state") == "export-failed" or (
            answer.text("state") != "in-progress" and answer.value("exportedCommitId") == commit
        )

    ended = world.wait_for("the export", lambda: world.api.send("GET", status), is_over)
    if ended.text("state") == "export-failed":
        raise CheckFailedError(f"the export failed: {ended.value('errors')}")


def dump_and_restore(world: AcceptanceWorld) -> None:
    """Dump the refs, restore them into a bare repository, and compare heads, tags and content."""
    world.create_branch("dumped")
    world.upload("dumped", "a", b"kept")
    commit = world.commit("dumped", "dumped")
    world.api.send("POST", f"{world.path}/tags", {"id": "kept", "ref": commit}).expect(201)
    dump = _dump(world)
    bare = world.create_repository(f"{world.repository}-again", "lake", bare=True)
    restored = world.api.send("POST", f"{bare}/restore", dump).expect(202).text("id")
    ask = lambda: world.api.send("GET", f"{bare}/restore", task_id=restored)  # noqa: E731
    _expect_done("the restore", world.wait_for("the restore", ask, _is_done))
    expect_equal("the restored head", world.head("dumped", bare), commit)
    tag = world.api.send("GET", f"{bare}/tags/kept").expect(200)
    expect_equal("the restored tag", tag.value("commit_id"), commit)
    world.expect_content("dumped", "a", b"kept", bare)


def _dump(world: AcceptanceWorld) -> object:
    started = world.api.send("POST", f"{world.path}/dump").expect(202).text("id")
    ask = lambda: world.api.send("GET", f"{world.path}/dump", task_id=started)  # noqa: E731
    ended = world.wait_for("the dump", ask, _is_done)
    _expect_done("the dump", ended)
    return ended.value("refs")


def retention_rules(world: AcceptanceWorld) -> None:
    """Set retention rules if there are none; read and delete them; read the configuration."""
    rules = f"{world.path}/settings/gc_rules"
    absent = {"If-Match": world.api.send("GET", rules).expect(404).headers.get("etag", "")}
    body = {
        "default_retention_days": 21,
        "branches": [{"branch_id": "main", "retention_days": 28}],
    }
    world.api.send("PUT", rules, body, headers=absent).expect(204)
    world.api.send("PUT", rules, body, headers=absent).expect(412)
    expect_equal("the rules", world.api.send("GET", rules).expect(200).value(), body)
    world.api.send("DELETE", rules).expect(204)
    world.api.send("GET", rules).expect(404)
    grace = world.api.send("GET", "/config/garbage-collection").expect(200).number("grace_period")
    if grace <= 0:
        raise CheckFailedError(f"the grace period of uploads is {grace} s: it must be positive")


def _is_completed(answer: CheckedAnswer) -> bool:
    return answer.value("completed") is True


def _has_error(answer: CheckedAnswer) -> bool:
    body = answer.value()
    return isinstance(body, dict) and bool(body.get("error"))


def _is_done(answer: CheckedAnswer) -> bool:
    return answer.value("done") is True


def _expect_done(what: str, answer: CheckedAnswer) -> None:
    if _has_error(answer):
        raise CheckFailedError(f"{what} failed: {answer.value('error')}")
