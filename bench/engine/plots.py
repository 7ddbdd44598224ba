"""Plots: cost against the size of the repository, and against the size of the change."""

from pathlib import Path

import matplotlib.pyplot as plt
from matplotlib.axes import Axes

from bench.plots import Points, draw, finish, save
from bench.report import Results

_STYLES = {"clustered": "--", "random": "-"}
_AMOUNTS = ["1", "10", "100", "1,000", "100,000"]
_LOGARITHMIC = {"xscale": "log", "yscale": "log"}


def plot_engine(results: Results, folder: Path) -> None:
    """Write both plots into the folder."""
    _plot_sizes(results, folder / "engine-by-size.svg")
    _plot_changes(results, folder / "engine-by-change.svg")


def _number(text: str) -> int:
    return int(text.replace(",", ""))


def _over_sizes(axes: Axes, results: Results, section: str, lines: dict[str, str]) -> None:
    """A line for each figure, over the sizes for which it was measured."""
    for name, label in lines.items():
        found = [(_number(run), results.value(run, section, name)) for run in results.runs]
        draw(axes, [(size, value) for size, value in found if value is not None], label)


def _plot_sizes(results: Results, path: Path) -> None:
    plot, ((lookups, commits), (diffs, cold)) = plt.subplots(2, 2, figsize=(10, 7))
    sizes = {"xlabel": "objects in the repository", **_LOGARITHMIC}
    names = ["hot, all in RAM", "zipf", "uniform", "uniform, each decodes its block"]
    _over_sizes(lookups, results, "Point lookups", {name: name for name in names})
    finish(lookups, title="lookups per second, one process", **sizes)
    for axes, kind, title in (
        (commits, "commit of {} {}, again", "commit, ms of processor"),
        (diffs, "diff of {} {}", "diff, ms of processor"),
    ):
        lines = {
            kind.format(amount, spread): f"{amount} {spread}"
            for amount in ("1", "100", "1,000", "100,000")
            for spread in _STYLES
        }
        _over_sizes(axes, results, "Commits and diffs", lines)
        finish(axes, title=title, **sizes)
    first = {"processor": "ms of processor", "read": "KB read", "requests": "requests"}
    _over_sizes(cold, results, "First lookup of a function, all cold", first)
    finish(cold, title="first lookup, all cold", **sizes)
    save(plot, path)


def _plot_changes(results: Results, path: Path) -> None:
    plot, panels = plt.subplots(1, 3, figsize=(13, 4.2))
    kinds: list[tuple[str, str]] = [
        ("commit of {} {}, again", "commit, ms of processor"),
        ("diff of {} {}", "diff, ms of processor"),
        ("commit of {} {}, written", "written by a commit, MB"),
    ]
    for axes, (kind, title) in zip(panels, kinds, strict=True):
        for color, run in enumerate(results.runs):
            for spread, style in _STYLES.items():
                points = _over_amounts(results, run, kind, spread)
                draw(axes, points, f"{run} objects, {spread}", style, f"C{color}")
        finish(axes, title=title, xlabel="changes", **_LOGARITHMIC)
    save(plot, path)


def _over_amounts(results: Results, run: str, kind: str, spread: str) -> Points:
    found = [
        (_number(amount), results.value(run, "Commits and diffs", kind.format(amount, spread)))
        for amount in _AMOUNTS
    ]
    return [(amount, value) for amount, value in found if value is not None]
