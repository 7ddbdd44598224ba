"""What is deployed is what was looked at: wheels by their hashes."""

import re
import subprocess
from pathlib import Path

from layers.graveler import wheels

ROOT = Path(__file__).parents[2]


def test_every_wheel_of_the_layer_and_of_the_jobs_is_pinned_by_hash():
    found = re.split(r"\n(?=\S)", wheels.REQUIREMENTS.read_text().strip())
    assert len(found) > 10
    locked = (ROOT / "requirements-dev.txt").read_text()
    for requirement in found:
        assert re.match(r"[\w.\[\]-]+==[^ ]+ ", requirement), requirement
        assert "--hash=sha256:" in requirement, requirement
        # pip would evaluate a marker for the Python that builds, not for the one that runs.
        assert ";" not in requirement, requirement
        pin = requirement.split()[0]
        assert re.search(rf"^{re.escape(pin)}\b", locked, re.MULTILINE), pin


def test_pip_checks_the_hashes_of_wheels(monkeypatch, tmp_path):
    asked = []
    services = tmp_path / "wheels" / "botocore" / "data"

    def run(command, **_):
        asked.append(command)
        services.mkdir(parents=True)
        (services / "endpoints.json").write_text('{"partitions": []}')

    monkeypatch.setattr(subprocess, "run", run)
    wheels.install(tmp_path / "wheels", "aarch64", "3.13")
    (command,) = asked
    assert {"--require-hashes", "--only-binary=:all:"} <= set(command)
    assert not any(option.startswith(("--extra-index", "--index", "-i")) for option in command)
