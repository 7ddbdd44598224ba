"""Reports: figures printed as they come, stored as JSON, shown as Markdown tables."""

import json
import platform
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from pathlib import Path

from bench.figures import Figure, cores

# One run: the figures of each section, by title.
Sections = dict[str, list[Figure]]


def shown(value: float) -> str:
    """Return the number with about three significant digits."""
    if value == round(value) or abs(value) >= 100:
        return f"{value:,.0f}"
    return f"{value:,.1f}" if abs(value) >= 10 else f"{value:,.3g}"


def printed(title: str, figures: Iterable[Figure]) -> list[Figure]:
    """Collect the figures, and print each at once."""
    print(f"\n{title}", flush=True)
    measured = []
    for figure in figures:
        measured.append(figure)
        print(f"  {figure.name:62} {shown(figure.value):>12} {figure.unit}", flush=True)
    return measured


class Results:
    """The figures of several runs, side by side in a folder: one JSON file, one table."""

    def __init__(self, folder: Path, name: str, title: str) -> None:
        self._title = title
        self._json = folder / f"{name}.json"
        self._markdown = folder / f"{name}.md"
        self._runs: dict[str, dict[str, dict[str, tuple[float, str]]]] = {}
        self._notes: dict[str, str] = {}
        if self._json.exists():
            kept = json.loads(self._json.read_text())
            self._runs, self._notes = kept["runs"], kept["notes"]

    def keep(self, run: str, sections: Sections, note: str = "") -> None:
        """Store the figures of a run, replacing those of an earlier run of that name.

        The note says what else must be known of the run.
        """
        kept = self._runs.setdefault(run, {})
        for section, figures in sections.items():
            kept[section] = {figure.name: (figure.value, figure.unit) for figure in figures}
        today = datetime.now(UTC).date()
        self._notes[run] = f"{today}, Python {platform.python_version()}, {cores()} cores"
        self._notes[run] += f", {note}" if note else ""
        self._json.parent.mkdir(parents=True, exist_ok=True)
        kept_all = {"runs": self._runs, "notes": self._notes}
        self._json.write_text(json.dumps(kept_all, indent=1) + "\n")
        self._markdown.write_text("\n".join(self._lines()) + "\n")

    @property
    def runs(self) -> list[str]:
        """Return the names of the runs, numbers in numeric order."""
        return sorted(self._runs, key=lambda run: (len(run), run))

    def value(self, run: str, section: str, name: str) -> float | None:
        """Return one figure of a run, None if it was not measured."""
        found = self._runs[run].get(section, {}).get(name)
        return None if found is None else found[0]

    def _lines(self) -> Iterator[str]:
        yield f"# {self._title}"
        yield ""
        yield from (f"- {run}: {self._notes[run]}" for run in self.runs)
        sections = {section: None for run in self.runs for section in self._runs[run]}
        for section in sections:
            yield ""
            yield f"## {section}"
            yield ""
            yield f"| | {' | '.join(self.runs)} | |"
            yield f"|---|{'---:|' * len(self.runs)}---|"
            of_runs = [self._runs[run].get(section, {}) for run in self.runs]
            for name in {name: None for figures in of_runs for name in figures}:
                found = [figures.get(name) for figures in of_runs]
                cells = ["" if each is None else shown(each[0]) for each in found]
                unit = next(each[1] for each in found if each is not None)
                yield f"| {name} | {' | '.join(cells)} | {unit} |"
