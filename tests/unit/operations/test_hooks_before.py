"""A hook that fails stops the operation that it guards; others succeed."""

from collections.abc import Callable
from dataclasses import replace

import pytest
from msgspec import structs

from graveler.engine import Engine
from graveler.errors import AlreadyExistsError, InvalidInputError, PreconditionFailedError
from graveler.limits import ACTION_FILE_BYTES_MAX, ACTION_FILES_MAX
from graveler.model import Commit
from graveler.operations import (
    branches,
    commits,
    links,
    merges,
    replays,
    repositories,
    tags,
    writes,
)
from tests.support.fakes.hooks import answered
from tests.support.faults.counting import engine_around
from tests.support.worlds.lake import REPO, commit, named, paths, upload

FILE = b"_lakefs_actions/check.yaml"


def action(event: str, branch: str = "", name: str = "quality") -> bytes:
    where = f"\n    branches: [{branch}]" if branch else ""
    return (
        f"name: {name}\non:\n  {event}:{where}\nhooks:\n"
        "  - {id: check, type: webhook, properties: {url: 'https://hooks.example.com/no'}}\n"
    ).encode()


def guarded(do: Callable[[], object]) -> str:
    """Return the message of the refusal."""
    with pytest.raises(PreconditionFailedError) as refused:
        do()
    return refused.value.message


@pytest.fixture(autouse=True)
def _strict_target(world):
    world.targets.answer = lambda _request: answered(403)


def ignoring(engine: Engine) -> Engine:
    return replace(engine, ignores_actions=True)


@pytest.mark.parametrize("event", ["prepare-commit", "pre-commit"])
def test_staged_and_committed_action_files_guard_a_commit(engine, event):
    head = named(engine, "main")
    upload(engine, FILE, action(event))
    message = guarded(lambda: commit(engine))
    assert message.startswith(f"{event} hook aborted, run id '")
    assert (
        "': 1 error occurred:\n\t* hook run id '0000_0000' failed on action 'quality' hook "
        "'check': action failed: webhook request failed (status code: 403)\n\n"
    ) in message
    assert named(engine, "main") == head
    assert paths(engine, "main") == [FILE]
    commit(ignoring(engine))
    upload(engine, b"data", b"1")
    assert event in guarded(lambda: commit(engine))


def test_a_commit_that_removes_the_action_file_succeeds(engine):
    upload(engine, FILE, action("pre-commit"))
    commit(ignoring(engine))
    writes.delete(engine, REPO, "main", FILE)
    assert commit(engine).id == named(engine, "main")


def test_branch_patterns_decide_which_commits_are_guarded(engine):
    upload(engine, FILE, action("pre-commit", branch="release-*"))
    commit(engine)
    branches.create(engine, REPO, name="release-1", source="main")
    upload(engine, b"data", b"1", branch="release-1")
    assert "pre-commit" in guarded(lambda: commit(engine, "release-1"))


def test_an_action_file_staged_during_a_commit_guards_it(world):
    """The file is staged after the commit read the branch and before it seals."""
    engine = world.engine()
    upload(engine, b"data", b"1")
    close = world.staging.close

    def late(token: str) -> None:
        world.staging.close = close
        upload(world.engine(), FILE, action("pre-commit"))
        close(token)

    world.staging.close = late
    assert "pre-commit" in guarded(lambda: commit(engine))


@pytest.mark.parametrize("event", ["prepare-commit", "pre-commit"])
def test_a_commit_of_a_metarange_is_guarded_by_the_branch(engine, event):
    upload(engine, b"data", b"1")
    metarange_id = commit(engine).metarange_id
    upload(engine, FILE, action(event))
    commit(ignoring(engine))
    assert event in guarded(lambda: commit(engine, source_metarange=metarange_id))


def diverged(engine: Engine, event: str, branch: str = "") -> None:
    """`source` has the action file and one more object than main; both are clean."""
    upload(engine, b"data", b"1")
    commit(engine)
    branches.create(engine, REPO, name="source", source="main")
    upload(engine, FILE, action(event, branch), branch="source")
    commit(ignoring(engine), "source")


def merge(engine: Engine, source: str = "source", destination: str = "main") -> Commit:
    request = merges.MergeRequest("somebody", allow_empty=True)
    return merges.merge(engine, REPO, source, destination, request)


def test_a_merge_is_guarded_by_its_source_on_the_destination(engine):
    diverged(engine, "pre-merge", branch="main")
    head = named(engine, "main")
    message = guarded(lambda: merge(engine))
    assert message.startswith("update branch main: pre-merge hook aborted, run id '")
    assert named(engine, "main") == head
    merge(engine, "main", "source")  # main has no action file
    merge(ignoring(engine))
    branches.create(engine, REPO, name="dev", source="main")
    merge(engine, "source", "dev")  # dev matches no pattern


def test_a_revert_is_guarded_by_the_branch(engine):
    upload(engine, FILE, action("pre-revert", branch="main"))
    commit(engine)
    upload(engine, b"data", b"1")
    made = commit(engine)
    request = replays.RevertRequest(made.id, "somebody")
    message = guarded(lambda: replays.revert(engine, REPO, "main", request))
    assert message.startswith("update branch: pre-revert hook aborted, run id '")
    branches.create(engine, REPO, name="dev", source="main")
    replays.revert(engine, REPO, "dev", request)


def test_a_cherry_pick_is_guarded_by_the_branch(engine):
    upload(engine, FILE, action("pre-cherry-pick", branch="main"))
    commit(engine)
    branches.create(engine, REPO, name="dev", source="main")
    upload(engine, b"data", b"1", branch="dev")
    request = replays.CherryPickRequest(commit(engine, "dev").id, "somebody")
    message = guarded(lambda: replays.cherry_pick(engine, REPO, "main", request))
    assert message.startswith("update branch: pre-cherry-pick hook aborted, run id '")
    replays.cherry_pick(engine, REPO, "dev", request)


def test_the_source_commit_guards_a_new_branch(engine):
    upload(engine, FILE, action("pre-create-branch", branch="release-*"))
    commit(engine)

    def create(by: Engine, name: str) -> object:
        return branches.create(by, REPO, name=name, source="main")

    create(engine, "dev")
    assert "pre-create-branch" in guarded(lambda: create(engine, "release-1"))
    create(ignoring(engine), "release-1")
    with pytest.raises(AlreadyExistsError):  # as without the guard
        create(engine, "release-1")


def test_the_head_guards_the_deletion_of_a_branch(engine):
    upload(engine, FILE, action("pre-delete-branch", branch="release-*"))
    commit(engine)
    for name in ("dev", "release-1"):
        branches.create(engine, REPO, name=name, source="main")
    branches.delete(engine, REPO, "dev")
    assert "pre-delete-branch" in guarded(lambda: branches.delete(engine, REPO, "release-1"))
    branches.delete(ignoring(engine), REPO, "release-1")


def test_the_commit_of_a_tag_guards_its_creation_and_deletion(engine):
    upload(engine, FILE, action("pre-create-tag"))
    first = commit(engine)
    assert "pre-create-tag" in guarded(lambda: tags.create(engine, REPO, name="v1", ref=first.id))
    tags.create(ignoring(engine), REPO, name="v1", ref=first.id)
    with pytest.raises(AlreadyExistsError):  # as without the guard
        tags.create(engine, REPO, name="v1", ref=first.id)
    tags.delete(engine, REPO, "v1")
    upload(engine, FILE, action("pre-delete-tag"))
    second = commit(engine)
    tags.create(engine, REPO, name="v2", ref=second.id)
    assert "pre-delete-tag" in guarded(lambda: tags.delete(engine, REPO, "v2"))
    tags.delete(ignoring(engine), REPO, "v2")


@pytest.mark.parametrize("kind", ["branch", "tag"])
def test_a_name_that_gets_another_commit_during_its_deletion_passes_the_hooks_again(
    world, engine, kind
):
    """The hooks have not judged that commit."""
    upload(engine, FILE, action(f"pre-delete-{kind}"))
    commit(engine)
    resource = {"branch": branches, "tag": tags}[kind]
    origin = "source" if kind == "branch" else "ref"
    resource.create(engine, REPO, name="name", **{origin: "main"})
    moved: list[Commit] = []
    world.targets.answer = lambda _request: answered(403 if moved else 200)

    def meanwhile(name, call):
        if name.endswith(f".delete_{kind}") and not moved:
            upload(engine, b"more", b"1", "name" if kind == "branch" else "main")
            moved.append(commit(engine, "name" if kind == "branch" else "main"))
            if kind == "tag":
                tags.delete(ignoring(engine), REPO, "name")
                tags.create(engine, REPO, name="name", ref="main")
        return call()

    late = engine_around(world.engine(), meanwhile)
    assert f"pre-delete-{kind}" in guarded(lambda: resource.delete(late, REPO, "name"))
    assert named(engine, "name") == moved[0].id


def test_a_deletion_that_is_tried_again_asks_no_hook_about_the_same_commit_twice(world, engine):
    upload(engine, FILE, action("pre-delete-branch"))
    commit(engine)
    branches.create(engine, REPO, name="dev", source="main")
    upload(engine, b"data", b"1", "dev")
    world.targets.answer = lambda _request: answered()
    changed = []

    def meanwhile(name, call):
        if name == "exports.delete_branch" and not changed:
            request = commits.CommitRequest("message", "somebody")
            changed.append(commits.start_commit(ignoring(engine), REPO, "dev", request))  # it seals
        return call()

    branches.delete(engine_around(world.engine(), meanwhile), REPO, "dev")
    assert changed
    assert len(world.targets.requests) == 1


@pytest.mark.parametrize("kind", ["branch", "merge"])
def test_force_passes_no_hook_by(engine, kind):
    diverged(engine, {"branch": "pre-create-branch", "merge": "pre-merge"}[kind])
    force = {
        "branch": lambda: branches.create(engine, REPO, name="new", source="source", force=True),
        "merge": lambda: merges.merge(
            engine, REPO, "source", "main", merges.MergeRequest("somebody", force=True)
        ),
    }
    assert "hook aborted" in guarded(force[kind])


def test_post_events_and_actions_without_hooks_guard_nothing(engine):
    upload(engine, FILE, action("post-commit"))
    commit(engine)
    upload(engine, b"_lakefs_actions/none", b"name: none\non: {pre-commit: }\nhooks: []")
    commit(engine)


def test_read_only_repositories_have_no_hooks(world, engine):
    upload(engine, FILE, action("pre-create-tag"))
    made = commit(engine)
    writable = repositories.get(engine, REPO)
    world.refs.update_repository(writable, structs.replace(writable, read_only=True))
    tags.create(world.engine(), REPO, name="v1", ref=made.id, force=True)


@pytest.mark.parametrize("name", [b"a.yaml", b"a.yml", b"a.txt", b".hidden", b"a"])
def test_an_action_file_may_have_any_name(engine, name):
    upload(engine, b"_lakefs_actions/" + name, action("pre-commit"))
    assert "pre-commit" in guarded(lambda: commit(engine))


def test_files_outside_the_folder_are_not_action_files(engine):
    for path in (b"_lakefs_actions", b"_lakefs_actions0", b"dir/_lakefs_actions/a.yaml"):
        upload(engine, path, action("pre-commit"))
    commit(engine)


def malformed(engine: Engine, **files: bytes) -> str:
    for name, content in files.items():
        upload(engine, f"_lakefs_actions/{name}".encode(), content)
    return guarded(lambda: commit(engine))


def test_a_malformed_file_guards_every_operation(engine):
    message = malformed(engine, a=action("post-commit"), b=b"name: [")
    assert message.startswith("pre-commit: action file '_lakefs_actions/b': is not YAML: ")
    assert message.endswith(": correct or remove it")


def test_two_actions_with_one_name_are_refused(engine):
    both = action("post-commit")
    assert "another action has the name 'quality'" in malformed(engine, a=both, b=both)


def test_a_file_in_a_subfolder_is_refused(engine):
    below = {"below/a.yaml": action("post-commit")}
    assert "must be directly in _lakefs_actions/" in malformed(engine, **below)


def test_a_large_file_is_refused_unread(world, engine):
    address = "s3://elsewhere/large"
    links.stage(
        engine,
        REPO,
        "main",
        FILE,
        links.StoredData(
            physical_address=address, checksum="x", size_bytes=ACTION_FILE_BYTES_MAX + 1
        ),
    )
    assert f"it has {ACTION_FILE_BYTES_MAX + 1} bytes" in guarded(lambda: commit(engine))


def test_a_file_without_data_is_refused(engine):
    links.stage(
        engine,
        REPO,
        "main",
        FILE,
        links.StoredData(physical_address="s3://elsewhere/nothing", checksum="x", size_bytes=9),
    )
    assert "its data cannot be read" in guarded(lambda: commit(engine))


def test_no_more_than_the_recorded_bytes_are_read(engine):
    text = action("post-commit")
    engine.objects.put("s3://elsewhere/longer", text + b"\n{", "text/plain")
    links.stage(
        engine,
        REPO,
        "main",
        FILE,
        links.StoredData(
            physical_address="s3://elsewhere/longer", checksum="x", size_bytes=len(text)
        ),
    )
    commit(engine)


def test_too_many_files_are_refused(engine):
    for number in range(ACTION_FILES_MAX + 1):
        path = f"_lakefs_actions/{number:04}".encode()
        upload(engine, path, action("post-commit", name=f"action {number}"))
    message = guarded(lambda: commit(engine))
    assert f"'_lakefs_actions/{ACTION_FILES_MAX:04}': there are more than" in message


def test_a_commit_without_changes_is_refused_before_the_guard(engine):
    upload(engine, FILE, action("pre-commit"))
    commit(ignoring(engine))
    with pytest.raises(InvalidInputError, match="no changes"):
        commit(engine)


def test_without_action_files_a_cached_range_is_not_read_again(world, engine):
    for path in (b"A", b"data"):
        upload(engine, path, b"1")
    made = commit(engine)
    upload(engine, b"more", b"1")
    world.files.reads.clear()
    commit(engine)
    tags.create(engine, REPO, name="v1", ref=made.id)
    assert world.files.reads == []
