"""Plants the fault that the environment names in its module, while the module is imported.

A plugin of pytest (`-p tests.mutants.planting`), and a way to run another program with the fault:
`PLANTED_FAULT=<name> python -m tests.mutants.planting tests.simulation --minutes 1`. No file
changes. The notes say that the module was imported, and which tests failed.
"""

import importlib.machinery
import os
import runpy
import sys
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from pathlib import Path
from types import CodeType, ModuleType

import pytest

from tests.mutants.faults import FaultError, planted, table

FAULT = "PLANTED_FAULT"
NOTES = "PLANTED_FAULT_NOTES"

IMPORTED = "imported"
FAILED = "failed"
TIMED_OUT = "timed out"
BROKEN = "broken"

_SESSIONS: list[pytest.Session] = []


def _note(kind: str, about: str) -> None:
    """Append a line to the file of notes."""
    with Path(os.environ[NOTES]).open("a") as notes:
        notes.write(f"{kind}\t{about}\n")


def _is_imported() -> bool:
    """Whether this process, or one that it started, has imported the fault."""
    return f"{IMPORTED}\t" in Path(os.environ[NOTES]).read_text()


class _Loader(importlib.machinery.SourceFileLoader):
    """Executes the code with the fault; the file and its bytecode are not touched."""

    def __init__(self, module: str, path: str, code: CodeType) -> None:
        super().__init__(module, path)
        self._code = code

    def get_code(self, _fullname: str) -> CodeType:
        return self._code

    def exec_module(self, module: ModuleType) -> None:
        _note(IMPORTED, module.__name__)
        super().exec_module(module)


class _Finder(MetaPathFinder):
    """Finds the module of a fault, before any other finder does."""

    def __init__(self, name: str) -> None:
        self._module, self._tree = planted(table()[name])
        if self._module in sys.modules:
            raise FaultError(f"{name}: {self._module} was imported too early")

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if fullname != self._module:
            return None
        spec = importlib.machinery.PathFinder.find_spec(fullname, path, target)
        assert spec is not None
        assert spec.origin is not None
        code = compile(self._tree, spec.origin, "exec", dont_inherit=True)
        spec.loader = _Loader(fullname, spec.origin, code)
        return spec


def pytest_sessionstart(session: pytest.Session) -> None:
    _SESSIONS.append(session)


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Note a failure; only one in the body of a test finds the fault, and ends the session."""
    if not report.failed or not _is_imported():
        return
    if report.when != "call":
        _note(BROKEN, report.nodeid)
    elif "from pytest-timeout" in report.longreprtext:
        _note(TIMED_OUT, report.nodeid)
    else:
        _note(FAILED, report.nodeid)
        _SESSIONS[-1].shouldstop = "the fault is found"


def pytest_collectreport(report: pytest.CollectReport) -> None:
    if report.failed:
        _note(BROKEN, report.nodeid)


if os.environ.get(FAULT):
    sys.meta_path.insert(0, _Finder(os.environ[FAULT]))

if __name__ == "__main__":
    del sys.argv[0]
    runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
