"""Plots of the comparison: by how much each row is ahead or behind."""

from collections.abc import Sequence
from pathlib import Path

import matplotlib.pyplot as plt
from matplotlib.axes import Axes

from bench.beside.far import Waited
from bench.beside.near import Compared
from bench.plots import save
from bench.report import shown

_AHEAD, _BEHIND = "C0", "C3"


def plot_near(compared: Sequence[Compared], path: Path) -> None:
    """Write a plot of the ratios, with a point for each round."""
    plot, axes = plt.subplots(figsize=(10, 0.32 * len(compared) + 1.6))
    for place, each in enumerate(compared):
        color = _AHEAD if each.ratio >= 1 else _BEHIND
        axes.barh(place, each.ratio - 1, left=1, color=color, alpha=0.6)
        axes.plot(each.ratios, [place] * len(each.ratios), ".", color="black", markersize=4)
        figures = f"{shown(each.ours.median)} / {shown(each.theirs.median)} {each.row.unit}"
        _label(axes, place, f"{each.ratio:.2f}   {figures}")
    _finish(axes, [each.row.title for each in compared])
    title = "Graveler's speed / lakeFS's, median (points: rounds): right of 1, Graveler is ahead"
    axes.set_title(title, fontsize=10)
    save(plot, path)


def plot_far(waited: Sequence[Waited], path: Path) -> None:
    """Write a plot of the ratios of p50, with a point for p95."""
    plot, axes = plt.subplots(figsize=(10, 0.32 * len(waited) + 1.6))
    for place, each in enumerate(waited):
        color = _AHEAD if each.ratio(50) <= 1 else _BEHIND
        axes.barh(place, each.ratio(50) - 1, left=1, color=color, alpha=0.6)
        axes.plot([each.ratio(95)], [place], ".", color="black", markersize=4)
        ours, theirs = map(shown, each.ms(50))
        _label(axes, place, f"{each.ratio(50):.2f}   {ours} / {theirs} ms")
    _finish(axes, [each.row.title for each in waited])
    title = "Graveler's time / lakeFS's, p50 (points: p95): left of 1, Graveler is ahead"
    axes.set_title(title, fontsize=10)
    save(plot, path)


def _label(axes: Axes, place: int, text: str) -> None:
    """Write the text to the right of the panel, at the bar's height."""
    axes.text(1.02, place, text, transform=axes.get_yaxis_transform(), va="center", fontsize=8)


def _finish(axes: Axes, titles: Sequence[str]) -> None:
    axes.set_yticks(range(len(titles)), titles)
    axes.set_ylim(len(titles) - 0.4, -0.6)
    axes.set_xscale("log")
    ticks = [0.1, 0.2, 0.3, 0.5, 0.7, 1, 1.5, 2, 3, 5, 10]
    low, high = axes.get_xlim()
    shown_ticks = [tick for tick in ticks if low <= tick <= high]
    axes.set_xticks(shown_ticks, [f"{tick:g}" for tick in shown_ticks], minor=False)
    axes.set_xticks([], minor=True)
    axes.text(
        1.02, 0, "ratio, Graveler / lakeFS", transform=axes.transAxes, va="center", fontsize=8
    )
    axes.axvline(1, color="black", linewidth=0.8)
    axes.grid(visible=True, axis="x", alpha=0.3)
