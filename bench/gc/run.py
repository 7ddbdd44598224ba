"""`python -m bench.gc [--objects 1000000 …]`: a collection, by objects and by commits.

Every size has its own process, with servers, a repository, and a Spark on two cores. The
candidates come from an inventory (`lake.py` says why); refs and ranges are read from the servers.
"""

from argparse import ArgumentParser, Namespace
from collections.abc import Iterator, Sequence
from pathlib import Path

from pyspark.sql import SparkSession

from bench.figures import Figure, in_fresh_process
from bench.gc.lake import Lake
from bench.gc.plots import plot_collections
from bench.gc.watch import KINDS, Watch
from bench.report import Results, Sections, printed
from bench.repository import FOLDER
from bench.servers import servers
from graveler.retention.report import CollectionReport
from graveler_jobs.garbage_collection.options import CollectionOptions
from graveler_jobs.garbage_collection.run import collect
from graveler_jobs.session import JobDeployment, local_spark

TITLE = "Garbage collection on two cores, by the number of objects"
COMMITS = (1, 10, 100, 1_000)

# A worker of Glue has 16 GB for four cores.
_JVM_MEMORY = "4g"
_SMALL = 1_000


def measure(objects: int, commits: Sequence[int]) -> Iterator[Figure]:
    """Measure marks after each number of commits, then a whole run."""
    with servers() as made:
        # The first run of a process pays for what all others have: imports, compiled code.
        spark = local_spark("bench-gc", cores=2, **{"spark.driver.memory": _JVM_MEMORY})
        _collected(spark, made, Lake(made, _SMALL, "small"), do_sweep=True)
        lake = Lake(made, objects)
        for count in commits:
            lake.commit_up_to(count)
            watch, report = _collected(spark, made, lake, do_sweep=False)
            yield from _marked(count, watch, report)
        watch, report = _collected(spark, made, lake, do_sweep=True)
        yield from _by_step(watch, report)
        spark.stop()


def _collected(
    spark: SparkSession, made: JobDeployment, lake: Lake, *, do_sweep: bool
) -> tuple[Watch, CollectionReport]:
    options = CollectionOptions(
        repository=lake.name, inventory_uri=lake.manifest_uri, do_sweep=do_sweep
    )
    watch = Watch()
    report = collect(spark, made, options, lake.name, watch.step)
    watch.end()
    if not report.marked.objects:
        raise RuntimeError("nothing was found: this measures nothing")
    return watch, report


def _marked(count: int, watch: Watch, report: CollectionReport) -> Iterator[Figure]:
    name = f"{count:,} commits"
    yield Figure(f"{name}, marked in", sum(watch.seconds.values()), "s wall")
    yield Figure(f"{name}, processor", sum(watch.cpu_s.values()), "s cpu")
    yield Figure(f"{name}, ranges read, each once", report.ranges, "")
    peak_mb = max(sum(peaks.values()) for peaks in watch.peaks_mb.values())
    yield Figure(f"{name}, peak memory", peak_mb, "MB")


def _by_step(watch: Watch, report: CollectionReport) -> Iterator[Figure]:
    for step, seconds in watch.seconds.items():
        yield Figure(f"{step}: seconds", seconds, "s wall")
        yield Figure(f"{step}: processor", watch.cpu_s[step], "s cpu")
        for kind in KINDS:
            yield Figure(f"{step}: peak of {kind}", watch.peaks_mb[step][kind], "MB")
    yield Figure("candidates", report.candidates, "")
    yield Figure("deleted", report.deleted.objects, "")


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure what the arguments select, print the figures, and store them as results."""
    options = _parse(arguments)
    results = Results(options.results, "gc", TITLE)
    for objects in options.objects:
        figures = printed(
            f"{objects:,} objects", in_fresh_process(measure, objects, tuple(options.commits))
        )
        by_commits = [figure for figure in figures if " commits, " in figure.name]
        by_step = [figure for figure in figures if figure not in by_commits]
        sections: Sections = {"Marking, by commits": by_commits, "A whole run, by step": by_step}
        results.keep(f"{objects:,}", sections)
    plot_collections(results, options.results)


def _parse(arguments: Sequence[str] | None) -> Namespace:
    parser = ArgumentParser(prog="python -m bench.gc", description=__doc__)
    add = parser.add_argument
    add("--objects", type=int, nargs="+", default=[100_000, 1_000_000], help="sizes")
    add("--commits", type=int, nargs="+", default=COMMITS, help="numbers of commits, ascending")
    add("--results", type=Path, default=FOLDER / "results", help="where tables and plots go")
    return parser.parse_args(arguments)
