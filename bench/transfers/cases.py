"""What is transferred, and how long a program takes for it."""

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median

SMALL_BYTES = 10 * 1000
_IN_A_FOLDER = 500
_BLOCK_BYTES = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Scale:
    """How many small files, and how large the large one."""

    files: int
    large_bytes: int


@dataclass(frozen=True, slots=True)
class Took:
    """The time of one run of a program."""

    wall_s: float
    cpu_s: float


@dataclass(slots=True)
class Case:
    """A transfer, and the times of both programs in each round."""

    title: str
    arguments: tuple[str, ...]  # {data}, {uri} and {target} are replaced
    only_ours: tuple[str, ...] = ()  # flags that lakectl does not have
    times: tuple[list[Took], list[Took]] = field(default_factory=lambda: ([], []))

    @property
    def ratio(self) -> float:
        """How many times faster the first program is: the median of the rounds."""
        return median(b.wall_s / a.wall_s for a, b in zip(*self.times, strict=True))


def cases(scale: Scale) -> list[Case]:
    """Return the transfers; those of a program's uploads are downloaded."""
    small = f"{scale.files:,} files of {SMALL_BYTES // 1000} kB"
    large = f"one file of {scale.large_bytes / 1e6:,.0f} MB"
    return [
        Case(f"upload {small}", ("upload", "-r", "-s", "{data}/small/", "{uri}/small/")),
        Case(f"download {small}", ("download", "-r", "{uri}/small/", "{target}")),
        Case(f"upload {large}", ("upload", "-s", "{data}/large", "{uri}/large")),
        Case(f"download {large}", ("download", "{uri}/large", "{target}")),
        # lakectl compares no checksums.
        Case(
            f"download {large}, unverified",
            ("download", "{uri}/large", "{target}"),
            ("--no-verify",),
        ),
    ]


def write_data(folder: Path, scale: Scale) -> None:
    """Write the files that are uploaded; none of them is like another."""
    for number in range(scale.files):
        inner = folder / "small" / str(number // _IN_A_FOLDER)
        inner.mkdir(parents=True, exist_ok=True)
        (inner / f"{number}.bin").write_bytes(os.urandom(SMALL_BYTES))
    with (folder / "large").open("wb") as file:
        for first in range(0, scale.large_bytes, _BLOCK_BYTES):
            file.write(os.urandom(min(_BLOCK_BYTES, scale.large_bytes - first)))


def run(program: Path, arguments: Sequence[str], variables: Mapping[str, str]) -> Took:
    """Run a program to its end.

    Raises:
        CalledProcessError: it failed.
    """
    command = [str(program), "fs", *arguments, "--no-progress"]
    began_s = time.perf_counter()
    with subprocess.Popen(command, env=dict(variables), stdout=subprocess.DEVNULL) as process:
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    wall_s = time.perf_counter() - began_s
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, command)
    return Took(wall_s, used.ru_utime + used.ru_stime)


def filled(case: Case, data: Path, uri: str, target: Path) -> Iterator[str]:
    """Yield the arguments of a case; remove what an earlier run downloaded."""
    if target.is_dir():
        shutil.rmtree(target)
    target.unlink(missing_ok=True)
    return (each.format(data=data, uri=uri, target=target) for each in case.arguments)


def graveler_program() -> Path:
    """Return this environment's graveler."""
    return Path(sys.executable).with_name("graveler")
