"""Growth is measured in each shape, and shown by size."""

import json

import pytest

from bench.growth.run import HISTORIES, LISTINGS, main
from bench.growth.staged import SHAPES


@pytest.mark.server
@pytest.mark.long
def test_listings_and_histories_are_measured_and_plotted(tmp_path):
    main(["--sizes", "20", "60", "--results", str(tmp_path)])
    runs = json.loads((tmp_path / "growth.json").read_text())["runs"]
    assert runs.keys() == {"20", "60"}
    for run in runs.values():
        assert run[LISTINGS].keys() >= {f"{shape}: slowest page" for shape in SHAPES}
        assert run[HISTORIES].keys() >= {"dump", "restore", "log, newest 1,000, warm"}
    assert "slowest page" in (tmp_path / "growth.svg").read_text()
    assert (tmp_path / "growth.md").read_text().count("\n## ") == 3
