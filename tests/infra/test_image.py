"""What the Dockerfile of the embedded stack runs, without Docker: its commands in a new folder."""

import os
import re
import shutil
import subprocess
from fnmatch import fnmatch
from pathlib import Path

import pytest
import yaml

from graveler.version import VERSION
from graveler_embedded.config import PORT_DEFAULT, S3_PORT_DEFAULT
from layers.graveler.archive import find_compiler
from layers.graveler.build import PYTHON
from tests.architecture.test_portability import tracked_files
from tests.infra.conftest import ROOT

TEXT = (ROOT / "Dockerfile").read_text()
INSTALLED_AT = "/opt/graveler"


def instructions(name: str) -> list[str]:
    """Return what follows the instruction, with its continued lines."""
    joined = re.sub(r" \\\n *", " ", TEXT)
    return re.findall(rf"^{name} (.*)$", joined, re.MULTILINE)


def test_both_stages_have_the_python_of_the_functions():
    image = f"python:{PYTHON}-slim-bookworm"
    assert instructions("FROM") == [f"{image} AS build", image]


def test_the_program_runs_as_a_user_that_owns_its_data_alone():
    (user,) = instructions("USER")
    assert user.partition(":")[0] not in {"0", "root"}
    # After all that writes to the image.
    assert TEXT.index("USER ") > max(TEXT.rindex("RUN "), TEXT.rindex("COPY "))
    (made,) = [each for each in instructions("RUN") if each.startswith("install ")]
    assert made.split()[-1:] == instructions("VOLUME")


def test_presigned_urls_hold_outside_of_the_container():
    ports = [str(PORT_DEFAULT), str(S3_PORT_DEFAULT)]
    assert instructions("EXPOSE") == [" ".join(ports)]
    assert "GRAVELER_HOST=0.0.0.0" in instructions("ENV")[0].split()
    published = yaml.safe_load((ROOT / "compose.yaml").read_text())["services"]["graveler"]["ports"]
    assert published == [f"127.0.0.1:{port}:{port}" for port in ports]


def test_docker_asks_the_port_of_the_api():
    (asks,) = instructions("HEALTHCHECK")
    assert f"http://127.0.0.1:{PORT_DEFAULT}/_health" in asks


def copy_context(folder: Path) -> None:
    """Copy what Docker sends to the build of a fresh clone."""
    patterns = (ROOT / ".dockerignore").read_text().split()
    at_root = [pattern for pattern in patterns if not pattern.startswith("**/")]
    for name in tracked_files():
        if not any(fnmatch(name.partition("/")[0], pattern) for pattern in at_root):
            target = folder / name
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(ROOT / name, target)


@pytest.mark.packages
def test_the_image_has_the_program_and_the_pinned_packages(tmp_path):
    python = find_compiler(PYTHON)
    if python is None:
        pytest.skip(f"python{PYTHON} is not installed")
    source, installed = tmp_path / "source", tmp_path / "installed"
    copy_context(source)
    commands = tmp_path / "commands"
    commands.mkdir()
    (commands / "python").symlink_to(python)
    subprocess.run(
        ["sh", "-euc", instructions("RUN")[0].replace(INSTALLED_AT, str(installed))],
        cwd=source,
        env={"PATH": f"{commands}:{os.environ['PATH']}", "HOME": str(tmp_path)},
        check=True,
    )
    assert f"{INSTALLED_AT}/bin:" in " ".join(instructions("ENV"))
    shown = subprocess.run(
        [installed / "bin" / "graveler", "--version"],
        cwd=tmp_path,
        env={"HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert shown.stdout == f"graveler version: {VERSION}\n"
    (urllib3,) = installed.glob("lib/*/site-packages/urllib3-*.dist-info")
    assert (
        f"urllib3=={urllib3.name.split('-')[1].removesuffix('.dist')}\n"
        in (ROOT / "requirements.txt").read_text()
    )
