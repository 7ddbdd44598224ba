import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from layers.graveler.archive import compile_sources, write_zip
from layers.graveler.build import FOLDER, copy_engine, layer_path
from layers.jobs.build import copy_jobs, jobs_path
from tests.support.checks.templates import Deployment
from tests.support.servers.synths import Synthesizer, synthesizer
from tests.support.worlds.shapes import SHAPES

ROOT = Path(__file__).parents[2]

# Fixtures behind which a synth stands.
_SYNTHS = {"synths", "deployment_of", "deployment"}


def make_archives(folder: Path, *, compiled: bool = True) -> None:
    """Make the archives of a synth: a layer with no more than the engine, and the jobs."""
    with tempfile.TemporaryDirectory() as layer:
        copy_engine(Path(layer) / FOLDER)
        if compiled:
            compile_sources(Path(layer), "/opt", sys.executable)
        write_zip(Path(layer), layer_path("arm64", folder))
    with tempfile.TemporaryDirectory() as jobs:
        copy_jobs(Path(jobs))
        write_zip(Path(jobs), jobs_path(folder))


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Whatever needs a synth, of some seconds, is not for the fast check."""
    for item in items:
        if _SYNTHS.intersection(getattr(item, "fixturenames", ())):
            item.add_marker(pytest.mark.packages)


@pytest.fixture(scope="session")
def archives(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with archives of this checkout's code alone, for synths."""
    folder = tmp_path_factory.mktemp("archives")
    make_archives(folder)
    return folder


@pytest.fixture(scope="session")
def synths(archives: Path) -> Iterator[Synthesizer]:
    """A process that synthesizes, as long as the session lasts."""
    if shutil.which("node") is None:
        pytest.fail("node is missing, and CDK runs on it; on Debian: apt install nodejs")
    with synthesizer(archives) as found:
        yield found


@pytest.fixture(scope="session")
def deployment_of(made_once, synths: Synthesizer) -> Callable[[str], Deployment]:
    """A synth of a shape, made once for all workers of the test run."""

    def made(name: str) -> Deployment:
        stage, given = SHAPES[name]

        def synthesize(folder: Path) -> None:
            done = synths.run(folder / "cdk.out", stage, given)
            assert done.returncode == 0, done.stderr

        folder = made_once(f"synth-{name}", synthesize)
        return Deployment(folder / "cdk.out", given.get("name", f"graveler-{stage}"))

    return made


@pytest.fixture(scope="session")
def dev(deployment_of) -> Deployment:
    """The stage dev as cdk.json has it."""
    return deployment_of("dev")


@pytest.fixture(scope="session")
def prod(deployment_of) -> Deployment:
    """The stage prod with every setting set, and the S3 gateway."""
    return deployment_of("prod")


@pytest.fixture(params=["dev", "prod"])
def deployment(request) -> Deployment:
    """Either stage."""
    return request.getfixturevalue(request.param)
