"""A branch is exported by messages alone, on DynamoDB Local and S3Proxy."""

import json
from collections.abc import Iterator
from functools import partial
from types import SimpleNamespace
from typing import Any
from uuid import uuid4

import pytest

from graveler.aws import wiring
from graveler.engine import Engine
from graveler.export.record import ExportConfiguration, ExportState
from graveler.operations import commits, writes
from graveler.operations.exports import requests
from graveler_functions.export.handler import handler
from tests.support.fakes.invocation import Context
from tests.support.faults.counting import Calls, engine_around
from tests.support.servers.stack import BUCKET
from tests.support.worlds.server_world import ServerWorld, open_world

pytestmark = pytest.mark.server


@pytest.fixture
def world(dynamodb_endpoint: str, s3_endpoint: str) -> Iterator[ServerWorld]:
    with open_world(dynamodb_endpoint, s3_endpoint) as world:
        yield world


@pytest.fixture
def engine(world: ServerWorld, monkeypatch: pytest.MonkeyPatch) -> Engine:
    made = world.engine()
    monkeypatch.setattr(wiring, "adapters", lambda: SimpleNamespace(engine=made))
    return made


def _csv(content: str) -> tuple[bytes, str]:
    return content.encode(), "text/csv"


def upload(engine: Engine, repository: str, **contents: str) -> None:
    for path, content in contents.items():
        writes.upload(
            engine,
            repository,
            "main",
            path.encode(),
            read_content=partial(_csv, content),
            metadata={"Owner": "Amélie"},
        )


def look_after(repository: str) -> dict[str, Any]:
    body = json.dumps({"repository": repository, "branch": "main"})
    return handler({"Records": [{"messageId": "1", "body": body}]}, Context(str(uuid4())))


def test_a_branch_is_exported_and_followed(world: ServerWorld, engine: Engine) -> None:
    repository = world.new_repository(BUCKET)
    upload(engine, repository, first="1", second="2")
    commits.commit(engine, repository, "main", commits.CommitRequest("why", "somebody"))
    path = f"s3://{BUCKET}/{uuid4().hex}"
    configuration = ExportConfiguration(path, is_continuous=True)
    requests.configure(engine, repository, "main", configuration)
    assert look_after(repository) == {"batchItemFailures": []}
    assert requests.status(engine, repository, "main").state is ExportState.SUCCEEDED
    assert engine.objects.get(f"{path}/first") == b"1"
    found = engine.objects.head(f"{path}/second")
    assert found is not None
    assert found.content_type == "text/csv"

    upload(engine, repository, first="one")
    writes.delete(engine, repository, "main", b"second")
    made = commits.commit(engine, repository, "main", commits.CommitRequest("why", "somebody"))
    assert look_after(repository) == {"batchItemFailures": []}
    assert requests.status(engine, repository, "main").exported_commit == made.id
    assert engine.objects.get(f"{path}/first") == b"one"
    assert engine.objects.head(f"{path}/second") is None


def test_a_whole_export_copies_only_what_the_path_lacks(
    world: ServerWorld, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    repository = world.new_repository(BUCKET)
    upload(engine, repository, **{f"key-{number}": "x" for number in range(5)})
    commits.commit(engine, repository, "main", commits.CommitRequest("why", "somebody"))
    path = f"s3://{BUCKET}/{uuid4().hex}"
    requests.configure(engine, repository, "main", ExportConfiguration(path))
    look_after(repository)
    engine.objects.delete(f"{path}/key-3")
    requests.run(engine, repository, "main")
    calls = Calls()
    monkeypatch.setattr(
        wiring, "adapters", lambda: SimpleNamespace(engine=engine_around(engine, calls))
    )
    look_after(repository)
    assert requests.status(engine, repository, "main").state is ExportState.SUCCEEDED
    assert engine.objects.get(f"{path}/key-3") == b"x"
    assert calls.counts()["objects.copy"] == 1
