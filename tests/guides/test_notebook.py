"""The notebook of docs/guides prints what it shows, and shows nothing of the machine that ran it."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from graveler_embedded.config import ROOT
from tests.guides.sessions import variables
from tests.support.servers.stack import Stack

NOTEBOOK = ROOT / "docs" / "guides" / "tutorial.ipynb"
# Not in the environment of the tests, because nothing else needs their forty packages.
RUNNER = ("nbclient==0.11.0", "ipykernel==7.4.0")


@pytest.mark.long
@pytest.mark.server
@pytest.mark.packages
def test_the_tutorial_prints_what_it_shows(stack: Stack, tmp_path: Path) -> None:
    packages, printed = tmp_path / "packages", tmp_path / "tutorial.ipynb"
    pip = (sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check")
    subprocess.run((*pip, "--target", str(packages), *RUNNER), check=True)
    script = ROOT / "tests" / "guides" / "run_notebook.py"
    own = {
        "HOME": str(tmp_path),
        "PYTHONPATH": str(packages),
        "JUPYTER_PATH": str(packages / "share" / "jupyter"),
    }
    done = subprocess.run(
        (sys.executable, str(script), str(NOTEBOOK), str(printed)),
        env={**os.environ, **variables(stack), **own},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(printed.read_text()) == json.loads(NOTEBOOK.read_text())


def test_the_tutorial_shows_text_alone_and_nothing_of_a_machine() -> None:
    cells = json.loads(NOTEBOOK.read_text())["cells"]
    outputs = [output for cell in cells for output in cell.get("outputs", ())]
    assert outputs
    for output in outputs:
        assert output["output_type"] in {"stream", "execute_result"}
        assert set(output.get("data", ())) <= {"text/plain"}
        assert not re.search(r"127\.0\.0\.1|localhost|AKIA|(?<!\w)/\w+/\w", json.dumps(output))
