"""The processor time of processes and of all that they started."""

import os
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

_TICKS_PER_S = os.sysconf("SC_CLK_TCK")


def family(pid: int) -> list[int]:
    """Return the process and its descendants."""
    children = Path(f"/proc/{pid}/task").glob("*/children")
    pids = [int(child) for file in children for child in file.read_text().split()]
    return [pid, *(each for child in pids for each in family(child))]


def cpu_s(pids: Iterable[int]) -> float:
    """Return the processor time of the processes; 0 for one that has ended."""
    spent_s = 0.0
    for pid in pids:
        with suppress(OSError):
            fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
            spent_s += (int(fields[11]) + int(fields[12])) / _TICKS_PER_S
    return spent_s


def command_of(pid: int) -> str:
    """Return the name of the program that the process runs, "" after its end."""
    with suppress(OSError):
        return Path(f"/proc/{pid}/comm").read_text().strip()
    return ""
