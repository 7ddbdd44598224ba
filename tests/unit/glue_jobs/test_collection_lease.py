"""One collection at a time over a repository."""

import pytest

from graveler.branches.lookup import read_repository
from graveler.errors import ContentionError
from graveler.model import Repository
from graveler.retention.runs import LEASE_S
from graveler_jobs.garbage_collection.lease import CollectionLease, held
from graveler_jobs.session import JobDeployment
from tests.support.fakes.engines import MemoryWorld
from tests.support.worlds.lake import REPO


@pytest.fixture
def repository(deployment: JobDeployment) -> Repository:
    return read_repository(deployment.engine, REPO).record


def test_a_second_run_is_refused_until_the_first_has_ended(
    deployment: JobDeployment, repository: Repository
) -> None:
    with (
        held(deployment, repository, "first"),
        pytest.raises(ContentionError, match=REPO),
        held(deployment, repository, "second"),
    ):
        pytest.fail("there are two at once")
    with held(deployment, repository, "second"):
        pass


def test_a_run_that_fails_frees_the_lease(
    deployment: JobDeployment, repository: Repository
) -> None:
    with pytest.raises(ZeroDivisionError), held(deployment, repository, "first"):
        raise ZeroDivisionError
    with held(deployment, repository, "second"):
        pass


def test_a_run_that_died_frees_it_in_time(
    world: MemoryWorld, deployment: JobDeployment, repository: Repository
) -> None:
    died = CollectionLease(deployment, repository, "first")
    died.take()
    world.clock.tick(LEASE_S + 1)
    with held(deployment, repository, "second"):
        with pytest.raises(ContentionError):
            died.take()  # it was only stalled, and learns so
        with pytest.raises(ContentionError):
            died.check()


def test_a_stalled_run_begins_no_step_before_it_has_looked_at_its_lease(
    world: MemoryWorld, deployment: JobDeployment, repository: Repository
) -> None:
    stalled = CollectionLease(deployment, repository, "first")
    stalled.take()
    world.clock.tick(LEASE_S + 1)
    CollectionLease(deployment, repository, "second").take()
    with pytest.raises(ContentionError):
        stalled.check()  # its own thread has not renewed anything meanwhile


def test_a_run_that_lost_its_lease_begins_no_step_even_if_the_other_run_has_ended(
    world: MemoryWorld, deployment: JobDeployment, repository: Repository
) -> None:
    lost = CollectionLease(deployment, repository, "first")
    lost.take()
    world.clock.tick(LEASE_S + 1)
    with held(deployment, repository, "second"), pytest.raises(ContentionError):
        lost.take()
    with pytest.raises(ContentionError):
        lost.check()


def test_a_live_run_keeps_it(
    world: MemoryWorld, deployment: JobDeployment, repository: Repository
) -> None:
    live = CollectionLease(deployment, repository, "first")
    for _ in range(5):
        live.take()
        world.clock.tick(LEASE_S - 60)
        with pytest.raises(ContentionError), held(deployment, repository, "second"):
            pytest.fail("there are two at once")
    live.check()
