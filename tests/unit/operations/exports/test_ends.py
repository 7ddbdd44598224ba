"""Exports that end: their configuration, their branch or their repository was deleted."""

import pytest
from msgspec.structs import replace

from graveler.errors import ConflictError, NotFoundError, StaleVersionError
from graveler.export.lifecycle import RENEWAL_S
from graveler.open_repository import OpenRepository
from graveler.operations import branches, repositories
from graveler.operations.exports import requests
from graveler.operations.exports.batch import export_in_batch
from tests.support.worlds.export_jobs import WorkersInTurns
from tests.support.worlds.export_lakes import (
    LATEST,
    is_exported,
    lake_of_twelve,
    step,
    stepped,
)
from tests.support.worlds.export_world import MARK, REPO, ExportWorld
from tests.support.worlds.lake import commit, upload


@pytest.fixture
def lake() -> ExportWorld:
    """A branch whose export is pending."""
    return lake_of_twelve()


def delete_main(lake: ExportWorld) -> None:
    """Delete the default branch, but not its export."""
    branch = branches.get(lake.engine(), REPO, "main")
    event = OpenRepository(lake.engine(), lake.repository).event("branch_deleted", branch="main")
    lake.world.refs.delete_branch(lake.repository, branch, event, 0)


def test_deleting_a_branch_deletes_its_export(lake):
    branches.create(lake.engine(), REPO, name="dev", source="main")
    lake.branch = "dev"
    lake.configure("s3://out/dev", is_continuous=True)
    lake.settle()
    branches.delete(lake.engine(), REPO, "dev")
    lake.settle()
    assert lake.record is None
    branches.create(lake.engine(), REPO, name="dev", source="main")
    lake.settle()
    assert lake.record is None


def test_a_runner_stops_when_its_branch_was_deleted(lake):
    lake.world.clock.step_ns = 10**8
    first = stepped(lake, "first")
    step(lake, first, until=3)
    delete_main(lake)
    lake.advance(runner="second")
    assert lake.record is not None  # the first runner is still working
    lake.world.clock.tick(16)
    step(lake, first)
    assert len(lake.writes) < 12
    assert lake.record is None


def test_a_runner_stops_when_its_export_was_deleted(lake):
    runner = stepped(lake, "first")
    step(lake, runner, until=3)
    requests.forget(lake.engine(), REPO, "main")
    for forgotten in (
        requests.get,
        requests.status,
        requests.run,
        requests.repair,
        requests.forget,
    ):
        with pytest.raises(NotFoundError, match="no export configuration"):
            forgotten(lake.engine(), REPO, "main")
    lake.world.clock.tick(RENEWAL_S)
    step(lake, runner)
    assert len(lake.exported(LATEST)) < 12
    assert lake.record is None


def test_the_next_runner_deletes_a_deleted_export_whose_runner_died(lake):
    runner = stepped(lake, "first")
    step(lake, runner, until=3)
    runner.kill()
    requests.forget(lake.engine(), REPO, "main")
    written = len(lake.writes)
    lake.settle()
    assert lake.record is None
    assert len(lake.writes) == written


def test_a_deleted_export_cannot_be_configured_before_its_runner_has_stopped(lake):
    runner = stepped(lake, "first")
    step(lake, runner, until=3)
    requests.forget(lake.engine(), REPO, "main")
    with pytest.raises(ConflictError, match="has not stopped yet"):
        lake.configure(LATEST, force=True)
    lake.world.clock.tick(RENEWAL_S)
    step(lake, runner)
    lake.writes.clear()
    lake.configure(LATEST, force=True)
    lake.settle()
    assert is_exported(lake)
    assert len(copied(lake)) == 12


def test_an_export_whose_run_waits_for_a_job_is_deleted_at_once(lake):
    lake.world.export_settings = replace(lake.world.export_settings, batch_objects_min=1)
    lake.world.batch_jobs.is_deployed = True
    lake.advance()
    [(request, run_id)] = lake.world.batch_jobs.started
    requests.forget(lake.engine(), REPO, "main")
    assert lake.record is None
    with pytest.raises(ConflictError, match="or has ended"):
        export_in_batch(
            lake.engine(), request, run_id, runner="late", workers=WorkersInTurns(lake.engine())
        )
    assert lake.writes == []


def test_a_record_that_is_created_again_has_another_version(lake):
    old = lake.record
    requests.forget(lake.engine(), REPO, "main")
    lake.configure("s3://out/other")
    with pytest.raises(StaleVersionError):
        lake.world.exports.replace_branch_export(lake.repository, old, old)
    assert lake.record.configuration.path == "s3://out/other"


def copied(lake: ExportWorld) -> list[str]:
    return [uri for _, uri in lake.writes if not uri.endswith(MARK)]


def test_an_export_that_is_configured_after_its_deletion_exports_everything(lake):
    lake.settle()
    requests.forget(lake.engine(), REPO, "main")
    lake.writes.clear()
    lake.configure(LATEST, force=True)
    lake.settle()
    assert is_exported(lake)
    assert len(copied(lake)) == 12


def test_a_runner_stops_when_its_repository_was_deleted(lake):
    lake.world.clock.step_ns = 10**8
    first = stepped(lake, "first")
    step(lake, first, until=3)
    repositories.delete(lake.engine(), REPO)
    lake.world.clock.tick(16)
    step(lake, first)
    assert first.error is None
    assert len(lake.writes) < 12


def test_a_branch_that_is_deleted_and_created_again_is_not_exported(lake):
    branches.create(lake.engine(), REPO, name="dev", source="main")
    lake.branch = "dev"
    lake.configure("s3://out/dev", is_continuous=True)
    lake.settle()
    branches.delete(lake.engine(), REPO, "dev")
    branches.create(lake.engine(), REPO, name="dev", source="main")
    upload(lake.engine(), b"secret", b"of another project", "dev")
    commit(lake.engine(), "dev")
    lake.settle()
    assert lake.record is None
    assert lake.objects.head("s3://out/dev/secret") is None


def test_a_branch_that_is_created_again_during_the_old_ones_export_is_not_exported(lake):
    branches.create(lake.engine(), REPO, name="dev", source="main")
    lake.branch = "dev"
    lake.configure("s3://out/dev", is_continuous=True)
    copied = []

    def before(operation: str, uri: str) -> None:
        if operation == "copy":
            copied.append(uri)
            if len(copied) == 3:
                branches.delete(lake.engine(), REPO, "dev")
                branches.create(lake.engine(), REPO, name="dev", source="main")
                upload(lake.engine(), b"secret", b"of another project", "dev")
                commit(lake.engine(), "dev")

    lake.objects.before = before
    lake.settle()
    assert lake.record is None
    assert lake.objects.head("s3://out/dev/secret") is None
