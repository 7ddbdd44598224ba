"""Marks the tests that `tests/slow.txt` lists as slow, and finds those that belong there.

A line is a node ID; without brackets it stands for all cases of the function. A case belongs there
if its setup and its call take more than 50 ms of processor and it is in no slower tier by itself.
"""

import re
from collections import Counter
from collections.abc import Generator
from pathlib import Path
from time import process_time

import pytest

LIST = Path(__file__).parents[2] / "slow.txt"
EXPENSIVE_S = 0.05
# The first case of a module in a process also pays for imports, caches and fixtures of the module.
EXPENSIVE_FIRST_S = 0.5
OTHER_TIERS = ("server", "packages", "browser", "simulation", "long")

_STARTED_S = pytest.StashKey[float]()
_COST = "processor_s"


def listed() -> frozenset[str]:
    """Return the lines of the list."""
    return frozenset(LIST.read_text().splitlines())


def function_of(node_id: str) -> str:
    """Return the node ID of the function of a case."""
    return node_id.partition("[")[0]


class Durations:
    """Takes what each case costs to the process that reports it."""

    def __init__(self, task: str | None) -> None:
        self._task = task
        self._listed = listed()
        self._modules: set[Path] = set()  # of which a case has run in this process
        self._costs_s: dict[str, float] = {}

    def _is_listed(self, node_id: str) -> bool:
        return node_id in self._listed or function_of(node_id) in self._listed

    @pytest.hookimpl(tryfirst=True)  # before -m selects by markers
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        for item in items:
            if self._is_listed(item.nodeid):
                item.add_marker("slow")

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> Generator[None]:
        item.stash[_STARTED_S] = process_time()
        yield

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Generator[None]:
        try:
            yield
        finally:
            cost_s = process_time() - item.stash[_STARTED_S]
            limit_s = EXPENSIVE_S if item.path in self._modules else EXPENSIVE_FIRST_S
            self._modules.add(item.path)
            is_fast = not any(item.get_closest_marker(name) for name in OTHER_TIERS)
            if is_fast:
                item.user_properties.append((_COST, cost_s if cost_s > limit_s else 0))

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        for name, value in report.user_properties:
            if name == _COST and report.when == "call":
                assert isinstance(value, float | int)
                self._costs_s[report.nodeid] = value

    def pytest_terminal_summary(
        self, terminalreporter: pytest.TerminalReporter, exitstatus: int
    ) -> None:
        expensive = {node_id: cost_s for node_id, cost_s in self._costs_s.items() if cost_s}
        if self._task == "write" and exitstatus == pytest.ExitCode.OK:
            LIST.write_text("".join(f"{line}\n" for line in lines_of(self._costs_s)))
        elif self._task == "show":
            new = [node_id for node_id in expensive if not self._is_listed(node_id)]
            if new:
                terminalreporter.section("cost over 50 ms of processor: cheapen, or make durations")
            for node_id in sorted(new, key=expensive.__getitem__, reverse=True):
                terminalreporter.line(f"{expensive[node_id] * 1000:6.0f} ms {node_id}")


def lines_of(costs_s: dict[str, float]) -> list[str]:
    """Return the list for these costs; a function whose cases are mostly expensive has one line."""
    expensive = [node_id for node_id, cost_s in costs_s.items() if cost_s]
    cases = Counter(map(function_of, costs_s))
    mostly = {
        name
        for name, amount in Counter(map(function_of, expensive)).items()
        if 2 * amount > cases[name]
    }
    return sorted(
        {
            function_of(node_id) if function_of(node_id) in mostly else node_id
            for node_id in expensive
        }
    )


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave out modules of which -m selects nothing: importing their clients takes seconds."""
    left_out = re.search(r"not \(([a-z ]+)\)", config.getoption("-m"))
    if left_out is None or collection_path.suffix != ".py":
        return None
    marks = re.findall(r"^pytestmark = .*", collection_path.read_text(), re.MULTILINE)
    names = left_out[1].split(" or ")
    return any(f"mark.{name}" in line for name in names for line in marks) or None


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--slow-tests",
        choices=("show", "write"),
        help="show the expensive cases that tests/slow.txt lacks, or write it anew",
    )


def pytest_configure(config: pytest.Config) -> None:
    config.pluginmanager.register(Durations(config.getoption("--slow-tests")), "durations")
