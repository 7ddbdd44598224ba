"""Start and end of a job's process, and its output, which Glue keeps as a log."""

import os
import sys
from collections.abc import Callable, Mapping, Sequence

from pyspark.sql import SparkSession

from graveler.aws.background_work import patient_reads

# From arguments, environment and a factory of the session to an exit code.
Main = Callable[[Sequence[str], Mapping[str, str], Callable[[], SparkSession]], int]


def start(main: Main) -> None:
    """Run a job as this process."""
    with patient_reads():
        code = main(sys.argv[1:], os.environ, SparkSession.builder.getOrCreate)
    if code:  # for Glue, any call of exit is a failure
        sys.exit(code)


def show(line: str) -> None:
    """Write a line that readers see while the job runs."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()
