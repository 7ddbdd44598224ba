"""The layer: the engine and its dependencies, built without Docker.

The layer includes boto3: Lambda's own copy changes without notice, and conditional writes to S3
need a new one. It keeps only those of botocore's 400 services that we call.
"""

import os
import tempfile
import zipfile
from pathlib import Path

from layers.graveler.archive import (
    compile_sources,
    copy_sources,
    files,
    holds_sources,
    write_zip,
)
from layers.graveler.wheels import REQUIREMENTS, install

ROOT = Path(__file__).parents[2]
LICENCE = ROOT / "LICENSE"
OUTPUT = Path(os.environ.get("GRAVELER_BUILD", ROOT / "build"))

# The runtime of the functions.
PYTHON = "3.13"
# From Lambda's name of an architecture to the wheels' name.
ARCHITECTURES = {"arm64": "aarch64", "x86_64": "x86_64"}

UNPACKED_BYTES_MAX = 120 * 1000 * 1000

# Lambda unpacks layers to /opt, and puts their folder `python` on Python's path.
_INSTALLED_AT = "/opt/python"
FOLDER = "python"


def layer_path(architecture: str, output: Path | None = None) -> Path:
    """Return the path of the layer's archive."""
    return (output or OUTPUT) / f"graveler-layer-{architecture}.zip"


def build(
    architecture: str,
    output: Path | None = None,
    python: str = PYTHON,
    compiler: str | None = None,
) -> int:
    """Build the archive; return its unpacked size in bytes.

    Raises:
        CalledProcessError: pip did not find or accept a wheel; pip printed why.
        ValueError: the layer would be too large.
    """
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        target = root / FOLDER
        install(target, ARCHITECTURES[architecture], python)
        copy_engine(target)
        if compiler is not None:
            compile_sources(target, _INSTALLED_AT, compiler)
        unpacked_bytes = sum(path.stat().st_size for path in files(root))
        if unpacked_bytes > UNPACKED_BYTES_MAX:
            raise ValueError(
                f"the layer has {unpacked_bytes:,} bytes, more than {UNPACKED_BYTES_MAX:,}: remove "
                f"dependencies in pyproject.toml"
            )
        write_zip(root, layer_path(architecture, output))
    return unpacked_bytes


def copy_engine(target: Path, requirements: Path = REQUIREMENTS) -> None:
    """Copy this checkout's part of the layer: the engine, its licence and its requirements."""
    copy_sources(ROOT / "graveler", target / "graveler")
    copy_sources(LICENCE, target / "graveler" / LICENCE.name)
    copy_sources(requirements, target / requirements.name)


def is_current(layer: Path) -> bool:
    """Whether the archive holds exactly this checkout's engine and requirements."""
    with tempfile.TemporaryDirectory() as folder, zipfile.ZipFile(layer) as archive:
        copy_engine(Path(folder) / FOLDER)
        return holds_sources(archive, Path(folder), (f"{FOLDER}/graveler/",))
