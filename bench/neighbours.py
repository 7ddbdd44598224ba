"""What noisy neighbours cost a quiet one: `python -m bench.neighbours`.

An embedded stack serves all of them. The quiet neighbour reads an object and commits by a task, in
a repository of its own, again and again. Each noise is of 24 clients of another repository. The
figures are of one run, so their ratios count.
"""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory

import requests

from bench.api.load import Timed
from bench.figures import Figure
from bench.report import printed
from bench.torture.hook_target import HookTarget
from tests.support.servers.stack import BUCKET, Stack

_CLIENTS = 24
_READS = 300
_TASKS = 10
_FIRST_S = 3.0  # until the noise is there


class Neighbour:
    """A client of one repository."""

    def __init__(self, stack: Stack, name: str) -> None:
        self._session = requests.Session()
        self._session.auth = (stack.access_key_id, stack.secret_access_key)
        self._repositories = f"{stack.endpoint}/api/v1/repositories"
        self._name = name
        self._url = f"{self._repositories}/{name}"

    def create(self) -> None:
        """Create the repository, with an object."""
        made = {"name": self._name, "storage_namespace": f"s3://{BUCKET}/{self._name}"}
        self._session.post(self._repositories, json=made).raise_for_status()
        self.upload("a", b"1")

    def upload(self, path: str, content: bytes) -> None:
        url = f"{self._url}/branches/main/objects"
        self._session.post(url, params={"path": path}, data=content).raise_for_status()

    def read(self) -> None:
        url = f"{self._url}/refs/main/objects/stat"
        self._session.get(url, params={"path": "a"}).raise_for_status()

    def commit(self) -> None:
        """Commit, and wait as the SDK does: by three redirects."""
        self._session.post(f"{self._url}/branches/main/commits", json={"message": str(time.time())})

    def commit_by_task(self) -> None:
        """Start a task that commits, and wait until it has ended."""
        self.upload("b", str(time.time()).encode())
        url = f"{self._url}/branches/main/commits/async"
        task = self._session.post(url, json={"message": "task"}).json()["id"]
        while not self._session.get(f"{url}/{task}/status").json()["completed"]:
            time.sleep(0.02)


@contextmanager
def _noise(stack: Stack, name: str, make: Callable[[Neighbour], None]) -> Iterator[None]:
    """The noise of all clients while the block runs."""
    is_over = threading.Event()

    def repeat() -> None:
        client = Neighbour(stack, name)
        while not is_over.is_set():
            with suppress(requests.RequestException):  # the stack is being stopped
                make(client)

    for _ in range(_CLIENTS):
        threading.Thread(target=repeat, daemon=True).start()
    time.sleep(_FIRST_S)
    yield
    is_over.set()


def _figures(quiet: Neighbour) -> Iterator[Figure]:
    for name, do, times in (("read", quiet.read, _READS), ("task", quiet.commit_by_task, _TASKS)):
        durations_s = []
        for _ in range(times):
            began_s = time.perf_counter()
            do()
            durations_s.append(time.perf_counter() - began_s)
        timed = Timed(durations_s, sum(durations_s), times)
        yield Figure(f"{name}, p50", timed.median_ms, "ms")
        yield Figure(f"{name}, p99", timed.percentile_ms(99), "ms")


def main() -> None:
    target = HookTarget()
    with TemporaryDirectory(prefix="bench-") as folder:
        stack = Stack(Path(folder))
        try:
            quiet, noisy, slow = (Neighbour(stack, name) for name in ("quiet", "noisy", "slow"))
            for each in (quiet, noisy, slow):
                each.create()
            slow.upload("_lakefs_actions/slow.yaml", target.action("pre-commit", "ok"))
            target.hold("main")
            printed("alone", _figures(quiet))
            with _noise(stack, "noisy", Neighbour.read):
                printed(f"{_CLIENTS} clients that read", _figures(quiet))
            with _noise(stack, "slow", Neighbour.commit):
                printed(f"{_CLIENTS} commits that wait for hooks", _figures(quiet))
            target.release("main")
        finally:
            stack.stop()


if __name__ == "__main__":
    main()
