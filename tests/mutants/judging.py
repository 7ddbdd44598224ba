"""Runs a planted fault against its test, then against wider suites and the simulator."""

import os
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.mutants import planting
from tests.mutants.faults import ROOT, Fault, FaultError

# What a fault is run against if its own test does not find it, nearest first.
SUITES = (
    ("tests/contract",),
    ("tests/unit", "tests/property", "--ignore=tests/unit/cli"),
    ("tests/integration", "tests/security"),
)
_ELSEWHERE = "not (server or packages or browser or simulation or long)"
_PYTEST = ("-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "pytest_timeout", "-m", _ELSEWHERE)
# The other installed plugins cost half a second of processor in each process.
_FEW_PLUGINS = {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
_TEST_S = 60
_RUN_S = 1200
_SIMULATED = re.compile(r"^  \d+ x (.*; first: seed \d+)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Verdict:
    """What became of a fault; the text says which test found it, or why none counts."""

    is_found: bool
    text: str


@dataclass(frozen=True, slots=True)
class _Run:
    """A run of a program with a fault: its status (None: too late), its notes, and its output."""

    status: int | None
    notes: Sequence[tuple[str, str]]
    output: str

    def about(self, *kinds: str) -> str:
        """Return the first test that is noted under one of the kinds, or ""."""
        return next((about for kind, about in self.notes if kind in kinds), "")


class Judge:
    """Runs faults; minutes is the time of the simulator for each."""

    def __init__(self, minutes: float, suites: Sequence[Sequence[str]] = SUITES) -> None:
        self._minutes = minutes
        self._suites = suites
        self._lock = threading.Lock()
        self._check = cache(self._check_once)

    def check_baseline(self, faults: Iterable[Fault]) -> None:
        """Check that the tests of the faults pass without a fault.

        Raises:
            FaultError: one fails.
        """
        self._check(*sorted({fault.test for fault in faults}))

    def judge(self, fault: Fault) -> Verdict:
        """Return what finds the fault."""
        try:
            found = self._finder(fault)
        except FaultError as error:
            return Verdict(False, f"ERROR: {error}")
        return Verdict(bool(found), f"found by {found}" if found else "SURVIVED")

    def _finder(self, fault: Fault) -> str:
        """Return the nearest test that finds the fault, "" if none does.

        Raises:
            FaultError: the fault cannot be judged.
        """
        own = _pytest(fault, [fault.test])
        if found := own.about(planting.FAILED):
            return found
        if own.status not in (0, 1):
            raise FaultError(f"{fault.test} cannot run\n{own.output}")
        runs = [own]
        for paths in self._suites:
            with self._lock:
                self._check(*paths)
            runs.append(_pytest(fault, paths))
            if found := runs[-1].about(planting.FAILED):
                return f"{found}, not by its own test"
        if self._minutes:
            runs.append(self._simulated(fault))
            if simulated := _SIMULATED.search(runs[-1].output):
                return f"the simulator: {simulated[1]}"
        if not any(run.about(planting.IMPORTED) for run in runs):
            raise FaultError(f"nothing imports {fault.place}")
        for run in runs:
            if broken := run.about(planting.BROKEN, planting.TIMED_OUT):
                raise FaultError(f"no test fails in its body, but {broken} is broken")
        return ""

    def _check_once(self, *tests: str) -> None:
        run = _run([*_PYTEST, *tests], {})
        if run.status != 0:
            raise FaultError(f"without a fault, a test fails\n{run.output}")

    def _simulated(self, fault: Fault) -> _Run:
        minutes = ["--minutes", str(self._minutes), "--processes", "1", "--stop"]
        module = [planting.__name__, "tests.simulation", *minutes]
        return _run(["-m", *module], {planting.FAULT: fault.name})


def _pytest(fault: Fault, tests: Sequence[str]) -> _Run:
    plugin = ("-p", planting.__name__, "--timeout", str(_TEST_S))
    return _run([*_PYTEST, *plugin, *tests], {planting.FAULT: fault.name})


def _run(arguments: Sequence[str], environment: Mapping[str, str]) -> _Run:
    """Run Python in the project's root, for a bounded time."""
    with TemporaryDirectory() as folder:
        notes = Path(folder) / "notes"
        notes.touch()
        process = subprocess.Popen(
            [sys.executable, *arguments],
            cwd=ROOT,
            env={**os.environ, **_FEW_PLUGINS, **environment, planting.NOTES: str(notes)},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )
        try:
            output, _ = process.communicate(timeout=_RUN_S)
            status: int | None = process.returncode
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            output, _ = process.communicate()
            status = None
        lines = [line.split("\t") for line in notes.read_text().splitlines()]
        return _Run(status, [(kind, about) for kind, about in lines], output)
