"""What is deployed is what was looked at: wheels by their hashes."""

import re
import subprocess
from pathlib import Path

import pytest

from layers.graveler import build

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize(
    "path", ["layers/graveler/requirements.txt", "infra/jobs-requirements.txt"]
)
def test_every_wheel_of_the_layer_is_pinned_by_hash(path):
    found = re.split(r"\n(?=\S)", (ROOT / path).read_text().strip())
    assert len(found) > 10
    for requirement in found:
        assert re.match(r"[\w.\[\]-]+==[^ ]+ ", requirement), requirement
        assert "--hash=sha256:" in requirement, requirement


def test_pip_checks_the_hashes_of_wheels(monkeypatch, tmp_path):
    asked = []
    monkeypatch.setattr(subprocess, "run", lambda command, **_: asked.append(command))
    build._install(tmp_path, "aarch64", "3.13")
    (command,) = asked
    assert {"--require-hashes", "--only-binary=:all:"} <= set(command)
    assert not any(option.startswith(("--extra-index", "--index", "-i")) for option in command)
