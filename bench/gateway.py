"""S3 gateways beside each other: requests a second, MB/s and processor time, in turns.

    python -m bench.gateway --target graveler=http://127.0.0.1:8000 --pid graveler=4711 \\
      --target lakefs=http://127.0.0.1:8100 --pid lakefs=4712 --key AKIA… --secret …

Each target needs a repository `bench` with the branch main. `--pid` names a process whose
processor time, with that of its descendants, is the target's. A round measures all targets, one
after the other; the medians of the rounds count. Compare only figures of one run.
"""

import argparse
import http.client
import os
import statistics
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from botocore.auth import S3SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials

REPOSITORY = "bench"
_PIECE_BYTES = 256 * 1024
_SMALL_BYTES = 4096


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
        length = len(body) if isinstance(body, bytes) else size_bytes
        request = AWSRequest(method, f"{self.url}{target}", headers={"Content-Length": str(length)})
        _Unsigned(self.credentials, "s3", "us-east-1").add_auth(request)
        connection.request(method, target, body=body, headers=dict(request.headers.items()))
        answer = connection.getresponse()
        read = 0
        while piece := answer.read(_PIECE_BYTES):
            read += len(piece)
        if answer.status not in {200, 204}:
            raise RuntimeError(f"{self.name} answered {answer.status} to {method} {target}")
        return read

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


def _listing() -> Work:
    def run(target: Target) -> None:
        connection = target.connection()
        for _ in range(20):
            target.request(
                connection, "GET", f"/{REPOSITORY}?list-type=2&max-keys=1000&prefix=main%2Fsmall%2F"
            )
        connection.close()

    return Work("ListObjectsV2, a page", "pages/s", 20, "ms/page", 1000, run)


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
    parser.add_argument("--rounds", type=int, default=3)
    arguments = parser.parse_args()
    works = [*_small(arguments.small, 8), *_small(arguments.small // 4, 1), _listing()]
    for size_mb in arguments.large_mb or [64]:
        works += _large(size_mb, max(1, 256 // size_mb))
    targets = _targets(arguments)
    for work in works:
        found: dict[str, list[tuple[float, float]]] = {target.name: [] for target in targets}
        for _ in range(arguments.rounds):
            for target in targets:
                found[target.name].append(_measure(target, work))
        for name, figures in found.items():
            rate, cpu = (statistics.median(column) for column in zip(*figures, strict=True))
            shown = f"{rate:9.1f} {work.unit:10} {cpu:8.2f} CPU {work.cpu_unit}"
            print(f"{work.name:24} {name:10} {shown}")


if __name__ == "__main__":
    main()
