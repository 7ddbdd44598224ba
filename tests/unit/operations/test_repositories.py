"""Repositories take one namespace each, and their own rules."""

import re
from contextlib import suppress

import pytest
from msgspec.structs import replace

from graveler.branches.lookup import REPOSITORY_AGE_MAX_S, read_repository
from graveler.errors import (
    AlreadyExistsError,
    ForbiddenError,
    InvalidInputError,
    NotFoundError,
    PreconditionFailedError,
    ThrottledError,
)
from graveler.model import ProtectionRule
from graveler.operations import branches, commits, links, objects, repositories, tags, writes
from graveler.staging.listing import PageQuery
from tests.support.fakes.engines import memory_world
from tests.support.faults.counting import engine_around
from tests.support.faults.faults import FailAt, Meanwhile


@pytest.fixture
def world():
    return memory_world()


def create(engine, name="repo", namespace="s3://bucket/repo", **options):
    return repositories.create(engine, name=name, storage_namespace=namespace, **options)


def test_a_new_repository_has_a_default_branch_with_one_empty_commit(engine):
    create(engine, default_branch="trunk")
    (first,) = commits.log(engine, "repo", "trunk", commits.LogQuery(10)).results
    assert (first.message, first.committer, first.metarange_id) == ("Repository created", "", "")
    assert (first.parents, first.generation) == ((), 1)
    assert objects.list_objects(engine, "repo", "trunk", PageQuery(10)).results == []


def test_creating_and_deleting_a_repository_publish_events(world, engine):
    create(engine)
    repositories.delete(engine, "repo")
    assert [event.kind for event in world.refs.events] == [
        "repository_created",
        "repository_deleted",
    ]


def test_a_name_is_taken_once(engine):
    create(engine)
    with pytest.raises(AlreadyExistsError, match="'repo'"):
        create(engine, namespace="s3://bucket/elsewhere")
    assert repositories.get(engine, "repo").storage_namespace == "s3://bucket/repo"
    create(engine, name="other", namespace="s3://bucket/elsewhere")


def test_a_namespace_is_taken_once_even_if_its_repository_is_deleted(engine):
    create(engine)
    for name in ("other", "repo"):
        if name == "repo":
            repositories.delete(engine, "repo")
        with pytest.raises(InvalidInputError, match="in use"):
            create(engine, name=name, namespace="s3://bucket/repo/")


def test_five_seconds_after_its_deletion_no_process_sees_a_repository(world, engine):
    create(engine)
    commit_id = branches.get(engine, "repo", "main").commit_id
    assert objects.list_objects(engine, "repo", commit_id, PageQuery(10)).results == []
    repositories.delete(world.engine(), "repo")
    world.clock.tick(REPOSITORY_AGE_MAX_S)
    for ref in (commit_id, "main"):
        with pytest.raises(NotFoundError, match="'repo'"):
            objects.list_objects(engine, "repo", ref, PageQuery(10))


def test_the_process_that_deleted_a_repository_does_not_see_it_any_more(engine):
    create(engine)
    links.get_physical_address(engine, "repo", "main", b"p")  # it remembers the repository
    repositories.delete(engine, "repo")
    with pytest.raises(NotFoundError, match="'repo'"):
        links.get_physical_address(engine, "repo", "main", b"p")


def test_a_read_only_repository_claims_no_namespace(engine):
    create(engine, read_only=True)
    create(engine, name="other")


@pytest.mark.parametrize("number", range(1, 7))
def test_a_throttled_creation_can_be_repeated(world, number):
    fault = FailAt(number, ThrottledError("slow down"), landed=False)
    engine = engine_around(world.engine(), fault)
    with pytest.raises(ThrottledError):
        create(engine)
    with suppress(AlreadyExistsError):  # the last call comes when it exists
        create(engine)
    assert repositories.get(engine, "repo").name == "repo"


@pytest.mark.parametrize("number", range(1, 7))
@pytest.mark.parametrize("namespace", ["s3://bucket/repo", "s3://bucket/other"])
def test_of_two_concurrent_creations_of_a_repository_one_wins(world, number, namespace):
    rival = world.engine()
    made = []

    def meanwhile():
        with suppress(AlreadyExistsError, InvalidInputError):
            made.append(create(rival, namespace=namespace))

    with suppress(AlreadyExistsError, InvalidInputError):
        made.append(create(engine_around(world.engine(), Meanwhile(number, meanwhile))))
    (winner,) = made
    assert repositories.get(world.engine(), "repo") == winner
    with pytest.raises(InvalidInputError, match="in use"):
        create(rival, name="third", namespace=winner.storage_namespace)
    loser = {"s3://bucket/repo", "s3://bucket/other"} - {winner.storage_namespace}
    create(rival, name="third", namespace=loser.pop())


@pytest.mark.parametrize(
    ("name", "namespace", "branch"),
    [
        ("Repo", "s3://bucket/x", "main"),
        ("repo", "gs://bucket/x", "main"),
        ("repo", "s3://bucket/x", "no/slash"),
    ],
)
def test_malformed_names_create_nothing(world, engine, name, namespace, branch):
    with pytest.raises(InvalidInputError):
        create(engine, name=name, namespace=namespace, default_branch=branch)
    assert world.objects.uris() == []


def test_a_missing_bucket_creates_nothing(world, engine):
    world.objects.missing_buckets.add("bucket")
    with pytest.raises(InvalidInputError):
        create(engine)
    with pytest.raises(NotFoundError):
        repositories.get(engine, "repo")


def test_a_repository_created_again_has_nothing_of_the_old_one(world, engine):
    create(engine)
    branches.create(engine, "repo", name="dev", source="main")
    witness = world.engine()
    assert branches.get(witness, "repo", "dev").name == "dev"
    repositories.delete(engine, "repo")
    for each in (engine, witness):
        with pytest.raises(NotFoundError):
            branches.get(each, "repo", "dev")
    create(engine, namespace="s3://bucket/again")
    for each in (engine, witness):
        with pytest.raises(NotFoundError):
            branches.get(each, "repo", "dev")


def test_a_process_with_the_old_repository_cached_works_on_the_new_one(world, engine):
    create(engine)
    stage(engine)
    witness = world.engine()
    assert objects.stat(witness, "repo", "main", b"p").entry.size_bytes == 1
    repositories.delete(engine, "repo")
    create(engine, namespace="s3://bucket/again")
    branches.create(engine, "repo", name="new", source="main")
    links.stage(
        engine,
        "repo",
        "main",
        b"q",
        links.StoredData(physical_address="s3://b/k", checksum="c", size_bytes=2),
    )
    assert objects.stat(witness, "repo", "main", b"q").entry.size_bytes == 2
    assert objects.list_objects(witness, "repo", "new", PageQuery(10)).results == []


def test_a_write_goes_to_the_current_repository_of_the_name(world, engine):
    create(engine)
    witness = world.engine()
    stage(witness)
    repositories.delete(engine, "repo")
    with pytest.raises(NotFoundError):
        stage(witness)
    create(engine, namespace="s3://bucket/again")
    stage(witness)
    commit(witness)
    page = objects.list_objects(world.engine(), "repo", "main@", PageQuery(10))
    assert [item.path for item in page.results] == [b"p"]


def test_metadata_are_set_and_deleted_key_by_key(engine):
    create(engine)
    repositories.set_metadata(engine, "repo", {"a": "1", "b": "2"})
    repositories.set_metadata(engine, "repo", {"b": "3"})
    repositories.delete_metadata(engine, "repo", ["a", "missing"])
    assert repositories.metadata(engine, "repo") == {"b": "3"}


# Rules


def stage(engine, branch="main", **options):
    return links.stage(
        engine,
        "repo",
        branch,
        b"p",
        links.StoredData(physical_address="s3://b/k", checksum="c", size_bytes=1),
        **options,
    )


def commit(engine, branch="main", **options):
    request = commits.CommitRequest("m", "c", allow_empty=True, **options)
    return commits.commit(engine, "repo", branch, request)


def test_a_checksum_guards_replacing_the_rules(engine):
    create(engine)
    assert repositories.protection_rules(engine, "repo") == ((), "")
    rules = (ProtectionRule("main"), ProtectionRule("v*"))
    repositories.set_protection_rules(engine, "repo", rules, if_match="")
    found, checksum = repositories.protection_rules(engine, "repo")
    assert found == rules
    with pytest.raises(PreconditionFailedError):
        repositories.set_protection_rules(engine, "repo", (), if_match="")
    repositories.set_protection_rules(engine, "repo", (), if_match=checksum)
    assert repositories.protection_rules(engine, "repo") == ((), "")


def test_an_empty_pattern_is_refused(engine):
    create(engine)
    with pytest.raises(InvalidInputError):
        repositories.set_protection_rules(engine, "repo", [ProtectionRule("")])


def test_rules_take_effect_at_once_in_every_process(world, engine):
    create(engine)
    other = world.engine()
    stage(other)
    repositories.set_protection_rules(engine, "repo", [ProtectionRule("main")])
    with pytest.raises(ForbiddenError):
        stage(other)
    with pytest.raises(ForbiddenError):
        commit(other)
    repositories.set_protection_rules(engine, "repo", [])
    stage(other)


@pytest.mark.parametrize(
    ("pattern", "protected"),
    [
        ("main", ["main"]),
        ("*", ["main", "dev", "release-1"]),
        ("release-*", ["release-1"]),
        ("release-?", ["release-1"]),
        ("[md]*", ["main", "dev"]),
        ("[!m]*", ["dev", "release-1"]),
        ("{main,dev}", ["main", "dev"]),
        ("{main,release-*}", ["main", "release-1"]),
        ("{ma{in,ne},release-{1,2}}", ["main", "release-1"]),
        ("{main", ["main"]),
        ("[m,d]*", ["main", "dev"]),
        (r"release\-[0-9]", ["release-1"]),
        (r"release[a\-z]1", ["release-1"]),
        ("main\\", ["main"]),
        ("mai", []),
        ("MAIN", []),
    ],
)
def test_a_pattern_protects_the_branches_that_match_it(engine, pattern, protected):
    create(engine)
    for name in ("dev", "release-1"):
        branches.create(engine, "repo", name=name, source="main")
    repositories.set_protection_rules(engine, "repo", [ProtectionRule(pattern)])
    found = []
    for name in ("main", "dev", "release-1"):
        try:
            stage(engine, name)
        except ForbiddenError:
            found.append(name)
    assert found == protected


@pytest.mark.parametrize("pattern", ["main[", "[]", "[z-a]*", "[!z-a]*", r"release[\]"])
def test_a_pattern_that_would_protect_nothing_is_refused(engine, pattern):
    create(engine)
    with pytest.raises(InvalidInputError, match=re.escape(repr(pattern))):
        repositories.set_protection_rules(engine, "repo", [ProtectionRule(pattern)])
    assert repositories.protection_rules(engine, "repo")[0] == ()


def test_a_malformed_rule_from_before_does_not_hinder_others(engine):
    create(engine)
    old = read_repository(engine, "repo").record
    engine.refs.update_repository(old, replace(old, protection_rules=(ProtectionRule("["),)))
    rules = [ProtectionRule("["), ProtectionRule("main")]
    repositories.set_protection_rules(engine, "repo", rules)
    with pytest.raises(ForbiddenError):
        stage(engine)


def test_each_rule_blocks_its_action(engine):
    create(engine)
    only_commits = ProtectionRule("main", block_staging_write=False)
    repositories.set_protection_rules(engine, "repo", [only_commits])
    stage(engine)
    with pytest.raises(ForbiddenError):
        commit(engine)
    only_staging = ProtectionRule("main", block_commit=False)
    repositories.set_protection_rules(engine, "repo", [only_staging])
    with pytest.raises(ForbiddenError):
        stage(engine)
    with pytest.raises(ForbiddenError):
        branches.reset(engine, "repo", "main", kind="reset")
    commit(engine)


def test_a_read_only_repository_takes_no_change_unless_forced(engine):
    create(engine, read_only=True)
    refused = [
        lambda **force: stage(engine, **force),
        lambda **force: writes.delete(engine, "repo", "main", b"p", **force),
        lambda **force: commit(engine, **force),
        lambda **force: branches.create(engine, "repo", name="b", source="main", **force),
        lambda **force: branches.delete(engine, "repo", "b", **force),
        lambda **force: tags.create(engine, "repo", name="t", ref="main", **force),
        lambda **force: tags.delete(engine, "repo", "t", **force),
        lambda **force: branches.reset(engine, "repo", "main", kind="reset", **force),
        lambda **force: branches.hard_reset(engine, "repo", "main", ref="main", **force),
        lambda **force: repositories.set_metadata(engine, "repo", {"a": "b"}, **force),
        lambda **force: repositories.delete(engine, "repo", **force),
    ]
    for change in refused:
        with pytest.raises(ForbiddenError, match="read-only"):
            change()
        change(force=True)
