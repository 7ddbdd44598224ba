"""Repositories to dump, and bare ones to restore into."""

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice
from typing import Any

import pytest

from graveler.dump import check
from graveler.engine import Engine
from graveler.model import Commit, Repository, Tag
from graveler.operations import commits, dumps, repositories
from tests.support.fakes.engines import MemoryWorld
from tests.support.worlds.scenarios import NAMESPACE

Refs = tuple[dict[str, tuple[str, bool]], tuple[Tag, ...], list[Commit], bool]


@contextmanager
def small_batches() -> Iterator[None]:
    """Everything is restored two by two, so that a small repository has several batches."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(check, "BATCH_COMMITS", 2)
        patch.setattr(dumps, "BATCH_COMMITS", 2)
        patch.setattr(dumps, "_NAMES_AT_ONCE", 2)
        yield


@contextmanager
def commits_between_pages(
    world: MemoryWorld, name: str, patch: pytest.MonkeyPatch
) -> Iterator[None]:
    """A scan of commits has pages of two; somebody commits to main between them, 40 times."""
    left = iter(range(40))

    def commit() -> None:
        with pytest.MonkeyPatch.context() as calm:
            calm.setattr(world.refs, "between", lambda: None)
            for _ in islice(left, 8):
                request = commits.CommitRequest("meanwhile", "somebody", allow_empty=True)
                commits.commit(world.engine(), name, "main", request)

    patch.setattr(world.refs, "page_amount", 2)
    patch.setattr(world.refs, "between", commit)
    yield
    patch.undo()


def make_bare(engine: Engine, name: str = "bare", **options: Any) -> Repository:
    """A bare repository over the namespace of `scenarios.REPO`."""
    return repositories.create(engine, name=name, storage_namespace=NAMESPACE, bare=True, **options)


def refs_of(engine: Engine, name: str) -> Refs:
    """Every branch, tag and commit, and whether more are to come."""
    repository = engine.refs.repository(name)
    assert repository is not None
    found = engine.refs.branches(repository, "", "", 100, show_hidden=True).results
    return (
        {branch.name: (branch.commit_id, branch.hidden) for branch in found},
        engine.refs.tags(repository, "", "", 100).results,
        list(engine.refs.every_commit(repository)),
        repository.is_bare,
    )


NOTHING: Refs = ({}, (), [], True)


def restored(world: MemoryWorld) -> list[str]:
    """Return the repositories with a restore event."""
    return [event.repository for event in world.refs.events if event.kind == "repository_restored"]
