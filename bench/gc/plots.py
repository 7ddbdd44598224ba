"""Plots of a collection's cost against objects, and against commits."""

from pathlib import Path

import matplotlib.pyplot as plt
from matplotlib.axes import Axes

from bench.plots import draw, finish, save
from bench.report import Results

_LOGARITHMIC = {"xscale": "log", "yscale": "log"}
_MARKING, _RUN = "Marking, by commits", "A whole run, by step"
_STEPS = ("listed", "staged", "commits", "ranges", "marked", "looked", "swept")


_COUNTS = (1, 10, 100, 1_000)


def _number(text: str) -> int:
    return int(text.replace(",", ""))


def plot_collections(results: Results, folder: Path) -> None:
    """Write the plot into the folder."""
    plot, (sizes, memory, commits) = plt.subplots(1, 3, figsize=(13, 4.2))
    for step in _STEPS:
        _over_sizes(results, f"{step}: processor", step, sizes)
    finish(sizes, title="steps, s of processor", xlabel="objects", **_LOGARITHMIC)
    for kind in ("driver", "JVM", "Python workers"):
        _over_sizes(results, f"marked: peak of {kind}", kind, memory)
    finish(memory, title="peak memory while marking, MB", xlabel="objects", xscale="log")
    for run in results.runs:
        found = [
            (count, results.value(run, _MARKING, f"{count:,} commits, processor"))
            for count in _COUNTS
        ]
        points = [(count, value) for count, value in found if value is not None]
        draw(commits, points, f"{run} objects")
    finish(commits, title="marking, s of processor", xlabel="commits", xscale="log", ylim=(0, None))
    save(plot, folder / "gc.svg")


def _over_sizes(results: Results, name: str, label: str, axes: Axes) -> None:
    found = [(_number(run), results.value(run, _RUN, name)) for run in results.runs]
    draw(axes, [(size, value) for size, value in found if value is not None], label)
