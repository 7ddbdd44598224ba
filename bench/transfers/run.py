"""`python -m bench.transfers`: uploads and downloads of graveler and lakectl, in turns.

    python -m bench.transfers --lakectl /path/to/lakectl --results bench/results

Both programs transfer the same files to and from the same embedded stack, with data in a temporary
folder. Each time is that of a whole process.
"""

import argparse
import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

from bench.beside.near import turns
from bench.beside.systems import System, graveler
from bench.figures import Figure
from bench.report import Results, shown
from bench.transfers.cases import Case, Scale, cases, filled, graveler_program, run, write_data
from graveler_embedded.processes import StartError
from graveler_embedded.stores import BUCKET

_PROGRAMS = ("graveler", "lakectl")
_REPOSITORY = "transfers"
_WARMING = Scale(files=500, large_bytes=20_000_000)


def main(arguments: Sequence[str] | None = None) -> int:
    """Compare the programs; return the exit code: 1 if the stack did not start."""
    options = _parse(arguments)
    # Unwinds the context managers, which stop the stack.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    scale = Scale(options.files, options.large_mb * 1_000_000)
    with ExitStack() as stops:
        folder = Path(stops.enter_context(TemporaryDirectory(prefix="bench-", dir=options.folder)))
        try:
            system = stops.enter_context(graveler(folder))
        except StartError as error:
            print(f"error: {error}", file=sys.stderr)
            return 1
        found = _compare(system, folder, scale, options)
    if options.results is not None:
        _keep(found, options)
    return 0


def _compare(system: System, folder: Path, scale: Scale, options: argparse.Namespace) -> list[Case]:
    variables = {
        **{name: text for name, text in os.environ.items() if name[:8] != "LAKECTL_"},
        "LAKECTL_SERVER_ENDPOINT_URL": system.endpoint,
        "LAKECTL_CREDENTIALS_ACCESS_KEY_ID": system.keys.access_key_id,
        "LAKECTL_CREDENTIALS_SECRET_ACCESS_KEY": system.keys.secret_access_key,
        "LAKECTL_STATS_ENABLED": "false",
        "HOME": str(folder),
    }
    programs = (graveler_program(), options.lakectl.absolute())
    create = ["repo", "create", f"lakefs://{_REPOSITORY}", f"s3://{BUCKET}/{_REPOSITORY}"]
    command = [str(programs[1]), *create]
    subprocess.run(command, env=variables, check=True, stdout=subprocess.DEVNULL)
    print("warming up", flush=True)
    for number, amounts in enumerate((_WARMING, scale)):
        data = folder / f"data-{number}"
        write_data(data, amounts)
        measured = cases(amounts)
        for round_ in range(1 if amounts is _WARMING else options.rounds):
            for index, case in enumerate(measured):
                for which in turns(round_, index):
                    uri = f"lakefs://{_REPOSITORY}/main/{number}/{round_}/{_PROGRAMS[which]}"
                    given = [*filled(case, data, uri, folder / "target")]
                    given += case.only_ours if which == 0 else ()
                    case.times[which].append(run(programs[which], given, variables))
                if amounts is not _WARMING:
                    _print(case)
    return measured


def _print(case: Case) -> None:
    ours, theirs = (times[-1] for times in case.times)
    ratio = theirs.wall_s / ours.wall_s
    figures = f"{shown(ours.wall_s):>8} {shown(theirs.wall_s):>8} s {ratio:6.2f}"
    print(f"  {case.title:34} {figures}", flush=True)


def _keep(found: Sequence[Case], options: argparse.Namespace) -> None:
    results = Results(options.results, "transfers", "Transfers of graveler and lakectl, in turns")
    rounds = f"load average {os.getloadavg()[2]:.0f}, medians of {options.rounds} rounds"
    for which, name in enumerate(_PROGRAMS):
        sections = {
            "Time": [Figure(e.title, median(t.wall_s for t in e.times[which]), "s") for e in found],
            "Processor time of the program": [
                Figure(e.title, median(t.cpu_s for t in e.times[which]), "s cpu") for e in found
            ],
        }
        results.keep(name, sections, rounds)
    note = "times as fast: above 1, graveler is ahead"
    ratios = [Figure(each.title, each.ratio, "s") for each in found]
    results.keep("graveler ahead", {"Time": ratios}, note)


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench.transfers", description=__doc__)
    add = parser.add_argument
    add("--lakectl", type=Path, required=True, help="the program lakectl")
    add("--files", type=int, default=10_000, help="how many small files")
    add("--large-mb", type=int, default=2_000, help="the size of the large file")
    add("--rounds", type=int, default=3)
    add("--folder", type=Path, help="where the temporary folder with the data goes")
    add("--results", type=Path, help="the folder of the tables")
    return parser.parse_args(arguments)
