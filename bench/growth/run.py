"""`python -m bench.growth [--sizes 1000 10000 100000]`: what grows with what is stored.

For each size, so many changes are staged on branches, which are listed, and a history of so many
commits is read, dumped and restored. Each half has its own process and servers, whose DynamoDB
Local stores its data as that of the embedded stack does.
"""

from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import matplotlib.pyplot as plt
from matplotlib.axes import Axes

from bench.figures import Figure, in_fresh_process
from bench.growth.histories import measure_history
from bench.growth.staged import REPOSITORY, SHAPES, measure_listings
from bench.growth.versions import measure_versions
from bench.plots import draw, finish, save
from bench.report import Results, printed
from bench.repository import FOLDER
from bench.servers import servers_in
from graveler.operations import repositories
from graveler_embedded.stores import BUCKET

TITLE = "Growth with staged changes and commits, over DynamoDB Local and S3Proxy"
LISTINGS = "Listings of staged changes"
HISTORIES = "Histories"
VERSIONS = "Versions and totals"

_LOGARITHMIC = {"xscale": "log", "yscale": "log"}
_READS = ("ref expression, up three quarters", "merge base at the first commit")


def measure_staged(amount: int) -> Iterator[Figure]:
    """Measure listings of so many staged changes."""
    with servers_in(in_memory=False) as (made, _):
        namespace = f"s3://{BUCKET}/{REPOSITORY}"
        repositories.create(made.engine, name=REPOSITORY, storage_namespace=namespace)
        yield from measure_listings(made, amount)


def measure_commits(amount: int) -> Iterator[Figure]:
    """Measure what is read of so many commits."""
    with servers_in(in_memory=False) as (made, _):
        yield from measure_history(made, amount)


def measure_contents(amount: int) -> Iterator[Figure]:
    """Measure what is read of the contents of so many commits, and of so many objects."""
    with servers_in(in_memory=False) as (made, _):
        yield from measure_versions(made, amount)


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure each size, print the figures, and store them as results with their plot."""
    options = _parse(arguments)
    results = Results(options.results, "growth", TITLE)
    for size in options.sizes:
        sections: dict[str, Callable[[int], Iterator[Figure]]] = {
            LISTINGS: measure_staged,
            HISTORIES: measure_commits,
            VERSIONS: measure_contents,
        }
        for section, measure in sections.items():
            if options.only and section not in options.only:
                continue
            figures = printed(f"{section}: {size:,}", in_fresh_process(measure, size))
            results.keep(f"{size:,}", {section: figures})
    plot_growth(results, options.results)


def plot_growth(results: Results, folder: Path) -> None:
    """Write the plot into the folder."""
    plot, (listings, reads, versions, dumps) = plt.subplots(1, 4, figsize=(17, 4.2))
    for name in SHAPES:
        _over_sizes(results, LISTINGS, f"{name}: slowest page", name, listings)
    finish(listings, title="slowest page of a listing, ms", xlabel="staged", **_LOGARITHMIC)
    for state, style in (("cold", "--"), ("warm", "-")):
        for name in (*_READS, "log, newest 1,000"):
            _over_sizes(results, HISTORIES, f"{name}, {state}", f"{name}, {state}", reads, style)
    finish(reads, title="reads of a history, ms", xlabel="commits", **_LOGARITHMIC)
    for name in ("history of an object", "ahead and behind", "total of a prefix"):
        _over_sizes(results, VERSIONS, f"{name}, warm", name, versions)
    finish(versions, title="warm, ms", xlabel="commits, objects", **_LOGARITHMIC)
    for name in ("dump", "restore"):
        _over_sizes(results, HISTORIES, name, name, dumps)
    finish(dumps, title="dump and restore, s", xlabel="commits", **_LOGARITHMIC)
    save(plot, folder / "growth.svg")


def _over_sizes(
    results: Results, section: str, name: str, label: str, axes: Axes, style: str = "-"
) -> None:
    found = [(int(run.replace(",", "")), results.value(run, section, name)) for run in results.runs]
    draw(axes, [(size, value) for size, value in found if value is not None], label, style)


def _parse(arguments: Sequence[str] | None) -> Namespace:
    parser = ArgumentParser(prog="python -m bench.growth", description=__doc__)
    add = parser.add_argument
    add("--sizes", type=int, nargs="+", default=[1_000, 10_000, 100_000], help="sizes to measure")
    add("--only", nargs="+", help="measure only these sections")
    add("--results", type=Path, default=FOLDER / "results", help="where tables and plot go")
    return parser.parse_args(arguments)
