"""`python -m bench.engine [--objects 1000000 ...]`: every figure of the engine, by repository size.

Repositories are built in --folder, or reused if they exist. Each group of figures is measured in
its own process, with empty caches and its own memory.
"""

from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from bench.engine.changes import SPREADS, measure_changes, measure_merges
from bench.engine.function import measure_function
from bench.engine.large import measure_large_commit, measure_large_import, measure_large_merge
from bench.engine.lookups import measure_cold_lookups, measure_warm_lookups, warm_kinds
from bench.engine.reading import measure_reading
from bench.engine.scale import Scale
from bench.engine.writing import measure_writing
from bench.figures import Figure, in_fresh_process
from bench.report import Results, Sections, printed
from bench.repository import FOLDER, Repository, make_repository, open_repository

TITLE = "The engine, by the number of objects"


def _lookups(repository: Repository, scale: Scale) -> Iterator[Figure]:
    for name, caches, keys, amounts in warm_kinds(scale):
        yield from in_fresh_process(measure_warm_lookups, repository, amounts, name, caches, keys)
    yield from in_fresh_process(measure_cold_lookups, repository, scale)


def _commits(repository: Repository, scale: Scale) -> Iterator[Figure]:
    for spread in SPREADS:
        yield from in_fresh_process(measure_changes, repository, scale, spread)


def _merges(repository: Repository, scale: Scale) -> Iterator[Figure]:
    yield from in_fresh_process(measure_merges, repository, scale)


def _large(repository: Repository, scale: Scale) -> Iterator[Figure]:
    for measure in (measure_large_import, measure_large_commit, measure_large_merge):
        yield from in_fresh_process(measure, repository, scale)


def _writing(repository: Repository, scale: Scale) -> Iterator[Figure]:
    yield from in_fresh_process(measure_writing, repository, scale)


def _reading(repository: Repository, scale: Scale) -> Iterator[Figure]:
    yield from in_fresh_process(measure_reading, repository, scale)


SECTIONS: dict[str, tuple[str, Callable[[Repository, Scale], Iterator[Figure]]]] = {
    "write": ("Size and writing", _writing),
    "lookup": ("Point lookups", _lookups),
    "function": ("First lookup of a function, all cold", measure_function),
    "read": ("Scans and listings", _reading),
    "change": ("Commits and diffs", _commits),
    "merge": ("Three-way merges", _merges),
    "large": ("Very large changes", _large),
}


def main(arguments: Sequence[str] | None = None, scale: Scale | None = None) -> None:
    """Measure what the arguments select, print the figures, and store them as results."""
    options = _parse(arguments)
    results = Results(options.results, "engine", TITLE)
    for objects in options.objects:
        repository = None if options.rebuild else open_repository(options.folder, objects)
        if repository is None:
            print(f"making a repository of {objects:,} objects", flush=True)
            for _ in in_fresh_process(_make, options.folder, objects):
                pass
            repository = open_repository(options.folder, objects)
            assert repository is not None
        if options.make_only:
            continue
        print(f"\n{objects:,} objects", flush=True)
        amounts = (scale or Scale()).within(objects, options.changes_max)
        sections: Sections = {}
        for name in options.only or SECTIONS:
            title, measure = SECTIONS[name]
            sections[title] = printed(title, measure(repository, amounts))
            results.keep(f"{objects:,}", sections)
    if results.runs:
        # Imported here, to keep plotting out of the memory of measuring processes.
        from bench.engine.plots import plot_engine  # noqa: PLC0415

        plot_engine(results, options.results)


def _make(folder: Path, objects: int) -> Iterator[Figure]:
    make_repository(folder, objects)
    yield from ()


def _parse(arguments: Sequence[str] | None) -> Namespace:
    parser = ArgumentParser(prog="python -m bench.engine", description=__doc__)
    add = parser.add_argument
    add("--objects", type=int, nargs="+", default=[1_000_000], help="sizes of repositories")
    add("--folder", type=Path, default=FOLDER, help="where repositories are kept")
    add("--results", type=Path, default=FOLDER / "results", help="where tables and plots go")
    add("--only", nargs="+", choices=SECTIONS, help="measure these and keep the other figures")
    add("--changes-max", type=int, default=10**9, help="commit no more at once, section change")
    add("--rebuild", action="store_true", help="make the repositories anew")
    add("--make-only", action="store_true", help="make the repositories and measure nothing")
    return parser.parse_args(arguments)
