"""What measurements do with a server: repositories, staged objects, commits, branches, pages."""

import hashlib
import random
import time
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from bench.api.client import AnswerError, Client, quoted
from bench.api.load import Job, run_jobs

T = TypeVar("T")

OBJECT_BYTES = 16
_NAMESPACES = {"local": "local://bench", "mem": "mem://bench", "s3": "s3://bench"}
_DIRECTORY = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Scale:
    """How many requests each row sends, and to how much data."""

    connections: int = 16
    loading_connections: int = 64
    requests: int = 2_000
    stats: int = 20_000
    singles: int = 200  # requests of one connection
    repeats: int = 5  # of commits, diffs and merges
    branches: int = 500
    bases: Sequence[int] = (2_000, 20_000, 200_000)  # objects of repositories that commits change
    objects: int = 200_000  # of the repository that is read, compared and merged
    commits: int = 1_000  # of the branch whose log is read


@dataclass(frozen=True, slots=True)
class Repository:
    """A repository of the measurement, and its storage namespace in the server's own form."""

    name: str
    namespace: str
    commit_id: str = ""

    @property
    def path(self) -> str:
        return f"/repositories/{self.name}"


class Lake:
    """One server while it is measured. Lakes of the same seed get the same requests."""

    def __init__(self, client: Client, scale: Scale, namespace: str = "", tag: str = "") -> None:
        self.client, self.scale = client, scale
        self.random = random.Random(1)
        self._namespace = namespace.rstrip("/")
        self._tag = tag or format(int(time.time()), "x")
        self._number = 0
        self._kept: dict[str, Any] = {}

    def new(self, kind: str) -> str:
        """Return a name that was not used yet."""
        self._number += 1
        return f"{kind}-{self._number}"

    async def once(self, name: str, make: Callable[[], Awaitable[T]]) -> T:
        """Return what make returned when it was first called for the name."""
        if name not in self._kept:
            self._kept[name] = await make()
        found: T = self._kept[name]
        return found

    async def version(self) -> str:
        """Return the version that the server reports."""
        answer = await self.client.call("GET", "/config")
        return str(answer.get("version_config", {}).get("version", ""))

    def job(self, request: bytes, *statuses: int) -> Job:
        """Return a job that sends the request and checks the answer's status."""

        async def send() -> int:
            await self.client.expect(request, *statuses)
            return 1

        return send

    async def create_repository(self, kind: str) -> Repository:
        """Create a repository."""
        name = f"b{self._tag}-{self.new(kind)}"
        if not self._namespace:
            storage = (await self.client.call("GET", "/config")).get("storage_config") or {}
            self._namespace = _NAMESPACES[storage["blockstore_type"]]
        created = {"name": name, "storage_namespace": f"{self._namespace}/{name}"}
        await self.client.call("POST", "/repositories", {**created, "default_branch": "main"})
        # A server with a local store has its own form of addresses; others are refused.
        path = f"/repositories/{name}/branches/main/staging/backing?path=x"
        address = (await self.client.call("GET", path))["physical_address"]
        return Repository(name, address.partition("?")[0].rpartition("/data/")[0])

    def staging(self, repository: Repository, branch: str, key: str) -> bytes:
        """Return a request that stages an object that is stored already, new each time."""
        self._number += 1
        digest = hashlib.sha256(f"{key}/{self._number}".encode()).hexdigest()[:32]
        entry = {
            "physical_address": f"{repository.namespace}/data/{digest[:20]}/{digest[:20]}",
            "checksum": digest,
            "size_bytes": 1234,
            "content_type": "application/octet-stream",
        }
        path = f"{repository.path}/branches/{branch}/objects?path={quoted(key)}"
        return self.client.encode("PUT", path, entry)

    async def stage(
        self, repository: Repository, branch: str, keys: Iterable[str], connections: int = 0
    ) -> None:
        """Stage objects."""
        jobs = [self.job(self.staging(repository, branch, key), 201) for key in keys]
        await run_jobs(jobs, connections or self.scale.connections)

    def committing(self, repository: Repository, branch: str) -> bytes:
        """Return a request that commits the branch."""
        path = f"{repository.path}/branches/{branch}/commits"
        return self.client.encode("POST", path, {"message": "a measured commit"})

    async def commit(self, repository: Repository, branch: str) -> str:
        """Commit the branch; return the ID of the commit."""
        path = f"{repository.path}/branches/{branch}/commits"
        document = {"message": "a prepared commit"}
        return str((await self.client.call("POST", path, document))["id"])

    def branching(self, repository: Repository, name: str, source: str) -> bytes:
        """Return a request that creates a branch."""
        document = {"name": name, "source": source}
        return self.client.encode("POST", f"{repository.path}/branches", document)

    async def changed(self, base: Repository, keys: Iterable[str]) -> str:
        """Return a new branch of the base whose changes of the keys are staged."""
        branch = self.new("branch")
        await self.client.expect(self.branching(base, branch, base.commit_id), 201)
        await self.stage(base, branch, keys)
        return branch

    async def base(self, objects: int) -> Repository:
        """Return the repository with so many committed objects."""

        async def load() -> Repository:
            made = await self.create_repository(f"base{objects}")
            keys = map(key_of, range(objects))
            await self.stage(made, "main", keys, self.scale.loading_connections)
            return Repository(made.name, made.namespace, await self.commit(made, "main"))

        return await self.once(f"base {objects}", load)

    def some_keys(self, objects: int, amount: int) -> list[str]:
        """Return different keys of a base, chosen at random."""
        return [key_of(i) for i in self.random.sample(range(objects), min(amount, objects))]

    def neighbours(self, objects: int, amount: int) -> list[str]:
        """Return keys in a row, in a random place of a base."""
        first = self.random.randrange(max(1, objects - amount))
        return [key_of(i) for i in range(first, min(objects, first + amount))]

    async def pages(self, path: str, results_max: int | None = None) -> int:
        """Read the pages of a list, until there are so many results; return how many there are."""
        read, after = 0, ""
        while True:
            page = await self.client.call("GET", f"{path}&after={quoted(after)}")
            read += len(page["results"])
            if not page["pagination"]["has_more"] or (results_max and read >= results_max):
                return read
            after = page["pagination"]["next_offset"]

    def reading(self, path: str, expected: int, results_max: int | None = None) -> Job:
        """Return a job that reads the pages of a list and checks how many results there are."""

        async def read() -> int:
            found = await self.pages(path, results_max)
            if found != expected:
                raise AnswerError(f"{path} has {found} results, not {expected}")
            return found

        return read


def key_of(number: int) -> str:
    """Return the key of an object of a base."""
    return f"data/part={number // _DIRECTORY:04d}/file-{number % _DIRECTORY:06d}.parquet"


def directory_of(number: int) -> str:
    """Return the prefix of a directory of a base, which has a thousand objects."""
    return f"data/part={number:04d}/"


def directories(objects: int) -> list[int]:
    """Return how many objects each directory of a base has."""
    return [min(_DIRECTORY, objects - first) for first in range(0, objects, _DIRECTORY)]
