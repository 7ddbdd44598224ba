"""Time of a cold process before its first request: `python -m bench.startup`.

Of the command line, it prints the processor time of whole commands, which a busy machine changes
little. A list of branches is measured too if LAKECTL_* name a server and GRAVELER_BENCH_REPOSITORY
a repository.
"""

import os
import resource
import statistics
import subprocess
import sys
from pathlib import Path

_TRIES = 3
_COMMAND_TRIES = 20
_SHOWN = 12
_MODULES = "graveler_functions.api.app, graveler.aws.wiring"


def main() -> None:
    environment = os.environ | {
        "AWS_REGION": "us-east-1",
        "GRAVELER_REFS_TABLE": "refs",
        "GRAVELER_STAGING_TABLE": "staging",
    }
    code = (
        f"import time; t = time.perf_counter(); import {_MODULES}; print(time.perf_counter() - t)"
    )
    times = [
        float(subprocess.check_output([sys.executable, "-c", code], env=environment))
        for _ in range(_TRIES)
    ]
    print(f"import of the API function, ms     {min(times) * 1000:>12,.0f}")
    traced = subprocess.run(
        [sys.executable, "-X", "importtime", "-c", f"import {_MODULES}"],
        env=environment,
        stderr=subprocess.PIPE,
        text=True,
        check=True,
    ).stderr
    own: dict[str, int] = {}
    for line in traced.splitlines()[1:]:
        microseconds, _, name = line.removeprefix("import time:").split("|")
        package = name.strip().split(".")[0]
        own[package] = own.get(package, 0) + int(microseconds)
    for package, spent in sorted(own.items(), key=lambda item: -item[1])[:_SHOWN]:
        print(f"  of which {package:24}  {spent / 1000:>12,.0f}")
    _print_commands()


def _print_commands() -> None:
    program = str(Path(sys.executable).with_name("graveler"))
    commands = {
        "python -c pass": [sys.executable, "-c", "pass"],
        "graveler --version": [program, "--version"],
        "graveler --help": [program, "--help"],
    }
    if repository := os.environ.get("GRAVELER_BENCH_REPOSITORY"):
        commands["graveler branch list"] = [program, "branch", "list", f"lakefs://{repository}"]
    for name, command in commands.items():
        spent_ms = statistics.median(_processor_s(command) for _ in range(_COMMAND_TRIES)) * 1000
        print(f"{name}, ms of processor time".ljust(48) + f"{spent_ms:>10,.0f}")


def _processor_s(command: list[str]) -> float:
    """Return the processor time of a whole process, its own and the system's."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


if __name__ == "__main__":
    main()
