"""Builds the layer without Docker: `python -m layers.graveler.build` (make layer).

Wheels come from the package index, checked by the hashes in requirements.txt; the same input gives
the same archive. The layer includes boto3: Lambda's own changes without notice, and conditional
writes to S3 need a new one. Of botocore's 400 services, it keeps those that we call.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator, Sequence
from email.parser import Parser
from pathlib import Path

from layers.graveler.archive import (
    compile_sources,
    copy_sources,
    files,
    find_compiler,
    write_zip,
)

ROOT = Path(__file__).parents[2]
REQUIREMENTS = Path(__file__).with_name("requirements.txt")
OUTPUT = Path(os.environ.get("GRAVELER_BUILD", ROOT / "build"))

# The runtime of the functions.
PYTHON = "3.13"
# From Lambda's name of an architecture to the wheels' name.
ARCHITECTURES = {"arm64": "aarch64", "x86_64": "x86_64"}
# Wheels name the glibc that they need; Amazon Linux 2023 has 2.34.
_PLATFORMS = ("manylinux2014", "manylinux_2_28")

UNPACKED_BYTES_MAX = 120 * 1000 * 1000

# Lambda unpacks layers to /opt, and puts their folder `python` on Python's path.
_INSTALLED_AT = "/opt/python"
FOLDER = "python"

# The services of graveler.aws.connect, and STS, which some credentials need to assume a role.
SERVICES = frozenset(
    {
        "dynamodb",
        "events",
        "glue",
        "kms",
        "lambda",
        "s3",
        "secretsmanager",
        "sqs",
        "ssm",
        "sts",
    }
)

LICENCES = "LICENCES.txt"


def layer_path(architecture: str, output: Path = OUTPUT) -> Path:
    """Return the path of the layer's archive."""
    return output / f"graveler-layer-{architecture}.zip"


def build(
    architecture: str, output: Path = OUTPUT, python: str = PYTHON, compiler: str | None = None
) -> int:
    """Build the archive; return its unpacked size in bytes.

    Raises:
        CalledProcessError: pip did not find or accept a wheel; pip printed why.
        ValueError: the layer would be too large.
    """
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        target = root / FOLDER
        _install(target, ARCHITECTURES[architecture], python)
        _strip(target)
        copy_engine(target)
        (target / LICENCES).write_text(_licences(target))
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


def copy_engine(target: Path) -> None:
    """Copy this checkout's part of the layer: the engine, and its requirements."""
    copy_sources(ROOT / "graveler", target / "graveler")
    copy_sources(REQUIREMENTS, target / REQUIREMENTS.name)


def is_current(layer: Path) -> bool:
    """Whether the archive holds exactly this checkout's engine and requirements."""
    with tempfile.TemporaryDirectory() as folder, zipfile.ZipFile(layer) as archive:
        copy_engine(Path(folder))
        wanted = {
            f"{FOLDER}/{path.relative_to(folder).as_posix()}": path.read_bytes()
            for path in files(Path(folder))
        }
        packed = {
            name
            for name in archive.namelist()
            if name.startswith(f"{FOLDER}/graveler/") and not name.endswith(".pyc")
        }
        return packed <= wanted.keys() <= set(archive.namelist()) and all(
            archive.read(name) == content for name, content in wanted.items()
        )


def _install(target: Path, machine: str, python: str) -> None:
    platforms = [f"--platform={name}_{machine}" for name in _PLATFORMS]
    command = [
        *(sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"),
        *("--only-binary=:all:", "--implementation=cp", f"--python-version={python}", *platforms),
        *("--no-compile", "--require-hashes", f"--requirement={REQUIREMENTS}"),
        f"--target={target}",
    ]
    subprocess.run(command, check=True)


def _strip(target: Path) -> None:
    """Remove commands, which name this machine's interpreter, and unused services of botocore."""
    shutil.rmtree(target / "bin", ignore_errors=True)
    for path in (target / "botocore" / "data").iterdir():
        if path.is_dir() and path.name not in SERVICES:
            shutil.rmtree(path)


def _licences(target: Path) -> str:
    return "".join(f"{line}\n" for line in sorted(_licence_lines(target)))


def _licence_lines(target: Path) -> Iterator[str]:
    """Yield a line for each package: name, version and licence."""
    for path in target.glob("*.dist-info/METADATA"):
        package = Parser().parsestr(path.read_text(), headersonly=True)
        licence = package["License-Expression"] or package["License"] or ""
        if not licence or "\n" in licence:  # some packages give the licence's text
            classifiers = package.get_all("Classifier") or []
            named = [each for each in classifiers if each.startswith("License ::")]
            licence = ", ".join(each.rpartition(" :: ")[2] for each in named)
        yield f"{package['Name']} {package['Version']}: {licence or 'unknown'}"


def main(arguments: Sequence[str]) -> int:
    """Build the layers of the given architectures, and print their sizes; return the exit code."""
    parser = argparse.ArgumentParser(prog="layers.graveler.build", description=__doc__)
    parser.add_argument("--output", type=Path, default=OUTPUT)
    parser.add_argument("architectures", nargs="*", help=", ".join(ARCHITECTURES))
    options = parser.parse_args(arguments)
    wanted = options.architectures or list(ARCHITECTURES)
    if unknown := set(wanted) - ARCHITECTURES.keys():
        parser.error(f"unknown architecture: {', '.join(sorted(unknown))}")
    compiler = find_compiler(PYTHON)
    if compiler is None:
        sys.stderr.write(
            f"python{PYTHON} is missing, so the layer has no bytecode: it works, but every cold "
            f"start takes more than half a second longer to compile it\n"
        )
    for architecture in wanted:
        unpacked_bytes = build(architecture, options.output, compiler=compiler)
        path = layer_path(architecture, options.output)
        sys.stdout.write(
            f"{path}: {path.stat().st_size / 1e6:,.1f} MB, unpacked {unpacked_bytes / 1e6:,.1f} MB"
            f" of at most {UNPACKED_BYTES_MAX / 1e6:,.0f}\n"
        )
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
