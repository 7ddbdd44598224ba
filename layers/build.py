"""Builds the archives that need the package index: `python -m layers.build [NAME …]` (make layer).

It builds the layer for both architectures, and the archive of the jobs. Wheels are checked by the
hashes in layers/graveler/requirements.txt; the same input gives the same archives.
"""

import argparse
import sys
import zipfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from layers.graveler import build as layer
from layers.graveler.archive import find_compiler, has_bytecode
from layers.jobs import build as jobs


@dataclass(frozen=True, slots=True)
class Archive:
    """An archive that `make layer` builds.

    compiled: it contains bytecode, if there is a compiler.
    """

    path: Callable[[Path], Path]
    build: Callable[..., object]
    is_current: Callable[[Path], bool]
    compiled: bool

    def is_needed(self, output: Path, compiler: str | None) -> bool:
        """Whether it is missing, outdated, or lacks bytecode although there is a compiler."""
        path = self.path(output)
        if not path.is_file() or not self.is_current(path):
            return True
        return self.compiled and compiler is not None and not is_compiled(path)


ARCHIVES: Mapping[str, Archive] = {
    **{
        f"layer-{architecture}": Archive(
            partial(layer.layer_path, architecture),
            partial(layer.build, architecture),
            layer.is_current,
            compiled=True,
        )
        for architecture in layer.ARCHITECTURES
    },
    "jobs": Archive(jobs.jobs_path, jobs.build, jobs.is_current, compiled=False),
}

# The archives that a deployment uploads.
DEPLOYED = ("layer-arm64", "jobs")


def is_compiled(archive: Path) -> bool:
    """Whether the archive contains bytecode."""
    with zipfile.ZipFile(archive) as packed:
        return has_bytecode(packed.namelist())


def main(arguments: Sequence[str]) -> int:
    """Build the named archives, or all, and print their sizes; return the exit code."""
    parser = argparse.ArgumentParser(prog="layers.build", description=__doc__)
    parser.add_argument("--output", type=Path, default=layer.OUTPUT)
    parser.add_argument(
        "--for-synth",
        action="store_true",
        help=f"only those of {', '.join(DEPLOYED)} that are missing or not current",
    )
    parser.add_argument("names", nargs="*", help=", ".join(ARCHIVES))
    options = parser.parse_args(arguments)
    wanted = options.names or list(DEPLOYED if options.for_synth else ARCHIVES)
    if unknown := set(wanted) - ARCHIVES.keys():
        parser.error(f"unknown archive: {', '.join(sorted(unknown))}")
    compiler = find_compiler(layer.PYTHON)
    if options.for_synth:
        wanted = [name for name in wanted if ARCHIVES[name].is_needed(options.output, compiler)]
    for name in wanted:
        archive = ARCHIVES[name]
        if archive.compiled:
            if compiler is None:
                sys.stderr.write(f"{name} gets no bytecode: {NO_COMPILER}\n")
            archive.build(options.output, compiler=compiler)
        else:
            archive.build(options.output)
        path = archive.path(options.output)
        sys.stdout.write(f"{path}: {path.stat().st_size / 1e6:,.1f} MB\n")
    return 0


NO_COMPILER = (
    f"python{layer.PYTHON} is neither on the path nor installed by pyenv or uv. The functions work "
    f"without bytecode, but every cold start compiles the engine for more than half a second"
)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
