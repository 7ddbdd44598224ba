"""Users configure, run and repair the export of a branch, and read its status."""

import pytest
from msgspec.structs import replace

from graveler.errors import (
    ConflictError,
    ContentionError,
    InvalidInputError,
    NotFoundError,
    StaleVersionError,
)
from graveler.export.record import ExportConfiguration, ExportSettings, ExportState
from graveler.operations import branches, repositories
from graveler.operations.exports import requests
from tests.support.worlds.export_world import REPO, ExportWorld, export_world
from tests.support.worlds.lake import commit, upload

CONFIGURATION = ExportConfiguration(
    "s3://out/latest", "s3://out/status", ("^SUCCESS$",), is_continuous=True
)


@pytest.fixture
def lake() -> ExportWorld:
    """A branch with an object and no export."""
    made = export_world()
    upload(made.engine(), b"a/1", b"one")
    commit(made.engine())
    return made


def put(lake: ExportWorld, configuration: ExportConfiguration, branch: str = "main") -> None:
    requests.configure(lake.engine(), REPO, branch, configuration)


def requested(lake: ExportWorld) -> int:
    return sum(event.kind == "export_requested" for event in lake.world.refs.events)


def fail(lake: ExportWorld) -> None:
    """Make the export of the branch fail."""
    lake.world.objects.missing_buckets.add("out")
    lake.settle()
    lake.world.objects.missing_buckets.clear()
    assert lake.record.state is ExportState.FAILED


def test_a_configuration_is_returned_as_it_was_put(lake):
    put(lake, CONFIGURATION)
    assert requests.get(lake.engine(), REPO, "main") == CONFIGURATION


def test_a_put_replaces_the_whole_configuration(lake):
    put(lake, CONFIGURATION)
    put(lake, ExportConfiguration("s3://out/other"))
    assert requests.get(lake.engine(), REPO, "main") == ExportConfiguration("s3://out/other")


def test_slashes_at_the_end_of_paths_make_no_difference(lake):
    put(lake, replace(CONFIGURATION, path="s3://out/latest//", status_path="s3://out/status/"))
    assert requests.get(lake.engine(), REPO, "main") == CONFIGURATION


def test_each_branch_has_an_export_of_its_own(lake):
    branches.create(lake.engine(), REPO, name="dev", source="main")
    put(lake, CONFIGURATION)
    with pytest.raises(NotFoundError, match="'dev' has no export"):
        requests.get(lake.engine(), REPO, "dev")
    put(lake, ExportConfiguration("s3://out/dev"), "dev")
    assert requests.get(lake.engine(), REPO, "dev").path == "s3://out/dev"
    assert requests.get(lake.engine(), REPO, "main") == CONFIGURATION


@pytest.mark.parametrize("ask", [requests.get, requests.status, requests.run, requests.repair])
def test_a_branch_without_an_export_is_not_found(lake, ask):
    with pytest.raises(NotFoundError, match="set one first"):
        ask(lake.engine(), REPO, "main")
    with pytest.raises(NotFoundError, match="branch not found"):
        ask(lake.engine(), REPO, "nobody")
    with pytest.raises(NotFoundError, match="repository not found"):
        ask(lake.engine(), "nobody", "main")


def test_a_branch_that_does_not_exist_cannot_be_configured(lake):
    with pytest.raises(NotFoundError, match="branch not found"):
        put(lake, CONFIGURATION, "nobody")


def test_only_paths_that_the_deployment_allows_can_be_configured(lake):
    lake.world.export_settings = ExportSettings(allowed_prefixes=("s3://out/public/",))
    put(lake, ExportConfiguration("s3://out/public/a", "s3://out/public/status"))
    with pytest.raises(InvalidInputError, match=r"export path .* is not allowed"):
        put(lake, ExportConfiguration("s3://out/private"))
    with pytest.raises(InvalidInputError, match=r"export status path .* is not allowed"):
        put(lake, ExportConfiguration("s3://out/public/a", "s3://out/private"))


def test_a_run_to_a_path_that_the_deployment_no_longer_allows_is_refused(lake):
    put(lake, CONFIGURATION)
    lake.settle()
    before = requested(lake)
    lake.world.export_settings = ExportSettings(allowed_prefixes=())
    with pytest.raises(InvalidInputError, match="exports nowhere"):
        requests.run(lake.engine(), REPO, "main")
    assert requested(lake) == before


@pytest.mark.parametrize("uri", ["s3://bucket/lake", "s3://bucket/lake/data/x", "s3://bucket"])
def test_an_export_must_not_overlap_with_the_storage_of_its_repository(lake, uri):
    with pytest.raises(InvalidInputError, match="storage namespace of repository 'lake'"):
        put(lake, ExportConfiguration(uri))
    with pytest.raises(InvalidInputError, match="storage namespace of repository 'lake'"):
        put(lake, ExportConfiguration("s3://out/latest", uri))


def test_an_export_must_not_overlap_with_the_storage_of_any_repository(lake, monkeypatch):
    monkeypatch.setattr("graveler.branches.complete_listings.PAGE_AMOUNT_MAX", 1)
    for name in ("aaa", "zzz"):
        repositories.create(lake.engine(), name=name, storage_namespace=f"s3://bucket/{name}")
    with pytest.raises(InvalidInputError, match="repository 'zzz'"):
        put(lake, ExportConfiguration("s3://bucket/zzz/exports"))
    put(lake, ExportConfiguration("s3://bucket/zzz-exports"))


def test_a_branch_name_must_leave_room_for_the_names_of_its_status_files(lake):
    name = "b" * 960
    branches.create(lake.engine(), REPO, name=name, source="main")
    with pytest.raises(InvalidInputError, match="S3 allows at most 1024"):
        put(lake, CONFIGURATION, name)
    put(lake, replace(CONFIGURATION, status_path=""), name)


def test_the_patterns_must_fit_into_the_record(lake):
    put(lake, replace(CONFIGURATION, last_keys_in_prefix_regexps=("a" * 1000,) * 50))
    with pytest.raises(InvalidInputError, match="bytes as JSON, at most 65536 are allowed"):
        put(lake, replace(CONFIGURATION, last_keys_in_prefix_regexps=("\x00" * 1000,) * 50))


def test_a_pattern_that_does_not_compile_is_refused_and_changes_nothing(lake):
    put(lake, CONFIGURATION)
    with pytest.raises(InvalidInputError, match="not a regular expression"):
        put(lake, ExportConfiguration("s3://out/other", last_keys_in_prefix_regexps=("a", "(")))
    assert requests.get(lake.engine(), REPO, "main") == CONFIGURATION


def test_a_configuration_requests_an_export_in_the_same_transaction(lake):
    put(lake, CONFIGURATION)
    assert requested(lake) == 1
    event = lake.world.refs.events[-1]
    assert (event.repository, event.detail) == (REPO, {"branch": "main"})
    assert requests.status(lake.engine(), REPO, "main").is_pending


def test_of_two_concurrent_configurations_the_last_one_wins(lake):
    store, engine = lake.world.exports, lake.engine()
    replace_once, races = store.replace_branch_export, [CONFIGURATION]

    def meanwhile(*arguments):
        if races:
            put(lake, races.pop())
        return replace_once(*arguments)

    store.replace_branch_export = meanwhile
    requests.configure(engine, REPO, "main", ExportConfiguration("s3://out/mine"))
    assert requests.get(engine, REPO, "main").path == "s3://out/mine"


# run


def test_run_begins_an_export_at_once_and_returns_its_id(lake):
    put(lake, ExportConfiguration("s3://out/latest"))
    head = branches.get(lake.engine(), REPO, "main").commit_id
    export_id = requests.run(lake.engine(), REPO, "main")
    assert export_id.startswith(f"lake-main-{head}-")
    status = requests.status(lake.engine(), REPO, "main")
    assert (status.state, status.export_id) == (ExportState.IN_PROGRESS, export_id)
    assert requested(lake) == 2
    lake.settle()
    assert requests.status(lake.engine(), REPO, "main").export_id == export_id
    assert lake.exported("s3://out/latest") == lake.content_of(head)


def test_every_run_has_its_own_id(lake):
    put(lake, ExportConfiguration("s3://out/latest"))
    first = requests.run(lake.engine(), REPO, "main")
    lake.settle()
    branches.create(lake.engine(), REPO, name="dev", source="main")
    put(lake, ExportConfiguration("s3://out/dev"), "dev")
    upload(lake.engine(), b"a/2", b"two")
    commit(lake.engine())
    assert requests.run(lake.engine(), REPO, "main") != first
    assert requests.run(lake.engine(), REPO, "dev") != first


def test_a_run_cannot_start_while_another_is_in_progress(lake):
    put(lake, CONFIGURATION)
    requests.run(lake.engine(), REPO, "main")
    with pytest.raises(ConflictError, match="export currently in progress"):
        requests.run(lake.engine(), REPO, "main")


def test_of_two_concurrent_runs_one_is_refused(lake):
    put(lake, ExportConfiguration("s3://out/latest"))
    store, engine = lake.world.exports, lake.engine()
    replace_once, begun = store.replace_branch_export, []

    def meanwhile(*arguments):
        if not begun:
            begun.append("")
            begun[0] = requests.run(lake.engine(), REPO, "main")
        return replace_once(*arguments)

    store.replace_branch_export = meanwhile
    with pytest.raises(ConflictError, match="in progress"):
        requests.run(engine, REPO, "main")
    assert lake.record.run.id == begun[0]


# repair


def test_a_repaired_export_resumes_by_itself(lake):
    put(lake, CONFIGURATION)
    fail(lake)
    requests.repair(lake.engine(), REPO, "main")
    assert requests.status(lake.engine(), REPO, "main").state is ExportState.REPAIRED
    lake.settle()
    status = requests.status(lake.engine(), REPO, "main")
    head = branches.get(lake.engine(), REPO, "main").commit_id
    assert (status.state, status.exported_commit) == (ExportState.SUCCEEDED, head)
    assert (status.error_message, status.failed, status.first_errors) == ("", 0, ())


def test_only_a_failed_export_is_repaired(lake):
    put(lake, CONFIGURATION)
    for _ in range(2):
        with pytest.raises(ConflictError, match="incorrect status"):
            requests.repair(lake.engine(), REPO, "main")
        lake.settle()
    upload(lake.engine(), b"a/2", b"two")
    commit(lake.engine())
    fail(lake)
    requests.repair(lake.engine(), REPO, "main")
    with pytest.raises(ConflictError, match="incorrect status"):
        requests.repair(lake.engine(), REPO, "main")


def test_a_repaired_export_may_be_run_by_hand(lake):
    put(lake, CONFIGURATION)
    fail(lake)
    requests.repair(lake.engine(), REPO, "main")
    requests.run(lake.engine(), REPO, "main")
    lake.settle()
    assert lake.record.state is ExportState.SUCCEEDED


def test_a_failed_export_begins_again_with_another_configuration_and_not_with_the_same(lake):
    put(lake, CONFIGURATION)
    fail(lake)
    put(lake, CONFIGURATION)
    lake.settle()
    assert lake.record.state is ExportState.FAILED
    put(lake, ExportConfiguration("s3://out/other", is_continuous=True))
    lake.settle()
    assert lake.objects.uris("s3://out/other") == ["s3://out/other/a/1"]


# status


def test_the_status_has_the_progress_of_an_export(lake):
    for number in range(30):
        upload(lake.engine(), b"b/%02d" % number, b"x")
    commit(lake.engine())
    put(lake, CONFIGURATION)
    before = requests.status(lake.engine(), REPO, "main")
    assert (before.state, before.export_id, before.total, before.exported_commit) == (
        None,
        "",
        0,
        "",
    )
    lake.world.clock.step_ns = 10**9  # time for some of them only
    lake.advance(runner="short", time_s=100)
    during = requests.status(lake.engine(), REPO, "main")
    assert during.state is ExportState.IN_PROGRESS
    assert 0 < during.done < during.total == 31
    lake.settle()
    after = requests.status(lake.engine(), REPO, "main")
    assert (after.done, after.total, after.failed) == (31, 31, 0)


def test_the_status_has_the_reason_of_a_failure(lake):
    put(lake, CONFIGURATION)
    fail(lake)
    status = requests.status(lake.engine(), REPO, "main")
    assert status.state is ExportState.FAILED
    assert "s3://out" in status.error_message


def test_too_many_concurrent_updates_are_an_error(lake):
    def stale(*_arguments):
        raise StaleVersionError("changed")

    lake.world.exports.replace_branch_export = stale
    with pytest.raises(ContentionError, match=r"too many concurrent updates .* 'main': retry"):
        put(lake, CONFIGURATION)
