"""The imports of a cold start of each function, from the layer alone: `python -m bench.layer`.

It measures the layer of `make layer`, for this machine's processor, with the interpreter of the
functions if it is installed, else with the current one. It needs the package index.
"""

import platform
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

from infra.packages import function_code
from layers.graveler import build
from layers.graveler.archive import find_compiler

_TRIES = 5
_ARCHITECTURE = {"aarch64": "arm64"}.get(platform.machine(), platform.machine())

# What a handler imports before it connects to the stores.
_MODULES = {
    "api": "functions.api.app, graveler.aws.wiring",
    "cleanup": "functions.cleanup.handler",
    "events": "functions.events.handler",
    "export": "functions.export.handler",
}
_PROGRAM = """
import sys, time
sys.path[:0] = sys.argv[1:]
wall, processor = time.perf_counter(), time.process_time()
import {modules}
print(time.perf_counter() - wall, time.process_time() - processor)
"""


def main() -> None:
    running = f"{sys.version_info.major}.{sys.version_info.minor}"
    command = find_compiler(build.PYTHON)
    python = build.PYTHON if command else running
    command = command or sys.executable
    for title, compiler in (("with bytecode", command), ("without bytecode", None)):
        with tempfile.TemporaryDirectory() as folder:
            _measure(f"Python {python}, {title}", Path(folder), python, command, compiler)


def _measure(title: str, folder: Path, python: str, command: str, compiler: str | None) -> None:
    unpacked_bytes = build.build(_ARCHITECTURE, folder, python, compiler)
    print(f"{title}, {unpacked_bytes / 1e6:.1f} MB unpacked: import, ms    clock  processor")
    with zipfile.ZipFile(build.layer_path(_ARCHITECTURE, folder)) as archive:
        archive.extractall(folder / "opt")
    for name, modules in _MODULES.items():
        with zipfile.ZipFile(function_code(name)) as archive:
            archive.extractall(
                folder / name,
                [each for each in archive.namelist() if compiler or not each.endswith(".pyc")],
            )
        program = _PROGRAM.format(modules=modules)
        paths = (folder / name, folder / "opt" / build.FOLDER)
        # -B: Lambda cannot write bytecode either.
        times = [
            [
                float(word)
                for word in subprocess.check_output(
                    [command, "-I", "-S", "-B", "-c", program, *paths], env={}
                ).split()
            ]
            for _ in range(_TRIES)
        ]
        clock, processor = (min(column) * 1000 for column in zip(*times, strict=True))
        print(f"  {name:40}  {clock:>12,.0f}  {processor:>9,.0f}")


if __name__ == "__main__":
    main()
