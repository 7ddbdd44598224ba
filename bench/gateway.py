"""S3 gateways beside each other: requests a second, MB/s and processor time, in turns.

    python -m bench.gateway --target graveler=http://127.0.0.1:8000 --pid graveler=4711 \\
      --target lakefs=http://127.0.0.1:8100 --pid lakefs=4712 --key AKIA… --secret …

Each target needs a repository `bench` with the branch main. `--pid` names a process whose
processor time, with that of its descendants, is the target's. A round measures all targets, one
after the other; the medians of the rounds count. Compare only figures of one run. The objects of
`--listed` are staged and committed through the API, on a branch of their own, before the rounds.
"""

import argparse
import http.client
import json
import os
import re
import statistics
import time
from base64 import b64encode
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote, urlsplit

from botocore.auth import S3SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials

from bench.figures import Figure
from bench.report import Results

REPOSITORY = "bench"
_PIECE_BYTES = 256 * 1024
_SMALL_BYTES = 4096
_LISTED = "listed"


class _Unsigned(S3SigV4Auth):
    """Signs heads only: the hashes of large bodies would be the client's time."""

    def payload(self, _: AWSRequest) -> str:
        return "UNSIGNED-PAYLOAD"


@dataclass(frozen=True)
class Target:
    """A gateway, and the process that serves it."""

    name: str
    url: str
    pid: int | None
    credentials: Credentials

    def connection(self) -> http.client.HTTPConnection:
        split = urlsplit(self.url)
        return http.client.HTTPConnection(split.hostname or "", split.port, timeout=300)

    def request(
        self,
        connection: http.client.HTTPConnection,
        method: str,
        target: str,
        body: bytes | Iterator[bytes] = b"",
        size_bytes: int | None = None,
    ) -> int:
        """Send a signed request; return the size of the answer's body."""
        return sum(map(len, self._pieces(connection, method, target, body, size_bytes)))

    def answer(self, connection: http.client.HTTPConnection, method: str, target: str) -> bytes:
        """Send a signed request; return the answer's body."""
        return b"".join(self._pieces(connection, method, target, b"", None))

    def call(
        self,
        connection: http.client.HTTPConnection,
        method: str,
        target: str,
        document: Mapping[str, object] | None = None,
    ) -> int:
        """Send a request of the API; return the answer's status."""
        pair = f"{self.credentials.access_key}:{self.credentials.secret_key}"
        headers = {"Authorization": f"Basic {b64encode(pair.encode()).decode()}"}
        body = None if document is None else json.dumps(document)
        headers |= {} if body is None else {"Content-Type": "application/json"}
        connection.request(method, target, body, headers)
        answer = connection.getresponse()
        answer.read()
        return answer.status

    def _pieces(
        self,
        connection: http.client.HTTPConnection,
        method: str,
        target: str,
        body: bytes | Iterator[bytes],
        size_bytes: int | None,
    ) -> Iterator[bytes]:
        length = len(body) if isinstance(body, bytes) else size_bytes
        request = AWSRequest(method, f"{self.url}{target}", headers={"Content-Length": str(length)})
        _Unsigned(self.credentials, "s3", "us-east-1").add_auth(request)
        connection.request(method, target, body=body, headers=dict(request.headers.items()))
        answer = connection.getresponse()
        if answer.status not in {200, 204}:
            raise RuntimeError(f"{self.name} answered {answer.status} to {method} {target}")
        while piece := answer.read(_PIECE_BYTES):
            yield piece

    def cpu_s(self) -> float:
        """Return the processor time of the process and its descendants, 0 if it is not known."""
        return 0.0 if self.pid is None else sum(map(_cpu_s, _family(self.pid)))


def _family(pid: int) -> list[int]:
    children = Path(f"/proc/{pid}/task").glob("*/children")
    pids = [int(child) for file in children for child in file.read_text().split()]
    return [pid, *(each for child in pids for each in _family(child))]


def _cpu_s(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _in_threads(target: Target, threads: int, keys: list[str], work: Callable[..., None]) -> None:
    def each(some: list[str]) -> None:
        connection = target.connection()
        for key in some:
            work(connection, key)
        connection.close()

    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(each, [keys[number::threads] for number in range(threads)]))


@dataclass(frozen=True)
class Work:
    """A measurement: its amount is in the unit, and run does all of it."""

    name: str
    unit: str
    amount: float
    cpu_unit: str
    cpu_scale: float  # of processor seconds for one unit
    run: Callable[[Target], None]


def _small(requests: int, threads: int) -> list[Work]:
    body = os.urandom(_SMALL_BYTES)
    keys = [f"/{REPOSITORY}/main/small/{number:05}" for number in range(requests)]

    def put(target: Target) -> None:
        def work(connection: http.client.HTTPConnection, key: str) -> None:
            target.request(connection, "PUT", key, body)

        _in_threads(target, threads, keys, work)

    def get(target: Target) -> None:
        def work(connection: http.client.HTTPConnection, key: str) -> None:
            target.request(connection, "GET", key)

        _in_threads(target, threads, keys, work)

    label = f"4 KB, {threads} clients" if threads > 1 else "4 KB, one client"
    return [
        Work(f"PUT {label}", "requests/s", requests, "ms/request", 1000, put),
        Work(f"GET {label}", "requests/s", requests, "ms/request", 1000, get),
    ]


def _large(size_mb: int, times: int) -> list[Work]:
    block = os.urandom(1024 * 1024)
    size_bytes = size_mb * len(block)
    key = f"/{REPOSITORY}/main/large-{size_mb}"

    def put(target: Target) -> None:
        connection = target.connection()
        for _ in range(times):
            body = (block for _ in range(size_mb))
            target.request(connection, "PUT", key, body, size_bytes)
        connection.close()

    def get(target: Target) -> None:
        connection = target.connection()
        for _ in range(times):
            if target.request(connection, "GET", key) != size_bytes:
                raise RuntimeError(f"{target.name} returned another size of {key}")
        connection.close()

    amount = size_mb * times * 1.048576
    return [
        Work(f"PUT {size_mb} MB", "MB/s", amount, "s/GB", 1000, put),
        Work(f"GET {size_mb} MB", "MB/s", amount, "s/GB", 1000, get),
    ]


def _listing(size: int) -> Work:
    """Return a listing of the whole branch that `_prepare_listing` made."""

    def run(target: Target) -> None:
        connection = target.connection()
        listed, after = 0, ""
        while listed < size:
            query = f"list-type=2&prefix={_LISTED}%2F&start-after={quote(after, safe='')}"
            page = target.answer(connection, "GET", f"/{REPOSITORY}?{query}")
            keys = re.findall(rb"<Key>([^<]+)</Key>", page)
            if not keys:
                raise RuntimeError(f"{target.name} listed {listed} of {size} objects")
            listed, after = listed + len(keys), keys[-1].decode()
        connection.close()

    return Work(f"ListObjectsV2 of {size:,}", "objects/s", size, "s/100,000", 100_000, run)


def _prepare_listing(target: Target, size: int) -> None:
    """Stage and commit so many objects on a branch of their own, unless it is there."""
    base = f"/api/v1/repositories/{REPOSITORY}/branches"
    connection = target.connection()
    if target.call(connection, "GET", f"{base}/{_LISTED}") == 200:
        return
    target.call(connection, "POST", base, {"name": _LISTED, "source": "main"})
    described = {"checksum": "0" * 32, "size_bytes": 4096}

    def work(connection: http.client.HTTPConnection, key: str) -> None:
        body = {**described, "physical_address": f"s3://graveler/{target.name}/{key}"}
        status = target.call(connection, "PUT", f"{base}/{_LISTED}/objects?path={key}", body)
        if status != 201:
            raise RuntimeError(f"{target.name} answered {status} to a staged object")

    keys = [f"part={number // 1000:03}/{number:06}" for number in range(size)]
    _in_threads(target, 16, keys, work)
    target.call(connection, "POST", f"{base}/{_LISTED}/commits", {"message": "listed"})
    connection.close()


def _measure(target: Target, work: Work) -> tuple[float, float]:
    cpu_s, began_s = target.cpu_s(), time.perf_counter()
    work.run(target)
    rate = work.amount / (time.perf_counter() - began_s)
    return rate, (target.cpu_s() - cpu_s) / work.amount * work.cpu_scale


def _targets(arguments: argparse.Namespace) -> list[Target]:
    pids = dict(pair.split("=", 1) for pair in arguments.pid)
    credentials = Credentials(arguments.key, arguments.secret)
    named = (pair.split("=", 1) for pair in arguments.target)
    return [
        Target(name, url, int(pids[name]) if name in pids else None, credentials)
        for name, url in named
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--target", action="append", required=True, metavar="NAME=URL")
    parser.add_argument("--pid", action="append", default=[], metavar="NAME=PID")
    parser.add_argument("--key", required=True)
    parser.add_argument("--secret", required=True)
    parser.add_argument("--small", type=int, default=500, help="requests of 4 KB")
    parser.add_argument("--large-mb", type=int, action="append", help="sizes of large objects")
    parser.add_argument("--listed", type=int, default=2_000, help="objects to list")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--results", type=Path, help="folder of the results")
    arguments = parser.parse_args()
    works = [*_small(arguments.small, 8), *_small(arguments.small // 4, 1)]
    works.append(_listing(arguments.listed))
    for size_mb in arguments.large_mb or [64]:
        works += _large(size_mb, max(1, 256 // size_mb))
    targets = _targets(arguments)
    for target in targets:
        _prepare_listing(target, arguments.listed)
    kept: dict[str, list[Figure]] = {target.name: [] for target in targets}
    for work in works:
        found: dict[str, list[tuple[float, float]]] = {target.name: [] for target in targets}
        for _ in range(arguments.rounds):
            for target in targets:
                found[target.name].append(_measure(target, work))
        for name, figures in found.items():
            rate, cpu = (statistics.median(column) for column in zip(*figures, strict=True))
            shown = f"{rate:9.1f} {work.unit:10} {cpu:8.2f} CPU {work.cpu_unit}"
            print(f"{work.name:24} {name:10} {shown}", flush=True)
            kept[name] += [Figure(work.name, rate, work.unit)]
            kept[name] += [Figure(f"{work.name}, processor", cpu, work.cpu_unit)]
    if arguments.results is not None:
        results = Results(arguments.results, "gateway", "S3 gateways")
        for name, medians in kept.items():
            results.keep(name, {"Medians of rounds, in turns": medians})


if __name__ == "__main__":
    main()
