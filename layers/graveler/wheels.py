"""Installs wheels from the package index into a folder: the same files on any machine."""

import shutil
import subprocess
import sys
from collections.abc import Collection, Iterator
from email.parser import Parser
from pathlib import Path

from layers.graveler import service_models

REQUIREMENTS = Path(__file__).with_name("requirements.txt")

# Wheels name the glibc that they need. Lambda and Glue run on Amazon Linux 2023, which has 2.34 (as
# of November 2026, from "Lambda runtimes" and "AWS Glue versions").
_PLATFORMS = ("manylinux2014", "manylinux_2_28")

LICENCES = "LICENCES.txt"

# Files of the installation. RECORD has the hashes of commands, which name this machine's Python.
_INSTALLATION = ("RECORD", "INSTALLER", "REQUESTED", "direct_url.json")


def install(
    target: Path,
    machine: str,
    python: str,
    requirements: Path = REQUIREMENTS,
    without: Collection[str] = (),
) -> None:
    """Install the pinned wheels, and their licences' names, for CPython on a Linux machine.

    Args:
        target: the folder, which must not exist.
        machine: as wheels name it, such as aarch64.
        python: the version, such as 3.13.
        requirements: the file with the pinned versions and hashes.
        without: packages to leave out.

    Raises:
        CalledProcessError: pip did not find or accept a wheel; pip printed why.
    """
    target.mkdir(parents=True)
    wanted = target / requirements.name
    wanted.write_text("".join(_lines(requirements, without)), encoding="utf-8")
    platforms = [f"--platform={name}_{machine}" for name in _PLATFORMS]
    command = [
        *(sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"),
        *("--only-binary=:all:", "--implementation=cp", f"--python-version={python}", *platforms),
        *("--no-compile", "--no-deps", "--require-hashes", f"--requirement={wanted}"),
        f"--target={target}",
    ]
    subprocess.run(command, check=True)
    _strip(target)
    lines = sorted(f"{line}\n" for line in _licence_lines(target))
    (target / LICENCES).write_text("".join(lines), encoding="utf-8")


def _lines(requirements: Path, without: Collection[str]) -> Iterator[str]:
    """Yield the pinned requirements, each with the lines of its hashes."""
    is_wanted = True
    for line in requirements.read_text(encoding="utf-8").splitlines(keepends=True):
        if not line[0].isspace():
            is_wanted = line.partition("==")[0] not in without
        if is_wanted:
            yield line


def _strip(target: Path) -> None:
    """Remove commands, which name this machine's interpreter, and unused data of botocore."""
    shutil.rmtree(target / "bin", ignore_errors=True)
    service_models.cut(target / "botocore" / "data")
    for folder in target.glob("*.dist-info"):
        for name in _INSTALLATION:
            (folder / name).unlink(missing_ok=True)


def _licence_lines(target: Path) -> Iterator[str]:
    """Yield a line for each package: name, version and licence."""
    for path in target.glob("*.dist-info/METADATA"):
        package = Parser().parsestr(path.read_text(encoding="utf-8"), headersonly=True)
        licence = package["License-Expression"] or package["License"] or ""
        if not licence or "\n" in licence:  # some packages give the licence's text
            classifiers = package.get_all("Classifier") or []
            named = [each for each in classifiers if each.startswith("License ::")]
            licence = ", ".join(each.rpartition(" :: ")[2] for each in named)
        changes = f", {service_models.CHANGES}" if package["Name"] == "botocore" else ""
        yield f"{package['Name']} {package['Version']}: {licence or 'unknown'}{changes}"
