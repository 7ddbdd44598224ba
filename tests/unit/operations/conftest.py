"""The lake with which most tests of operations begin; a module may have its own world."""

import pytest

from graveler.engine import Engine
from tests.support.fakes.engines import MemoryWorld
from tests.support.worlds.lake import new_lake


@pytest.fixture
def world() -> MemoryWorld:
    return new_lake()


@pytest.fixture
def engine(world: MemoryWorld) -> Engine:
    return world.engine()
