"""Scheduled dumps on the running stack, and `graveler drill`, which restores them."""

import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

import boto3
import lakefs
import pytest

from graveler.operations.scheduled_dumps import MANIFEST, SCHEDULED
from graveler_embedded.config import ROOT, TASK_QUEUE
from tests.acceptance.clients import connect, create_repository
from tests.support.faults.spoiling_proxy import Fault, answered, replaced, spoiling_proxy
from tests.support.servers.stack import BACKUP, BUCKET, Stack

pytestmark = pytest.mark.server

PATIENCE_S = 300


@pytest.fixture
def stack(own_stack: Stack) -> Stack:
    """The stack that keeps dumps."""
    return own_stack


@pytest.fixture
def client(stack: Stack) -> lakefs.Client:
    return connect(stack)


@pytest.fixture
def repository(client: lakefs.Client) -> Iterator[lakefs.Repository]:
    """A repository with two branches that diverged, and a tag."""
    made = create_repository(client)
    for name in ("main", "dev"):
        branch = made.branch(name)
        if name != "main":
            branch.create("main")
        branch.object(f"of-{name}").upload(name.encode())
        branch.commit(f"on {name}")
    made.tag("v1").create("main")
    yield made
    made.delete()


@pytest.fixture
def drill(stack: Stack) -> Callable[..., tuple[int, dict[str, Any]]]:
    """Runs `graveler drill --json`; returns its exit code and report."""

    def drill(repository: str, *args: str, endpoint: str = "") -> tuple[int, dict[str, Any]]:
        done = subprocess.run(
            [
                *(sys.executable, "-c", "from graveler_cli.__main__ import main; main()"),
                *("drill", f"lakefs://{repository}", "--json", *args),
            ],
            cwd=ROOT,
            env={
                "PATH": "",
                "LAKECTL_SERVER_ENDPOINT_URL": endpoint or stack.endpoint,
                "LAKECTL_CREDENTIALS_ACCESS_KEY_ID": stack.access_key_id,
                "LAKECTL_CREDENTIALS_SECRET_ACCESS_KEY": stack.secret_access_key,
            },
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
        assert done.stdout, done.stderr
        return done.returncode, json.loads(done.stdout)

    return drill


def dump_on_schedule(stack: Stack, repository: str) -> str:
    """Send the schedule's message; return the folder of the repository's newest copy."""
    sqs = boto3.client(
        "sqs",
        endpoint_url=stack.messaging_endpoint,
        region_name="us-east-1",
        aws_access_key_id=stack.access_key_id,
        aws_secret_access_key=stack.secret_access_key,
    )
    before = folders(stack, repository)
    url = sqs.get_queue_url(QueueName=TASK_QUEUE)["QueueUrl"]
    sqs.send_message(QueueUrl=url, MessageBody=json.dumps(dict(SCHEDULED)))
    deadline_s = time.monotonic() + PATIENCE_S
    while not (new := folders(stack, repository) - before):
        assert time.monotonic() < deadline_s, "no dump is kept"
        time.sleep(0.2)
    (folder,) = new
    return folder


def folders(stack: Stack, repository: str) -> set[str]:
    """Return the folders of whole copies."""
    found = stack.s3.list_objects_v2(Bucket=BACKUP, Prefix=f"dumps/{repository}/")
    keys = [each["Key"] for each in found.get("Contents", [])]
    return {key.removesuffix(f"/{MANIFEST}") for key in keys if key.endswith(MANIFEST)}


def names(client: lakefs.Client) -> list[str]:
    return [each.id for each in lakefs.repositories(client)]


def test_the_newest_kept_dump_is_restored_compared_and_removed(drill, client, repository, stack):
    dump_on_schedule(stack, repository.id)
    before = names(client)
    code, report = drill(repository.id)
    assert (code, report["problems"], report["left"]) == (0, [], "")
    assert (report["branches"], report["tags"], report["commits"]) == (2, 1, 3)
    assert report["changed"] == []
    assert names(client) == before


def test_refs_that_moved_since_the_dump_are_named_and_no_problem(drill, repository, stack):
    dump_on_schedule(stack, repository.id)
    main = repository.branch("main")
    main.object("later").upload(b"later")
    main.commit("later")
    repository.tag("v1").delete()
    code, report = drill(repository.id)
    assert (code, report["problems"]) == (0, [])
    assert report["changed"] == ["branches/main", "tags/v1"]


def test_a_damaged_copy_is_a_problem_and_the_scratch_repository_goes(
    drill, client, repository, stack
):
    folder = dump_on_schedule(stack, repository.id)
    found = stack.s3.list_objects_v2(Bucket=BACKUP, Prefix=f"{folder}/_lakefs/")
    for each in found["Contents"]:
        stack.s3.put_object(Bucket=BACKUP, Key=each["Key"], Body=b"damaged")
    before = names(client)
    code, report = drill(repository.id)
    assert code == 1
    assert "the restore failed" in report["problems"][0]
    assert names(client) == before
    code, report = drill(repository.id, "--fresh")
    assert (code, report["problems"]) == (0, [])


def test_a_manifest_from_the_backup_restores_from_its_folder(drill, repository, stack, tmp_path):
    folder = dump_on_schedule(stack, repository.id)
    file = tmp_path / "manifest.json"
    stack.s3.download_file(BACKUP, f"{folder}/{MANIFEST}", str(file))
    code, report = drill(
        repository.id, "--manifest", str(file), "--namespace", f"s3://{BACKUP}/{folder}"
    )
    assert (code, report["problems"], report["branches"]) == (0, [], 2)


def test_a_lost_region_comes_back_from_the_copy_of_the_refs(client, stack, tmp_path):
    """docs/backup.md, "Loss of a region": the replica has the data, the backup the refs."""
    lost = create_repository(client)
    lost.branch("main").object("a/b").upload(b"content")
    head = lost.branch("main").commit("kept").get_commit().id
    folder = dump_on_schedule(stack, lost.id)
    source, replica = lost.properties.storage_namespace.partition(f"{BUCKET}/")[2], "replica"
    stack.s3.create_bucket(Bucket=replica)
    for each in stack.s3.list_objects_v2(Bucket=BUCKET, Prefix=f"{source}/")["Contents"]:
        copy(stack, BUCKET, each["Key"], replica, each["Key"])
    for each in stack.s3.list_objects_v2(Bucket=BACKUP, Prefix=f"{folder}/_lakefs/")["Contents"]:
        copy(stack, BACKUP, each["Key"], replica, source + each["Key"].removeprefix(folder))
    ids = json.loads(stack.s3.get_object(Bucket=BACKUP, Key=f"{folder}/{MANIFEST}")["Body"].read())
    lost.delete()

    api = client.sdk_client
    body = {"name": "again", "storage_namespace": f"s3://{replica}/{source}"}
    api.repositories_api.create_repository(body, bare=True)
    known = {key: ids[key] for key in ids if key.endswith("_meta_range_id")}
    api.internal_api.restore_refs("again", known)
    again = lakefs.Repository("again", client)
    assert again.branch("main").get_commit().id == head
    assert again.branch("main").object("a/b").reader("rb").read() == b"content"
    again.delete()


def copy(stack: Stack, bucket: str, key: str, to_bucket: str, to_key: str) -> None:
    body = stack.s3.get_object(Bucket=bucket, Key=key)["Body"].read()
    stack.s3.put_object(Bucket=to_bucket, Key=to_key, Body=body)


FAULTS = (
    (
        Fault(
            "head", r"GET .*graveler-drill-\w+/branches", replaced('commit_id":"', 'commit_id":"0')
        ),
        "answered 404",
    ),
    (Fault("history", r"GET .*graveler-drill-\w+/refs/", replaced('"id":"', '"id":"0')), "history"),
    (Fault("restore", r"POST .*graveler-drill-\w+/restore", answered(500)), "answered 500"),
)


@pytest.mark.parametrize(("fault", "told"), FAULTS, ids=[fault.name for fault, _ in FAULTS])
def test_a_restore_that_differs_is_a_problem(drill, client, repository, stack, fault, told):
    before = names(client)
    with spoiling_proxy(stack.endpoint, [fault]) as proxy:
        code, report = drill(repository.id, "--fresh", endpoint=proxy.endpoint)
    assert proxy.spoiled == {fault.name}
    assert code == 1
    assert told in report["problems"][0]
    assert names(client) == before


def test_a_scratch_repository_that_cannot_be_deleted_is_named(drill, client, repository, stack):
    fault = Fault("delete", r"DELETE ", answered(500), is_forwarded=False)
    with spoiling_proxy(stack.endpoint, [fault]) as proxy:
        code, report = drill(repository.id, "--fresh", endpoint=proxy.endpoint)
    assert code == 1
    assert report["left"] in names(client)
    api = client.sdk_client.repositories_api
    # So no garbage collection begins with it.
    assert api.get_repository(report["left"]).read_only
    api.delete_repository(report["left"], force=True)
