"""A small Glue: starts jobs of `graveler_jobs` as processes of this machine, a few at a time.

A job's process starts as `python -m graveler_embedded.glue PARENT COMMAND…`, and becomes the
command.
"""

import logging
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from queue import Queue
from threading import BoundedSemaphore
from uuid import uuid4

from graveler_embedded.files import bound_log
from graveler_embedded.job import command
from graveler_embedded.processes import die_with_parent

logger = logging.getLogger(__name__)

# Each has a Spark of its own, which takes a gigabyte.
JOBS_AT_ONCE = 2


class TooManyJobsError(Exception):
    """The maximum number of jobs is running."""


class LocalGlue:
    """Runs of jobs. `run_forever` runs in JOBS_AT_ONCE threads, each of which runs one at a time.

    A process ends with the thread that started it, so the threads of requests start no process.
    """

    def __init__(self, log: Path) -> None:
        self._log = log
        self._free = BoundedSemaphore(JOBS_AT_ONCE)
        self._waiting: Queue[tuple[str, list[str]]] = Queue()

    def start(self, job: str, arguments: Mapping[str, str]) -> str:
        """Start the job with the arguments, and return the run's ID.

        Raises:
            StartError: there is no such job, or Spark is not installed.
            TooManyJobsError: too many are running.
        """
        words = command([job, *(word for pair in arguments.items() for word in pair)])
        if not self._free.acquire(blocking=False):
            raise TooManyJobsError(f"{JOBS_AT_ONCE} jobs are running")
        run_id = f"jr_{uuid4().hex}"
        self._waiting.put((run_id, words))
        return run_id

    def run_forever(self) -> None:
        """Run the jobs that are started, one after the other."""
        while True:
            self.run_next()

    def run_next(self) -> int:
        """Wait for the next job, run it, and return its exit code, which the log shows."""
        run_id, words = self._waiting.get()
        self._log.parent.mkdir(parents=True, exist_ok=True)
        try:
            with self._log.open("ab") as output:
                bound_log(self._log)
                done = subprocess.run(
                    [sys.executable, "-m", "graveler_embedded.glue", str(os.getpid()), *words],
                    stdin=subprocess.DEVNULL,
                    stdout=output,
                    stderr=subprocess.STDOUT,
                    start_new_session=True,
                    check=False,
                )
            logger.info("job %s ended with exit code %d", run_id, done.returncode)
            return done.returncode
        finally:
            self._free.release()


if __name__ == "__main__":
    die_with_parent(int(sys.argv[1]))
    os.execv(sys.argv[2], sys.argv[2:])  # noqa: S606 - a shell is not wanted
