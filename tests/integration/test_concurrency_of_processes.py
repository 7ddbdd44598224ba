"""Processes that share nothing but the stores: writers, committers, and one that is killed."""

import multiprocessing
import signal
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from typing import Any

import pytest

from graveler.errors import ContentionError, InvalidInputError
from graveler.operations import branches, commits, objects, writes
from graveler.staging.listing import CommonPrefix, PageQuery
from tests.support.servers.stack import BUCKET
from tests.support.worlds.server_world import ServerWorld, open_world

pytestmark = pytest.mark.server

REQUEST = commits.CommitRequest("commit", "somebody")
OBJECTS = 15

# A fork would share connections, and locks that threads of the parent hold.
CONTEXT = multiprocessing.get_context("spawn")


@pytest.fixture(scope="module")
def world(dynamodb_endpoint: str, s3_endpoint: str) -> Iterator[ServerWorld]:
    with open_world(dynamodb_endpoint, s3_endpoint) as world:
        yield world


@dataclass
class Process:
    """Runs work(pipe, endpoints, repository, number) in a process of its own."""

    def __init__(
        self, work: Callable[..., None], world: ServerWorld, repo: str, number: int = 0
    ) -> None:
        self.pipe, theirs = CONTEXT.Pipe()
        endpoints = (world.dynamodb_endpoint, world.s3_endpoint, world.s3_keys)
        self.process = CONTEXT.Process(target=work, args=(theirs, endpoints, repo, number))
        self.process.start()
        theirs.close()

    def acknowledged(self) -> Iterator[Any]:
        """What it tells, until it ends."""
        while True:
            try:
                yield self.pipe.recv()
            except EOFError:
                self.process.join()
                return

    def kill(self) -> None:
        self.process.kill()


def put_objects(pipe: Connection, endpoints: tuple, repo: str, number: int) -> None:
    """Upload objects, and tell of each when it is acknowledged."""
    engine = ServerWorld(*endpoints).engine()
    for turn in range(OBJECTS):
        path, content = b"%d/%03d" % (number, turn), b"%d of %d" % (turn, number)
        while True:
            try:
                stat = writes.upload(
                    engine,
                    repo,
                    "main",
                    path,
                    read_content=lambda: (content, "text/plain"),  # noqa: B023 - called at once
                    metadata={},
                )
            except ContentionError:
                continue
            pipe.send((path, stat.entry.checksum, content))
            break


def make_commits(pipe: Connection, endpoints: tuple, repo: str, _number: int) -> None:
    """Commit for ever, and tell of each commit when it is acknowledged."""
    engine = ServerWorld(*endpoints).engine()
    while True:
        try:
            pipe.send(commits.commit(engine, repo, "main", REQUEST).id)
        except (InvalidInputError, ContentionError):
            continue


def test_killed_processes_lose_nothing_that_was_acknowledged(world: ServerWorld) -> None:
    repo = world.new_repository(BUCKET)
    writers = [Process(put_objects, world, repo, number) for number in range(2)]
    committers = [Process(make_commits, world, repo) for _ in range(2)]
    # The one that commits first dies; whoever comes too late may have nothing to commit.
    (ready, *_) = wait([each.pipe for each in committers])
    committers.sort(key=lambda each: each.pipe is not ready)
    first = committers[0].pipe.recv()
    committers[0].kill()
    written = {
        path: (checksum, content)
        for writer in writers
        for path, checksum, content in writer.acknowledged()
    }
    committers[1].kill()
    made = {first, *committers[0].acknowledged(), *committers[1].acknowledged()}
    assert committers[0].process.exitcode == -signal.SIGKILL
    assert len(written) == 2 * OBJECTS

    engine = world.engine()
    page = objects.list_objects(engine, repo, "main", PageQuery(1000))
    found = {}
    for item in page.results:
        assert not isinstance(item, CommonPrefix)
        found[item.path] = (item.entry.checksum, engine.objects.get(item.physical_address))
    assert found == written
    log = commits.log(engine, repo, "main", commits.LogQuery(1000)).results
    in_history = {commit.id for commit in log}
    assert made <= in_history

    # A branch that dead processes have left as it was is as good as any other.
    branches.create(engine, repo, name="dev", source="main")
    writes.delete(engine, repo, "main", b"0/000")
    commits.commit(engine, repo, "main", REQUEST)
    after = objects.list_objects(world.engine(), repo, "main@", PageQuery(1000)).results
    assert {item.path for item in after} == written.keys() - {b"0/000"}
