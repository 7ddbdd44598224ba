"""The lake with which most tests of branches begin."""

from tests.unit.operations.conftest import engine, world

__all__ = ["engine", "world"]
