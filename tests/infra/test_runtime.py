"""The deployed archives under Lambda's own runtime client: one real request to each function."""

import base64
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import boto3
import pytest

from tests.infra.test_functions import FOLDERS
from tests.support.fakes.function_events import ANSWERS, EVENTS
from tests.support.servers import runtime
from tests.support.servers.runtime import REGION, Client, Lambda, emulated_aws

pytestmark = pytest.mark.packages

# Lambda copies the memory of a process that has started. A fork does the same, with the old process
# ID. Before it, the process draws a name and uses both stores, as a longer start could.
SNAPSHOT = """
import json, os, sys
from awslambdaric import __main__, lambda_runtime_client

process_id = os.getpid()
client = lambda_runtime_client.LambdaRuntimeClient
restore_next, wait_next = client.restore_next, client.wait_next_invocation
used = set()

def sockets():
    links = set()
    for each in os.listdir("/proc/self/fd"):
        try:
            links.add(os.readlink(f"/proc/self/fd/{each}"))
        except OSError:
            pass
    return {each for each in links if each.startswith("socket:")}

def restore(self):
    from graveler.aws import wiring
    engine = wiring.adapters().engine
    engine.names.new_uid()
    engine.objects.head(os.environ["GRAVELER_NAMESPACE_PREFIX"] + "nothing")
    restore_next(self)
    used.update(sockets())
    os.fork()
    os.getpid = lambda: process_id

def wait(self):
    if used:
        name = f"copy-{os.readlink('/proc/self')}.json"
        with open(os.path.join(os.environ["TMPDIR"], name), "w") as file:
            json.dump({"used": len(used), "kept": len(used & sockets())}, file)
        used.clear()
    return wait_next(self)

client.restore_next, client.wait_next_invocation = restore, wait
__main__.main(sys.argv)
"""


@pytest.fixture(scope="module")
def aws(dynamodb_endpoint: str, s3_endpoint: str) -> Iterator[Mapping[str, str]]:
    with emulated_aws(dynamodb_endpoint, s3_endpoint) as environment:
        yield environment


@pytest.fixture(scope="module")
def deployed(
    aws: Mapping[str, str], layer: Path, tmp_path_factory: pytest.TempPathFactory
) -> Lambda:
    return runtime.deployed(tmp_path_factory.mktemp("lambda"), aws, layer)


@pytest.fixture(scope="module")
def authorization(deployed: Lambda) -> str:
    """The first administrator's key pair, made by the API function."""
    return runtime.set_up(deployed)


def outbox(aws: Mapping[str, str]) -> list[dict[str, Any]]:
    """The records of the stream of the refs table for the events in the outbox."""
    session = boto3.Session(
        aws["AWS_ACCESS_KEY_ID"], aws["AWS_SECRET_ACCESS_KEY"], region_name=REGION
    )
    client = session.client("dynamodb", endpoint_url=aws["AWS_ENDPOINT_URL_DYNAMODB"])
    items = client.scan(TableName="runtime-refs")["Items"]
    found = [each for each in items if each["sort"]["S"].startswith("outbox#")]
    return [
        {
            "eventName": "INSERT",
            "eventSource": "aws:dynamodb",
            "dynamodb": {
                "Keys": {name: item[name] for name in ("partition", "sort")},
                "NewImage": item,
                "SequenceNumber": str(number),
            },
        }
        for number, item in enumerate(found)
    ]


def test_the_api_stores_and_returns_an_object(deployed: Lambda, authorization: str) -> None:
    with deployed.function("api") as api:
        client = Client(api, authorization)
        client.send_upload("first", b"content")
        assert json.loads(client.answer())["size_bytes"] == len(b"content")
        client.send("GET", "/repositories/lake/refs/main/objects?path=first")
        assert client.answer() == b"content"


def test_events_of_the_outbox_are_published(deployed: Lambda, authorization: str) -> None:
    records = outbox(deployed.environment)
    assert records
    with deployed.function("events") as api:
        assert api.invoke({"Records": records}) == {"batchItemFailures": []}


def test_a_task_commits_what_a_request_left_to_it(deployed: Lambda, authorization: str) -> None:
    with deployed.function("api") as api:
        client = Client(api, authorization)
        client.send_upload("committed", b"by a task")
        client.answer()
        where = "/repositories/lake/branches/main/commits"
        task = client.ask("POST", f"{where}/async", {"message": "by a task"})["id"]
        message = {
            "messageId": "m-1",
            "eventSource": "aws:sqs",
            "body": json.dumps({"repository": "lake", "task_id": task}),
        }
        with deployed.function("tasks") as tasks:
            tasks.timeout_s = 15 * 60
            assert tasks.invoke({"Records": [message]}) == {"batchItemFailures": []}
        status = client.ask("GET", f"{where}/async/{task}/status")
        assert status["completed"], status
        log = client.ask("GET", "/repositories/lake/refs/main/commits")
        assert log["results"][0]["message"] == "by a task"


def test_the_cleanup_looks_for_what_is_due(deployed: Lambda, authorization: str) -> None:
    with deployed.function("cleanup") as api:
        assert api.invoke({}) == {"done": 0}


def test_the_web_page_is_shown(deployed: Lambda) -> None:
    with deployed.function("web") as web:
        assert ANSWERS["web"](web.invoke(EVENTS["web"]))


@pytest.mark.parametrize("name", ["export", "hooks", "iceberg", "slices"])
def test_the_other_functions_answer_what_names_no_repository(
    name: str, deployed: Lambda, authorization: str
) -> None:
    with deployed.function(name) as api:
        assert ANSWERS[name](api.invoke(EVENTS[name]))


def test_every_function_is_tried() -> None:
    others = {"export", "hooks", "iceberg", "slices"}
    assert {"api", "cleanup", "events", "tasks", "web"} | others == set(FOLDERS)


def test_two_copies_of_a_snapshot_make_different_names_over_new_connections(
    deployed: Lambda, authorization: str
) -> None:
    start = {"AWS_LAMBDA_INITIALIZATION_TYPE": "snap-start"}
    with deployed.function("api", "-c", SNAPSHOT, **start) as api:
        api.wait_for_polls(2)
        assert api.restores == 1
        client = Client(api, authorization)
        client.send_upload("one", b"1")
        client.send_upload("two", b"2")
        addresses = [json.loads(client.answer())["physical_address"] for _ in range(2)]
        copies = [
            json.loads(path.read_text()) for path in deployed.folder.glob("tmp-api-*/copy-*.json")
        ]
    assert len(copies) == 2
    for copy in copies:
        assert copy["used"] >= 2  # of DynamoDB, and of S3
        assert copy["kept"] == 0
    drawn = {xid_of(address)[4:] for address in addresses}
    processes = {each[:5] for each in drawn}
    assert len(processes) == 2, addresses


def xid_of(address: str) -> bytes:
    """Time (4 bytes), process (5), and count (3) of the ID at the end of an address."""
    xid = address.rpartition("/")[2]
    return base64.b32hexdecode(f"{xid.upper()}====")
