"""The jobs as Glue 6.0 runs them; and spark-submit, from the same script and archive."""

import json
import subprocess
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement

from graveler.engine import Engine
from graveler.export.record import ExportConfiguration
from graveler.operations import commits, objects, retention, writes
from graveler.operations.exports import requests
from graveler.retention.active import SECONDS_PER_DAY
from graveler.retention.rules import make_rules
from graveler_embedded.config import EXPORT_QUEUE
from graveler_embedded.queues import queue_url
from infra.packages import job_script
from layers.jobs import build
from tests.infra.conftest import ROOT
from tests.support.fakes.export_queue import queues
from tests.support.servers.glue import PACKAGES, SUBMIT, GlueWorker, glue_python
from tests.support.servers.stack import BUCKET, KEYS
from tests.support.worlds.server_world import REGION, ServerWorld, open_world

__all__ = ["glue_python", "queues"]

pytestmark = [pytest.mark.packages, pytest.mark.timeout(900)]

CREDENTIALS = {
    "AWS_ACCESS_KEY_ID": KEYS.access_key_id,
    "AWS_SECRET_ACCESS_KEY": KEYS.secret_access_key,
}

# The job's process reports what it has imported from where.
REPORT = """
import atexit, json, sys

def report():
    names = ("boto3", "botocore", "graveler", "msgspec", "numpy", "pyarrow", "urllib3")
    found = {name: getattr(sys.modules.get(name), "__file__", None) for name in names}
    versions = {name: getattr(sys.modules.get(name), "__version__", None) for name in names}
    where = {"path": sys.path, "found": found, "versions": versions}
    where["graveler"] = list(sys.modules["graveler"].__path__)
    with open("imported.json", "w") as file:
        json.dump(where, file)

atexit.register(report)
"""


@pytest.fixture(scope="module")
def world(dynamodb_endpoint: str, s3_endpoint: str) -> Iterator[ServerWorld]:
    """The local servers, with tables."""
    with open_world(dynamodb_endpoint, s3_endpoint) as world:
        yield world


@dataclass
class Glue:
    """Runs the jobs over the local servers."""

    worker: GlueWorker
    world: ServerWorld

    def run(self, name: str, *arguments: str) -> subprocess.CompletedProcess[str]:
        script = REPORT + Path(job_script(name)).read_text()
        words = [word for each, value in self._settings().items() for word in (f"--{each}", value)]
        return self.worker.run(name, script, ["--region", REGION, *words, *arguments], CREDENTIALS)

    def submit(self, name: str, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run a job with spark-submit; environment variables give all settings but the region."""
        program = self.worker.python.with_name("spark-submit")
        settings = {f"GRAVELER_{each.upper()}": value for each, value in self._settings().items()}
        files = ["--py-files", str(self.worker.archive), str(job_script(name))]
        return self.worker.call([program, *SUBMIT, *files, *arguments], CREDENTIALS | settings)

    def _settings(self) -> dict[str, str]:
        """Return the settings of the deployment, without its region."""
        return {
            "refs_table": "refs",
            "staging_table": "staging",
            "dynamodb_endpoint": self.world.dynamodb_endpoint,
            "s3_endpoint": self.world.s3_endpoint or "",
        }

    def imported(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads((self.worker.folder / "imported.json").read_text())
        return found


@pytest.fixture
def glue(glue_python: Path, jobs_archive: Path, world: ServerWorld, tmp_path: Path) -> Glue:
    return Glue(GlueWorker(glue_python, jobs_archive, tmp_path), world)


@pytest.fixture
def uploaded(world: ServerWorld) -> Callable[..., str]:
    """Uploads and commits objects in a new repository; returns the repository's name."""

    def upload(*paths: str) -> str:
        name = world.new_repository(BUCKET)
        for path in paths:
            writes.upload(
                world.engine(),
                name,
                "main",
                path.encode(),
                read_content=partial(content_of, path),
                metadata={},
            )
        commit(world.engine(), name, age_days=10)
        return name

    return upload


def content_of(path: str) -> tuple[bytes, str]:
    return path.encode(), "text/plain"


def commit(engine: Engine, name: str, age_days: int) -> None:
    date_s = int(time.time()) - age_days * SECONDS_PER_DAY
    commits.commit(engine, name, "main", commits.CommitRequest("why", "somebody", date_s=date_s))


def is_there(world: ServerWorld, uri: str) -> bool:
    return world.engine().objects.head(uri) is not None


def littered(world: ServerWorld, uploaded: Callable[..., str]) -> tuple[str, dict[str, str]]:
    """Return a repository with an object to keep and one to delete, and their URIs by path."""
    name = uploaded("kept", "deleted")
    engine = world.engine()
    uris = {
        path: objects.stat(engine, name, "main", path.encode()).physical_address
        for path in ("kept", "deleted")
    }
    writes.delete(engine, name, "main", b"deleted")
    commit(engine, name, age_days=5)
    retention.set_rules(engine, name, make_rules(1, {}.items()))
    return name, uris


def test_spark_submit_collects_garbage_of_the_repository_and_region_that_follow_the_script(
    glue, world, uploaded
):
    name, uris = littered(world, uploaded)
    done = glue.submit("garbage_collection", name, REGION, "--debug-minimum-age-s", "0")
    assert done.returncode == 0, done.stdout + done.stderr
    assert [is_there(world, uris[path]) for path in ("kept", "deleted")] == [True, False]


@pytest.mark.long
def test_garbage_is_swept_with_the_packages_of_glue(glue, world, uploaded):
    name, uris = littered(world, uploaded)
    done = glue.run("garbage_collection", "--repository", name, "--debug-minimum-age-s", "0")
    assert done.returncode == 0, done.stdout + done.stderr
    assert [is_there(world, uris[path]) for path in ("kept", "deleted")] == [True, False]
    versions = glue.imported()["versions"]
    assert (versions["pyarrow"], versions["numpy"]) == ("18.1.0", "2.1.0")


def test_a_branch_is_exported_with_the_packages_of_glue(glue, world, uploaded, queues):
    name = uploaded("days/1/a", "days/1/b", "readme")
    target = f"s3://{BUCKET}/exported-{name}"
    configuration = ExportConfiguration(target, f"{target}-status", ("^days/",))
    requests.configure(world.engine(), name, "main", configuration)
    endpoint = queues[1]
    sqs = ["--sqs_endpoint", endpoint, "--export_queue_url", queue_url(endpoint, EXPORT_QUEUE)]
    done = glue.run("export", "--repository", name, "--branch", "main", *sqs)
    assert done.returncode == 0, done.stdout + done.stderr
    listed = world.engine().objects.list_objects(f"{target}/")
    exported = {each.uri.removeprefix(f"{target}/") for each in listed}
    assert {"days/1/a", "days/1/b", "readme"} <= exported

    imported = glue.imported()
    checkout = [each for each in imported["path"] if each and Path(each).is_relative_to(ROOT)]
    assert all(Path(each).is_relative_to(glue.worker.python.parents[1]) for each in checkout)
    for package in ("botocore", "msgspec", "urllib3"):
        assert imported["found"][package].startswith(str(glue.worker.folder)), package


def test_what_the_archive_leaves_to_glue_suits_what_it_brings():
    """boto3 and botocore are ours, the packages of OF_GLUE are Glue's."""
    pins = dict(
        line.split("==") for line in PACKAGES.read_text().splitlines() if not line.startswith("#")
    )
    for library in ("botocore", "pynamodb", "boto3"):
        needed = [Requirement(each) for each in metadata.requires(library) or ()]
        for requirement in needed:
            if requirement.name in build.OF_GLUE and requirement.marker is None:
                assert requirement.specifier.contains(pins[requirement.name]), requirement
    assert pins.keys() >= {*build.OF_GLUE}
