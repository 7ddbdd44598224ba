"""`python -m graveler_embedded.job NAME …`: run a job of `graveler_jobs` on the running stack.

    python -m graveler_embedded.job garbage-collection --repository first --dry-run

The job's arguments follow its name. Its environment is that of the functions, which a running stack
stores in its data folder.
"""

import os
import sys
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from pkgutil import iter_modules
from typing import NoReturn

import msgspec

import graveler_jobs
from graveler_embedded.config import ENVIRONMENT, data_folder
from graveler_embedded.processes import StartError
from graveler_embedded.supervisor import is_running


def command(words: Sequence[str]) -> list[str]:
    """Return the command line of the job.

    Raises:
        StartError: there is no such job, or Spark is not installed.
    """
    packages = (each.name for each in iter_modules(graveler_jobs.__path__) if each.ispkg)
    jobs = sorted(name.replace("_", "-") for name in packages)
    if not words or words[0] not in jobs:
        raise StartError(
            f"usage: python -m graveler_embedded.job {'|'.join(jobs)} [--option value …]"
        )
    if find_spec("pyspark") is None:
        raise StartError(
            "Spark is not installed, and jobs need it: "
            "run pip install 'pyspark==3.5.*' pyarrow pandas"
        )
    return [sys.executable, "-m", f"graveler_jobs.{words[0].replace('-', '_')}", *words[1:]]


def environment_of_stack(data: Path) -> Mapping[str, str]:
    """Return the functions' environment of the stack that runs on the data folder.

    Raises:
        StartError: no stack runs there.
    """
    kept = data / ENVIRONMENT
    if not is_running(data) or not kept.exists():
        raise StartError(
            f"no stack runs on {data}: start it with `graveler serve`, or set GRAVELER_DATA"
        )
    return msgspec.json.decode(kept.read_bytes(), type=dict[str, str])


def main() -> NoReturn:
    """Replace this process by the job."""
    try:
        words = command(sys.argv[1:])
        environment = environment_of_stack(data_folder(os.environ))
    except StartError as error:
        sys.exit(f"error: {error}")
    os.execve(words[0], words, dict(environment))  # noqa: S606 - a shell is not wanted


if __name__ == "__main__":
    main()
