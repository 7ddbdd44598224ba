"""How a job begins and ends, and what it shows on the way: Glue keeps its output as a log."""

import os
import sys
from collections.abc import Callable, Mapping, Sequence

from pyspark.sql import SparkSession

# From arguments, environment and what makes the session to an exit code.
Main = Callable[[Sequence[str], Mapping[str, str], Callable[[], SparkSession]], int]


def start(main: Main) -> None:
    """Run a job as the process that this is."""
    code = main(sys.argv[1:], os.environ, SparkSession.builder.getOrCreate)
    if code:  # Glue takes any exit for a failure
        sys.exit(code)


def show(line: str) -> None:
    """Write a line that is read while the job goes on."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()
