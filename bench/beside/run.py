"""`python -m bench.beside`: Graveler and lakeFS beside each other, in turns, in one run.

    python -m bench.beside --lakefs /path/to/lakefs --results bench/results
    python -m bench.beside --lakefs /path/to/lakefs --far --results bench/results

Each system has a DynamoDB Local on disk and an S3Proxy of its own, with data in a temporary folder.
The first part measures requests a second and durations over stores that are near. With --far, the
stores are as far away as on AWS, and single requests are timed.
"""

import argparse
import asyncio
import os
import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from bench.api.client import Client
from bench.api.lake import Lake, Scale
from bench.api.row import Row, chosen
from bench.beside import far, near
from bench.beside.systems import THEIRS, System, both
from bench.beside.tables import keep_far, keep_near
from graveler_embedded.processes import StartError
from graveler_embedded.stores import BUCKET

_WARMING_QUICK = 50


def main(arguments: Sequence[str] | None = None) -> int:
    """Compare the systems; return the exit code: 1 if one of them did not start."""
    options = _parse(arguments)
    # Unwinds the context managers, which stop the systems.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    part = far if options.far else near
    scale = part.QUICK if options.quick else part.SCALE
    try:
        rows = chosen(part.rows_of(scale), options.only)
    except ValueError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    with TemporaryDirectory(prefix="bench-", dir=options.folder) as folder:
        try:
            with both(options.lakefs, Path(folder), far=options.far) as systems:
                asyncio.run(_compare(systems, rows, scale, options))
        except StartError as error:
            print(f"error: {error}", file=sys.stderr)
            return 1
    return 0


async def _compare(
    systems: Sequence[System], rows: Sequence[Row], scale: Scale, options: argparse.Namespace
) -> None:
    clients = [
        Client(each.endpoint, each.keys.access_key_id, each.keys.secret_access_key)
        for each in systems
    ]
    lakes = [Lake(client, scale, f"s3://{BUCKET}", "eside") for client in clients]
    version = f"{THEIRS} {await lakes[1].version()}"
    print(f"{version}: warming up, with {scale.objects:,} objects", flush=True)
    await near.warm_up(lakes, rows, _WARMING_QUICK if options.quick else near.WARMING_REQUESTS)
    if options.far:
        waited = await far.wait(lakes, rows, options.rounds)
        if options.results is not None:
            keep_far(waited, options.results, _conditions(version))
    else:
        compared = await near.compare(systems, lakes, rows, options.rounds)
        if options.results is not None:
            keep_near(compared, options.results, _conditions(version))
    for client in clients:
        client.close()


def _conditions(version: str) -> str:
    """Return what the results must be read with: other work on the machine takes its cores."""
    return f"{version}, load average {os.getloadavg()[2]:.0f}"


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench.beside", description=__doc__)
    add = parser.add_argument
    add("--lakefs", type=Path, required=True, help="the program lakefs")
    add("--far", action="store_true", help="single requests over stores that are far away")
    add("--only", nargs="+", default=[], metavar="ROW", help="rows, patterns of rows, sections")
    add("--rounds", type=int, help="5 of the near part, 1 of the far one")
    add("--quick", action="store_true", help="few requests and little data, to see that it works")
    add("--folder", type=Path, help="where the temporary folder with the data goes")
    add("--results", type=Path, help="the folder of the tables and plots")
    options = parser.parse_args(arguments)
    options.rounds = options.rounds or (1 if options.far or options.quick else 5)
    return options
