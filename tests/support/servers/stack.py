"""Servers for tests: started once per session on free loopback ports, gone when it ends.

What fails to start is started once more: every later test of the session would fail with it.

A test that uses one of these fixtures carries `@pytest.mark.server`.
"""

import os
import re
import signal
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import boto3
import pytest

from graveler.http.schemas.credentials import AccessKey
from graveler_embedded.config import ROOT
from graveler_embedded.processes import Child, StartError
from graveler_embedded.stores import BUCKET, StoreServer, start_dynamodb, start_s3proxy
from graveler_embedded.tcp_ports import free_port

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client

__all__ = ["BACKUP", "BUCKET", "KEYS", "OWN_PAIR", "Stack"]

# What `s3_endpoint` accepts. DynamoDB Local takes any key.
KEYS = AccessKey("AKIAITESTTESTTEST00Q", "dGhlIHNlY3JldCBvZiB0aGUgdGVzdCBzZXJ2ZXJz")

# Of `own_stack`: where it keeps dumps, and its key pair.
BACKUP = "company-backup"
OWN_PAIR = {"GRAVELER_ACCESS_KEY_ID": "chosen", "GRAVELER_SECRET_ACCESS_KEY": "a-secret"}

READY = "Graveler is ready."

# The folder of the jars, and the observer of requests (make actions).
_KEPT = ("GRAVELER_JARS", "GRAVELER_OBSERVER")


class Stack:
    """The whole embedded stack as a process of its own, as `make serve` runs it."""

    def __init__(self, folder: Path, **environment: str) -> None:
        self.data = folder / "data"
        self.port = free_port()
        self.s3_port = free_port()
        self._log = folder / "stack.log"
        self._environment = {
            **{name: value for name, value in os.environ.items() if name[:9] != "GRAVELER_"},
            **{name: os.environ[name] for name in _KEPT if name in os.environ},
            "GRAVELER_DATA": str(self.data),
            "GRAVELER_PORT": str(self.port),
            "GRAVELER_S3_PORT": str(self.s3_port),
            **environment,
        }
        try:
            self.start()
        except StartError:  # on a busy machine; whoever starts it later judges that start
            self.kill()
            self.start()

    def start(self) -> None:
        """Start the stack; returns when it is ready."""
        self._log.unlink(missing_ok=True)
        command = (sys.executable, "-m", "graveler_cli", "serve")
        self._process = Child("the stack", command, self._log, self._environment, ROOT)
        self._process.wait_until(lambda: READY in self.output)

    def stop(self, number: signal.Signals = signal.SIGTERM) -> int:
        """Stop the stack; return its exit code."""
        return self._process.stop(number, timeout_s=240)

    def kill(self) -> None:
        """Kill the supervisor of the stack with SIGKILL."""
        self._process.kill()

    def restart(self) -> None:
        """Stop and start again on the same data."""
        self.stop()
        self.start()

    @property
    def pid(self) -> int:
        """The process ID of the supervisor."""
        return self._process.pid

    @property
    def output(self) -> str:
        """The output of the stack on its terminal since it was started."""
        return self._log.read_text()

    @property
    def endpoint(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def s3_endpoint(self) -> str:
        return f"http://127.0.0.1:{self.s3_port}"

    @property
    def s3(self) -> "S3Client":
        """A client of the object store under the stack, for reading around lakeFS."""
        return boto3.client(
            "s3",
            endpoint_url=self.s3_endpoint,
            region_name="us-east-1",
            aws_access_key_id=self.access_key_id,
            aws_secret_access_key=self.secret_access_key,
        )

    @property
    def messaging_endpoint(self) -> str:
        """The endpoint for clients of EventBridge and SQS."""
        return self._printed("bus and queues")

    @property
    def access_key_id(self) -> str:
        return self._printed("access key ID")

    @property
    def secret_access_key(self) -> str:
        return self._printed("secret access key")

    def _printed(self, name: str) -> str:
        found = re.search(rf"^ *{name} +(\S+)", self.output, re.MULTILINE)
        assert found, self.output
        return found[1]


def started(start: Callable[[], StoreServer]) -> StoreServer:
    """Start a server; return it when it is ready."""
    server = start()
    try:
        server.wait_until_ready()
    except StartError:
        server.child.kill()
        server = start()
        server.wait_until_ready()
    return server


@pytest.fixture(scope="session")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    """The whole stack on free ports and a folder of its own, shared by all tests of a session."""
    running = Stack(tmp_path_factory.mktemp("stack"))
    yield running
    running.stop()


@pytest.fixture(scope="session")
def own_stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    """A stack that tests may stop and kill, and start again; it keeps dumps in the bucket BACKUP."""
    settings = {**OWN_PAIR, "GRAVELER_DUMP_PLACE": f"s3://{BACKUP}/dumps/"}
    running = Stack(tmp_path_factory.mktemp("own"), **settings)
    running.s3.create_bucket(Bucket=BACKUP)
    yield running
    assert running.stop() == 0, running.output


@pytest.fixture(scope="session")
def dynamodb_endpoint(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The URL of an empty DynamoDB Local that keeps its data in memory."""
    log = tmp_path_factory.mktemp("dynamodb") / "dynamodb.log"
    server = started(lambda: start_dynamodb(free_port(), data=None, log=log))
    _have_it_answer(server.endpoint)
    yield server.endpoint
    server.child.kill()


def _have_it_answer(endpoint: str) -> None:
    """Wait for DynamoDB Local's first answers as long as boto3 does: stores are less patient."""
    dynamodb = boto3.client(
        "dynamodb",
        endpoint_url=endpoint,
        region_name="us-east-1",
        aws_access_key_id=KEYS.access_key_id,
        aws_secret_access_key=KEYS.secret_access_key,
    )
    dynamodb.create_table(
        TableName="first",
        BillingMode="PAY_PER_REQUEST",
        AttributeDefinitions=[{"AttributeName": "key", "AttributeType": "S"}],
        KeySchema=[{"AttributeName": "key", "KeyType": "HASH"}],
    )
    dynamodb.close()


@pytest.fixture(scope="session")
def s3_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the S3Proxy of `s3_endpoint` keeps its buckets."""
    return tmp_path_factory.mktemp("s3") / "objects"


@pytest.fixture(scope="session")
def s3_endpoint(s3_folder: Path) -> Iterator[str]:
    """The URL of an S3Proxy that accepts KEYS and holds the empty bucket BUCKET."""
    log = s3_folder.parent / "s3proxy.log"
    server = started(lambda: start_s3proxy(free_port(), s3_folder, KEYS, log))
    yield server.endpoint
    server.child.kill()
