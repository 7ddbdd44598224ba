"""The tables of the comparison, and its plots, in the folder of results."""

from collections.abc import Sequence
from pathlib import Path

from bench.beside import plots
from bench.beside.far import Waited
from bench.beside.near import Compared
from bench.beside.systems import DYNAMODB_MS, OURS, S3_MS, THEIRS
from bench.figures import Figure
from bench.report import Results, Sections

_AHEAD = f"{OURS} ahead"
_TIME = f"{OURS}'s time / {THEIRS}'s"
_IN_SYSTEM = "Processor time of a request, in the system"
_IN_STORES = "Processor time of a request, in its stores"


def keep_near(compared: Sequence[Compared], folder: Path, conditions: str) -> None:
    """Store the rows, the processor time of a request, and the plot."""
    results = Results(folder, "beside", f"{OURS} beside {THEIRS}, over stores of their own")
    rounds = f"medians of {len(compared[0].ours.values)} rounds"
    for name in (OURS, THEIRS):
        found = [(each.row, each.ours if name == OURS else each.theirs) for each in compared]
        sections = {
            "Rows": [Figure(row.title, of.median, row.unit) for row, of in found],
            _IN_SYSTEM: [Figure(row.title, of.system_cpu_ms, "ms cpu") for row, of in found],
            _IN_STORES: [Figure(row.title, of.stores_cpu_ms, "ms cpu") for row, of in found],
        }
        results.keep(name, sections, rounds if name == OURS else f"{conditions}, {rounds}")
    note = "times as fast, or as little processor time: above 1, Graveler is ahead"
    results.keep(_AHEAD, _ratios(compared), note)
    plots.plot_near(compared, folder / "beside.svg")


def _ratios(compared: Sequence[Compared]) -> Sections:
    ratios: Sections = {
        "Rows": [Figure(each.row.title, each.ratio, each.row.unit) for each in compared],
        _IN_SYSTEM: [],
        _IN_STORES: [],
    }
    for each in compared:
        title, ours, theirs = each.row.title, each.ours, each.theirs
        for section, mine, other in (
            (_IN_SYSTEM, ours.system_cpu_ms, theirs.system_cpu_ms),
            (_IN_STORES, ours.stores_cpu_ms, theirs.stores_cpu_ms),
        ):
            if mine:  # a row may need less than the system counts
                ratios[section].append(Figure(title, other / mine, "ms cpu"))
    return ratios


def keep_far(waited: Sequence[Waited], folder: Path, conditions: str) -> None:
    """Store the rows and the plot."""
    away = f"DynamoDB {DYNAMODB_MS:g} ms and S3 {S3_MS:g} ms away"
    results = Results(folder, "far", f"Single requests, {away}")
    runs: dict[str, dict[str, list[Figure]]] = {_TIME: {}, OURS: {}, THEIRS: {}}
    for percent in (50, 95):
        section = f"p{percent}"
        for each in waited:
            values = (each.ratio(percent), *each.ms(percent))
            for run, value in zip(runs, values, strict=True):
                figure = Figure(each.row.title, value, "ms")
                runs[run].setdefault(section, []).append(figure)
    requests = f"{len(waited[0].ours_s)} requests of the first row"
    notes = ("below 1, Graveler is ahead", requests, f"{conditions}, {requests}")
    for (run, sections), note in zip(runs.items(), notes, strict=True):
        results.keep(run, sections, note)
    plots.plot_far(waited, folder / "far.svg")
