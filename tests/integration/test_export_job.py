"""The export job on real Spark, over DynamoDB Local and S3Proxy: it does what the function does."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any
from uuid import uuid4

import pytest
from msgspec import structs
from pyspark.sql import SparkSession

from graveler.addresses import physical_uri
from graveler.aws.system import SystemClock
from graveler.branches.lookup import current_branch
from graveler.branches.staging import stage_changes
from graveler.engine import Engine
from graveler.entries import entry_value
from graveler.errors import ConflictError
from graveler.export.lifecycle import LEASE_S
from graveler.export.record import ExportConfiguration, ExportRequest, ExportSettings, ExportState
from graveler.model import AddressType, Entry, Repository
from graveler.operations import commits, writes
from graveler.operations.exports import requests
from graveler.operations.exports.advance import advance
from graveler.operations.exports.requests import ExportStatus
from graveler.ports import Clock
from graveler.times import Moment
from graveler_embedded.config import EXPORT_QUEUE, ROOT
from graveler_embedded.queues import Queues, queue_url
from graveler_jobs.export import run as job_run
from graveler_jobs.export.options import ExportOptions
from graveler_jobs.export.run import run
from tests.support.fakes.export_queue import queues
from tests.support.fakes.memory_exports import MemoryBatchJobs
from tests.support.servers.spark import IGNORED, UNCLOSED, deployment, spark, spark_session
from tests.support.servers.stack import BUCKET, KEYS
from tests.support.worlds.server_world import Keys, ServerWorld

pytestmark = [pytest.mark.server, pytest.mark.filterwarnings(IGNORED, UNCLOSED)]

__all__ = ["queues", "spark", "spark_session"]

DAYS = 8
PATTERNS = ("^$", "^days/", "_SUCCESS$")
CONTENTS = {
    **{f"days/{day}/{file:03}": f"{file % 3}" for day in range(DAYS) for file in range(12)},
    **{f"days/{day}/_SUCCESS": "" for day in range(DAYS)},
    "readme": "read me",
}
MARK = "_lakefs_success"
MARKS = {MARK, f"days/{MARK}", *(f"days/{day}/{MARK}" for day in range(DAYS))}


@dataclass
class Lake:
    """A repository with folders of days, and its exports."""

    world: ServerWorld
    engine: Engine
    repository: str
    path: str

    @property
    def request(self) -> ExportRequest:
        return ExportRequest(self.repository, "main")

    @property
    def status_path(self) -> str:
        return f"{self.path}-status"

    def configure(self, **more: Any) -> None:
        configuration = ExportConfiguration(self.path, self.status_path, PATTERNS)
        requests.configure(
            self.engine, self.repository, "main", structs.replace(configuration, **more)
        )

    def put(self, contents: Mapping[str, str]) -> dict[str, str]:
        """Stage objects; the URIs of their data by content, which equal ones share."""
        found = current_branch(self.engine, self.repository, "main")
        entries = {text: self._upload(found[0].record, text) for text in set(contents.values())}
        changes = [(key.encode(), entry_value(entries[text])) for key, text in contents.items()]
        stage_changes(*found, changes)
        return {
            text: physical_uri(found[0].record.storage_namespace, entry)
            for text, entry in entries.items()
        }

    def delete(self, *keys: str) -> None:
        for key in keys:
            writes.delete(self.engine, self.repository, "main", key.encode())

    def _upload(self, repository: Repository, text: str) -> Entry:
        address = f"data/{uuid4().hex}"
        uri = f"{repository.storage_namespace}/{address}"
        stored = self.engine.objects.put(uri, text.encode(), "text/csv")
        return Entry(
            address,
            AddressType.RELATIVE,
            len(text),
            stored.checksum,
            stored.last_modified_ns,
            "text/csv",
            {"Owner": "somebody"},
        )

    def commit(self) -> str:
        request = commits.CommitRequest("why", "somebody")
        return commits.commit(self.engine, self.repository, "main", request).id

    def look_after(self, engine: Engine | None = None, runner: str = "function") -> None:
        """What the function does with a message."""
        advance(engine or self.engine, self.request, runner=runner, time_left_s=lambda: 900.0)

    def run_job(
        self,
        spark: SparkSession,
        run_id: str = "",
        clock: Clock | None = None,
        slice_objects: int = 15,
    ) -> ExportStatus:
        options = ExportOptions(
            repository=self.repository,
            branch="main",
            run_id=run_id,
            slice_objects=slice_objects,
        )
        stores = deployment(self.world)
        engine = replace(self.engine, clock=clock or self.engine.clock)
        return run(spark, replace(stores, engine=engine), options)

    def start_job_process(self, messaging_endpoint: str) -> subprocess.Popen[bytes]:
        """The job by hand, in a process group of its own."""
        settings = asdict(deployment(self.world).settings)
        environment = {
            f"GRAVELER_{name.upper()}": str(value)
            for name, value in settings.items()
            if isinstance(value, str | int)
        }
        environment["GRAVELER_SQS_ENDPOINT"] = messaging_endpoint
        environment["GRAVELER_EXPORT_QUEUE_URL"] = queue_url(messaging_endpoint, EXPORT_QUEUE)
        credentials = {
            "AWS_REGION": settings["region"],
            "AWS_ACCESS_KEY_ID": KEYS.access_key_id,
            "AWS_SECRET_ACCESS_KEY": KEYS.secret_access_key,
        }
        words = ("--repository", self.repository, "--branch", "main", "--slice-objects", "20")
        return subprocess.Popen(
            [sys.executable, "-m", "graveler_jobs.export", *words],
            cwd=ROOT,
            env=os.environ | environment | credentials,
            start_new_session=True,
        )

    def status(self) -> ExportStatus:
        return requests.status(self.engine, self.repository, "main")

    def exported(self) -> dict[str, bytes]:
        """What lies under the export path, by key."""
        return {key: self.engine.objects.get(f"{self.path}/{key}") for key in self.keys()}

    def keys(self) -> set[str]:
        """The keys under the export path.

        While something is being copied, the local S3 server lists the parts that it has of it too.
        """
        prefix = f"{self.path}/"
        return {each.uri.removeprefix(prefix) for each in self.engine.objects.list_objects(prefix)}

    def manifest(self, commit_id: str) -> list[dict[str, Any]]:
        uri = f"{self.status_path}/{self.repository}-main-{commit_id}.manifest.jsonl"
        return [json.loads(line) for line in self.engine.objects.get(uri).splitlines()]

    def status_file(self, status: ExportStatus) -> str:
        """What the status file says."""
        uri = f"{self.status_path}/{self.repository}-main-{status.commit_id}"
        return self.engine.objects.get(uri).decode()

    def pieces(self) -> list[str]:
        folder = f"s3://{BUCKET}/{self.repository}/_lakefs/exports/"
        return [each.uri for each in self.engine.objects.list_objects(folder)]


class Ahead(SystemClock):
    """A clock that is ahead, so that current leases have ended."""

    def __init__(self, seconds: int) -> None:
        self._seconds = seconds

    def now_ns(self) -> int:
        return self.moment().wall_ns

    def moment(self) -> Moment:
        now = super().moment()
        return structs.replace(now, wall_ns=now.wall_ns + self._seconds * 10**9)


@pytest.fixture
def lake(dynamodb_endpoint: str, s3_endpoint: str) -> Iterator[Lake]:
    world = ServerWorld(
        dynamodb_endpoint, s3_endpoint, Keys(KEYS.access_key_id, KEYS.secret_access_key)
    )
    world.tables().create()
    made = Lake(
        world,
        world.engine(),
        world.new_repository(BUCKET),
        f"s3://{BUCKET}/exported-{uuid4().hex}",
    )
    made.put(CONTENTS)
    made.commit()
    yield made
    world.close()


def test_a_run_that_the_function_leaves_to_a_job_ends_as_the_functions_own(
    lake: Lake, spark: SparkSession
) -> None:
    job = MemoryBatchJobs()
    job.is_deployed = True
    handing_over = replace(
        lake.engine, batch_jobs=job, export_settings=ExportSettings(("s3://",), batch_objects_min=1)
    )
    lake.configure()
    lake.look_after(handing_over)
    [(_, run_id)] = job.started
    assert lake.exported() == {}
    lake.look_after(handing_over)
    lake.look_after()  # the run waits for the job
    assert lake.exported() == {}

    status = lake.run_job(spark, run_id)
    assert status.state is ExportState.SUCCEEDED
    assert status.export_id == run_id
    by_job = lake.exported()
    manifest = lake.manifest(status.exported_commit)

    lake.configure(path=f"{lake.path}-again", status_path=f"{lake.path}-again-status")
    lake.path += "-again"
    lake.look_after()
    assert lake.status().state is ExportState.SUCCEEDED
    assert lake.exported() == by_job
    assert by_job.keys() == CONTENTS.keys() | MARKS
    assert lake.manifest(status.exported_commit) == manifest
    assert [each["key"] for each in manifest] == sorted(CONTENTS)
    assert lake.pieces() == []


@pytest.mark.long
def test_another_job_finishes_the_run_of_a_killed_one(
    lake: Lake, spark: SparkSession, queues: tuple[Queues, str]
) -> None:
    many = {f"many/{number:04}": str(number % 3) for number in range(600)}
    lake.put(many)
    lake.commit()
    lake.configure()
    waiting, endpoint = queues
    job = lake.start_job_process(endpoint)
    try:
        while len(lake.keys()) < 40:
            assert job.poll() is None
            time.sleep(0.1)
    finally:
        os.killpg(job.pid, signal.SIGKILL)
        job.wait()
    assert waiting.counts(EXPORT_QUEUE).delayed == 1  # the function will advance it
    begun = lake.status()
    assert begun.state is ExportState.IN_PROGRESS
    assert not lake.keys() >= many.keys() | CONTENTS.keys() | MARKS
    with pytest.raises(ConflictError, match="has another runner, or has ended"):
        lake.run_job(spark)

    status = lake.run_job(spark, clock=Ahead(LEASE_S), slice_objects=100)
    assert (status.state, status.export_id) == (ExportState.SUCCEEDED, begun.export_id)
    assert lake.exported().keys() == many.keys() | CONTENTS.keys() | MARKS
    assert len(lake.manifest(status.exported_commit)) == len(many) + len(CONTENTS)


def test_failed_objects_are_reported_and_exported_after_the_repair(
    lake: Lake, spark: SparkSession
) -> None:
    lost = lake.put({"days/3/004": "lost", "days/3/007": "lost", "lost": "lost"})["lost"]
    lake.commit()
    lake.configure()
    lake.engine.objects.delete(lost)
    status = lake.run_job(spark)
    assert status.state is ExportState.FAILED
    assert (status.failed, len(status.first_errors)) == (3, 3)
    assert status.error_message.startswith("3 tasks failed")
    keys = CONTENTS.keys() - {"days/3/004", "days/3/007", "days/3/_SUCCESS"}
    without = {MARK, f"days/{MARK}", f"days/3/{MARK}"}
    assert lake.exported().keys() == keys | MARKS - without
    assert lake.status_file(status) == "status: export-failed, signalled_errors: 3\n"

    lake.engine.objects.put(lost, b"found", "text/csv")
    requests.repair(lake.engine, lake.repository, "main")
    status = lake.run_job(spark)
    assert status.state is ExportState.SUCCEEDED
    assert lake.exported().keys() == CONTENTS.keys() | {"lost"} | MARKS
    assert lake.exported()["days/3/007"] == b"found"
    assert lake.status_file(status) == "status: export-repaired, signalled_errors: 0\n"


def test_a_job_leaves_the_branch_whole_and_exports_it_again_when_asked(
    lake: Lake, spark: SparkSession
) -> None:
    lake.configure()
    lake.look_after()
    before = lake.exported()
    lake.put({"days/2/003": "changed", "days/5/new": "new"})
    lake.delete("days/7/000", "readme")
    lake.commit()
    status = lake.run_job(spark)
    assert status.state is ExportState.SUCCEEDED
    assert status.done == status.total >= len(CONTENTS) - 1  # each object was visited
    assert lake.exported() == {
        key: content for key, content in before.items() if key not in ("days/7/000", "readme")
    } | {"days/2/003": b"changed", "days/5/new": b"new"}
    lake.engine.objects.delete(f"{lake.path}/days/1/001")  # by others
    lake.run_job(spark)
    assert lake.exported()["days/1/001"] == before["days/1/001"]


def test_a_job_that_lost_a_worker_keeps_its_lease_until_it_expires(
    lake: Lake, spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    lake.configure()
    monkeypatch.setattr(job_run, "_task", lambda *_: os._exit(1))
    status = lake.run_job(spark)
    monkeypatch.undo()
    assert status.state is ExportState.IN_PROGRESS
    lake.look_after()  # the worker may still be writing: the function waits
    assert lake.exported() == {}
    with pytest.raises(ConflictError, match="has another runner, or has ended"):
        lake.run_job(spark)
    status = lake.run_job(spark, clock=Ahead(LEASE_S))
    assert status.state is ExportState.SUCCEEDED
    assert lake.exported().keys() == CONTENTS.keys() | MARKS
