"""The archives that a deployment uploads, each made once for all workers of the test run."""

import fcntl
import os
import platform
from collections.abc import Callable
from pathlib import Path

import pytest

from layers.graveler.build import layer_path
from layers.jobs.build import build as build_jobs
from layers.jobs.build import jobs_path
from tests.support.servers.runtime import ARCHITECTURE, build_layer


@pytest.fixture(scope="session")
def made_once(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Path]:
    """Have one worker of the test run fill a folder; the others wait for it and use the same."""
    shared = tmp_path_factory.getbasetemp()
    if os.environ.get("PYTEST_XDIST_WORKER"):
        shared = shared.parent

    def made(name: str, fill: Callable[[Path], object]) -> Path:
        folder = shared / name
        folder.mkdir(exist_ok=True)
        with (folder / "lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not (folder / "done").exists():
                fill(folder)
                (folder / "done").touch()
        return folder

    return made


@pytest.fixture(scope="session")
def layer(made_once: Callable[..., Path]) -> Path:
    """The functions' layer, for this machine."""
    folder = made_once("layer", build_layer)
    return layer_path(ARCHITECTURE, folder)


@pytest.fixture(scope="session")
def jobs_archive(made_once: Callable[..., Path]) -> Path:
    """The jobs' archive, for this machine's processor."""
    return jobs_path(made_once("jobs", lambda folder: build_jobs(folder, platform.machine())))
