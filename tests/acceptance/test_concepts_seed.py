"""The reference of concepts, sentence by sentence: each test quotes what it holds to.

At the level of the engine, which every interface shares; the clients' tests are beside this one.
"""

from collections.abc import Callable
from dataclasses import FrozenInstanceError, replace
from typing import Any

import pytest

from graveler.errors import NotFoundError
from graveler.identity import commit_id
from graveler.model import AddressType, Commit, MetaRangeID
from graveler.operations import branches, commits, diffs, objects, repositories, tags, writes
from graveler.operations.engine import Engine
from graveler.staging.listing import CommonPrefix, PageQuery
from tests.support.counting import engine_around
from tests.support.engines import MemoryWorld
from tests.support.lake import (
    NAMESPACE,
    REPO,
    apart,
    commit,
    content,
    history,
    merge,
    new_lake,
    paths,
    upload,
)


@pytest.fixture
def world() -> MemoryWorld:
    return new_lake()


@pytest.fixture
def engine(world: MemoryWorld) -> Engine:
    return world.engine()


# Object store


def test_an_object_store_links_objects_to_paths(engine):
    """An object store links objects to paths."""
    upload(engine, b"a/path", b"an object")
    assert content(engine, "main", b"a/path") == b"an object"


@pytest.mark.parametrize("size", [0, 1, 100_000])
def test_an_object_holds_contents_of_any_size_and_format(engine, size):
    """Some contents, with unlimited size and format."""
    upload(engine, b"p", b"\xff\x00" * size)
    assert content(engine, "main", b"p") == b"\xff\x00" * size


def test_an_object_holds_metadata(engine):
    """Some metadata, including size in bytes, the creation time, a checksum string which uniquely
    identifies the contents, some user metadata, a small map of strings to strings."""
    before_s = engine.now_s()
    upload(engine, b"one", b"contents", metadata={"owner": "joe"})
    upload(engine, b"same", b"contents")
    upload(engine, b"other", b"Contents")
    one, same, other = (
        objects.stat(engine, REPO, "main", path).entry for path in (b"one", b"same", b"other")
    )
    assert one.size_bytes == 8
    assert before_s <= one.last_modified_ns // 10**9 <= engine.now_s()
    assert one.checksum == same.checksum != other.checksum
    assert one.metadata == {"owner": "joe"}


def test_objects_are_immutable_and_never_rewritten(engine):
    """Objects are immutable and never rewritten. They can be entirely replaced or deleted, but not
    modified."""
    first = upload(engine, b"p", b"first")
    second = upload(engine, b"p", b"second")
    assert second.physical_address != first.physical_address
    assert content(engine, "main", b"p") == b"second"
    writes.delete(engine, REPO, "main", b"p")
    with pytest.raises(NotFoundError):
        content(engine, "main", b"p")
    assert engine.objects.get(first.physical_address) == b"first"


def test_data_are_in_the_underlying_store_and_a_pointer_in_the_metadata(engine):
    """The actual data itself is not stored inside lakeFS directly but in an underlying object
    store. lakeFS will manage these writes and store a pointer to the object."""
    stat = upload(engine, b"p", b"data")
    assert stat.physical_address.startswith(NAMESPACE + "/data/")
    assert stat.entry.address_type is AddressType.RELATIVE
    assert engine.objects.get(stat.physical_address) == b"data"


# Version control


def test_a_repository_groups_objects_branches_and_commits(world, engine):
    """A repository is a logical namespace used to group together objects, branches, and commits."""
    repositories.create(engine, name="other", storage_namespace="s3://bucket/other")
    upload(engine, b"p", b"data")
    commit(engine)
    branches.create(engine, REPO, name="dev", source="main")
    with pytest.raises(NotFoundError):
        branches.get(engine, "other", "dev")
    assert objects.list_objects(engine, "other", "main", PageQuery(10)).results == []
    assert len(commits.log(engine, "other", "main", commits.LogQuery(10)).results) == 1


def test_commits_are_immutable_and_contain_an_entire_snapshot(engine):
    """Commits are immutable "checkpoints" containing an entire snapshot of a repository at a given
    point in time. Using commits, you're guaranteed that the data you see is exactly as it was at
    the point of committing it."""
    upload(engine, b"kept", b"1")
    upload(engine, b"replaced", b"1")
    first = commit(engine)
    upload(engine, b"replaced", b"2")
    upload(engine, b"added", b"2")
    writes.delete(engine, REPO, "main", b"kept")
    commit(engine)
    assert paths(engine, first.id) == [b"kept", b"replaced"]
    assert content(engine, first.id, b"replaced") == b"1"
    assert commits.get(engine, REPO, first.id) == first
    with pytest.raises(FrozenInstanceError):
        first.message = "another"  # type: ignore[misc]


def test_each_commit_contains_metadata(engine):
    """Each commit contains metadata - the committer, timestamp, a commit message, as well as
    arbitrary key/value pairs you can choose to add."""
    upload(engine, b"p", b"data")
    made = commit(engine, message="why", metadata={"ticket": "17"})
    found = commits.get(engine, REPO, made.id)
    assert (found.committer, found.message) == ("somebody", "why")
    assert found.metadata == {"ticket": "17"}
    assert abs(found.creation_date - engine.now_s()) < 100


def test_every_repository_has_exactly_one_initial_commit_with_no_parents(engine):
    """Every repository has exactly one initial commit with no parents."""
    for number in range(3):
        upload(engine, b"p", str(number).encode())
        commit(engine)
    log = commits.log(engine, REPO, "main", commits.LogQuery(100)).results
    assert [len(each.parents) for each in log] == [1, 1, 1, 0]


def test_a_commit_with_more_than_one_parent_is_a_merge_commit_with_two(engine):
    """A commit with more than one parent is a merge commit. Currently lakeFS only supports merge
    commits with two parents."""
    apart(engine, source={"b": "B"}, destination={"c": "C"})
    assert len(merge(engine).parents) == 2


def test_a_commit_is_identified_by_a_digest_of_all_its_contents(engine):
    """A commit is identified by its commit ID, a digest of all contents of the commit."""
    upload(engine, b"p", b"data")
    made = commit(engine)

    def digest(of: Commit) -> str:
        return commit_id(
            committer=of.committer,
            message=of.message,
            metarange_id=of.metarange_id,
            creation_date=of.creation_date,
            metadata=of.metadata,
            parents=of.parents,
        )

    assert digest(made) == made.id
    assert digest(replace(made, message="forged")) != made.id
    assert digest(replace(made, metarange_id=MetaRangeID("0" * 64))) != made.id


def test_a_unique_prefix_of_the_id_is_enough(engine):
    """Commit IDs are by nature long, so you may use a unique prefix to abbreviate them."""
    upload(engine, b"p", b"data")
    made = commit(engine)
    assert commits.get(engine, REPO, made.id[:12]) == made


def test_refs_are_tags_branch_names_and_expressions(engine):
    """A commit may also be identified by using a textual definition, called a ref. Examples of
    refs include tags, branch names, and expressions."""
    upload(engine, b"p", b"1")
    first = commit(engine)
    tags.create(engine, REPO, name="v1", ref="main")
    upload(engine, b"p", b"2")
    second = commit(engine)
    refs = {"v1": first, "main": second, "main~1": first}
    assert {ref: commits.get(engine, REPO, ref) for ref in refs} == refs


@pytest.mark.parametrize("name", ["main", "staging", "dev:joe-bugfix-1234"])
def test_a_branch_may_have_the_name_of_an_example(engine, name):
    """Example branches: main, staging, dev:joe-bugfix-1234."""
    if name != "main":
        branches.create(engine, REPO, name=name, source="main")
    before = branches.get(engine, REPO, name).commit_id
    upload(engine, b"p", b"1", name)
    commit(engine, name)
    assert content(engine, name, b"p") == content(engine, f"{name}@", b"p") == b"1"
    assert {commits.get(engine, REPO, f"{name}{back}").id for back in ("~", "^1")} == {before}


def test_a_branch_is_a_mutable_pointer_to_a_commit_and_its_staging_area(engine):
    """It is a mutable pointer to a commit and its staging area."""
    upload(engine, b"p", b"1")
    first = commit(engine)
    assert branches.get(engine, REPO, "main").commit_id == first.id
    upload(engine, b"p", b"2")
    assert content(engine, "main", b"p") == b"2"
    assert content(engine, "main@", b"p") == b"1"
    assert branches.get(engine, REPO, "main").commit_id == first.id
    assert branches.get(engine, REPO, "main").commit_id != commit(engine).id


def test_a_branch_is_a_snapshot_isolated_from_other_branches(engine):
    """A branch in lakeFS is a consistent snapshot of the entire repository, which is isolated from
    other branches and their changes."""
    upload(engine, b"p", b"shared")
    commit(engine)
    branches.create(engine, REPO, name="dev", source="main")
    upload(engine, b"p", b"changed", "dev")
    upload(engine, b"new", b"new", "dev")
    assert content(engine, "main", b"p") == b"shared"
    commit(engine, "dev")
    assert paths(engine, "main") == [b"p"]
    assert content(engine, "main", b"p") == b"shared"


def test_a_branch_copies_nothing(world, engine):
    """lakeFS may map multiple paths to the same object on backing storage, and always does this
    for objects that are unchanged across versions."""
    upload(engine, b"p", b"data")
    commit(engine)
    files, stored = len(world.files.files), len(world.objects.uris())
    branches.create(engine, REPO, name="dev", source="main")
    addresses = {
        objects.stat(engine, REPO, ref, b"p").physical_address for ref in ("main", "dev", "main@")
    }
    assert len(addresses) == 1
    assert (len(world.files.files), len(world.objects.uris())) == (files, stored)


# Staging area


def test_changes_appear_in_the_staging_area_before_they_are_committed(engine):
    """The staging area is where your changes appear before they are committed."""
    upload(engine, b"p", b"data")
    found = diffs.uncommitted(engine, REPO, "main", PageQuery(10)).results
    assert [(entry.kind, entry.path) for entry in found] == [("added", b"p")]


def test_every_branch_has_its_own_staging_area(engine):
    """Unlike Git, every branch in lakeFS has its own staging area."""
    branches.create(engine, REPO, name="dev", source="main")
    upload(engine, b"on main", b"1")
    upload(engine, b"on dev", b"2", "dev")
    commit(engine)
    assert paths(engine, "main@") == [b"on main"]
    assert paths(engine, "dev@") == []
    assert paths(engine, "dev") == [b"on dev"]


def test_uncommitted_changes_are_visible_to_all(world, engine):
    """Uncommitted changes are visible to all users with read permissions."""
    upload(engine, b"p", b"data")
    assert content(world.engine(), "main", b"p") == b"data"


def test_a_commit_is_added_and_the_changes_leave_the_staging_area(engine):
    """When you commit these changes, a new commit is added to the commit history, and the changes
    disappear from the staging area."""
    before = history(engine, "main")
    upload(engine, b"p", b"data")
    made = commit(engine)
    assert history(engine, "main") == [made.id, *before]
    assert diffs.uncommitted(engine, REPO, "main", PageQuery(10)).results == []
    assert paths(engine, "main@") == [b"p"]


def test_committing_is_atomic_for_readers(world, engine):
    """This operation is atomic: readers will either see all your committed changes or none at
    all."""
    changed = [b"p%d" % number for number in range(5)]
    for path in changed:
        upload(engine, path, b"data")
    seen: list[tuple[int, int]] = []

    def look(_name: str, call: Callable[[], Any]) -> Any:
        result = call()
        reader = world.engine()
        seen.append((len(paths(reader, "main@")), len(paths(reader, "main"))))
        return result

    commit(engine_around(engine, look))
    assert {committed for committed, _ in seen} == {0, 5}
    assert {live for _, live in seen} == {5}


# Concepts unique to lakeFS


def test_all_data_of_a_repository_lie_in_its_storage_namespace(world, engine):
    """The repository's storage namespace is a location in the underlying storage where data for
    this repository will be stored."""
    upload(engine, b"p", b"data")
    commit(engine)
    assert all(uri.startswith(NAMESPACE + "/") for uri in world.objects.uris())
    assert {namespace for namespace, _ in world.files.files} == {NAMESPACE}


def test_a_stored_object_is_never_modified(world, engine):
    """Once lakeFS saves an object in the underlying storage it is never modified, except to remove
    it entirely during some cleanups."""
    upload(engine, b"p", b"1")
    before = world.objects.contents()
    files = dict(world.files.files)
    upload(engine, b"p", b"2")
    commit(engine)
    writes.copy(engine, REPO, "main", b"q", source_ref=None, source_path=b"p")
    writes.set_user_metadata(engine, REPO, "main", b"p", {"k": "v"})
    writes.delete(engine, REPO, "main", b"p")
    commit(engine)
    after = world.objects.contents()
    assert {uri: after[uri] for uri in before} == before
    assert {name: world.files.files[name] for name in files} == files


def test_unchanged_objects_of_two_versions_are_one_object(engine):
    """lakeFS may map multiple paths to the same object on backing storage, and always does this
    for objects that are unchanged across versions."""
    upload(engine, b"p", b"data")
    commit(engine)
    upload(engine, b"q", b"data")
    commit(engine)
    one, other = (objects.stat(engine, REPO, ref, b"p") for ref in ("main", "main~1"))
    assert one.physical_address == other.physical_address


def test_full_paths_and_path_prefixes_name_objects(engine):
    """The URI lakefs://<REPO>/<REF>/<KEY> is a path to objects in the given repo and ref
    expression under key. This is used both for path prefixes and for full paths."""
    for path in (b"a/1", b"a/2", b"b"):
        upload(engine, path, path)
    commit(engine)
    found = objects.list_objects(engine, REPO, "main@", PageQuery(10, prefix=b"a/"))
    assert [item.path for item in found.results] == [b"a/1", b"a/2"]
    assert content(engine, "main@", b"a/1") == b"a/1"
    folded = objects.list_objects(engine, REPO, "main@", PageQuery(10, delimiter=b"/"))
    assert folded.results[0] == CommonPrefix(b"a/")
