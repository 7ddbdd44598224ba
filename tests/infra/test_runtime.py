"""The deployed archives under Lambda's own runtime client: one real request to each function.

The layer and the functions' code are unpacked into folders like Lambda's /opt and /var/task, and
nothing else is on the path but the client. The interpreter is the functions' Python if this machine
has it, else the one that runs the tests.
"""

import base64
import json
import os
import platform
import re
import signal
import subprocess
import sys
import time
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import boto3
import pytest
from moto.server import ThreadedMotoServer

from graveler.aws.dynamodb.tables import _refs_description, _staging_description
from infra.packages import function_code
from layers.graveler import build
from layers.graveler.archive import find_compiler
from tests.infra.conftest import ROOT
from tests.infra.test_functions import NAMES
from tests.infra.test_layer import ANSWERS, EVENTS
from tests.support.api import event as gateway_event
from tests.support.runtime_api import RuntimeApi, runtime_api
from tests.support.stack import BUCKET, KEYS

pytestmark = pytest.mark.packages

RUNNING = f"{sys.version_info.major}.{sys.version_info.minor}"
ARCHITECTURE = {"aarch64": "arm64"}.get(platform.machine(), platform.machine())
REGION = "eu-west-1"
CLIENT = ("awslambdaric", "simplejson", "snapshot-restore-py")

CREDENTIALS = {
    "AWS_REGION": REGION,
    "AWS_ACCESS_KEY_ID": KEYS.access_key_id,
    "AWS_SECRET_ACCESS_KEY": KEYS.secret_access_key,
}

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
    wiring.engine().names.new_uid()
    wiring.engine().objects.head(os.environ["GRAVELER_NAMESPACE_PREFIX"] + "nothing")
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


@dataclass
class Lambda:
    """Starts functions from the unpacked archives, with the environment of a deployment."""

    python: str
    opt: Path
    client: Path
    folder: Path
    environment: Mapping[str, str]
    codes: dict[str, Path] = field(default_factory=dict)

    @contextmanager
    def function(self, name: str, *program: str, **environment: str) -> Iterator[RuntimeApi]:
        """A process of the function, which polls the runtime API."""
        code = self.codes.setdefault(name, self.folder / f"task-{name}")
        if not code.exists():
            with zipfile.ZipFile(function_code(name)) as archive:
                archive.extractall(code)
        scratch = self.folder / f"tmp-{name}-{time.monotonic_ns()}"
        scratch.mkdir()
        log = scratch / "log"
        with runtime_api() as api, log.open("w") as output:
            process = subprocess.Popen(
                # -B: Lambda cannot write bytecode beside the code either.
                [
                    *(self.python, "-S", "-s", "-B", *(program or ("-m", "awslambdaric"))),
                    f"functions.{name}.handler.handler",
                ],
                cwd=code,
                env={
                    "PYTHONPATH": os.pathsep.join(map(str, (self.client, code, self.opt))),
                    "LAMBDA_TASK_ROOT": str(code),
                    "AWS_LAMBDA_RUNTIME_API": api.address,
                    "AWS_LAMBDA_FUNCTION_NAME": f"graveler-{name}",
                    "AWS_LAMBDA_FUNCTION_MEMORY_SIZE": "1769",
                    "AWS_LAMBDA_LOG_FORMAT": "JSON",
                    "GRAVELER_FILE_CACHE_FOLDER": str(scratch / "cache"),
                    "TMPDIR": str(scratch),
                    **self.environment,
                    **environment,
                },
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
            try:
                yield api
            except BaseException:
                sys.stdout.write(log.read_text())
                raise
            finally:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()


@pytest.fixture(scope="module")
def aws(dynamodb_endpoint: str, s3_endpoint: str) -> Iterator[Mapping[str, str]]:
    """The local stores, moto for the other services, and the environment of the functions."""
    server = ThreadedMotoServer("127.0.0.1", 0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    endpoint = f"http://{host}:{port}"
    session = boto3.Session(
        CREDENTIALS["AWS_ACCESS_KEY_ID"],
        CREDENTIALS["AWS_SECRET_ACCESS_KEY"],
        region_name=REGION,
    )

    def client(service: Any) -> Any:
        return session.client(service, endpoint_url=endpoint)

    dynamodb = session.client("dynamodb", endpoint_url=dynamodb_endpoint)
    dynamodb.create_table(**_refs_description("runtime-refs"))
    dynamodb.create_table(**_staging_description("runtime-staging"))
    client("events").create_event_bus(Name="graveler")
    key = client("kms").create_key()["KeyMetadata"]["KeyId"]
    queue = client("sqs").create_queue(QueueName="tasks")["QueueUrl"]
    yield {
        **CREDENTIALS,
        "GRAVELER_REFS_TABLE": "runtime-refs",
        "GRAVELER_STAGING_TABLE": "runtime-staging",
        "GRAVELER_KMS_KEY_ID": key,
        "GRAVELER_EVENT_BUS": "graveler",
        "GRAVELER_TASK_QUEUE_URL": queue,
        "GRAVELER_SETUP_TOKEN": "token",
        "GRAVELER_NAMESPACE_PREFIX": f"s3://{BUCKET}/",
        "GRAVELER_DYNAMODB_ENDPOINT": dynamodb_endpoint,
        "GRAVELER_S3_ENDPOINT": s3_endpoint,
        "GRAVELER_EVENTS_ENDPOINT": endpoint,
        "GRAVELER_SQS_ENDPOINT": endpoint,
        "AWS_ENDPOINT_URL_KMS": endpoint,
    }
    server.stop()


@pytest.fixture(scope="module")
def deployed(aws: Mapping[str, str], tmp_path_factory: pytest.TempPathFactory) -> Lambda:
    """The layer and the runtime client, for the functions' Python if there is one."""
    folder = tmp_path_factory.mktemp("lambda")
    found = find_compiler(build.PYTHON)
    python, version = (found, build.PYTHON) if found else (sys.executable, RUNNING)
    build.build(ARCHITECTURE, folder, version, compiler=python)
    with zipfile.ZipFile(build.layer_path(ARCHITECTURE, folder)) as archive:
        archive.extractall(folder / "opt")
    locked = (ROOT / "requirements-dev.txt").read_text()
    pins = re.findall(rf"^(?:{'|'.join(CLIENT)})==\S+", locked, re.MULTILINE)
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", *pins]
    command += ["--only-binary=:all:", f"--python-version={version}", "--implementation=cp"]
    subprocess.run([*command, f"--target={folder / 'client'}"], check=True)
    return Lambda(python, folder / "opt" / build.FOLDER, folder / "client", folder, aws)


@dataclass
class Client:
    """A client of the API function, with the administrator's key pair."""

    api: RuntimeApi
    authorization: str = ""

    def send(self, method: str, path: str, body: bytes | None = None, **headers: str) -> None:
        headers = {"Authorization": self.authorization, **headers}
        path, _, query = path.partition("?")
        self.api.send(
            gateway_event(method, f"/api/v1{path}", query=query, headers=headers, body=body)
        )

    def answer(self) -> bytes:
        """The body of the next answer, which must not be an error."""
        answer = self.api.receive()
        body: str = answer["body"]
        content = base64.b64decode(body) if answer["isBase64Encoded"] else body.encode()
        assert answer["statusCode"] < 300, (answer, content)
        return content

    def ask(self, method: str, path: str, body: object = None, **headers: str) -> Any:
        content = None if body is None else json.dumps(body).encode()
        self.send(method, path, content, **{"Content-Type": "application/json"}, **headers)
        return json.loads(self.answer() or b"null")

    def send_upload(self, path: str, content: bytes) -> None:
        where = f"/repositories/lake/branches/main/objects?path={path}"
        self.send("POST", where, content, **{"Content-Type": "application/octet-stream"})


@pytest.fixture(scope="module")
def authorization(deployed: Lambda) -> str:
    """The first administrator's key pair, made by the API function."""
    with deployed.function("api") as api:
        client = Client(api)
        token = {"X-Graveler-Setup-Token": "token"}
        pair = client.ask("POST", "/setup_lakefs", {"username": "ann"}, **token)
        keys = f"{pair['access_key_id']}:{pair['secret_access_key']}"
        client.authorization = f"Basic {base64.b64encode(keys.encode()).decode()}"
        client.ask(
            "POST", "/repositories", {"name": "lake", "storage_namespace": f"s3://{BUCKET}/runtime"}
        )
    return client.authorization


def outbox(aws: Mapping[str, str]) -> list[dict[str, Any]]:
    """The records of the stream of the refs table for the events in the outbox."""
    session = boto3.Session(
        aws["AWS_ACCESS_KEY_ID"], aws["AWS_SECRET_ACCESS_KEY"], region_name=REGION
    )
    client = session.client("dynamodb", endpoint_url=aws["GRAVELER_DYNAMODB_ENDPOINT"])
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


@pytest.mark.parametrize("name", ["export", "slices"])
def test_the_other_functions_answer_what_names_no_repository(
    name: str, deployed: Lambda, authorization: str
) -> None:
    with deployed.function(name) as api:
        assert ANSWERS[name](api.invoke(EVENTS[name]))


def test_every_function_is_tried() -> None:
    assert {"api", "cleanup", "events", "export", "slices", "tasks"} == set(NAMES)


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
