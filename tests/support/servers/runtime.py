"""The deployed archives under Lambda's own runtime client, over local stores.

The layer and the functions' code are unpacked into folders like Lambda's /opt and /var/task, and
nothing else is on the path but the client. The interpreter is the functions' Python if this machine
has it, else the one that runs this module.
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
from moto.server import ThreadedMotoServer

from graveler.aws.dynamodb.tables import _refs_description, _staging_description
from graveler_embedded.config import ROOT
from infra.packages import function_code
from layers.graveler import build
from layers.graveler.archive import find_compiler
from tests.support.clients.api import event as gateway_event
from tests.support.servers.runtime_api import RuntimeApi, runtime_api
from tests.support.servers.stack import BUCKET, KEYS

RUNNING = f"{sys.version_info.major}.{sys.version_info.minor}"
ARCHITECTURE = {"aarch64": "arm64"}.get(platform.machine(), platform.machine())
REGION = "eu-west-1"
CLIENT = ("awslambdaric", "simplejson", "snapshot-restore-py")
SETUP_TOKEN = "token"

CREDENTIALS = {
    "AWS_REGION": REGION,
    "AWS_ACCESS_KEY_ID": KEYS.access_key_id,
    "AWS_SECRET_ACCESS_KEY": KEYS.secret_access_key,
}


@dataclass
class Lambda:
    """Starts functions from the unpacked archives, with the environment of a deployment."""

    python: str
    version: str
    opt: Path
    client: Path
    folder: Path
    environment: Mapping[str, str]
    is_compiled: bool = True
    codes: dict[str, Path] = field(default_factory=dict)

    @contextmanager
    def function(self, name: str, *program: str, **environment: str) -> Iterator[RuntimeApi]:
        """A process of the function, which polls the runtime API."""
        code = self.codes.setdefault(name, self.folder / f"task-{name}")
        if not code.exists():
            with zipfile.ZipFile(function_code(name)) as archive:
                names = archive.namelist()
                archive.extractall(
                    code, [each for each in names if self.is_compiled or not each.endswith(".pyc")]
                )
        scratch = self.folder / f"tmp-{name}-{time.monotonic_ns()}"
        scratch.mkdir()
        log = scratch / "log"
        with runtime_api() as api, log.open("w") as output:
            process = subprocess.Popen(
                # -B: Lambda cannot write bytecode beside the code either.
                [
                    *(self.python, "-S", "-s", "-B", *(program or ("-m", "awslambdaric"))),
                    f"graveler_functions.{name}.handler.handler",
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


@contextmanager
def emulated_aws(dynamodb_endpoint: str, s3_endpoint: str) -> Iterator[Mapping[str, str]]:
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
    try:
        yield {
            **CREDENTIALS,
            "GRAVELER_REFS_TABLE": "runtime-refs",
            "GRAVELER_STAGING_TABLE": "runtime-staging",
            "GRAVELER_KMS_KEY_ID": key,
            "GRAVELER_EVENT_BUS": "graveler",
            "GRAVELER_TASK_QUEUE_URL": queue,
            "GRAVELER_HOOK_QUEUE_URL": queue,
            "GRAVELER_SETUP_TOKEN": SETUP_TOKEN,
            "GRAVELER_NAMESPACE_PREFIX": f"s3://{BUCKET}/",
            # As on AWS, where boto3 resolves it.
            "AWS_ENDPOINT_URL_DYNAMODB": dynamodb_endpoint,
            "GRAVELER_S3_ENDPOINT": s3_endpoint,
            "GRAVELER_EVENTS_ENDPOINT": endpoint,
            "GRAVELER_SQS_ENDPOINT": endpoint,
            "AWS_ENDPOINT_URL_KMS": endpoint,
        }
    finally:
        server.stop()


def interpreter() -> tuple[str, str]:
    """Return the functions' Python, if this machine has it, else the running one; and its version."""
    found = find_compiler(build.PYTHON)
    return (found, build.PYTHON) if found else (sys.executable, RUNNING)


def build_layer(folder: Path, *, is_compiled: bool = True) -> Path:
    """Build the layer for this machine, to be run by `interpreter`; return its path.

    Raises:
        CalledProcessError: pip did not find or accept a wheel; pip printed why.
    """
    python, version = interpreter()
    build.build(ARCHITECTURE, folder, version, compiler=python if is_compiled else None)
    return build.layer_path(ARCHITECTURE, folder)


def deployed(
    folder: Path, environment: Mapping[str, str], layer: Path, *, is_compiled: bool = True
) -> Lambda:
    """Unpack the layer that `build_layer` built, and install the runtime client.

    Raises:
        CalledProcessError: pip did not find or accept a wheel; pip printed why.
    """
    python, version = interpreter()
    with zipfile.ZipFile(layer) as archive:
        archive.extractall(folder / "opt")
    locked = (ROOT / "requirements-dev.txt").read_text()
    pins = re.findall(rf"^(?:{'|'.join(CLIENT)})==\S+", locked, re.MULTILINE)
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", *pins]
    command += ["--only-binary=:all:", f"--python-version={version}", "--implementation=cp"]
    subprocess.run([*command, f"--target={folder / 'client'}"], check=True)
    opt = folder / "opt" / build.FOLDER
    return Lambda(python, version, opt, folder / "client", folder, environment, is_compiled)


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


def set_up(deployed: Lambda) -> str:
    """Have the API function make the administrator and the repository lake; return a credential."""
    with deployed.function("api") as api:
        client = Client(api)
        token = {"X-Graveler-Setup-Token": SETUP_TOKEN}
        pair = client.ask("POST", "/setup_lakefs", {"username": "ann"}, **token)
        keys = f"{pair['access_key_id']}:{pair['secret_access_key']}"
        client.authorization = f"Basic {base64.b64encode(keys.encode()).decode()}"
        client.ask(
            "POST", "/repositories", {"name": "lake", "storage_namespace": f"s3://{BUCKET}/runtime"}
        )
    return client.authorization
