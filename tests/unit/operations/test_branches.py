"""Branches and tags: creating, deleting, resetting."""

import pytest

from graveler.branches import heads, lookup
from graveler.errors import (
    AlreadyExistsError,
    ForbiddenError,
    InvalidInputError,
    NotFoundError,
    StaleVersionError,
)
from graveler.limits import RESTORED_BYTES_MAX, RESTORED_MAX
from graveler.operations import branches, commits, diffs, repositories, tags, writes
from graveler.staging.listing import PageQuery
from tests.support.faults.counting import engine_around
from tests.support.worlds.lake import REPO, commit, content, named, paths, upload


def create(engine, name, source="main", **options):
    return branches.create(engine, REPO, name=name, source=source, **options)


def test_a_new_branch_has_the_head_of_its_source_without_staged_changes(engine):
    upload(engine, b"a", b"1")
    head = commit(engine)
    upload(engine, b"b", b"staged")
    for source in ("main", "main@", head.id, head.id[:10]):
        made = create(engine, f"from-{len(source)}", source)
        assert made.commit_id == head.id
        assert paths(engine, made.name) == [b"a"]


def test_branches_and_tags_are_created_in_a_repository_that_was_just_created_again(world, engine):
    upload(engine, b"a", b"1")
    commit(engine)
    other = world.engine()  # another process, which deletes the repository and makes it again
    repositories.delete(other, REPO)
    repositories.create(other, name=REPO, storage_namespace="s3://bucket/anew")
    create(engine, "dev")
    tags.create(engine, REPO, name="v1", ref="main")
    assert branches.get(other, REPO, "dev").commit_id == tags.get(other, REPO, "v1").commit_id
    assert paths(engine, "dev") == []


def test_a_process_with_a_cached_repository_reads_the_one_created_again(world, engine):
    world.clock.step_ns = 0  # it is remembered for five seconds
    upload(engine, b"old", b"1")
    commit(engine)
    assert paths(engine, "main") == [b"old"]
    other = world.engine()
    repositories.delete(other, REPO)
    repositories.create(other, name=REPO, storage_namespace="s3://bucket/anew")
    upload(other, b"new", b"2")
    assert paths(engine, "main") == [b"new"]
    assert content(engine, "main", b"new") == b"2"
    with pytest.raises(NotFoundError):
        content(engine, "main", b"old")


def test_a_hard_reset_publishes_an_event(world, engine):
    upload(engine, b"a", b"1")
    commit(engine)
    branches.hard_reset(engine, REPO, "main", ref="main~1")
    told = world.refs.events[-1]
    assert (told.kind, told.detail["branch"]) == ("branch_reset", "main")
    assert told.detail["commit_id"] == branches.get(engine, REPO, "main").commit_id


@pytest.mark.parametrize("source", ["main$", "nowhere", "main~9", "main^2", ""])
def test_a_source_that_names_no_commit_makes_no_branch(engine, source):
    with pytest.raises((InvalidInputError, NotFoundError)):
        create(engine, "dev", source)
    with pytest.raises(NotFoundError):
        branches.get(engine, REPO, "dev")


def test_a_name_is_taken_once(engine):
    first = create(engine, "dev")
    upload(engine, b"a", b"1", "dev")
    with pytest.raises(AlreadyExistsError):
        create(engine, "dev")
    assert branches.get(engine, REPO, "dev") == first
    assert paths(engine, "dev") == [b"a"]


def test_no_branch_or_tag_may_have_a_commits_id_as_its_name(engine):
    head = named(engine, "main")
    with pytest.raises(AlreadyExistsError, match="commit"):
        create(engine, head)
    with pytest.raises(AlreadyExistsError, match="commit"):
        tags.create(engine, REPO, name=head, ref="main")
    create(engine, "0" * 64)


def test_hidden_branches_are_listed_on_request(engine):
    create(engine, "dev")
    create(engine, "secret", hidden=True)

    def listed(**options):
        page = branches.list_page(engine, REPO, prefix="", after="", amount=10, **options)
        return [branch.name for branch in page.results]

    assert listed() == ["dev", "main"]
    assert listed(show_hidden=True) == ["dev", "main", "secret"]
    assert branches.get(engine, REPO, "secret").hidden


def test_the_default_branch_cannot_be_deleted(engine):
    with pytest.raises(ForbiddenError, match="default"):
        branches.delete(engine, REPO, "main", force=True)


def test_deleting_a_branch_leaves_its_commits(engine):
    create(engine, "dev")
    upload(engine, b"a", b"1", "dev")
    made = commit(engine, "dev")
    upload(engine, b"b", b"staged", "dev")
    branches.delete(engine, REPO, "dev")
    assert paths(engine, made.id) == [b"a"]
    create(engine, "dev")
    assert paths(engine, "dev") == []


def test_all_tokens_of_a_deleted_branch_are_dropped_later(world, engine):
    create(engine, "dev")
    upload(engine, b"a", b"1", "dev")
    heads.seal(*lookup.current_branch(engine, REPO, "dev"))
    upload(engine, b"b", b"1", "dev")
    tokens = branches.get(engine, REPO, "dev").tokens
    assert len(tokens) == 2
    branches.delete(engine, REPO, "dev")
    assert {*tokens} == {token for _, token in world.refs.cleanups}
    due_s = min(due_ns for due_ns, _ in world.refs.cleanups) // 10**9
    assert due_s >= engine.now_s() + 14 * 60


# Resets


@pytest.fixture
def dirty(engine):
    """a and d/1 and d/2 committed as "old"; a replaced, d/1 deleted, d/3 and e added."""
    for path in (b"a", b"d/1", b"d/2"):
        upload(engine, path, b"old")
    commit(engine)
    for path in (b"a", b"d/3", b"e"):
        upload(engine, path, b"new")
    writes.delete(engine, REPO, "main", b"d/1")


def uncommitted(engine):
    return [each.path for each in diffs.uncommitted(engine, REPO, "main", PageQuery(10)).results]


@pytest.mark.parametrize("sealed", [False, True])
@pytest.mark.parametrize(
    ("kind", "path", "left"),
    [
        ("reset", b"", []),
        ("object", b"a", [b"d/1", b"d/3", b"e"]),
        ("object", b"d/1", [b"a", b"d/3", b"e"]),
        ("object", b"d/3", [b"a", b"d/1", b"e"]),
        ("object", b"d/", [b"a", b"d/1", b"d/3", b"e"]),
        ("common_prefix", b"d/", [b"a", b"e"]),
        ("common_prefix", b"d", [b"a", b"e"]),
        ("common_prefix", b"", []),
        ("common_prefix", b"x", [b"a", b"d/1", b"d/3", b"e"]),
    ],
)
def test_a_reset_undoes_exactly_the_named_changes(engine, dirty, kind, path, left, sealed):
    if sealed:  # as by a commit that was cut short
        heads.seal(*lookup.current_branch(engine, REPO, "main"))
    branches.reset(engine, REPO, "main", kind=kind, path=path)
    assert uncommitted(engine) == left
    if left:
        commit(engine)
        assert uncommitted(engine) == []


def test_a_reset_of_many_changes_undoes_all_of_them(engine):
    for number in range(2500):
        engine.staging.stage(
            branches.get(engine, REPO, "main").staging_token,
            [(b"p/%05d" % number, b"\x40" + b"i" * 32 + b"\x00")],
        )
    upload(engine, b"q", b"1")
    branches.reset(engine, REPO, "main", kind="common_prefix", path=b"p/")
    assert uncommitted(engine) == [b"q"]


@pytest.mark.parametrize(("kind", "path"), [("all", b""), ("", b""), ("object", b"")])
def test_a_malformed_reset_changes_nothing(engine, dirty, kind, path):
    with pytest.raises(InvalidInputError):
        branches.reset(engine, REPO, "main", kind=kind, path=path)
    assert len(uncommitted(engine)) == 4


def test_a_hard_reset_moves_the_head_and_keeps_staged_changes(engine, dirty):
    head = named(engine, "main")
    branches.hard_reset(engine, REPO, "main", ref="main~1")
    assert named(engine, "main") != head
    assert content(engine, "main", b"e") == b"new"
    assert paths(engine, "main@") == []
    branches.hard_reset(engine, REPO, "main", ref=head)
    assert uncommitted(engine) == [b"a", b"d/1", b"d/3", b"e"]


def test_a_hard_reset_is_refused_over_changes_of_a_crashed_commit(engine, dirty):
    heads.seal(*lookup.current_branch(engine, REPO, "main"))
    with pytest.raises(InvalidInputError, match="uncommitted"):
        branches.hard_reset(engine, REPO, "main", ref="main~1")
    commit(engine)
    branches.hard_reset(engine, REPO, "main", ref="main~2")
    assert paths(engine, "main") == []


def test_a_staged_entry_without_effect_has_none_over_another_head(engine):
    upload(engine, b"a", b"1")
    made = commit(engine)
    branches.hard_reset(engine, REPO, "main", ref="main~1")
    writes.delete_many(engine, REPO, "main", [b"a"])  # where nothing is
    heads.seal(*lookup.current_branch(engine, REPO, "main"))
    branches.hard_reset(engine, REPO, "main", ref=made.id)
    assert paths(engine, "main") == [b"a"]


# Tags


def test_tags_are_listed_and_deleted(engine):
    for name in ("v1", "v2", "w"):
        tags.create(engine, REPO, name=name, ref="main")
    page = tags.list_page(engine, REPO, prefix="v", after="", amount=1)
    assert ([tag.name for tag in page.results], page.next_after) == (["v1"], "v1")
    tags.delete(engine, REPO, "v1")
    for gone in (tags.get, tags.delete):
        with pytest.raises(NotFoundError):
            gone(engine, REPO, "v1")
    tags.create(engine, REPO, name="v1", ref="v2")


def test_a_plan_that_finds_its_branch_stale_is_made_again_on_a_fresh_read(engine):
    repository, old = lookup.current_branch(engine, REPO, "main")
    upload(engine, b"a", b"1")
    head = commit(engine)
    seen = []

    def plan(branch):
        seen.append(branch.commit_id)
        if branch.commit_id != head.id:
            raise StaleVersionError("moved")
        return heads.Move(branch, old.commit_id, ())

    heads.move_head(repository, old, plan)
    assert seen == [old.commit_id, head.id]
    assert named(engine, "main") == old.commit_id


def test_a_tag_that_was_replaced_meanwhile_is_deleted(engine):
    tags.create(engine, REPO, name="v1", ref="main")
    upload(engine, b"a", b"1")
    commit(engine)
    rivals = ["rival"]

    def replace_once(name, call):
        if name == "refs.delete_tag" and rivals:
            rivals.pop()
            tags.delete(engine, REPO, "v1")
            tags.create(engine, REPO, name="v1", ref="main")
        return call()

    tags.delete(engine_around(engine, replace_once), REPO, "v1")
    assert not rivals
    with pytest.raises(NotFoundError):
        tags.get(engine, REPO, "v1")


def test_changes_of_refs_publish_events(world, engine):
    create(engine, "dev")
    tags.create(engine, REPO, name="v1", ref="main")
    tags.delete(engine, REPO, "v1")
    branches.delete(engine, REPO, "dev")
    assert [event.kind for event in world.refs.events[1:]] == [
        "branch_created",
        "tag_created",
        "tag_deleted",
        "branch_deleted",
    ]


def test_missing_refs_are_not_found(engine):
    for read in (
        lambda: branches.get(engine, REPO, "none"),
        lambda: branches.get(engine, "none", "main"),
        lambda: tags.get(engine, REPO, "none"),
        lambda: commits.get(engine, REPO, "none"),
        lambda: commits.get(engine, "none", "main"),
        lambda: branches.delete(engine, REPO, "none"),
        lambda: branches.reset(engine, REPO, "none", kind="reset"),
    ):
        with pytest.raises(NotFoundError):
            read()


def test_restored_entries_do_not_hide_the_commit_of_a_hard_reset(engine):
    """Nothing is staged any more, so the branch must equal the new head."""
    first = branches.get(engine, REPO, "main").commit_id
    for text in (b"1", b"2"):
        upload(engine, b"p", text)
        upload(engine, b"q/1", text)
        commit(engine)
    upload(engine, b"p", b"staged")
    upload(engine, b"q/1", b"staged")
    upload(engine, b"own", b"staged")
    branches.reset(engine, REPO, "main", kind="object", path=b"p")
    branches.reset(engine, REPO, "main", kind="common_prefix", path=b"q/")
    for ref, expected in (("main~1", b"1"), ("main@", b"1"), (first, None)):
        branches.hard_reset(engine, REPO, "main", ref=ref)
        for path in (b"p", b"q/1"):
            if expected is None:
                assert path not in paths(engine, "main")
            else:
                assert content(engine, "main", path) == expected
        assert content(engine, "main", b"own") == b"staged"


@pytest.mark.parametrize(("count", "bytes_max"), [(RESTORED_MAX + 1, RESTORED_BYTES_MAX), (2, 9)])
def test_a_hard_reset_over_too_many_or_large_restored_entries_is_refused(
    engine, count, bytes_max, monkeypatch
):
    monkeypatch.setattr(branches, "RESTORED_BYTES_MAX", bytes_max)
    first = branches.get(engine, REPO, "main").commit_id
    for number in range(count):
        upload(engine, b"p/%03d" % number, b"x")
    branches.reset(engine, REPO, "main", kind="common_prefix", path=b"p/")
    with pytest.raises(InvalidInputError, match="commit or reset all uncommitted changes first"):
        branches.hard_reset(engine, REPO, "main", ref=first)
    branches.reset(engine, REPO, "main", kind="reset")
    branches.hard_reset(engine, REPO, "main", ref=first)


def test_a_deletion_without_effect_that_was_reset_does_not_come_back(engine):
    first = branches.get(engine, REPO, "main").commit_id
    upload(engine, b"p", b"1")
    head = commit(engine)
    writes.delete(engine, REPO, "main", b"p")
    branches.hard_reset(engine, REPO, "main", ref=first)  # where there is nothing to delete
    branches.reset(engine, REPO, "main", kind="object", path=b"p")
    branches.hard_reset(engine, REPO, "main", ref=head.id)
    assert content(engine, "main", b"p") == b"1"
