"""s3fs, and pandas over it, unchanged; in a folder of their own, because they need an older botocore."""

import json
import os
import subprocess
import sys
from pathlib import Path

import lakefs
import pytest

from graveler_embedded.config import ROOT
from tests.acceptance.s3 import environment
from tests.support.servers.stack import Stack

pytestmark = [pytest.mark.server, pytest.mark.packages]


@pytest.fixture(scope="module")
def packages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with s3fs and all that it needs."""
    folder = tmp_path_factory.mktemp("s3fs")
    pip = (sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check")
    subprocess.run((*pip, "--target", str(folder), "s3fs==2026.9.0"), check=True)
    return folder


def test_s3fs_and_pandas_write_read_list_and_create_exclusively(
    stack: Stack, repository: lakefs.Repository, packages: Path
) -> None:
    script = ROOT / "tests" / "support" / "clients" / "s3fs_scenario.py"
    done = subprocess.run(
        (sys.executable, str(script), repository.id),
        env={
            **os.environ,
            **environment(stack),
            "ENDPOINT": stack.endpoint,
            "PYTHONPATH": str(packages),
        },
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert json.loads(done.stdout.splitlines()[-1]) == {
        "large": True,
        "tail": True,
        "exclusive": [True, False],
        "once": "1",
        "found": ["/a b/ä", "/large", "/many/0", "/many/1", "/many/10"],
        "globbed": 12,
        "branches": [f"{repository.id}/main"],
        "metadata": "red",
        "pandas": sum(range(1000)),
        "left": [],
    }
