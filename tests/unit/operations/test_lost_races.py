"""Operations that lose the race for a branch's head: they are made on top of the new head."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from graveler.engine import Engine
from graveler.imports.request import ImportRequest, SourceType, source_of
from graveler.model import Commit
from graveler.operations import commits
from tests.support.fakes.engines import MemoryWorld
from tests.support.faults.counting import engine_around
from tests.support.worlds.imports import imported
from tests.support.worlds.lake import REPO, apart, commit, merge, paths, upload


def other_commit(world: MemoryWorld) -> Commit:
    """Commit an object to `main`, as another process."""
    upload(world.engine(), b"other", b"other")
    return commit(world.engine())


def beaten(world: MemoryWorld) -> tuple[Engine, list[Commit]]:
    """Return an engine before whose first move of a head another process commits; its commit."""
    others: list[Commit] = []

    def around(name: str, call: Callable[[], Any]) -> Any:
        if name == "refs.move_branch" and not others:
            others.append(other_commit(world))
        return call()

    late = engine_around(world.engine(), around)
    return replace(late, task_queue=world.task_queue), others


def an_empty_commit(engine: Engine) -> None:
    commit(engine, allow_empty=True)


def an_import(engine: Engine) -> None:
    engine.objects.put("s3://raw/in/i", b"i", "text/plain")
    sources = (source_of(SourceType.PREFIX, "s3://raw/in/", "imported/"),)
    assert imported(engine, ImportRequest(sources, "ann")).commit


@pytest.mark.parametrize("make", [an_empty_commit, merge, an_import])
def test_what_loses_the_race_for_the_head_keeps_what_the_other_commit_made(
    world: MemoryWorld, engine: Engine, make: Callable[[Engine], object]
) -> None:
    apart(engine, source={"s": "S"}, destination={"d": "D"})
    late, others = beaten(world)
    make(late)
    made = commits.get(engine, REPO, "main")
    assert made.parents[0] == others[0].id
    assert {b"a", b"d", b"other"} <= {*paths(engine, "main")}
