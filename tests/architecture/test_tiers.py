"""The tiers of tests: `make test` leaves out nothing but what is long, and holds what documents promise."""

import re
from itertools import product

from tests.architecture.test_portability import ROOT, tracked_files

TIERS = ("server", "packages", "browser", "simulation", "slow", "hypothesis")
MAKEFILE = (ROOT / "Makefile").read_text()
PROMISES = ("ARCHITECTURE.md", "docs/security.md", "docs/statements.md")


def stages() -> list[str]:
    """Return what the runs of check and test select."""
    (elsewhere,) = re.findall(r"^ELSEWHERE := (.*)$", MAKEFILE, re.MULTILINE)
    found = []
    for target in ("check", "test"):
        (recipe,) = re.findall(rf"^{target}: .*\n((?:\t.*\n)+)", MAKEFILE, re.MULTILINE)
        found += re.findall(r'-m "([^"]+)"', recipe.replace("$(ELSEWHERE)", elsewhere))
    return found


def test_every_test_that_is_not_long_runs_in_a_stage():
    assert len(stages()) == 2
    for marks in product([False, True], repeat=len(TIERS)):
        has = dict(zip(TIERS, marks, strict=True)) | {"long": False}
        assert any(eval(stage, {}, has) for stage in stages()), has


def test_no_test_that_a_promise_names_is_long():
    modules = [ROOT / name for name in tracked_files() if re.match(r"tests/.*\.py$", name)]
    bare = re.compile(r"^@pytest\.mark\.long\n(?:(?!def ).*\n)*?def (test_\w+)", re.MULTILINE)
    long = {name for module in modules for name in bare.findall(module.read_text())}
    assert len(long) > 10
    for promise in PROMISES:
        assert long.isdisjoint(re.findall(r"\btest_\w+", (ROOT / promise).read_text())), promise
