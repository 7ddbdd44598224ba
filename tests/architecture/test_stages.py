"""`make test` runs every test: one of its stages collects a folder alone, to begin sooner."""

from tests.architecture.test_portability import ROOT, tracked_files

MARK = "pytest.mark." + "simulation"


def test_what_simulates_is_in_the_folder_that_its_stage_collects():
    modules = [name for name in tracked_files() if name.endswith(".py")]
    simulating = [name for name in modules if MARK in (ROOT / name).read_text()]
    assert simulating
    assert [name for name in simulating if not name.startswith("tests/simulation/")] == []
    assert (
        '-m "simulation and not long" -n auto tests/simulation' in (ROOT / "Makefile").read_text()
    )
