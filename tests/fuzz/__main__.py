"""Sends wrong requests for long: `make fuzz MINUTES=10`, to the app in process or an ENDPOINT."""

import argparse
import logging
import multiprocessing
import os
import sys
import time
from collections.abc import Iterator

from tests.fuzz.endpoint import Endpoint
from tests.fuzz.machine import Tally, run

REQUESTS_OF_A_SEED = 1000
SHOWN_FAILURES = 5


def main() -> int:
    options = _options()
    logging.disable(logging.CRITICAL)  # one line for each request
    began = time.monotonic()
    total = Tally()
    tallies = _at_endpoint(options) if options.endpoint else _in_process(options)
    for tally in tallies:
        total.requests += tally.requests
        total.statuses += tally.statuses
        for failure in tally.failures:
            total.failures.append(failure)
            if len(total.failures) <= SHOWN_FAILURES:
                print(failure, end="\n\n", flush=True)
    took = time.monotonic() - began
    print(f"{total.requests} requests in {took:.0f} s, {total.requests / took:.0f} a second")
    print(", ".join(f"{status}: {amount}" for status, amount in sorted(total.statuses.items())))
    print(f"{len(total.failures)} failures")
    return 1 if total.failures else 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("--minutes", type=float, default=1.0)
    parser.add_argument("--seed", type=int, default=0, help="where to begin")
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--endpoint", default="", help="a URL; the key pair is lakectl's variables")
    parser.add_argument(
        "--namespace", default="s3://graveler", help="for the endpoint's repository"
    )
    return parser.parse_args()


def _in_process(options: argparse.Namespace) -> Iterator[Tally]:
    """Run every process on seeds of its own until the time is over."""
    work = [(options, number) for number in range(options.processes)]
    with multiprocessing.Pool(options.processes) as pool:
        for tallies in pool.imap_unordered(_work, work):
            yield from tallies


def _work(share: tuple[argparse.Namespace, int]) -> list[Tally]:
    options, number = share
    logging.disable(logging.CRITICAL)
    seeds = _seeds(options, number, options.processes)
    return [run(seed, REQUESTS_OF_A_SEED) for seed in seeds]


def _at_endpoint(options: argparse.Namespace) -> Iterator[Tally]:
    target = Endpoint(
        options.endpoint,
        os.environ["LAKECTL_CREDENTIALS_ACCESS_KEY_ID"],
        os.environ["LAKECTL_CREDENTIALS_SECRET_ACCESS_KEY"],
        options.namespace,
    )
    for seed in _seeds(options):
        yield run(seed, REQUESTS_OF_A_SEED // 10, target)


def _seeds(options: argparse.Namespace, first: int = 0, step: int = 1) -> Iterator[int]:
    end = time.monotonic() + options.minutes * 60
    seed = options.seed + first
    while time.monotonic() < end:
        yield seed
        seed += step


if __name__ == "__main__":
    sys.exit(main())
