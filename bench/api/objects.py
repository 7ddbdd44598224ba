"""Rows of single objects: uploads, staging, links, content, deletions."""

import json
from collections.abc import Awaitable, Callable, Iterator, Sequence

from bench.api.client import quoted
from bench.api.lake import OBJECT_BYTES, Lake, Repository, Scale
from bench.api.load import Job, run_jobs
from bench.api.row import MILLISECONDS, Row, pair

_SECTION = "objects"
_CONTENT = b"x" * OBJECT_BYTES
_CHECKSUM = "d41d8cd98f00b204e9800998ecf8427e"


def rows(scale: Scale) -> Iterator[Row]:
    """Yield the rows of objects: each over many connections and over one."""
    requests: dict[str, tuple[str, Callable[[Lake, int], Awaitable[Sequence[Job]]]]] = {
        "post": (f"POST of {OBJECT_BYTES} B", _posts),
        "stage": ("stage", _stagings),
        "link": ("get and link an address", _links),
        "get": (f"GET of {OBJECT_BYTES} B", _gets),
        "delete": ("DELETE", _deletions),
    }
    for name, (title, prepare) in requests.items():
        yield from pair(scale, name, _SECTION, title, prepare, scale.requests)
    staged = f"commit of {scale.requests:,} additions"
    yield Row("commit-additions", _SECTION, staged, MILLISECONDS, _commit_of_additions)


async def _repository(lake: Lake) -> Repository:
    return await lake.once("objects", lambda: lake.create_repository("objects"))


def _posting(lake: Lake, repository: Repository, branch: str, key: str) -> Job:
    path = f"{repository.path}/branches/{branch}/objects?path={quoted(key)}"
    return lake.job(lake.client.encode("POST", path, content=_CONTENT), 201)


async def _posts(lake: Lake, amount: int) -> Sequence[Job]:
    made, folder = await _repository(lake), lake.new("posted")
    return [_posting(lake, made, "main", f"{folder}/{i:06d}") for i in range(amount)]


async def _stagings(lake: Lake, amount: int) -> Sequence[Job]:
    made, folder = await _repository(lake), lake.new("staged")
    keys = (f"{folder}/{i:06d}" for i in range(amount))
    return [lake.job(lake.staging(made, "main", key), 201) for key in keys]


async def _links(lake: Lake, amount: int) -> Sequence[Job]:
    made, folder = await _repository(lake), lake.new("linked")
    backing = f"{made.path}/branches/main/staging/backing?path="

    def link(key: str) -> Job:
        path = backing + quoted(key)
        get = lake.client.encode("GET", path)

        async def get_and_link() -> int:
            staging = json.loads((await lake.client.expect(get, 200)).body)
            entry = {"staging": staging, "checksum": _CHECKSUM, "size_bytes": OBJECT_BYTES}
            await lake.client.expect(lake.client.encode("PUT", path, entry), 200)
            return 1

        return get_and_link

    return [link(f"{folder}/{i:06d}") for i in range(amount)]


async def _gets(lake: Lake, amount: int) -> Sequence[Job]:
    stored = lake.scale.requests

    async def store() -> Repository:
        made = await lake.create_repository("contents")
        jobs = [_posting(lake, made, "main", f"{i:06d}") for i in range(stored)]
        await run_jobs(jobs, lake.scale.connections)
        await lake.commit(made, "main")
        return made

    made = await lake.once("contents", store)
    path = f"{made.path}/refs/main/objects?path="
    keys = (f"{lake.random.randrange(stored):06d}" for _ in range(amount))
    return [lake.job(lake.client.encode("GET", path + key), 200) for key in keys]


async def _deletions(lake: Lake, amount: int) -> Sequence[Job]:
    """Delete committed objects, on a branch that has all of them."""
    base = await lake.base(lake.scale.objects)
    branch = await lake.changed(base, [])
    path = f"{base.path}/branches/{branch}/objects?path="
    keys = lake.some_keys(lake.scale.objects, amount)
    return [lake.job(lake.client.encode("DELETE", path + quoted(key)), 204) for key in keys]


async def _commit_of_additions(lake: Lake) -> Sequence[Job]:
    made = await lake.create_repository("additions")
    await lake.stage(made, "main", (f"{i:06d}" for i in range(lake.scale.requests)))
    return [lake.job(lake.committing(made, "main"), 201)]
