"""The jobs as Glue 6.0 runs them: with its packages, from the uploaded script and archive alone.

spark-submit runs them from the same two files.
Nothing of the checkout and of the tests' environment is on the path of driver or executors. The
environment with Glue's packages is kept in .cache, by the content of their list.
"""

import fcntl
import json
import os
import shlex
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from importlib import metadata
from pathlib import Path
from typing import Any
from zlib import crc32

import pytest
from packaging.requirements import Requirement

from graveler.engine import Engine
from graveler.export.record import ExportConfiguration
from graveler.operations import commits, objects, retention, writes
from graveler.operations.exports import requests
from graveler.retention.active import SECONDS_PER_DAY
from graveler.retention.rules import make_rules
from graveler_embedded.config import EXPORT_QUEUE
from graveler_embedded.java import JAVA
from graveler_embedded.queues import queue_url
from infra.packages import job_script
from layers.graveler.archive import find_compiler
from layers.jobs import build
from tests.infra.conftest import ROOT
from tests.support.fakes.export_queue import queues
from tests.support.servers.stack import BUCKET, KEYS
from tests.support.worlds.server_world import REGION, ServerWorld, open_world

__all__ = ["queues"]

pytestmark = [pytest.mark.packages, pytest.mark.timeout(900)]

PACKAGES = Path(__file__).with_name("glue-6.0.txt")

# Of any Spark; nothing here runs long enough to be worth the optimizing compiler.
SUBMIT = (
    *("--master", "local[2]", "--conf", "spark.driver.bindAddress=127.0.0.1"),
    *("--driver-java-options", "-XX:TieredStopAtLevel=1"),
)

# Spark 4 asks for a module that the tests' Java lacks, for machine learning alone.
JAVA_WITHOUT_VECTORS = f"""#!/bin/bash
for each in "$@"; do
  [ "$each" = --add-modules=jdk.incubator.vector ] || kept+=("$each")
done
exec {JAVA} "${{kept[@]}}"
"""

# Glue starts a script by a program of its own, which uses Glue's boto3.
RUN_SCRIPT = """
import runpy, sys
import boto3
boto3.client("s3", region_name="us-east-1")
sys.argv = sys.argv[1:]
runpy.run_path(sys.argv[0], run_name="__main__")
"""

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


@pytest.fixture(scope="session")
def glue_python() -> Path:
    """The Python of an environment that has Glue's packages and no other."""
    python = find_compiler(build.PYTHON)
    if python is None:
        pytest.skip(f"python{build.PYTHON}, which Glue 6.0 runs, is not installed")
    folder = ROOT / ".cache" / f"glue-6.0-{crc32(PACKAGES.read_bytes()):08x}"
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (folder / "done").exists():
            subprocess.run([python, "-m", "venv", "--clear", folder / "venv"], check=True)
            pip = [str(folder / "venv" / "bin" / "python"), "-m", "pip", "--quiet"]
            subprocess.run([*pip, "install", "--no-deps", "-r", PACKAGES], check=True)
            (folder / "done").touch()
    return folder / "venv" / "bin" / "python"


@pytest.fixture(scope="module")
def world(dynamodb_endpoint: str, s3_endpoint: str) -> Iterator[ServerWorld]:
    """The local servers, with tables."""
    with open_world(dynamodb_endpoint, s3_endpoint) as world:
        yield world


@dataclass
class Glue:
    """Starts a job as Glue does; `--extra-py-files` is all that is on the path."""

    python: Path
    archive: Path
    world: ServerWorld
    folder: Path

    def run(self, name: str, *arguments: str) -> subprocess.CompletedProcess[str]:
        script = self.folder / "script.py"
        script.write_text(REPORT + Path(job_script(name)).read_text())
        runner = self.folder / "runscript.py"
        runner.write_text(RUN_SCRIPT)
        words = [word for each, value in self._settings().items() for word in (f"--{each}", value)]
        of_glue = ["--JOB_ID", "j_1", "--JOB_NAME", name, "--enable-metrics", "true"]
        return self._call(
            [self.python, runner, script, *of_glue, "--region", REGION, *words, *arguments],
            PYTHONPATH=str(self.archive),
            PYSPARK_SUBMIT_ARGS=f"{shlex.join(SUBMIT)} --py-files {self.archive} pyspark-shell",
        )

    def submit(self, name: str, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run a job with spark-submit; environment variables give all settings but the region."""
        program = self.python.with_name("spark-submit")
        settings = {f"GRAVELER_{each.upper()}": value for each, value in self._settings().items()}
        return self._call(
            [program, *SUBMIT, "--py-files", self.archive, job_script(name), *arguments], **settings
        )

    def _settings(self) -> dict[str, str]:
        """Return the settings of the deployment, without its region."""
        return {
            "refs_table": "refs",
            "staging_table": "staging",
            "dynamodb_endpoint": self.world.dynamodb_endpoint,
            "s3_endpoint": self.world.s3_endpoint or "",
        }

    def _call(self, command: Sequence[str | Path], **more: str) -> subprocess.CompletedProcess[str]:
        java = self.folder / "java" / "bin" / "java"
        java.parent.mkdir(parents=True, exist_ok=True)
        java.write_text(JAVA_WITHOUT_VECTORS)
        java.chmod(0o700)
        environment = {
            "PATH": os.environ["PATH"],
            "JAVA_HOME": str(java.parents[1]),
            "HOME": str(self.folder),
            "TMPDIR": str(self.folder),
            "PYSPARK_PYTHON": str(self.python),
            "SPARK_LOCAL_IP": "127.0.0.1",
            "AWS_ACCESS_KEY_ID": KEYS.access_key_id,
            "AWS_SECRET_ACCESS_KEY": KEYS.secret_access_key,
            "AWS_EC2_METADATA_DISABLED": "true",
            **more,
        }
        return subprocess.run(
            command,
            cwd=self.folder,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )

    def imported(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads((self.folder / "imported.json").read_text())
        return found


@pytest.fixture
def glue(glue_python: Path, jobs_archive: Path, world: ServerWorld, tmp_path: Path) -> Glue:
    return Glue(glue_python, jobs_archive, world, tmp_path)


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
    assert all(Path(each).is_relative_to(glue.python.parents[1]) for each in checkout)
    for package in ("botocore", "msgspec", "urllib3"):
        assert imported["found"][package].startswith(str(glue.folder)), package


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
