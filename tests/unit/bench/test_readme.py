"""README's figures of speed are the stored ones."""

import json
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
README = (ROOT / "README.md").read_text()
# README's rows, and the stored ones.
ROWS = {
    "upload a small object": "POST of 16 B, 1 connection",
    "read it": "GET of 16 B, 1 connection",
    "stat it, via a branch": "stat by branch, 1 connection",
    "stat it, by commit ID": "stat by commit, 1 connection",
    "commit 10 changes of 5,000 objects": "commit of 10 random on 5,000",
    "merge 10 changes into 10": "three-way merge, 10 + 10",
    "create a branch": "create a branch, 1 connection",
    "compare two branches": "diff of two branches, 10 random",
}


def runs(name):
    return json.loads((ROOT / "bench" / "results" / name).read_text())["runs"]


def test_the_medians_are_the_measured_ones():
    (table,) = re.findall(r"\| lakeFS 1\.84 \| Graveler \|\n.*\n((?:\|.*\n)+)", README)
    shown = {
        name: cells
        for name, *cells in (re.split(r" *\| *", line.strip("| ")) for line in table.splitlines())
    }
    assert shown.keys() == ROWS.keys()
    measured = [runs("far.json")[system]["p50"] for system in ("lakeFS", "Graveler")]
    for name, cells in shown.items():
        for cell, rows in zip(cells, measured, strict=True):
            text = cell.strip("*")
            last_digit = 10 ** -len(text.partition(".")[2])
            assert float(text) == pytest.approx(rows[ROWS[name]][0], abs=last_digit / 2), name


def test_one_lakefs_process_is_ahead_by_no_more_than_the_pages_say():
    ahead = runs("beside.json")["Graveler ahead"]["Rows"].values()
    assert min(ratio for ratio, unit in ahead if unit == "requests/s") >= 1 / 3
    for page in (README, (ROOT / "docs" / "faq.md").read_text()):
        assert "up to three times as many" in page
