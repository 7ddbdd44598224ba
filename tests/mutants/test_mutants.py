"""The table of planted faults applies to the code, and the judge counts only what finds a fault."""

import ast
import builtins
import subprocess
import sys
from dataclasses import replace
from symtable import SymbolTable, symtable

import pytest

from tests.mutants.faults import ROOT, Fault, FaultError, planted, table
from tests.mutants.judging import Judge
from tests.support.checks.cases import for_each

CHEAP = "young-by-the-wall-clock-alone"
FAULT = Fault(CHEAP, "", "Moment.set_back_s", "passed_ns-(now.wall_ns-self.wall_ns)  # so", "0")
PRODUCT = "from graveler.times import Moment\n"


@pytest.mark.parametrize("fault", table().values(), ids=lambda fault: fault.name)
def test_every_row_applies_and_compiles(fault):
    """A fault that named nothing would be found by any test that reaches it."""
    module, tree = planted(fault)
    compile(tree, module, "exec")
    whole = symtable(ast.unparse(tree), module, "exec")
    assert _globals_of(whole) <= {*whole.get_identifiers(), *dir(builtins)}


def _globals_of(scope: SymbolTable) -> set[str]:
    """The names that the scope and those inside it take from the module."""
    own = {each.get_name() for each in scope.get_symbols() if each.is_global()}
    return own.union(*map(_globals_of, scope.get_children()))


@for_each("fault", table().values(), ids=lambda fault: fault.name)
def test_every_row_names_a_rule_and_a_test_that_exists_or_says_why_none_can(fault):
    assert fault.rule
    assert bool(fault.test) != bool(fault.equivalent)
    if fault.test:
        path, *names = fault.test.partition("[")[0].split("::")
        assert all(name in (ROOT / path).read_text() for name in names)


def test_an_expression_is_replaced_whatever_its_layout():
    module, tree = planted(FAULT)
    assert module == "graveler.times"
    assert "return 0 / NS_PER_S" in ast.unparse(tree)


def test_statements_are_replaced():
    code, becomes = "if (size_bytes):\n    return 1", "return 2"
    place = "limits.BRANCH_WRITE_TRIES_MAX"
    with pytest.raises(FaultError, match="has the code 0 times"):
        planted(replace(FAULT, place=place, code=code, becomes=becomes))
    code = "limit_ns = limit_s * NS_PER_S"
    _, tree = planted(replace(FAULT, place="Moment.is_within", code=code, becomes="limit_ns = 1"))
    assert "limit_ns = 1\n" in ast.unparse(tree)


@for_each(
    ("change", "problem"),
    [
        ({"place": "Moment.is_without"}, "names 0 places"),
        ({"place": "commits.commit"}, "names 2 places"),
        ({"code": "self.no_such_code"}, "has the code 0 times"),
        ({"code": "now"}, "has the code 2 times"),
        ({"code": "passed_ns -"}, "invalid syntax"),
        ({"becomes": "passed_ns - (now.wall_ns - self.wall_ns)"}, "changes nothing"),
    ],
)
def test_a_row_that_does_not_apply_is_an_error(change, problem):
    with pytest.raises(FaultError, match=problem):
        planted(replace(FAULT, **change))


@pytest.mark.parametrize(
    ("source", "text"),
    [
        (
            PRODUCT + "def test(): assert not Moment(0, 0).is_within(1, Moment(0, 2**40))",
            "found by",
        ),
        (PRODUCT + "def test(): assert Moment(0, 0).is_within(1, Moment(0, 1))", "SURVIVED"),
        ("def test(): assert False", "ERROR: nothing imports Moment.is_within"),
        (PRODUCT + "assert not Moment(0, 0).is_within(1, Moment(0, 2**40))", "cannot run"),
        (
            PRODUCT + "import pytest\n@pytest.fixture\ndef bad(): raise OSError\ndef test(bad): 0",
            "ERROR: no test fails in its body",
        ),
    ],
    ids=["found", "survives", "fails without it", "collection", "setup"],
)
def test_only_a_test_that_fails_in_its_body_finds_a_fault(tmp_path, source, text):
    test = tmp_path / "test_it.py"
    test.write_text(source)
    verdict = Judge(minutes=0, suites=()).judge(replace(table()[CHEAP], test=str(test)))
    assert text in verdict.text
    assert verdict.is_found == (text == "found by")


def test_the_score_is_the_last_line():
    command = [sys.executable, "-m", "tests.mutants", "--only", CHEAP]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    line, score = done.stdout.splitlines()
    assert line.startswith(f"{CHEAP}: found by tests/unit/test_times.py::")
    assert score == "1 of 1 planted faults were found, in 0 min"
    assert done.returncode == 0
