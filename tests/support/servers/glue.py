"""Runs a job as Glue 6.0 does: with its packages, from the uploaded script and archive alone.

Nothing of the checkout and of the tests' environment is on the path of driver or executors. The
environment with Glue's packages is kept in .cache, by the content of their list.
"""

import fcntl
import os
import shlex
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from zlib import crc32

import pytest

from graveler_embedded.config import ROOT
from graveler_embedded.java import JAVA
from layers.graveler.archive import find_compiler
from layers.jobs import build

PACKAGES = ROOT / "tests" / "infra" / "glue-6.0.txt"

# Of any Spark; nothing here runs long enough to be worth the optimizing compiler.
SUBMIT = (
    *("--master", "local[2]", "--conf", "spark.driver.bindAddress=127.0.0.1"),
    *("--driver-java-options", "-XX:TieredStopAtLevel=1"),
)

# Spark 4 asks for a module that the tests' Java lacks, for machine learning alone.
_JAVA_WITHOUT_VECTORS = f"""#!/bin/bash
for each in "$@"; do
  [ "$each" = --add-modules=jdk.incubator.vector ] || kept+=("$each")
done
exec {JAVA} "${{kept[@]}}"
"""

# Glue starts a script by a program of its own, which uses Glue's boto3.
_RUN_SCRIPT = """
import runpy, sys
import boto3
boto3.client("s3", region_name="us-east-1")
sys.argv = sys.argv[1:]
runpy.run_path(sys.argv[0], run_name="__main__")
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


@dataclass
class GlueWorker:
    """Starts a job as Glue does; `--extra-py-files` is all that is on the path."""

    python: Path
    archive: Path
    folder: Path

    def run(
        self, name: str, script: str, arguments: Sequence[str], environment: Mapping[str, str]
    ) -> subprocess.CompletedProcess[str]:
        """Run the text of a script."""
        path = self.folder / "script.py"
        path.write_text(script)
        runner = self.folder / "runscript.py"
        runner.write_text(_RUN_SCRIPT)
        of_glue = ["--JOB_ID", "j_1", "--JOB_NAME", name, "--enable-metrics", "true"]
        more = {
            "PYTHONPATH": str(self.archive),
            "PYSPARK_SUBMIT_ARGS": f"{shlex.join(SUBMIT)} --py-files {self.archive} pyspark-shell",
        }
        return self.call([self.python, runner, path, *of_glue, *arguments], {**environment, **more})

    def call(
        self, command: Sequence[str | Path], environment: Mapping[str, str]
    ) -> subprocess.CompletedProcess[str]:
        """Run a command in the folder, with Spark's Java and Python."""
        java = self.folder / "java" / "bin" / "java"
        java.parent.mkdir(parents=True, exist_ok=True)
        java.write_text(_JAVA_WITHOUT_VECTORS)
        java.chmod(0o700)
        return subprocess.run(
            command,
            cwd=self.folder,
            env={
                "PATH": os.environ["PATH"],
                "JAVA_HOME": str(java.parents[1]),
                "HOME": str(self.folder),
                "TMPDIR": str(self.folder),
                "PYSPARK_PYTHON": str(self.python),
                "SPARK_LOCAL_IP": "127.0.0.1",
                "AWS_EC2_METADATA_DISABLED": "true",
                **environment,
            },
            capture_output=True,
            text=True,
            check=False,
        )
