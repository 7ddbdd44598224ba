"""The folder from which Docker builds the gateway's image: sources, pinned wheels, Dockerfile."""

import shutil
from pathlib import Path

from layers.graveler.archive import copy_sources
from layers.graveler.build import LICENCE, OUTPUT, ROOT

DOCKERFILE = Path(__file__).with_name("Dockerfile")
REQUIREMENTS = Path(__file__).with_name("requirements.txt")

_PACKAGES = ("graveler", "graveler_gateway")


def folder_path(output: Path | None = None) -> Path:
    """Return the path of the folder."""
    return (output or OUTPUT) / "graveler-gateway"


def write_folder(folder: Path) -> None:
    """Write the folder from this checkout's sources; equal sources give equal files."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for path in (DOCKERFILE, REQUIREMENTS, LICENCE):
        shutil.copyfile(path, folder / path.name)
    for name in _PACKAGES:
        copy_sources(ROOT / name, folder / name)
