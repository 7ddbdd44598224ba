"""The output of commands: plain lines for scripts, the same with and without a terminal."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime

import typer

_UNITS = ("kB", "MB", "GB", "TB", "PB", "EB")


def fields(pairs: Iterable[tuple[str, object]]) -> None:
    """Print a line `Label: value` for each pair."""
    for label, value in pairs:
        typer.echo(f"{label}: {value}" if value != "" else f"{label}:")


def table(heads: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    """Print a line for the heads and one for each row, in columns."""
    lines = [heads, *([str(cell) for cell in row] for row in rows)]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    for line in lines:
        cells = (cell.ljust(width) for cell, width in zip(line, widths, strict=True))
        typer.echo("  ".join(cells).rstrip())


def local_time(unix_s: int) -> str:
    """Return a time in the local time zone, in lakectl's form: 2024-08-02 10:13:33 -0400 EDT."""
    return datetime.fromtimestamp(unix_s, UTC).astimezone().strftime("%Y-%m-%d %H:%M:%S %z %Z")


def human_size(size_bytes: int) -> str:
    """Return a size in lakectl's form, in powers of 1,000: 916.4 kB."""
    if size_bytes < 1000:
        return f"{size_bytes} B"
    power = 1
    while size_bytes >= 1000 ** (power + 1) and power < len(_UNITS):
        power += 1
    return f"{size_bytes / 1000**power:.1f} {_UNITS[power - 1]}"


@contextmanager
def progress(title: str) -> Iterator[Callable[[int, int], None]]:
    """Show a bar on stderr, drawn once a second; yield a function that updates it.

    The function takes the amount done and the total, which is 0 if it is not known yet. Without a
    terminal, nothing is shown.
    """
    # Imported late, because only commands that wait need it.
    from rich.console import Console  # noqa: PLC0415
    from rich.progress import (  # noqa: PLC0415
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
    )

    console = Console(stderr=True)
    bar = Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        console=console,
        refresh_per_second=1,
        transient=True,
        disable=not console.is_terminal,
    )
    task = bar.add_task(title, total=None)
    with bar:
        yield lambda done, total: bar.update(task, completed=done, total=total or None)
