"""Processes with many threads each, on the same branches, some of whose answers are lost.

The threads of a process share an engine, so their requests to DynamoDB meet and go together. What
all of them were told must be explained by some order of their operations, path by path.
"""

import multiprocessing
import random
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from multiprocessing.connection import Connection
from typing import Any

import pytest

from graveler.aws.dynamodb.http_client import DynamoDBHttpClient
from graveler.aws.exchanges.buffered import BufferedResponse, Pending, ResponseLostError
from graveler.engine import Engine
from graveler.errors import (
    AlreadyExistsError,
    ContentionError,
    InvalidInputError,
    NotFoundError,
    PreconditionFailedError,
    ThrottledError,
    UnknownOutcomeError,
)
from graveler.model import Requirement
from graveler.operations import branches, commits, links, objects, writes
from tests.support.checks.linearizability import Operation, Value, check_history
from tests.support.servers.stack import BUCKET
from tests.support.worlds import server_world
from tests.support.worlds.path_model import UNKNOWN
from tests.support.worlds.server_world import ServerWorld, open_world

pytestmark = pytest.mark.server

REQUEST = commits.CommitRequest("commit", "somebody")
PROCESSES, THREADS, TURNS = 2, 12, 30
PATHS = [b"%02d" % number for number in range(10)]
LOST = 0.02  # of all answers

# A fork would share connections, and locks that threads of the parent hold.
CONTEXT = multiprocessing.get_context("spawn")


class _Lost:
    def __init__(self, pending: Pending) -> None:
        self._pending = pending

    def finish(self, *, needs_end: bool = True) -> BufferedResponse:
        self._pending.finish(needs_end=needs_end)
        raise ResponseLostError("the answer was lost on its way")

    def abandon(self) -> None:
        self._pending.abandon()


class LossyHttp(DynamoDBHttpClient):
    """Requests have their effect, but some answers get lost."""

    def begin(self, headers: Mapping[str, str], body: bytes) -> Any:
        pending = super().begin(headers, body)
        return _Lost(pending) if random.random() < LOST else pending


class Client:
    """One thread: does operations, and notes what it was told."""

    def __init__(self, engine: Engine, repo: str, first: str, name: str) -> None:
        self._engine, self._repo, self._first, self._name = engine, repo, first, name
        self._random = random.Random(f"{repo} {name}")
        self.done: list[Operation] = []

    def run(self) -> list[Operation]:
        kinds = ["write"] * 24 + ["read"] * 6 + ["write_if_absent", "delete", "reset_object"] * 2
        kinds += ["commit"] * 3 + ["reset", "remake"]
        for turn in range(TURNS):
            kind = self._random.choice(kinds)
            branch = self._random.choice(["main", "main", "dev"])
            if kind == "remake":
                self._remake()
            elif kind in ("commit", "reset"):
                self._do(kind, branch, PATHS, partial(getattr(self, f"_{kind}"), branch))
            else:
                path = self._random.choice(PATHS)
                value = Value(f"{self._name}.{turn}")
                work = partial(getattr(self, f"_{kind}"), branch, path, value.address)
                self._do(kind, "main" if kind == "read" else branch, [path], work, value)
        return self.done

    def _do(
        self,
        kind: str,
        branch: str,
        paths: list[bytes],
        work: Callable[[], Any],
        value: Any = UNKNOWN,
    ) -> None:
        invoked, outcome = time.monotonic(), "ok"
        try:
            read = work()
            value = read if kind == "read" else value
        except NotFoundError:
            outcome = "no_branch"
        except (PreconditionFailedError, AlreadyExistsError):
            outcome = "exists"
        except InvalidInputError:
            outcome = "no_changes"
        except (ContentionError, UnknownOutcomeError):
            outcome = "unknown"
        except ThrottledError:
            outcome = "refused"
        returned = time.monotonic()
        self.done += [
            Operation(self._name, kind, invoked, returned, outcome, value, key=(branch, path))
            for path in paths
        ]

    def _write(self, branch: str, path: bytes, address: str, **options: Any) -> None:
        data = links.StoredData(f"s3://elsewhere/{address}", address, 1)
        links.stage(self._engine, self._repo, branch, path, data, **options)

    def _write_if_absent(self, branch: str, path: bytes, address: str) -> None:
        self._write(branch, path, address, requirement=Requirement(is_absent=True))

    def _delete(self, branch: str, path: bytes, _: str) -> None:
        writes.delete(self._engine, self._repo, branch, path)

    def _read(self, _branch: str, path: bytes, _: str) -> Value | None:
        try:
            found = objects.stat(self._engine, self._repo, "main", path)
        except NotFoundError:
            return None
        return Value(found.entry.checksum)

    def _commit(self, branch: str) -> None:
        commits.commit(self._engine, self._repo, branch, REQUEST)

    def _reset(self, branch: str) -> None:
        branches.reset(self._engine, self._repo, branch, kind="reset")

    def _reset_object(self, branch: str, path: bytes, _: str) -> None:
        branches.reset(self._engine, self._repo, branch, kind="object", path=path)

    def _remake(self) -> None:
        """Delete a branch, and create it again without any object."""
        delete = partial(branches.delete, self._engine, self._repo, "dev")
        self._do("delete_branch", "dev", PATHS, delete)
        create = partial(branches.create, self._engine, self._repo, name="dev", source=self._first)
        self._do("create_branch", "dev", PATHS, create, None)


def _local(operation: Operation) -> Operation:
    """Return the operation of another process, whose UNKNOWN is another object."""
    value = UNKNOWN if repr(operation.value) == repr(UNKNOWN) else operation.value
    return replace(operation, value=value, parent=UNKNOWN)


def _work(pipe: Connection, endpoints: tuple, repo: str, first: str, number: int) -> None:
    server_world.DynamoDBHttpClient = LossyHttp  # type: ignore[attr-defined]
    engine = ServerWorld(*endpoints).engine()
    clients = [Client(engine, repo, first, f"{number}.{thread}") for thread in range(THREADS)]
    with ThreadPoolExecutor(THREADS) as pool:
        done = [each for some in pool.map(Client.run, clients) for each in some]
    pipe.send((done, engine.refs.tables.coalescer._waiting))  # type: ignore[attr-defined]


def test_what_threads_of_several_processes_were_told_is_true(
    dynamodb_endpoint: str, s3_endpoint: str
) -> None:
    with open_world(dynamodb_endpoint, s3_endpoint) as world:
        repo = world.new_repository(BUCKET)
        engine = world.engine()
        first = commits.log(engine, repo, "main", commits.LogQuery(1)).results[0].id
        branches.create(engine, repo, name="dev", source="main")
        endpoints = (world.dynamodb_endpoint, world.s3_endpoint, world.s3_keys)
        pipes = []
        for number in range(PROCESSES):
            ours, theirs = CONTEXT.Pipe()
            CONTEXT.Process(target=_work, args=(theirs, endpoints, repo, first, number)).start()
            theirs.close()
            pipes.append(ours)
        history: list[Operation] = []
        for pipe in pipes:
            done, waiting = pipe.recv()
            history += [_local(each) for each in done]
            assert waiting == {}
        for path in PATHS:
            invoked = time.monotonic()
            try:
                found = objects.stat(engine, repo, "main", path)
                value = Value(found.entry.checksum)
            except NotFoundError:
                value = None
            key = ("main", path)
            history.append(
                Operation("end", "read", invoked, time.monotonic(), value=value, key=key)
            )
    violations = check_history(history, {}, ["main", "dev"])
    assert not violations, "\n".join(map(str, violations))
