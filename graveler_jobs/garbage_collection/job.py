"""Garbage collection as a Glue job: its arguments are options of the run and settings.

An argument is `--name value`. The options are those of `options.CollectionOptions`. Settings are
those of `graveler.aws.settings` in lower case (`--refs_table graveler-refs`), or come from the
environment.
"""

import time
from collections.abc import Callable, Mapping, Sequence

from pyspark.sql import SparkSession

from graveler.errors import GravelerError
from graveler.retention.report import text
from graveler_jobs.garbage_collection.options import parse
from graveler_jobs.garbage_collection.run import run
from graveler_jobs.job_process import show, start
from graveler_jobs.session import deployment, job_settings


def main(
    words: Sequence[str], environment: Mapping[str, str], session: Callable[[], SparkSession]
) -> int:
    """Run the job; return the exit code, 0 if everything to delete was deleted."""
    try:
        options, others = parse(words)
        stores = deployment(job_settings(others, environment))
        reports = run(session(), stores, options, _progress())
    except (GravelerError, ValueError) as error:
        show(f"error: {error}")
        return 1
    for report in reports:
        show(text(report))
    return 0 if all(report.is_success for report in reports) else 1


def _progress() -> Callable[[str], None]:
    """Return a function that shows each finished step and its duration."""
    since_s = time.monotonic()

    def show_step(step: str) -> None:
        nonlocal since_s
        now_s = time.monotonic()
        show(f"{step:10} {now_s - since_s:8.1f} s")
        since_s = now_s

    return show_step


if __name__ == "__main__":
    start(main)
