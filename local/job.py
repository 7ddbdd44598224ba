"""`python -m local.job NAME …`: run a job of `glue_jobs` on what the running stack holds.

    python -m local.job garbage-collection --repository first --dry-run

What follows the name are the job's arguments. The job runs in the functions' environment, which the
stack keeps in its data folder while it runs.
"""

import os
import sys
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import NoReturn

import msgspec

from local.config import ENVIRONMENT, ROOT, data_folder
from local.processes import StartError
from local.supervisor import is_running


def command(words: Sequence[str]) -> list[str]:
    """The command line of the job.

    Raises:
        StartError: there is no such job, or nothing to run it with.
    """
    jobs = sorted(
        path.parent.name.replace("_", "-") for path in (ROOT / "glue_jobs").glob("*/__main__.py")
    )
    if not words or words[0] not in jobs:
        raise StartError(f"usage: python -m local.job {'|'.join(jobs)} [--option value …]")
    if find_spec("pyspark") is None:
        raise StartError("jobs need Spark, which serving does not: `make install` once")
    return [sys.executable, "-m", f"glue_jobs.{words[0].replace('-', '_')}", *words[1:]]


def environment_of_stack(data: Path) -> Mapping[str, str]:
    """The environment of the functions of the stack that runs on the data folder.

    Raises:
        StartError: none does.
    """
    kept = data / ENVIRONMENT
    if not is_running(data) or not kept.exists():
        raise StartError(f"no stack runs on {data}: start it with `make serve`")
    return msgspec.json.decode(kept.read_bytes(), type=dict[str, str])


def main() -> NoReturn:
    """Become the job."""
    try:
        words = command(sys.argv[1:])
        environment = environment_of_stack(data_folder(os.environ))
    except StartError as error:
        sys.exit(f"error: {error}")
    os.chdir(ROOT)
    os.execve(words[0], words, dict(environment))  # noqa: S606 - no shell is what it should be


if __name__ == "__main__":
    main()
