"""`python -m bench.api ENDPOINT KEY SECRET`: the speed of a server of lakeFS's API.

The client shares the machine with the server, so its own limit is the first figure: requests of a
path that costs the server next to nothing. With --server-pid, the processor time of the server and
its descendants is a figure of each row.
"""

import argparse
import asyncio
import json
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from bench.api import objects, reads, versions
from bench.api.client import Client
from bench.api.lake import Lake, Scale
from bench.api.load import Timed, run_jobs
from bench.api.row import Row, chosen
from bench.processes import cpu_s, family
from bench.report import shown

Report = dict[str, dict[str, float | str]]


def all_rows(scale: Scale) -> list[Row]:
    """Return every row of the scale."""
    return [*objects.rows(scale), *reads.rows(scale), *versions.rows(scale)]


async def measure(lake: Lake, rows: Sequence[Row], server_pids: Sequence[int]) -> Report:
    """Measure the rows one after the other; print each as it comes."""
    health = lake.job(lake.client.encode("GET", "/_health", is_absolute=True), 200)
    await run_jobs([health] * 500, lake.scale.connections)
    limit = await run_jobs([health] * 5_000, lake.scale.connections)
    _print(f"limit of the client: {shown(limit.per_s)} requests/s")
    report: Report = {"client": {"value": limit.per_s, "unit": "requests/s"}}
    for row in rows:
        jobs = await row.prepare(lake)
        pids = [each for pid in server_pids for each in family(pid)]
        spent_s = cpu_s(pids)
        timed = await run_jobs(jobs, row.connections)
        report[row.name] = _figures(row, timed)
        if pids:
            report[row.name]["server_cpu_ms"] = (cpu_s(pids) - spent_s) / len(jobs) * 1000
        figures = report[row.name]
        tail = f"p50 {shown(timed.median_ms)} ms, p99 {shown(timed.percentile_ms(99))} ms"
        _print(f"{row.title:48} {shown(row.value(timed)):>10} {figures['unit']:10} {tail}")
    return report


def _figures(row: Row, timed: Timed) -> dict[str, float | str]:
    return {
        "title": row.title,
        "value": row.value(timed),
        "unit": row.unit,
        "requests": len(timed.durations_s),
        "p50_ms": timed.median_ms,
        "p99_ms": timed.percentile_ms(99),
    }


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure the server, print the figures to stderr as they come and all as JSON to stdout."""
    options = _parse(arguments)
    scale = Scale(
        connections=options.conc,
        loading_connections=options.load_conc,
        requests=options.n,
        stats=options.nstat,
        singles=options.n1,
        branches=options.branches,
        repeats=options.reps,
        bases=options.bases,
        objects=options.big,
        commits=options.log,
    )
    rows = chosen(all_rows(scale), options.only)

    async def run() -> Report:
        client = Client(options.endpoint, options.access_key_id, options.secret_access_key)
        try:
            lake = Lake(client, scale, options.ns, options.tag)
            return await measure(lake, rows, options.server_pid)
        finally:
            client.close()

    began_s = time.monotonic()
    report = json.dumps(asyncio.run(run()), indent=1)
    _print(f"in {time.monotonic() - began_s:.0f} s")
    print(report)
    if options.output is not None:
        options.output.write_text(report + "\n")


def _print(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def _numbers(text: str) -> list[int]:
    return [int(word) for word in text.split(",")]


def _words(text: str) -> list[str]:
    return text.split(",")


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench.api", description=__doc__)
    add = parser.add_argument
    add("endpoint")
    add("access_key_id")
    add("secret_access_key")
    add("--ns", default="", help="where storage namespaces begin, such as s3://bucket/prefix")
    add("--n", type=int, default=2_000, help="requests of a row of objects")
    add("--nstat", type=int, default=20_000, help="requests of a row of stats")
    add("--n1", type=int, default=200, help="requests of a row of one connection")
    add("--branches", type=int, default=500, help="branches to create, delete and list")
    add("--conc", type=int, default=16, help="connections")
    add("--load-conc", type=int, default=64, help="connections that load repositories")
    add("--bases", type=_numbers, default=[2_000, 20_000, 200_000], help="sizes to commit on")
    add("--big", type=int, default=200_000, help="the size of the repository that is read")
    add("--log", type=int, default=1_000, help="commits of the log")
    add("--reps", type=int, default=5, help="commits, diffs and merges of a row")
    add("--only", type=_words, default=[], help="rows, patterns of rows or sections")
    add("--tag", default="", help="a part of the repositories' names")
    add("--server-pid", type=_numbers, default=[], help="processes of the server")
    add("-o", "--output", type=Path, help="a file for the JSON")
    return parser.parse_args(arguments)
