"""Plot rate and p99 against the number of clients."""

from pathlib import Path

import matplotlib.pyplot as plt

from bench.plots import Points, draw, finish, save
from bench.report import Results

# Panels by the section's title, with the kind of its requests.
_PANELS = {
    "Single writes to one branch": "writes",
    "Single writes to a branch each": "writes",
    "Commits of one change, of one repository": "commits",
    "Commits of one change, of a deployment": "commits",
}
_CLIENTS = (1, 4, 16, 64, 256)
_MEASURES = {"": "a second", ", p99": "p99, ms"}


def plot_scale(results: Results, folder: Path) -> None:
    """Write the plot into the folder."""
    plot, rows = plt.subplots(len(_MEASURES), len(_PANELS), figsize=(14, 6.5))
    for row, (measure, unit) in zip(rows, _MEASURES.items(), strict=True):
        for axes, (section, kind) in zip(row, _PANELS.items(), strict=True):
            for run in results.runs:
                draw(axes, _points(results, run, section, f"{kind}{measure}"), run)
            finish(axes, title=section, ylabel=f"{kind}, {unit}", xscale="log", yscale="log")
            axes.set_xticks(_CLIENTS, [f"{clients:,}" for clients in _CLIENTS])
            axes.minorticks_off()
    save(plot, folder / "scale.svg")


def _points(results: Results, run: str, section: str, name: str) -> Points:
    found = [(n, results.value(run, section, f"{n:,}: {name}")) for n in _CLIENTS]
    return [(clients, value) for clients, value in found if value is not None]
