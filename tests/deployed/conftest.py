"""An account with IAM enforced, and one deployment there, for all tests of a worker."""

import shutil
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from layers.graveler.build import layer_path
from layers.jobs.build import jobs_path
from tests.support.servers.deployed import ARTEFACTS, DeployedStacks, adapt
from tests.support.servers.emulator import EmulatedAccount, emulated_account
from tests.support.servers.synths import synthesizer

SOURCE, PUBLISHED, BACKUP = "company-source", "company-published", "company-backup"
SETTINGS = {
    "readable": f"s3://{SOURCE}/in/",
    "exports": f"s3://{PUBLISHED}/exports/",
    "dump_schedule": "rate(1 day)",
    "dump_place": f"s3://{BACKUP}/dumps/",
    "hook_networks": "127.0.0.0/8",
}
# Where the acceptance suite may import from and export to.
PLACES = ("--import-from", f"s3://{SOURCE}/in/", "--export-to", f"s3://{PUBLISHED}/exports/")
STEPS = 25
REDELIVERED_S = 2


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The archives are built from wheels."""
    for item in items:
        if "tests/deployed" in str(item.path):
            item.add_marker(pytest.mark.packages)


@pytest.fixture(scope="session")
def account(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EmulatedAccount]:
    with emulated_account(tmp_path_factory.mktemp("emulator")) as found:
        for bucket in (ARTEFACTS, SOURCE, PUBLISHED, BACKUP):
            found.make_bucket(bucket)
        for name in ("a", "b/c"):
            found.client("s3").put_object(Bucket=SOURCE, Key=f"in/{name}", Body=name.encode())
        yield found


@pytest.fixture(scope="session")
def distribution(
    layer: Path, jobs_archive: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Callable[..., Path]]:
    """Writes what `make dist` writes; the layer is for this machine's processor."""
    archives = tmp_path_factory.mktemp("real-archives")
    shutil.copyfile(layer, layer_path("arm64", archives))
    shutil.copyfile(jobs_archive, jobs_path(archives))
    with synthesizer(archives) as synths:

        def made(stage: str = "dev", **settings: str) -> Path:
            output = tmp_path_factory.mktemp("dist")
            done = synths.run(output, stage, {**SETTINGS, **settings}, program="infra.dist")
            assert done.returncode == 0, done.stderr
            (folder,) = output.iterdir()
            adapt(folder)
            return folder

        yield made


@pytest.fixture(scope="session")
def folder(distribution) -> Path:
    """The first version."""
    made: Path = distribution()
    return made


@pytest.fixture(scope="session")
def stacks(account: EmulatedAccount, folder: Path) -> DeployedStacks:
    """The deployment of the first version."""
    return DeployedStacks.of(account, folder)


@pytest.fixture(scope="session")
def repository(stacks: DeployedStacks) -> str:
    """A repository that the tests share."""
    return stacks.repository("shared")


def queue_named(stacks: DeployedStacks, name: str) -> str:
    """Return the URL of a queue, whose name CloudFormation made from the template's."""
    urls = stacks.account.client("sqs").list_queues()["QueueUrls"]
    (found,) = (url for url in urls if f"/{stacks.name}-Events{name}" in url)
    return str(found)


def until(look: Callable[[], Any]) -> Any:
    """Look until something is found, two minutes at most; return it."""
    end_s = time.monotonic() + 120
    while not (found := look()):
        assert time.monotonic() < end_s
        time.sleep(0.2)
    return found


def result_of(stacks: DeployedStacks, where: str, body: Mapping[str, Any]) -> Any:
    """Leave an operation to a task; return its result."""
    begun = stacks.ask("POST", f"{where}/async", json=body)
    assert begun.status_code == 202, begun.text

    def look() -> Any:
        status = stacks.ask("GET", f"{where}/async/{begun.json()['id']}/status").json()
        return status["completed"] and status

    done = until(look)
    assert "result" in done, done
    return done["result"]
