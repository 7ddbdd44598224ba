"""Writes a folder from which a stage is deployed without this checkout and without CDK.

`python -m infra.dist prod alarm_email=…` (make dist) writes into build/dist/<name>. The settings
are those of the synth; where the archives are stored is a parameter of the service's template.
"""

import hashlib
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import infra.synth

OUTPUT = Path(os.environ.get("GRAVELER_DIST", infra.synth.ROOT / "build" / "dist"))
ASSETS = "assets"
CHECKSUMS = "SHA256SUMS"

_TEXTS = Path(__file__).with_name("dist_texts")
_ASSET = re.compile(r"asset\.([0-9a-f]{64}\.\w+)")


def write(synthesized: Path, output: Path) -> Path:
    """Write the folder of a synth whose archives have a place by parameter; return its path."""
    service, storage = sorted(synthesized.glob("*.template.json"), key=lambda path: len(path.name))
    name = service.name.removesuffix(".template.json")
    folder = output / name
    shutil.rmtree(folder, ignore_errors=True)
    (folder / ASSETS).mkdir(parents=True)
    for template in (service, storage):
        shutil.copyfile(template, folder / template.name)
    used = service.read_text() + storage.read_text()
    for path in synthesized.iterdir():
        # The folder may also hold assets of an earlier synth.
        if (asset := _ASSET.fullmatch(path.name)) and asset[1] in used:
            shutil.copyfile(path, folder / ASSETS / asset[1])
    shutil.copytree(synthesized / "policies", folder / "policies")
    for text in sorted(_TEXTS.iterdir()):
        (folder / text.name).write_text(text.read_text().replace("@NAME@", name))
    sums = [
        f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.relative_to(folder).as_posix()}\n"
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    ]
    (folder / CHECKSUMS).write_text("".join(sums))
    return folder


def main(arguments: Sequence[str], output: Path = OUTPUT) -> int:
    """Synthesize the stage with the settings, and write its folder; return the exit code."""
    with tempfile.TemporaryDirectory() as synthesized:
        if code := infra.synth.main(arguments, Path(synthesized), portable=True):
            return code
        folder = write(Path(synthesized), output)
    sys.stdout.write(f"{folder}: README.md has the steps\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
