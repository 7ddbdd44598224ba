"""Which tests of a run with several workers (`--dist loadfile`) share a worker.

A file's tests do, and so do all files whose fixtures are expensive: each starts once, on one worker.
"""

from functools import cache

import pytest
from xdist.scheduler import LoadFileScheduling
from xdist.scheduler.protocol import Scheduling

from graveler_embedded.config import ROOT

EXPENSIVE = ("spark_session", "own_stack")


@cache
def worker_of(file: str) -> str:
    """Return the name of what is to be on one worker, by the path of a file of it."""
    text = (ROOT / file).read_text()
    return next((fixture for fixture in EXPENSIVE if fixture in text), file)


class ByFixtures(LoadFileScheduling):  # type: ignore[misc] # it has no types
    """Keeps files together that need an expensive fixture, and the order of the others."""

    def _split_scope(self, nodeid: str) -> str:
        return worker_of(super()._split_scope(nodeid))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: object) -> Scheduling | None:
    """Schedule files by what they need."""
    if config.getoption("dist") != "loadfile":
        return None
    # By itself, it takes files of many tests first: of these, most are quick, and a long one is last.
    config.option.loadscopereorder = False
    return ByFixtures(config, log)
