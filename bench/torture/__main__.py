"""Tortures the embedded stack, and checks every answer: `python -m bench.torture --minutes 60`."""

import argparse
import itertools
import secrets
import shutil
import sys
import tempfile
import time
import traceback
from pathlib import Path

from bench.torture import torment
from bench.torture.prepared import begin_repository
from bench.torture.rounds import MIXES, Tally, first_beginning, run_round
from bench.torture.verdict import Judges
from bench.torture.world import World

_ROUNDS_OF_A_REPOSITORY = 8
_FAILURES_MAX = 10


def main() -> int:
    options = _options()
    seed = options.seed if options.seed is not None else secrets.randbelow(10**6)
    folder = Path(tempfile.mkdtemp(prefix="torture-"))
    print(f"seed {seed}, {options.clients} clients, data in {folder}", flush=True)
    began = time.monotonic()
    world, judges, tally = World(folder, seed), Judges(), Tally()
    try:
        _run_rounds(world, options, began + options.minutes * 60, judges, tally)
    finally:
        world.stack.stop()
        judges.finish()
        failed = _report(world, judges, tally, time.monotonic() - began)
        if failed and options.keep:
            print(f"data kept in {folder}")
        else:
            shutil.rmtree(folder, ignore_errors=True)
    print(f"seed {seed}: {'FAILED' if failed else 'nothing is wrong'}")
    return 1 if failed else 0


def _run_rounds(
    world: World, options: argparse.Namespace, end_s: float, judges: Judges, tally: Tally
) -> None:
    begins, rounds_left = first_beginning(), 0
    for number in itertools.count():
        if time.monotonic() > end_s or tally.failures == _FAILURES_MAX:
            return
        try:
            if not rounds_left or world.is_collected:
                begin_repository(world, number)
                begins, rounds_left = first_beginning(), _ROUNDS_OF_A_REPOSITORY
            begins = run_round(world, number, options, begins, judges, tally)
            rounds_left -= 1
        except Exception:  # noqa: BLE001 - a round without a verdict is a failure of the run
            tally.failures += 1
            rounds_left = 0
            print(f"  round {number} FAILED\n{traceback.format_exc()}", flush=True)
            torment.calm_down(world.stack)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench.torture", description=__doc__)
    parser.add_argument("--minutes", type=float, default=3.0)
    parser.add_argument("--seed", type=int, help="of plans and programs; by default, a new one")
    parser.add_argument("--clients", type=int, default=5)
    parser.add_argument("--mix", default="", help=f"of {', '.join(MIXES)}; several by commas")
    parser.add_argument("--blows", default="", help="in every round: kill, stop, dynamodb, s3")
    parser.add_argument("--keep", action="store_true", help="keep the data if something failed")
    return parser.parse_args()


def _report(world: World, judges: Judges, tally: Tally, took_s: float) -> bool:
    """Print the results; return whether there are problems."""
    outcomes = sorted({outcome for _, outcome in tally.answers})
    print(f"\n{'requests':22}" + "".join(f"{outcome:>12}" for outcome in outcomes))
    for name in sorted({name for name, _ in tally.answers}):
        amounts = "".join(f"{tally.answers[name, outcome]:12}" for outcome in outcomes)
        print(f"{name:22}{amounts}")
    totals = "".join(
        f"{sum(n for (_, o), n in tally.answers.items() if o == outcome):12}"
        for outcome in outcomes
    )
    print(f"{'all':22}{totals}\n")
    print(f"{world.unsent} more could not be sent: nobody listened\n")
    print("why requests were refused or have no answer:")
    for (name, status, reason), amount in world.reasons.most_common(25):
        print(f"  {amount:6} {name} {status or 'no answer'} {reason}")
    print("blows:", ", ".join(f"{n} x {what}" for what, n in sorted(tally.blows.items())))
    for proxy in world.stack.proxies:
        injected = ", ".join(f"{n} x {what}" for what, n in sorted(proxy.injected.items()))
        print(f"proxy of {proxy.name}: {proxy.requests} requests; {injected or 'all passed on'}")
    print(f"starts of the stack: {world.stack.starts}; dumps restored: {tally.dumps}")
    print(*world.neighbours.lines(), sep="\n")
    print(f"branches of one client: {tally.lives}")
    print(f"events read: {world.journal.lines}; commits they tell of: {len(world.journal.commits)}")
    print(
        f"{tally.rounds} rounds in {took_s / 60:.1f} minutes: {judges.operations} operations "
        f"of {judges.keys} keys judged, {len(judges.undecided)} rounds undecided"
    )
    for path, text in judges.violations:
        print(f"\nVIOLATION in {path}\n{text}")
    for path in judges.undecided:
        print(f"undecided: {path}")
    for problem in world.ledger.problems:
        print(f"PROBLEM: {problem}")
    if tally.failures:
        print(f"{tally.failures} rounds FAILED: see above")
    return bool(judges.violations or judges.undecided or world.ledger.problems or tally.failures)


if __name__ == "__main__":
    sys.exit(main())
