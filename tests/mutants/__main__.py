"""Judges the tests by planted faults: `python -m tests.mutants --only one,another`."""

import argparse
import sys
import time
from concurrent.futures import ThreadPoolExecutor

from tests.mutants.faults import Fault, FaultError, table
from tests.mutants.judging import Judge, Verdict

_AT_ONCE = 2


def main() -> int:
    options = _options()
    began = time.monotonic()
    try:
        faults = _chosen(options.only)
        judge = Judge(options.minutes)
        judge.check_baseline(faults)
        with ThreadPoolExecutor(_AT_ONCE) as pool:
            verdicts = list(pool.map(lambda fault: _judged(judge, fault), faults))
    except FaultError as error:
        print(error, file=sys.stderr)
        return 1
    found = sum(verdict.is_found for verdict in verdicts)
    minutes = (time.monotonic() - began) / 60
    print(f"{found} of {len(faults)} planted faults were found, in {minutes:.0f} min")
    return 0 if found == len(faults) else 1


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.mutants", description=__doc__)
    parser.add_argument("--only", default="", help="names of rows, by commas")
    parser.add_argument("--minutes", type=float, default=2.0, help="of the simulator, for a row")
    return parser.parse_args()


def _chosen(only: str) -> list[Fault]:
    rows = table()
    names = only.split(",") if only else rows
    unknown = [name for name in names if name not in rows]
    if unknown:
        raise FaultError(f"the table has no row {', '.join(unknown)}")
    return [rows[name] for name in names if not rows[name].equivalent]


def _judged(judge: Judge, fault: Fault) -> Verdict:
    began = time.monotonic()
    verdict = judge.judge(fault)
    print(f"{fault.name}: {verdict.text} ({time.monotonic() - began:.0f} s)", flush=True)
    return verdict


if __name__ == "__main__":
    sys.exit(main())
