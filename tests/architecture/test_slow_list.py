"""The list of slow tests names tests that exist, and as few lines as say it."""

from tests.architecture.test_sizes_and_names import ROOT
from tests.support.checks.durations import function_of, lines_of, listed


def test_every_slow_test_exists():
    sources = {}
    for line in listed():
        path, *names = function_of(line).split("::")
        if path not in sources:
            sources[path] = (ROOT / path).read_text()
        assert all(name in sources[path] for name in names if name != "runTest"), line


def test_a_function_whose_cases_are_mostly_slow_has_one_line():
    costs_s = {"a::mostly[1]": 0.1, "a::mostly[2]": 0.1, "a::mostly[3]": 0.0, "a::whole": 0.1}
    costs_s |= {"a::partly[1]": 0.0, "a::partly[2[x]]": 0.1, "a::cheap": 0.0}
    assert lines_of(costs_s) == ["a::mostly", "a::partly[2[x]]", "a::whole"]
