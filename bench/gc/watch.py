"""Time and memory of Spark's processes, by step: driver, JVM, Python workers."""

import os
import threading
from collections import defaultdict
from pathlib import Path
from time import perf_counter
from typing import NamedTuple

_INTERVAL_S = 0.1
_TICKS_PER_S = os.sysconf("SC_CLK_TCK")
_PAGE_MB = os.sysconf("SC_PAGE_SIZE") / 1e6

# The kind of a process.
DRIVER, JVM, WORKERS = "driver", "JVM", "Python workers"
KINDS = (DRIVER, JVM, WORKERS)


class Process(NamedTuple):
    """A process as /proc describes it."""

    parent: int
    cpu_s: float
    memory_mb: float
    command: str


def _processes() -> dict[int, Process]:
    found = {}
    for folder in Path("/proc").iterdir():
        if not folder.name.isdigit():
            continue
        try:
            words = (folder / "stat").read_text().rpartition(")")[2].split()
            command = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode()
        except OSError:  # it has ended
            continue
        cpu_s = sum(map(int, words[11:15])) / _TICKS_PER_S  # with children that have ended
        found[int(folder.name)] = Process(int(words[1]), cpu_s, int(words[21]) * _PAGE_MB, command)
    return found


def _by_kind() -> dict[str, list[Process]]:
    """Return this process, the JVM of its Spark, and the JVM's children."""
    everybody = _processes()
    ours = os.getpid()
    kinds = {ours: DRIVER}
    while True:
        new = {
            pid: WORKERS if kinds[process.parent] in (JVM, WORKERS) else JVM
            for pid, process in everybody.items()
            if pid not in kinds
            and process.parent in kinds
            and (kinds[process.parent] != DRIVER or "org.apache.spark" in process.command)
        }
        if not new:
            break
        kinds |= new
    found: dict[str, list[Process]] = {kind: [] for kind in KINDS}
    for pid, kind in kinds.items():
        if pid in everybody:
            found[kind].append(everybody[pid])
    return found


class Watch:
    """Seconds, processor seconds and peak memory (MB, by kind) of each step."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = defaultdict(float)
        self.cpu_s: dict[str, float] = defaultdict(float)
        self.peaks_mb: dict[str, dict[str, float]] = {}
        self._since_s = perf_counter()
        self._cpu_before_s = self._cpu_s(_by_kind())
        self._peaks = dict.fromkeys(KINDS, 0.0)
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._sample, daemon=True)
        self._thread.start()

    @staticmethod
    def _cpu_s(found: dict[str, list[Process]]) -> float:
        return sum(process.cpu_s for each in found.values() for process in each)

    def _sample(self) -> None:
        while not self._ended.wait(_INTERVAL_S):
            self._look()

    def _look(self) -> dict[str, list[Process]]:
        found = _by_kind()
        for kind in KINDS:
            memory_mb = sum(process.memory_mb for process in found[kind])
            self._peaks[kind] = max(self._peaks[kind], memory_mb)
        return found

    def step(self, name: str) -> None:
        """Record the usage since the last step for this step."""
        now_s, cpu_s = perf_counter(), self._cpu_s(self._look())
        self.seconds[name] += now_s - self._since_s
        self.cpu_s[name] += cpu_s - self._cpu_before_s
        before = self.peaks_mb.setdefault(name, dict.fromkeys(KINDS, 0.0))
        self.peaks_mb[name] = {kind: max(before[kind], self._peaks[kind]) for kind in KINDS}
        self._peaks = dict.fromkeys(KINDS, 0.0)
        self._since_s, self._cpu_before_s = now_s, cpu_s

    def end(self) -> None:
        """Stop sampling."""
        self._ended.set()
        self._thread.join()
