"""The archive of the jobs: Glue installs nothing when a job starts.

Glue 6.0 has Spark, pyarrow, NumPy and pandas, and the jobs use its copies. The archive adds the
engine's dependencies, for Glue's Python and processor. `unpacking.py` makes them importable.
"""

import tempfile
import zipfile
from pathlib import Path

from layers.graveler import build as layer
from layers.graveler.archive import copy_sources, holds_sources, write_zip
from layers.graveler.wheels import install
from layers.jobs import unpacking

REQUIREMENTS = Path(__file__).with_name("requirements.txt")

# The Python and the processor of Glue 6.0, as of November 2026, from "AWS Glue versions".
PYTHON = layer.PYTHON
MACHINE = "x86_64"

# Glue's copies are as new as ours, and pandas has imported them before a job begins.
OF_GLUE = ("python-dateutil", "six")
# Of the functions alone.
_OF_FUNCTIONS = ("aws-lambda-powertools", "cryptography", "cffi", "pycparser")


def jobs_path(output: Path | None = None) -> Path:
    """Return the path of the jobs' archive."""
    return (output or layer.OUTPUT) / "graveler-jobs.zip"


def build(output: Path | None = None, machine: str = MACHINE) -> None:
    """Build the archive.

    Raises:
        CalledProcessError: pip did not find or accept a wheel; pip printed why.
    """
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        without = (*OF_GLUE, *_OF_FUNCTIONS)
        install(root / unpacking.FOLDER, machine, PYTHON, REQUIREMENTS, without)
        copy_jobs(root)
        write_zip(root, jobs_path(output))


def copy_jobs(root: Path) -> None:
    """Copy this checkout's part of the archive: jobs, engine, requirements, and `unpacking`."""
    layer.copy_engine(root / unpacking.FOLDER, REQUIREMENTS)
    copy_sources(layer.ROOT / "graveler_jobs", root / unpacking.FOLDER / "graveler_jobs")
    for package in unpacking.PACKAGES:
        copy_sources(Path(unpacking.__file__), root / package / "__init__.py")


def is_current(jobs: Path) -> bool:
    """Whether the archive holds exactly this checkout's jobs, engine and requirements."""
    packages = [
        f"{folder}{package}/" for folder in ("", "python/") for package in unpacking.PACKAGES
    ]
    with tempfile.TemporaryDirectory() as folder, zipfile.ZipFile(jobs) as archive:
        copy_jobs(Path(folder))
        return holds_sources(archive, Path(folder), packages)
