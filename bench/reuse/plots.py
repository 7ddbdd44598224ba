"""Plot reuse and written bytes against raggedness."""

from pathlib import Path

import matplotlib.pyplot as plt

from bench.plots import draw, finish, save
from bench.report import Results
from bench.reuse.year import WORKLOADS

_PANELS = {
    "ranges reused": "ranges reused by a commit, %",
    "written": "written by a commit, MB",
    "files written": "files written by a commit",
}


def plot_reuse(results: Results, section: str, folder: Path) -> None:
    """Write the plot into the folder; section is the model's."""
    plot, panels = plt.subplots(1, len(_PANELS), figsize=(13, 4.2))
    for axes, (name, title) in zip(panels, _PANELS.items(), strict=True):
        for workload in WORKLOADS:
            found = [
                (int(run.replace(",", "")), results.value(run, section, f"{workload}: {name}"))
                for run in results.runs
            ]
            points = [(raggedness, value) for raggedness, value in found if value is not None]
            draw(axes, points, workload)
        scale = "linear" if name == "ranges reused" else "log"
        finish(axes, title=title, xlabel="raggedness, records", xscale="log", yscale=scale)
        axes.minorticks_off()
        axes.set_xticks([int(run.replace(",", "")) for run in results.runs], results.runs)
    save(plot, folder / "reuse.svg")
