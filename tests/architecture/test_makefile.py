"""What `make` finds on the systems of users."""

import subprocess
from pathlib import Path

from tests.architecture.test_portability import ROOT


def _make_environment(folder: Path, **pythons: str) -> subprocess.CompletedProcess[str]:
    """Have make create a virtual environment, with these programs as the only Pythons."""
    for name, script in pythons.items():
        program = folder / name.replace("_", ".")
        program.write_text(f"#!/bin/sh\n{script}\n")
        program.chmod(0o755)
    return subprocess.run(
        [
            "/usr/bin/make",
            "-f",
            ROOT / "Makefile",
            f"VENV={folder}/venv",
            f"{folder}/venv/bin/python",
        ],
        env={"PATH": str(folder)},
        capture_output=True,
        text=True,
        check=False,
    )


def test_a_newer_python_is_found_beside_an_old_python3(tmp_path):
    done = _make_environment(tmp_path, python3="exit 1", python3_12='[ "$1" = -c ] || echo "$@"')
    assert (done.stdout, done.stderr) == (f"-m venv {tmp_path}/venv\n", "")


def test_a_system_without_a_new_python_is_told_what_to_install(tmp_path):
    done = _make_environment(tmp_path, python3="exit 1")
    assert done.returncode != 0
    assert done.stderr.startswith("Python 3.11 or newer is needed")
