"""Exports do not overlap with each other or with repositories; errors name the other one."""

import pytest

from graveler.errors import AlreadyExistsError, InvalidInputError, NotFoundError
from graveler.export.lifecycle import LEASE_S
from graveler.export.record import ExportConfiguration, ExportRequest, ExportState
from graveler.operations import branches, repositories
from graveler.operations.exports import requests
from graveler.operations.exports.advance import advance
from tests.support.faults.runners import SteppedRunner
from tests.support.worlds.export_lakes import stepped
from tests.support.worlds.export_world import REPO, ExportWorld, export_world
from tests.support.worlds.lake import commit, upload


@pytest.fixture
def lake() -> ExportWorld:
    """Two branches, of which main is exported to s3://out/main."""
    made = export_world()
    upload(made.engine(), b"a/1", b"one")
    commit(made.engine())
    branches.create(made.engine(), REPO, name="dev", source="main")
    put(made, "main", "s3://out/main", "s3://out/status")
    return made


def put(
    lake: ExportWorld, branch: str, path: str, status_path: str = "", *, force: bool = False
) -> None:
    configuration = ExportConfiguration(path, status_path)
    requests.configure(lake.engine(), REPO, branch, configuration, force=force)


def assert_exports_to(lake: ExportWorld, branch: str, path: str) -> None:
    """Check that the branch is configured with the path, and that its next run succeeds there."""
    assert requests.get(lake.engine(), REPO, branch).path == path
    advance(lake.engine(), ExportRequest(REPO, branch), runner="new", time_left_s=lambda: 900)
    assert requests.status(lake.engine(), REPO, branch).state is ExportState.SUCCEEDED
    assert lake.objects.get(f"{path}/a/1") == b"one"


@pytest.mark.parametrize(
    "path", ["s3://out/main", "s3://out/main/", "s3://out/main/dev", "s3://out"]
)
def test_an_export_path_must_not_overlap_with_another_branchs(lake, path):
    with pytest.raises(AlreadyExistsError, match="branch 'main' of repository 'lake'"):
        put(lake, "dev", path)


@pytest.mark.parametrize(
    "path", ["s3://out/main-dev", "s3://out/mai", "s3://out2/main", "s3://out/a"]
)
def test_export_paths_may_be_neighbours_and_share_a_status_path(lake, path):
    put(lake, "dev", path, "s3://out/status")
    assert_exports_to(lake, "dev", path)
    put(lake, "main", "s3://out/main")
    assert_exports_to(lake, "main", "s3://out/main")


def test_a_status_path_must_not_lie_in_another_branchs_export_path(lake):
    with pytest.raises(AlreadyExistsError, match="'s3://out/main/status' overlaps"):
        put(lake, "dev", "s3://out/dev", "s3://out/main/status")
    with pytest.raises(AlreadyExistsError, match="overlaps with 's3://out/status'"):
        put(lake, "dev", "s3://out/status")


def test_an_export_path_must_not_overlap_with_one_of_another_repository(lake):
    repositories.create(lake.engine(), name="other", storage_namespace="s3://bucket/other")
    with pytest.raises(AlreadyExistsError, match="branch 'main' of repository 'lake'"):
        requests.configure(
            lake.engine(), "other", "main", ExportConfiguration("s3://out/main/other")
        )


def test_a_branch_keeps_the_paths_that_it_was_exported_to(lake):
    lake.settle()
    put(lake, "main", "s3://out/second")
    with pytest.raises(AlreadyExistsError, match="or was before"):
        put(lake, "dev", "s3://out/main")
    put(lake, "main", "s3://out/main")


def test_a_path_without_exported_objects_is_free_once_the_branch_has_another(lake):
    put(lake, "main", "s3://out/second")
    put(lake, "dev", "s3://out/main")
    assert_exports_to(lake, "dev", "s3://out/main")


def test_deleting_a_branch_frees_its_places(lake):
    branches.create(lake.engine(), REPO, name="gone", source="main")
    put(lake, "gone", "s3://out/gone")
    branches.delete(lake.engine(), REPO, "gone")
    lake.branch = "gone"
    lake.advance(runner="any")
    put(lake, "dev", "s3://out/gone")
    assert_exports_to(lake, "dev", "s3://out/gone")


def test_deleting_an_export_frees_its_places(lake):
    lake.settle()
    requests.forget(lake.engine(), REPO, "main")
    put(lake, "dev", "s3://out/main", force=True)
    assert_exports_to(lake, "dev", "s3://out/main")


def runner_in_progress(lake: ExportWorld, name: str) -> SteppedRunner:
    """Return a runner of main that has copied something, and continues step by step."""
    for number in range(5):
        upload(lake.engine(), b"a/%d" % number, b"x")
    commit(lake.engine())
    runner = stepped(lake, name)
    while not lake.objects.uris("s3://out/main"):
        runner.step()
    return runner


@pytest.mark.parametrize("deleted", ["configuration", "repository"])
def test_a_run_waits_until_the_last_runner_of_a_deleted_export_has_stopped(deleted):
    lake = export_world()
    engine = lake.engine()
    put(lake, "main", "s3://out/main")
    old = runner_in_progress(lake, "old")
    repositories.create(engine, name="other", storage_namespace="s3://bucket/other")
    if deleted == "repository":
        repositories.delete(engine, REPO)
    else:
        requests.forget(engine, REPO, "main")
    requests.configure(engine, "other", "main", ExportConfiguration("s3://out/main"), force=True)
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
def test_a_status_path_may_lie_in_or_around_the_branchs_own_export_path(lake, status_path):
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


def test_deleting_a_repository_frees_the_places_of_its_exports(lake):
    engine = lake.engine()
    repositories.create(engine, name="other", storage_namespace="s3://bucket/other")
    requests.configure(engine, "other", "main", ExportConfiguration("s3://out/other"))
    repositories.delete(engine, "other")
    put(lake, "dev", "s3://out/other")
    assert_exports_to(lake, "dev", "s3://out/other")


@pytest.mark.parametrize(
    "namespace", ["s3://out/main", "s3://out/main/repo", "s3://out", "s3://out/status/x"]
)
def test_a_storage_namespace_must_not_overlap_with_an_export(lake, namespace):
    with pytest.raises(InvalidInputError, match="branch 'main' of repository 'lake'"):
        repositories.create(lake.engine(), name="other", storage_namespace=namespace)
    assert lake.world.refs.repository("other") is None
    assert [uri for uri in lake.objects.uris("s3://out") if "_lakefs" in uri] == []
    repositories.create(lake.engine(), name="other", storage_namespace="s3://out/repo")


def test_of_two_overlapping_exports_configured_at_the_same_moment_none_writes(lake):
    put(lake, "main", "s3://out/elsewhere")  # so that nothing is at s3://out/main
    see, store = lake.world.exports.listed_exports, lake.world.exports
    store.listed_exports = lambda: iter(())  # neither sees the other one stored
    put(lake, "main", "s3://out/both")
    put(lake, "dev", "s3://out/both/dev")
    store.listed_exports = see
    lake.settle()
    assert lake.record.state is ExportState.FAILED
    assert "branch 'dev' of repository 'lake'" in lake.record.error_message
    assert lake.objects.uris("s3://out/both") == []


def test_with_status_files_in_the_others_path_none_of_two_exports_writes(lake):
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


def test_a_first_export_to_a_path_that_holds_objects_needs_force(lake):
    lake.world.objects.put("s3://out/devil/x", b"theirs", "text/plain")  # beside the path
    lake.world.objects.put("s3://out/dev/x", b"theirs", "text/plain")
    with pytest.raises(AlreadyExistsError, match="'s3://out/dev' is not empty: 's3://out/dev/x'"):
        put(lake, "dev", "s3://out/dev")
    with pytest.raises(NotFoundError):
        requests.get(lake.engine(), REPO, "dev")
    put(lake, "dev", "s3://out/dev", force=True)
    assert_exports_to(lake, "dev", "s3://out/dev")


def test_a_path_of_the_branch_is_configured_again_without_force(lake):
    lake.settle()
    put(lake, "main", "s3://out/main", "s3://out/reports")
    put(lake, "main", "s3://out/other")
    lake.settle()
    put(lake, "main", "s3://out/main")
    for path in ("s3://out", "s3://out/main/a"):  # around it and inside of it
        with pytest.raises(AlreadyExistsError, match="is not empty"):
            put(lake, "main", path)


def test_reports_of_the_branch_leave_its_path_empty(lake):
    commit_id = branches.get(lake.engine(), REPO, "dev").commit_id
    for name in (
        f"{REPO}-dev-{commit_id}",
        f"{REPO}-dev-{commit_id}.manifest.jsonl",
        "_STATUS_20261127T112233.000000001Z.json",
    ):
        lake.world.objects.put(f"s3://out/dev/status/{name}", b"x", "text/plain")
    put(lake, "dev", "s3://out/dev", "s3://out/dev/status")
    lake.world.objects.put(f"s3://out/dev/status/{REPO}-main-{commit_id}", b"x", "text/plain")
    requests.forget(lake.engine(), REPO, "dev")
    with pytest.raises(AlreadyExistsError, match="is not empty"):
        put(lake, "dev", "s3://out/dev", "s3://out/dev/status")
