"""A lake with the memory stores, and what a job has of it."""

import pytest

from graveler.aws.settings import DeploymentSettings
from graveler_jobs.session import JobDeployment
from tests.support.fakes.engines import MemoryWorld
from tests.support.fakes.memory_jobs import MemoryJobStore
from tests.support.worlds.lake import new_lake


@pytest.fixture
def world() -> MemoryWorld:
    return new_lake()


@pytest.fixture
def deployment(world: MemoryWorld) -> JobDeployment:
    settings = DeploymentSettings(region="any", refs_table="refs", staging_table="staging")
    return JobDeployment(world.engine(), MemoryJobStore(world.refs), settings)
