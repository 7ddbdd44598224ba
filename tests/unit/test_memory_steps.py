"""The memory fakes take the steps that the real stores take, and others can come between them."""

import pytest
from msgspec.structs import replace

from graveler.identity import make_commit
from graveler.model import (
    EMPTY_METARANGE,
    Branch,
    CommitID,
    Event,
    Repository,
    RepositoryUID,
    StagingToken,
)
from tests.support.fakes.engines import memory_world

REPOSITORY = Repository("lake", RepositoryUID("uid"), "s3://bucket/lake", "main", 0)
HEAD, TOKEN = CommitID("id"), StagingToken("token")
EVENT = Event("id", "kind", "lake", 0)


def _commit(number: int):
    return make_commit(
        committer="c",
        message=str(number),
        metarange_id=EMPTY_METARANGE,
        creation_date=0,
        metadata={},
        parents=(),
        generation=number,
    )


@pytest.fixture
def world():
    made = memory_world()
    branch = Branch("b0", HEAD, TOKEN)
    made.refs.create_repository(REPOSITORY, branch, None, EVENT)
    for store in (made.refs, made.staging, made.objects, made.exports):
        store.page_amount = 1
    return made


def once(do):
    """Does it between the first two steps, and never again."""
    waiting = [do]
    return lambda: waiting.pop()() if waiting else None


def test_a_scan_of_commits_shows_what_came_behind_it_and_not_what_came_before(world):
    commits = sorted((_commit(number) for number in range(4)), key=lambda commit: commit.id)
    first, second, third, fourth = commits
    world.refs.restore_commits(REPOSITORY, [second, third])
    new = [first, fourth]
    world.refs.between = once(lambda: world.refs.restore_commits(REPOSITORY, new))
    assert list(world.refs.every_commit(REPOSITORY)) == [second, third, fourth]


def test_a_page_of_branches_takes_several_of_the_store(world):
    def create(name):
        return lambda: world.refs.create_branch(REPOSITORY, Branch(name, HEAD, TOKEN), EVENT)

    create("b2")()
    world.refs.between = once(create("b1"))
    page = world.refs.branches(REPOSITORY, "", "", 10, show_hidden=True)
    assert [branch.name for branch in page.results] == ["b0", "b1", "b2"]
    assert not page.has_more
    page = world.refs.branches(REPOSITORY, "", "", 2, show_hidden=True)
    assert page.next_after == "b1"


def test_two_items_are_read_one_after_the_other(world):
    world.refs.between = once(lambda: world.refs.delete_repository(REPOSITORY, EVENT))
    assert world.refs.repository_and_branch(REPOSITORY, "b0") == (REPOSITORY, None)


@pytest.mark.parametrize("staged_first", [False, True])
def test_branch_and_staged_value_may_be_of_two_moments(world, staged_first):
    world.staging.staged_first = staged_first
    branch = world.refs.branch(REPOSITORY, "b0")

    def meanwhile():
        world.staging.stage("token", [(b"p", b"v")])
        world.refs.seal_token(REPOSITORY, branch, "new")

    world.staging.between = once(meanwhile)
    found, staged = world.staging.get_with_branch(REPOSITORY, "b0", "token", b"p")
    assert (found.staging_token, staged is None) == (
        ("new", True) if staged_first else ("token", False)
    )


def test_a_scan_of_staged_changes_is_no_snapshot(world):
    for path in (b"a", b"c"):
        world.staging.stage("token", [(path, b"1")])
    world.staging.between = once(lambda: world.staging.stage("token", [(b"b", b"2")]))
    assert [path for path, _ in world.staging.scan("token", b"", None)] == [b"a", b"b", b"c"]


def test_batches_are_done_part_by_part(world):
    seen = []
    world.staging.between = lambda: seen.append(len(world.staging._values["token"]))
    world.staging.stage("token", [(b"a", b"1"), (b"b", b"2")])
    assert seen == [1]
    seen.clear()
    world.staging.between = lambda: seen.append(len(world.staging._values["token"]))
    world.staging.drop("token")
    assert seen == [1, 0]
    assert world.staging.get("token", b"b") is None


def test_a_token_is_closed_gate_by_gate(world):
    paths = [b"%d" % number for number in range(20)]
    refused = []
    world.staging.between = once(
        lambda: refused.extend(
            world.staging.stage("token", [(path, b"1") for path in paths]).refused
        )
    )
    world.staging.close("token")
    assert 0 < len(refused) < len(paths)
    everything = [(path, b"2") for path in paths]
    assert world.staging.stage("token", everything).refused == everything


def test_a_repository_loses_its_name_before_its_branches(world):
    seen = []

    def look():
        seen.append((world.refs.repository("lake"), world.refs.branch(REPOSITORY, "b0")))

    world.refs.between = once(look)
    world.refs.delete_repository(REPOSITORY, EVENT)
    assert seen == [(None, Branch("b0", HEAD, TOKEN))]
    assert world.refs.branch(REPOSITORY, "b0") is None
    assert [token for _, token in world.refs.cleanups] == ["token"]


def test_who_takes_the_name_ends_a_deletion_that_was_cut_short(world):
    def stop():
        raise InterruptedError

    world.refs.between = stop
    with pytest.raises(InterruptedError):
        world.refs.delete_repository(REPOSITORY, EVENT)
    assert world.refs.branch(REPOSITORY, "b0") is not None
    world.refs.between = lambda: None
    again = replace(REPOSITORY, uid=RepositoryUID("another"))
    world.refs.create_repository(again, None, None, EVENT)
    assert world.refs.repository("lake") == again
    assert world.refs.branch(REPOSITORY, "b0") is None


def test_the_index_by_generation_may_lag(world):
    commits = [_commit(number) for number in (1, 2)]
    world.refs.restore_commits(REPOSITORY, commits)
    world.refs.lagging.add(commits[1].id)
    assert world.refs.commits_below(REPOSITORY, 5, 10) == (commits[0],)
    assert commits[1].id in world.refs.commits(REPOSITORY, [commits[1].id])


def test_objects_are_listed_page_by_page_and_deleted_one_by_one(world):
    objects = world.objects
    for name in "ac":
        objects.put(f"s3://bucket/d/{name}", b"", "t")
    objects.between = once(lambda: objects.put("s3://bucket/d/b", b"", "t"))
    uris = [each.uri for each in objects.list_objects("s3://bucket/d/")]
    assert uris == [f"s3://bucket/d/{name}" for name in "abc"]
    seen = []
    objects.between = lambda: seen.append(len(objects.uris()))
    objects.delete_many(uris)
    assert seen == [2, 1, 0]


def test_the_object_store_counts_what_is_read(world):
    world.objects.put("s3://bucket/a", b"12345", "t")
    world.objects.get("s3://bucket/a", (0, 1))
    world.objects.get("s3://bucket/a")
    assert world.objects.bytes_read == {"s3://bucket/a": 7}


def test_a_branch_that_moved_is_not_what_it_was(world):
    """Steps are between calls only: a transaction is one."""
    calls = []
    world.refs.between = lambda: calls.append(1)
    branch = world.refs.branch(REPOSITORY, "b0")
    sealed = world.refs.seal_token(REPOSITORY, branch, "new")
    assert sealed == replace(branch, staging_token="new", sealed_tokens=("token",))
    assert calls == []
