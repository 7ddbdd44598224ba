"""Engines over local servers, for tests with several threads or processes."""

from collections.abc import Callable, Iterator
from concurrent.futures import Executor
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from uuid import uuid4

import boto3
from botocore.awsrequest import AWSPreparedRequest

from graveler.aws.boto3_timeouts import bounded
from graveler.aws.connect import dynamodb_over, observe_requests, s3_config
from graveler.aws.dynamodb.exports import DynamoExportStore
from graveler.aws.dynamodb.http_client import DynamoDBHttpClient
from graveler.aws.dynamodb.job_records import DynamoJobStore
from graveler.aws.dynamodb.refs import DynamoRefStore
from graveler.aws.dynamodb.staging import DynamoStagingStore
from graveler.aws.dynamodb.tables import Tables
from graveler.aws.s3.client import S3
from graveler.aws.s3.committed_files import S3CommittedFiles
from graveler.aws.s3.objects import S3ObjectStore
from graveler.aws.signing import Signer
from graveler.aws.system import SystemClock, SystemNames
from graveler.committed.store import Breaking, Committed
from graveler.engine import Engine
from graveler.operations import repositories
from graveler.ports import CommittedFiles, ObjectStore
from tests.support.fakes.engines import MemoryWorld, memory_world
from tests.support.fakes.hooks import MemoryTargets
from tests.support.servers.stack import KEYS

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client

REGION = "us-east-1"


@dataclass(frozen=True)
class Keys:
    """DynamoDB Local takes any keys, S3Proxy those that it was started with."""

    access_key: str = "AKIAITESTTESTTEST00Q"
    secret_key: str = "secret"
    token: str | None = None


def s3_client(
    endpoint: str, keys: Keys, observe: Callable[[str], None] | None = None
) -> "S3Client":
    """Return a client of an S3 endpoint that calls observe with the method of every request."""
    made = bounded(
        boto3.client(
            "s3",
            region_name=REGION,
            endpoint_url=endpoint,
            aws_access_key_id=keys.access_key,
            aws_secret_access_key=keys.secret_key,
            config=s3_config(endpoint),
        )
    )
    observe_requests(made.meta.events)
    if observe is not None:
        made.meta.events.register("before-send.s3", _observer(observe))
    return made


def _observer(observe: Callable[[str], None]) -> Callable[..., None]:
    def before_send(request: AWSPreparedRequest, **_: object) -> None:
        observe(f"S3 {request.method}")

    return before_send


@dataclass(frozen=True)
class ServerWorld:
    """Stores by their endpoints, so that another process can open them.

    Without an S3 endpoint, objects and committed files stay in this process. The export queue
    always does. All tests share one DynamoDB; a suffix names tables of one's own.
    """

    dynamodb_endpoint: str
    s3_endpoint: str | None = None
    s3_keys: Keys = Keys()
    suffix: str = ""
    memory: MemoryWorld = field(default_factory=memory_world, compare=False)
    _clients: list[DynamoDBHttpClient] = field(default_factory=list, compare=False)

    def tables(self, observe: Callable[[str], None] | None = None) -> Tables:
        """The two tables, which `create` makes."""
        signer = Signer(REGION, Keys)
        http = DynamoDBHttpClient(self.dynamodb_endpoint)
        self._clients.append(http)
        dynamodb = dynamodb_over(http, signer, observe=observe)
        return Tables(f"refs{self.suffix}", f"staging{self.suffix}", dynamodb)

    def engine(
        self, observe: Callable[[str], None] | None = None, threads: Executor | None = None
    ) -> Engine:
        """Return an engine with its own caches that calls observe with every request."""
        tables = self.tables(observe)
        objects: ObjectStore = self.memory.objects
        files: CommittedFiles = self.memory.files
        if self.s3_endpoint is not None:
            s3 = S3(s3_client(self.s3_endpoint, self.s3_keys, observe))
            objects, files = S3ObjectStore(s3), S3CommittedFiles(s3)
        clock = SystemClock()
        return Engine(
            hook_targets=MemoryTargets().ports,
            refs=DynamoRefStore(tables),
            staging=DynamoStagingStore(tables),
            objects=objects,
            committed=Committed(files, breaking=Breaking(3), executor=threads),
            clock=clock,
            names=SystemNames(clock),
            signing_key=b"signing key of the tests",
            exports=DynamoExportStore(tables),
            export_queue=self.memory.export_queue,
            batch_jobs=self.memory.batch_jobs,
            jobs=DynamoJobStore(tables),
            collection_jobs=self.memory.collection_jobs,
            export_settings=self.memory.export_settings,
            task_queue=self.memory.task_queue,
            task_settings=self.memory.task_settings,
            threads=threads,
        )

    def new_repository(self, bucket: str = "bucket") -> str:
        """Create a repository; return its name, which no other test uses."""
        name = f"repo-{uuid4().hex[:12]}"
        repositories.create(self.engine(), name=name, storage_namespace=f"s3://{bucket}/{name}")
        return name

    def close(self) -> None:
        """Close the connections to DynamoDB of every engine."""
        for client in self._clients:
            client.close()


@contextmanager
def open_world(
    dynamodb_endpoint: str, s3_endpoint: str | None = None, suffix: str = ""
) -> Iterator[ServerWorld]:
    """Create the tables on the servers of the fixtures; close all connections at the end."""
    keys = Keys(KEYS.access_key_id, KEYS.secret_access_key)
    world = ServerWorld(dynamodb_endpoint, s3_endpoint, keys, suffix)
    world.tables().create()
    yield world
    world.close()
