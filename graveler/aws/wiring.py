"""Builds the adapters of a deployment, and the engine over them.

A process has one container of adapters, and drops it whole. Lambda's SnapStart resumes many copies
of one initialized process. All copies have the memory of the one, and its process ID. So IDs that
follow from drawn numbers would repeat, connections are dead, and remembered values may be old.
"""

import os
import random
from collections.abc import Callable
from functools import cached_property, lru_cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

from graveler.aws.connect import Clients
from graveler.aws.dynamodb.accounts import DynamoAccountStore
from graveler.aws.dynamodb.accounts.records import Cipher
from graveler.aws.dynamodb.cleanup import CleanupStore
from graveler.aws.dynamodb.exports import DynamoExportStore
from graveler.aws.dynamodb.heartbeats import HeartbeatStore
from graveler.aws.dynamodb.job_records import DynamoJobStore
from graveler.aws.dynamodb.refs import DynamoRefStore
from graveler.aws.dynamodb.staging import DynamoStagingStore
from graveler.aws.dynamodb.tables import Tables
from graveler.aws.environment import import_function
from graveler.aws.eventbridge import EventBridgeBus
from graveler.aws.glue import GlueBatchJobs, GlueCollectionJobs
from graveler.aws.hook_targets import EventBridgeHookBuses, LambdaHookFunctions, secrets_of
from graveler.aws.kms import KmsCipher
from graveler.aws.lambda_functions import LambdaSliceFunction
from graveler.aws.outgoing import OutgoingHttp, networks
from graveler.aws.s3.client import S3
from graveler.aws.s3.committed_files import S3CommittedFiles
from graveler.aws.s3.file_cache import CachedFiles
from graveler.aws.s3.objects import S3ObjectStore
from graveler.aws.s3.regions import BucketRegions
from graveler.aws.s3.signed_requests import Endpoint, S3Requests
from graveler.aws.secret_cipher import SecretCipher
from graveler.aws.settings import DeploymentSettings
from graveler.aws.sqs import SqsQueue
from graveler.aws.sts import Sts
from graveler.aws.system import SystemClock, SystemNames
from graveler.committed.store import Breaking, CacheSizes, Committed
from graveler.engine import Engine
from graveler.export.record import ExportSettings
from graveler.model.hooks import HookSettings
from graveler.model.places import PlaceLimit, below_half
from graveler.model.tasks import TaskSettings
from graveler.model.tokens import ALL_PLAIN, BY_NEED
from graveler.ports import AccountStore, HookTargets, IdentityService
from graveler.threads import ContextThreads

# Files that one process stores at the same time. They wait for S3, not for the CPU.
_UPLOADS_AT_ONCE = 8

# For all requests of a process. A read that finds no free thread runs in the request's own thread.
_READS_AHEAD_MAX = 16

# Lambda's Python runtimes include it; no other environment needs it.
_SNAPSHOT_LIBRARY = "snapshot_restore_py"


class Adapters:
    """The adapters of one deployment, each made at its first use and then kept."""

    def __init__(self, settings: DeploymentSettings, tables: Tables | None = None) -> None:
        """Use the tables, if any, in place of new ones with the settings' names."""
        self.settings = settings
        self.clients = Clients(settings)
        if tables is not None:
            self.tables = tables

    @cached_property
    def tables(self) -> Tables:
        """The two tables, through one shared client."""
        names = self.settings.refs_table, self.settings.staging_table
        return Tables(*names, self.clients.dynamodb())

    @cached_property
    def accounts(self) -> AccountStore:
        """The store of users and credentials."""
        return DynamoAccountStore(self.tables, self._cipher())

    def _cipher(self) -> Cipher:
        if self.settings.cipher_secret_arn:
            return SecretCipher(self.clients.secret(self.settings.cipher_secret_arn))
        if self.settings.cipher == "kms":
            return KmsCipher(self.clients.kms, self.settings.kms_key_id)
        made: Cipher = import_function(self.settings.cipher)()
        return made

    @cached_property
    def identities(self) -> IdentityService:
        """The service that finds the signer of a request."""
        return Sts()

    @cached_property
    def cleanup(self) -> CleanupStore:
        """The register of tokens and repositories to be dropped."""
        return CleanupStore(self.tables, DynamoStagingStore(self.tables))

    @cached_property
    def heartbeats(self) -> HeartbeatStore:
        """The signs of life of the stream and of collections."""
        return HeartbeatStore(self.tables)

    @cached_property
    def event_bus(self) -> EventBridgeBus:
        """The bus on which the deployment's events are published."""
        return EventBridgeBus(self.clients.events, self.settings.event_bus)

    @cached_property
    def s3_requests(self) -> S3Requests:
        """The signer of requests for the bytes of objects."""
        region, public = self.settings.region, self.settings.s3_public_endpoint
        if self.settings.s3_endpoint:
            endpoint = Endpoint(self.settings.s3_endpoint, region)
        else:
            regions = BucketRegions(self._s3)
            endpoint = Endpoint(self.clients.s3.meta.endpoint_url, region, regions.region_of)
        return S3Requests(
            endpoint, self.clients.credentials, Endpoint(public, region) if public else None
        )

    @cached_property
    def _s3(self) -> S3:
        client, region = self.clients.s3, self.settings.region
        if self.settings.s3_endpoint:
            endpoint = Endpoint(self.settings.s3_endpoint, region)
        else:
            # S3 reports a bucket of another region; boto3 sends such requests.
            endpoint = Endpoint(client.meta.endpoint_url, region, lambda _bucket: region)
        return S3(client, directly=self.clients.direct_s3(endpoint))

    @cached_property
    def engine(self) -> Engine:
        """The engine of the deployment."""
        return self.engine_signing(self.accounts.installation().signing_key)

    def engine_signing(self, signing_key: bytes) -> Engine:
        """Return a new engine that signs with the key."""
        settings, tables, clients = self.settings, self.tables, self.clients
        files = CachedFiles(
            S3CommittedFiles(self._s3),
            Path(settings.file_cache_folder),
            settings.file_cache_bytes_max,
            settings.file_cache_reads,
        )
        committed = Committed(
            files,
            breaking=Breaking(settings.range_raggedness_records, settings.range_bytes_max),
            caches=CacheSizes(block_bytes=settings.block_cache_bytes_max),
            executor=ContextThreads(_UPLOADS_AT_ONCE, thread_name_prefix="store"),
        )
        clock = SystemClock()
        return Engine(
            refs=DynamoRefStore(tables),
            staging=DynamoStagingStore(tables, BY_NEED if settings.spread_tokens else ALL_PLAIN),
            objects=S3ObjectStore(
                self._s3, credentials=clients.credentials, signer=self.s3_requests
            ),
            committed=committed,
            clock=clock,
            names=SystemNames(clock),
            signing_key=signing_key,
            exports=DynamoExportStore(tables),
            export_queue=SqsQueue(lambda: clients.sqs, settings.export_queue_url),
            batch_jobs=GlueBatchJobs(lambda: clients.glue, settings.export_job),
            jobs=DynamoJobStore(tables),
            collection_jobs=GlueCollectionJobs(lambda: clients.glue, settings.collection_job),
            collections_delete=settings.collections_delete,
            export_settings=ExportSettings(
                allowed_prefixes=settings.export_prefixes,
                batch_objects_min=settings.export_job_objects_min,
            ),
            task_queue=SqsQueue(lambda: clients.sqs, settings.task_queue_url),
            hook_queue=SqsQueue(lambda: clients.sqs, settings.hook_queue_url)
            if settings.hook_queue_url
            else None,
            task_places=PlaceLimit("tasks", below_half(settings.tasks_at_once)),
            hook_places=PlaceLimit("hooks", below_half(settings.hooks_at_once)),
            export_places=PlaceLimit("exports", below_half(settings.exports_at_once)),
            slice_function=LambdaSliceFunction(
                lambda: clients.slice_function, settings.slice_function
            )
            if settings.slice_function
            else None,
            task_settings=TaskSettings(
                request_work_s=settings.request_work_s if settings.task_queue_url else None,
                slices_at_once=settings.slices_at_once,
                waits_max=below_half(settings.waits_at_once),
            ),
            import_prefixes=settings.import_prefixes,
            dump_place=settings.dump_place,
            hook_targets=self._hook_targets(),
            hook_settings=HookSettings(
                functions=settings.hook_functions, buses=settings.hook_buses
            ),
            ignores_actions=settings.ignore_actions,
            threads=ContextThreads(_READS_AHEAD_MAX, thread_name_prefix="ahead"),
        )

    def _hook_targets(self) -> HookTargets:
        clients = self.clients
        return HookTargets(
            http=OutgoingHttp(networks(self.settings.hook_networks)),
            functions=LambdaHookFunctions(clients.hook_functions),
            buses=EventBridgeHookBuses(lambda: clients.events),
            secrets=secrets_of(
                self.settings.hook_secrets,
                lambda: clients.secrets_manager,
                lambda: clients.parameter_store,
            ),
        )


@lru_cache(maxsize=1)
def adapters() -> Adapters:
    """Return the adapters of this process, from the settings in its environment."""
    return Adapters(DeploymentSettings.from_environment(os.environ))


def forget() -> None:
    """Drop the adapters of this process: the next ones have new settings, connections and IDs.

    A copy of the process calls it first.
    """
    if adapters.cache_info().currsize:
        adapters().clients.close()
    adapters.cache_clear()
    # Pauses before retries are random, so that clients do not return together.
    random.seed()


def after_restore(act: Callable[[], None]) -> None:
    """Call the function in each copy of this process, before the copy's first request."""
    if find_spec(_SNAPSHOT_LIBRARY) is not None:
        import_module(_SNAPSHOT_LIBRARY).register_after_restore(act)
