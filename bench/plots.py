"""Plots as SVG: texts stay texts, and equal figures give equal files."""

from collections.abc import Sequence
from pathlib import Path

import matplotlib as mpl
import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Plot

mpl.use("svg")
mpl.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "graveler", "font.size": 9})

Points = Sequence[tuple[float, float]]


def draw(
    axes: Axes, points: Points, label: str, style: str = "-", color: str | None = None
) -> None:
    """Draw a line through the points, if there are any."""
    if points:
        axes.plot(*zip(*points, strict=True), style, marker="o", label=label, color=color)


def finish(axes: Axes, **properties: object) -> None:
    """Give the panel its title, scales and names, a grid, and a legend if it shows anything."""
    axes.set(**properties)
    axes.grid(visible=True, alpha=0.3)
    if axes.lines:
        axes.legend(fontsize=7)


def save(plot: Plot, path: Path) -> None:
    """Write the plot as SVG, without the time of writing."""
    plot.tight_layout()
    plot.savefig(path, metadata={"Date": None})
    plt.close(plot)
