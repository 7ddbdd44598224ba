"""Exports keep away from each other and from repositories, and say whom they would meet."""

import pytest

from graveler.errors import AlreadyExistsError, InvalidInputError
from graveler.export.lifecycle import LEASE_S
from graveler.export.model import ExportConfiguration, ExportRequest, ExportState
from graveler.operations import branches, repositories
from graveler.operations.exports import requests
from graveler.operations.exports.advance import advance
from tests.support.export_lakes import stepped
from tests.support.export_world import REPO, ExportWorld, export_world
from tests.support.lake import commit, upload
from tests.support.runners import SteppedRunner


@pytest.fixture
def lake() -> ExportWorld:
    """Two branches, of which main is exported to s3://out/main."""
    made = export_world()
    upload(made.engine(), b"a/1", b"one")
    commit(made.engine())
    branches.create(made.engine(), REPO, name="dev", source="main")
    put(made, "main", "s3://out/main", "s3://out/status")
    return made


def put(lake: ExportWorld, branch: str, path: str, status_path: str = "") -> None:
    requests.configure(lake.engine(), REPO, branch, ExportConfiguration(path, status_path))


@pytest.mark.parametrize(
    "path", ["s3://out/main", "s3://out/main/", "s3://out/main/dev", "s3://out"]
)
def test_a_branch_is_not_exported_where_another_one_is(lake, path):
    with pytest.raises(AlreadyExistsError, match="branch 'main' of repository 'lake'"):
        put(lake, "dev", path)


@pytest.mark.parametrize(
    "path", ["s3://out/main-dev", "s3://out/mai", "s3://out2/main", "s3://out/a"]
)
def test_beside_the_other_is_far_enough(lake, path):
    put(lake, "dev", path, "s3://out/status")
    put(lake, "main", "s3://out/main")


def test_status_files_stay_out_of_what_another_branch_is_exported_to(lake):
    with pytest.raises(AlreadyExistsError, match="'s3://out/main/status' overlaps"):
        put(lake, "dev", "s3://out/dev", "s3://out/main/status")
    with pytest.raises(AlreadyExistsError, match="overlaps with 's3://out/status'"):
        put(lake, "dev", "s3://out/status")


def test_repositories_do_not_meet_either(lake):
    repositories.create(lake.engine(), name="other", storage_namespace="s3://bucket/other")
    with pytest.raises(AlreadyExistsError, match="branch 'main' of repository 'lake'"):
        requests.configure(
            lake.engine(), "other", "main", ExportConfiguration("s3://out/main/other")
        )


def test_what_a_branch_was_exported_to_stays_its_own(lake):
    lake.settle()
    put(lake, "main", "s3://out/second")
    with pytest.raises(AlreadyExistsError, match="or was before"):
        put(lake, "dev", "s3://out/main")
    put(lake, "main", "s3://out/main")


def test_a_path_that_nothing_was_brought_to_is_given_up(lake):
    put(lake, "main", "s3://out/second")
    put(lake, "dev", "s3://out/main")


def test_with_the_branch_its_places_are_free(lake):
    branches.create(lake.engine(), REPO, name="gone", source="main")
    put(lake, "gone", "s3://out/gone")
    branches.delete(lake.engine(), REPO, "gone")
    lake.branch = "gone"
    lake.advance(runner="any")
    put(lake, "dev", "s3://out/gone")


def test_with_the_configuration_its_places_are_free(lake):
    lake.settle()
    requests.forget(lake.engine(), REPO, "main")
    put(lake, "dev", "s3://out/main")


def at_work(lake: ExportWorld, name: str) -> SteppedRunner:
    """A run of main that has copied something and goes on when it is let."""
    for number in range(5):
        upload(lake.engine(), b"a/%d" % number, b"x")
    commit(lake.engine())
    runner = stepped(lake, name)
    while not lake.objects.uris("s3://out/main"):
        runner.step()
    return runner


@pytest.mark.parametrize("what_goes", ["configuration", "repository"])
def test_a_run_waits_until_the_last_runner_of_an_ended_export_has_left_the_place(what_goes):
    lake = export_world()
    engine = lake.engine()
    put(lake, "main", "s3://out/main")
    old = at_work(lake, "old")
    repositories.create(engine, name="other", storage_namespace="s3://bucket/other")
    if what_goes == "repository":
        repositories.delete(engine, REPO)
    else:
        requests.forget(engine, REPO, "main")
    requests.configure(engine, "other", "main", ExportConfiguration("s3://out/main"))
    written = lake.objects.uris("s3://out/main")
    advance(engine, ExportRequest("other", "main"), runner="new", time_left_s=lambda: 900)
    assert requests.status(engine, "other", "main").state is ExportState.IN_PROGRESS
    assert lake.objects.uris("s3://out/main") == written
    old.step(10_000)
    assert old.is_done
    lake.world.clock.tick(LEASE_S + 1)
    advance(engine, ExportRequest("other", "main"), runner="newer", time_left_s=lambda: 900)
    assert requests.status(engine, "other", "main").state is ExportState.SUCCEEDED


@pytest.mark.parametrize("status_path", ["s3://out/main/status", "s3://out/main", "s3://out"])
def test_status_files_may_lie_in_or_around_the_branch_s_own_path(lake, status_path):
    lake.settle()
    put(lake, "main", "s3://out/main", status_path)
    for key in (b"a/2", b"a/3"):
        upload(lake.engine(), key, b"new")
        head = commit(lake.engine()).id
        requests.run(lake.engine(), REPO, "main")
        lake.settle()
    assert list(lake.exported("s3://out/main")) == ["a/1", "a/2", "a/3"]
    file = f"{status_path}/{REPO}-main-{head}"
    assert lake.objects.get(file).startswith(b"status: exported-successfully")
    manifest = lake.objects.get(f"{file}.manifest.jsonl")
    assert [line.split(b'"')[3] for line in manifest.splitlines()] == [b"a/1", b"a/2", b"a/3"]


def test_with_the_repository_its_places_are_free(lake):
    engine = lake.engine()
    repositories.create(engine, name="other", storage_namespace="s3://bucket/other")
    requests.configure(engine, "other", "main", ExportConfiguration("s3://out/other"))
    repositories.delete(engine, "other")
    put(lake, "dev", "s3://out/other")


@pytest.mark.parametrize(
    "namespace", ["s3://out/main", "s3://out/main/repo", "s3://out", "s3://out/status/x"]
)
def test_no_repository_is_made_where_a_branch_is_exported(lake, namespace):
    with pytest.raises(InvalidInputError, match="branch 'main' of repository 'lake'"):
        repositories.create(lake.engine(), name="other", storage_namespace=namespace)
    assert lake.world.refs.repository("other") is None
    assert [uri for uri in lake.objects.uris("s3://out") if "_lakefs" in uri] == []
    repositories.create(lake.engine(), name="other", storage_namespace="s3://out/repo")


def test_of_two_configured_at_the_same_moment_none_writes(lake):
    put(lake, "main", "s3://out/elsewhere")  # so that nothing is at s3://out/main
    see, store = lake.world.exports.listed_exports, lake.world.exports
    store.listed_exports = lambda: iter(())  # neither has been stored when the other one looks
    put(lake, "main", "s3://out/both")
    put(lake, "dev", "s3://out/both/dev")
    store.listed_exports = see
    lake.settle()
    assert lake.record.state is ExportState.FAILED
    assert "branch 'dev' of repository 'lake'" in lake.record.error_message
    assert lake.objects.uris("s3://out/both") == []


def test_of_two_with_status_files_in_the_others_path_none_writes(lake):
    lake.settle()
    see, store = lake.world.exports.listed_exports, lake.world.exports
    store.listed_exports = lambda: iter(())
    put(lake, "main", "s3://out/main", "s3://out/dev/status")  # the path as before
    put(lake, "dev", "s3://out/dev")
    store.listed_exports = see
    upload(lake.engine(), b"a/2", b"two")
    commit(lake.engine())
    requests.run(lake.engine(), REPO, "main")
    lake.settle()
    assert lake.record.state is ExportState.FAILED
    assert lake.objects.uris("s3://out/main") == ["s3://out/main/a/1"]
    assert lake.objects.uris("s3://out/dev") == []
