"""Plots of how large commits of a running stack grow, with the changes and with the repository."""

from pathlib import Path

import matplotlib.pyplot as plt

from bench.large_commits.names import ADDITIONS, ANSWERED, CHANGES, changes_name
from bench.plots import draw, finish, save
from bench.report import Results


def plot_commits(results: Results, folder: Path) -> None:
    """Write the plot into the folder; the runs are named by numbers of objects."""
    plot, (additions, changes) = plt.subplots(1, 2, figsize=(9, 4.2))
    sizes = [(int(run.replace(",", "")), run) for run in results.runs]
    added = [(size, results.value(run, ADDITIONS, ANSWERED)) for size, run in sizes]
    draw(additions, [(size, value) for size, value in added if value is not None], "commit")
    logarithmic = {"xscale": "log", "yscale": "log", "ylabel": "s"}
    finish(additions, title="commit of additions", xlabel="staged objects", **logarithmic)
    for amount in (10, 100, 1_000, 10_000):
        changed = [(size, results.value(run, CHANGES, changes_name(amount))) for size, run in sizes]
        points = [(size, value) for size, value in changed if value is not None]
        draw(changes, points, f"{amount:,} changes")
    finish(changes, title="commit of random changes", xlabel="objects", **logarithmic)
    save(plot, folder / "large-commits.svg")
