"""The reuse that the data model promises, and what it costs, by raggedness.

The engine itself commits days of changes to a million objects. A model of ranges plays a year of
the same changes on 200 million objects; the engine's commits check the model. Metaranges are real
in both: that of the large repository is written, without its ranges.
"""

from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from pathlib import Path

from bench.dataset import Dataset
from bench.figures import in_fresh_process
from bench.report import Results, Sections, printed
from bench.repository import FOLDER, make_repository, open_repository
from bench.reuse.engine import measure_engine
from bench.reuse.large import measure_large
from bench.reuse.model import Model, range_ends
from bench.reuse.plots import plot_reuse

TITLE = "Reuse of ranges and write amplification, by raggedness"
RAGGEDNESS = (2_048, 8_192, 50_000)


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure what the arguments select, print the figures, and store them as results."""
    options = _parse(arguments)
    results = Results(options.results, "reuse", TITLE)
    large = Dataset(options.model_objects)
    ends_of_large = range_ends(large, RAGGEDNESS, options.folder)
    ends_of_small = range_ends(Dataset(options.objects), RAGGEDNESS, options.folder)
    for raggedness in options.raggedness:
        repository = open_repository(options.folder, options.objects, raggedness=raggedness)
        repository = repository or make_repository(
            options.folder, options.objects, raggedness=raggedness
        )
        made = repository.making
        per_record = (made.bytes_written - made.metarange_bytes) / repository.objects
        sections: Sections = {}
        model = Model(ends_of_small[raggedness], per_record, made.metarange_bytes)
        title = f"By the engine, {options.objects:,} objects, {options.days} days"
        engine = in_fresh_process(measure_engine, repository, model, options.days)
        sections[title] = printed(f"{title}, raggedness {raggedness:,}", engine)
        title = f"By the model, {options.model_objects:,} objects, {options.model_days} days"
        year = in_fresh_process(
            measure_large,
            large,
            ends_of_large[raggedness],
            per_record,
            raggedness,
            options.model_days,
        )
        sections[title] = printed(f"{title}, raggedness {raggedness:,}", year)
        results.keep(f"{raggedness:,}", sections)
    plot_reuse(results, title, options.results)


def _parse(arguments: Sequence[str] | None) -> Namespace:
    parser = ArgumentParser(prog="python -m bench.reuse", description=__doc__)
    add = parser.add_argument
    add("--objects", type=int, default=1_000_000, help="size of the engine's repository")
    add("--raggedness", type=int, nargs="+", choices=RAGGEDNESS, default=RAGGEDNESS)
    add("--days", type=int, default=2, help="days of commits that the engine makes")
    add("--model-objects", type=int, default=200_000_000, help="size of the model's repository")
    add("--model-days", type=int, default=365, help="days of commits in the model")
    add("--folder", type=Path, default=FOLDER, help="where repositories are kept")
    add("--results", type=Path, default=FOLDER / "results", help="where the table goes")
    return parser.parse_args(arguments)
