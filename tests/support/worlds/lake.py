"""One repository in memory, and short functions for what users do."""

from typing import Any

from graveler.branches.data import read_content
from graveler.engine import Engine
from graveler.model import Commit
from graveler.operations import branches, commits, merges, objects, repositories, writes
from graveler.staging.listing import PageQuery
from tests.support.fakes.engines import MemoryWorld, memory_world

REPO = "lake"
NAMESPACE = "s3://bucket/lake"


def new_lake() -> MemoryWorld:
    """Return stores that hold one empty repository."""
    made = memory_world()
    repositories.create(made.engine(), name=REPO, storage_namespace=NAMESPACE)
    return made


def upload(engine: Engine, path: bytes, content: bytes, branch: str = "main", **more: Any) -> Any:
    return writes.upload(
        engine,
        REPO,
        branch,
        path,
        read_content=lambda: (content, "text/plain"),
        metadata=more.get("metadata", {}),
    )


def commit(engine: Engine, branch: str = "main", **options: Any) -> Commit:
    request = commits.CommitRequest(options.pop("message", "message"), "somebody", **options)
    return commits.commit(engine, REPO, branch, request)


def content(engine: Engine, ref: str, path: bytes) -> bytes:
    """Return the content that a reader of the path gets."""
    return read_content(engine, objects.stat(engine, REPO, ref, path)).content


def paths(engine: Engine, ref: str) -> list[bytes]:
    page = objects.list_objects(engine, REPO, ref, PageQuery(1000))
    return [item.path for item in page.results]


def history(engine: Engine, ref: str, **options: Any) -> list[str]:
    query = commits.LogQuery(1000, **options)
    return [commit.id for commit in commits.log(engine, REPO, ref, query).results]


def named(engine: Engine, ref: str) -> str:
    return commits.get(engine, REPO, ref).id


def apart(engine: Engine, *, source: dict[str, str], destination: dict[str, str]) -> None:
    """Make branches `source` and `main` diverge from the base {a: A}; the text "" deletes."""
    upload(engine, b"a", b"A")
    commit(engine)
    branches.create(engine, REPO, name="source", source="main")
    for branch, changes in (("source", source), ("main", destination)):
        for path, text in changes.items():
            if text:
                upload(engine, path.encode(), text.encode(), branch)
            else:
                writes.delete(engine, REPO, branch, path.encode())
        commit(engine, branch, allow_empty=True)


def merge(engine: Engine, strategy: str = "") -> Commit:
    request = merges.MergeRequest("somebody", strategy=strategy, allow_empty=True)
    return merges.merge(engine, REPO, "source", "main", request)


def cross(engine: Engine, strategy: str = "") -> None:
    """Merge `source` and `main` into each other at once.

    The strategy is main's; source takes its side as well.
    """
    heads = {"source": named(engine, "source"), "main": named(engine, "main")}
    mirrored = {"source-wins": "dest-wins", "dest-wins": "source-wins", "": ""}
    for branch, other, wins in (
        ("main", heads["source"], strategy),
        ("source", heads["main"], mirrored[strategy]),
    ):
        request = merges.MergeRequest("somebody", strategy=wins)
        merges.merge(engine, REPO, other, branch, request)
