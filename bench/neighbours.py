"""What noisy neighbours cost a quiet one: `python -m bench.neighbours`.

An embedded stack serves all of them. The quiet neighbour reads an object and commits by a task, in
a repository of its own, again and again. Each noise is of 24 clients of another repository. The
figures are of one run, so their ratios count.
"""

import multiprocessing
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING
from uuid import uuid4

import boto3
import requests

from bench.api.load import Timed
from bench.figures import Figure
from bench.report import printed
from bench.torture.hook_target import HookTarget
from tests.support.servers.stack import BUCKET, Stack

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client

_CLIENTS = 24
_READS = 300
_TASKS = 10
_COPIED = 1_000
_TIMEOUT_S = 60  # more than a wait has
_FIRST_S = 3.0  # until the noise is there


@dataclass
class Neighbour:
    """A client of one repository."""

    endpoint: str
    name: str
    keys: tuple[str, str]
    session: requests.Session = field(init=False, default_factory=requests.Session)

    def __post_init__(self) -> None:
        self.session.auth = self.keys
        self.session.request = partial(self.session.request, timeout=_TIMEOUT_S)  # type: ignore[method-assign]

    @cached_property
    def s3(self) -> "S3Client":
        key, secret = self.keys
        return boto3.client(
            "s3",
            "us-east-1",
            endpoint_url=self.endpoint,
            aws_access_key_id=key,
            aws_secret_access_key=secret,
        )

    @property
    def _repositories(self) -> str:
        return f"{self.endpoint}/api/v1/repositories"

    @property
    def _url(self) -> str:
        return f"{self._repositories}/{self.name}"

    def create(self) -> None:
        """Create the repository, with an object."""
        made = {"name": self.name, "storage_namespace": f"s3://{BUCKET}/{self.name}"}
        self.session.post(self._repositories, json=made).raise_for_status()
        self.upload("a", b"1")

    def upload(self, path: str, content: bytes) -> None:
        url = f"{self._url}/branches/main/objects"
        self.session.post(url, params={"path": path}, data=content).raise_for_status()

    def content(self, path: str) -> bytes:
        answer = self.session.get(f"{self._url}/refs/main/objects", params={"path": path})
        answer.raise_for_status()
        return answer.content

    def read(self) -> None:
        url = f"{self._url}/refs/main/objects/stat"
        self.session.get(url, params={"path": "a"}).raise_for_status()

    def read_by_gateway(self) -> None:
        self.s3.get_object(Bucket=self.name, Key="main/a")["Body"].read()

    def commit(self) -> None:
        """Commit, and wait as the SDK does: by three redirects."""
        self.session.post(f"{self._url}/branches/main/commits", json={"message": str(time.time())})

    def commit_by_task(self) -> None:
        """Upload, start a task that commits, and wait until it has ended."""
        self.upload("b", str(time.time()).encode())
        url = f"{self._url}/branches/main/commits/async"
        made = self.session.post(url, json={"message": "task"})
        made.raise_for_status()
        self._await(f"{url}/{made.json()['id']}/status")

    def copy_by_task(self) -> None:
        """Copy a folder by a task that takes seconds, and wait until it has ended."""
        made = self.session.post(
            f"{self._url}/branches/main/objects/copy_prefix",
            params={"dest_prefix": f"{uuid4()}/"},
            json={"src_prefix": "many/"},
        )
        made.raise_for_status()
        self._await(f"{self._url}/tasks/{made.json()['id']}")

    def _await(self, url: str) -> None:
        while True:
            answer = self.session.get(url)
            answer.raise_for_status()
            seen = answer.json()
            if seen.get("completed") or seen.get("state") in {"completed", "failed"}:
                return
            time.sleep(0.02)


def new_neighbour(endpoint: str, administrator: tuple[str, str], name: str) -> Neighbour:
    """Return a new administrator's client of a new repository."""
    session = requests.Session()
    session.auth = administrator
    auth = f"{endpoint}/api/v1/auth"
    session.post(f"{auth}/users", json={"id": name}).raise_for_status()
    session.put(f"{auth}/groups/Admins/members/{name}").raise_for_status()
    made = session.post(f"{auth}/users/{name}/credentials")
    made.raise_for_status()
    pair = made.json()
    neighbour = Neighbour(endpoint, name, (pair["access_key_id"], pair["secret_access_key"]))
    neighbour.create()
    return neighbour


def let_commits_wait(neighbour: Neighbour, target: HookTarget) -> None:
    """Let each commit of the neighbour wait for a hook, until the target is released."""
    neighbour.upload("_lakefs_actions/slow.yaml", target.action("pre-commit", "ok"))
    target.hold("main")


@contextmanager
def noise(make: Callable[[Neighbour], None], client: Neighbour) -> Iterator[None]:
    """The noise of 24 clients while the block runs.

    They are in another process, whose Python would keep the quiet neighbour waiting otherwise.
    """
    process = multiprocessing.get_context("spawn").Process(target=_repeat, args=(make, client))
    process.start()
    try:
        time.sleep(_FIRST_S)
        yield
    finally:
        process.kill()
        process.join()


def _repeat(make: Callable[[Neighbour], None], client: Neighbour) -> None:
    def repeat() -> None:
        own = replace(client)
        while True:
            try:
                make(own)
            except requests.RequestException:  # the stack is being stopped
                time.sleep(0.1)

    for _ in range(_CLIENTS):
        threading.Thread(target=repeat).start()


def _figures(quiet: Neighbour) -> Iterator[Figure]:
    for name, do, times in (
        ("read", quiet.read, _READS),
        ("read by the gateway", quiet.read_by_gateway, _READS),
        ("task", quiet.commit_by_task, _TASKS),
    ):
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
            administrator = (stack.access_key_id, stack.secret_access_key)
            quiet, noisy, slow = (
                new_neighbour(stack.endpoint, administrator, name)
                for name in ("quiet", "noisy", "slow")
            )
            let_commits_wait(slow, target)
            printed("alone", _figures(quiet))
            with noise(Neighbour.read, noisy):
                printed(f"{_CLIENTS} clients that read", _figures(quiet))
            with noise(Neighbour.read_by_gateway, noisy):
                printed(f"{_CLIENTS} clients that read by the gateway", _figures(quiet))
            with noise(Neighbour.commit, slow):
                printed(f"{_CLIENTS} commits that wait for hooks", _figures(quiet))
            target.release("main")
            # Last, because these tasks go on after their clients.
            for number in range(_COPIED):
                noisy.upload(f"many/{number}", b"1")
            with noise(Neighbour.copy_by_task, noisy):
                printed(f"{_CLIENTS} tasks that copy a folder", _figures(quiet))
        finally:
            stack.stop()


if __name__ == "__main__":
    main()
