"""Runs schedules for long, on all cores: `python -m tests.simulation --minutes 10`."""

import argparse
import multiprocessing
import os
import sys
import time
from collections import Counter
from queue import Empty
from typing import Any

from tests.simulation.machine import run
from tests.simulation.report import label, report
from tests.simulation.shrink import shrink
from tests.simulation.workload import DEFAULT_MIXES, MIXES, draw

# So many schedules between two looks at the clock.
_BATCH = 50
_SHRUNK_PER_KIND = 3


def main() -> int:
    options = _options()
    mixes = tuple(options.mix.split(",")) if options.mix else DEFAULT_MIXES
    if options.one:
        return _run_one(options.seed, mixes, options.clients)
    began = time.monotonic()
    queue: Any = multiprocessing.Queue()
    workers = [
        multiprocessing.Process(target=_work, args=(queue, number, options, mixes))
        for number in range(options.processes)
    ]
    for worker in workers:
        worker.start()
    total, failures = _gather(queue, workers, began)
    took = time.monotonic() - began
    print(f"{total} schedules in {took:.0f} s, {total / took:.0f} a second")
    for kind, (amount, first, after_s) in sorted(failures.items()):
        print(f"  {amount} x {kind}; first: seed {first}, after {after_s:.1f} s")
    return 1 if failures else 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.simulation", description=__doc__)
    parser.add_argument("--seed", type=int, default=0, help="where to begin")
    parser.add_argument("--one", action="store_true", help="run that seed only, and explain it")
    parser.add_argument("--minutes", type=float, default=1.0)
    parser.add_argument("--clients", type=int, default=0, help="0: 2 to 8, as the seed says")
    parser.add_argument("--mix", default="", help=f"of {', '.join(MIXES)}; several by commas")
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--stop", action="store_true", help="end at the first failure")
    return parser.parse_args()


def _run_one(seed: int, mixes: tuple[str, ...], clients: int) -> int:
    outcome = run(draw(seed, mixes, clients))
    if not outcome.problems:
        print(f"seed {seed}: nothing is wrong")
        return 0
    print(report(shrink(outcome)))
    return 1


def _work(queue: Any, number: int, options: argparse.Namespace, mixes: tuple[str, ...]) -> None:
    """Every seed of which this process is the one, until the time is over."""
    end = time.monotonic() + options.minutes * 60
    seed = options.seed + number
    shown: Counter[str] = Counter()
    while time.monotonic() < end:
        for _ in range(_BATCH):
            outcome = run(draw(seed, mixes, options.clients))
            if outcome.problems:
                kind, text = outcome.problems[0].kind, ""
                shown[kind] += 1
                if shown[kind] <= _SHRUNK_PER_KIND:
                    small = shrink(outcome)
                    kind, text = label(small), report(small)
                queue.put(("failed", seed, kind, text))
                if options.stop:
                    queue.put(("ran", 1, "", ""))
                    return
            seed += options.processes
        queue.put(("ran", _BATCH, "", ""))


def _gather(queue: Any, workers: list[Any], began: float) -> tuple[int, dict[str, Any]]:
    total, told = 0, began
    failures: dict[str, Any] = {}
    while True:
        alive = any(worker.is_alive() for worker in workers)
        try:
            what, number, kind, text = queue.get(timeout=0.2)
        except Empty:
            if not alive:
                return total, failures
            continue
        if what == "ran":
            total += number
        else:
            amount, first, after_s = failures.get(kind, (0, number, time.monotonic() - began))
            failures[kind] = (amount + 1, first, after_s)
            if text:
                print(text, end="\n\n", flush=True)
        if time.monotonic() - told > 60:
            told = time.monotonic()
            print(f"{total} schedules, {total / (told - began):.0f} a second", file=sys.stderr)


if __name__ == "__main__":
    sys.exit(main())
