"""A repository has all sample data, or is empty and works."""

import pytest

from graveler.errors import ForbiddenError, NotFoundError, ThrottledError
from graveler.model import ProtectionRule
from graveler.open_repository import OpenRepository
from graveler.operations import commits, repositories, samples
from graveler.samples.files import sample_files
from tests.support.fakes.engines import memory_world
from tests.support.faults.counting import engine_around
from tests.support.faults.faults import FailAt
from tests.support.worlds.lake import REPO, commit, content, paths, upload

NAMESPACE = "s3://bucket/lake"


@pytest.fixture
def world():
    return memory_world()


def create(engine):
    made = repositories.create(engine, name=REPO, storage_namespace=NAMESPACE)
    samples.add(OpenRepository(engine, made), "ann")


def test_a_repository_with_samples_has_them_committed_and_its_branch_protected(world, engine):
    create(engine)
    files = {file.path: file.content for file in sample_files(REPO, "main")}
    assert {path: content(engine, "main@", path) for path in paths(engine, "main@")} == files
    made = commits.get(engine, REPO, "main")
    assert (made.message, made.committer, made.generation) == ("Add sample data", "ann", 2)
    assert [event.kind for event in world.refs.events] == ["repository_created", "commit_created"]
    rules, _ = repositories.protection_rules(engine, REPO)
    assert rules == (ProtectionRule("main"),)
    with pytest.raises(ForbiddenError):
        upload(engine, b"x", b"1")


def create_with_failure(world, number: int) -> bool:
    """Return whether the call of that number failed; there may be fewer calls."""
    fault = FailAt(number, ThrottledError("slow down"), landed=False)
    try:
        create(engine_around(world.engine(), fault))
    except ThrottledError:
        return True
    return False


def test_any_failure_leaves_no_repository_or_a_working_one():
    every = [file.path for file in sample_files(REPO, "main")]
    number = 1
    while create_with_failure(world := memory_world(), number):
        number += 1
        engine = world.engine()
        if world.refs.repository(REPO) is None:
            create(engine)
            continue
        found = paths(engine, "main")
        assert found in ([], every)
        upload(engine, b"x", b"1")
        commit(engine)
        assert paths(engine, "main@") == sorted([*found, b"x"])
    assert number > 10
    assert paths(world.engine(), "main@") == every


def test_concurrent_rules_and_commits_stay(world, engine):
    made = repositories.create(engine, name=REPO, storage_namespace=NAMESPACE)
    other = world.engine()
    upload(other, b"x", b"1")
    commit(other)
    upload(other, b"staged", b"1")
    repositories.set_protection_rules(other, REPO, [ProtectionRule("release-*")])
    samples.add(OpenRepository(engine, made), "ann")
    assert repositories.protection_rules(engine, REPO)[0] == (ProtectionRule("release-*"),)
    assert {b"x", b"README.md"} < set(paths(engine, "main@"))
    assert set(paths(engine, "main")) - set(paths(engine, "main@")) == {b"staged"}


def test_a_repository_created_again_gets_no_samples(world, engine):
    made = repositories.create(engine, name=REPO, storage_namespace=NAMESPACE)
    other = world.engine()
    repositories.delete(other, REPO)
    repositories.create(other, name=REPO, storage_namespace="s3://bucket/anew")
    with pytest.raises(NotFoundError):
        samples.add(OpenRepository(engine, made), "ann")
    assert repositories.protection_rules(other, REPO)[0] == ()
    assert paths(other, "main") == []
