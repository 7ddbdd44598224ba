"""Time of a cold process before its first request: `python -m bench.startup`."""

import os
import subprocess
import sys

_TRIES = 3
_SHOWN = 12
_MODULES = "functions.api.app, graveler.aws.wiring"


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


if __name__ == "__main__":
    main()
