"""Builds the engine of this process, once, from the settings in its environment."""

import os
import random
from functools import lru_cache, partial
from pathlib import Path

from graveler.aws import connect, hook_targets
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
from graveler.aws.hook_targets import (
    EnvironmentSecrets,
    EventBridgeHookBuses,
    LambdaHookFunctions,
    NoSecrets,
    ParameterStoreSecrets,
    SecretsManagerSecrets,
)
from graveler.aws.kms import KmsCipher
from graveler.aws.lambda_functions import LambdaSliceFunction
from graveler.aws.outgoing import OutgoingHttp, networks
from graveler.aws.s3.client import S3
from graveler.aws.s3.committed_files import S3CommittedFiles
from graveler.aws.s3.file_cache import CachedFiles
from graveler.aws.s3.objects import S3ObjectStore
from graveler.aws.s3.regions import BucketRegions
from graveler.aws.s3.signed_requests import Endpoint, S3Requests
from graveler.aws.settings import DeploymentSettings
from graveler.aws.sqs import SqsQueue
from graveler.aws.sts import Sts
from graveler.aws.system import SystemClock, SystemNames
from graveler.committed.store import Breaking, CacheSizes, Committed
from graveler.export.settings import ExportSettings
from graveler.hooks import HookSettings
from graveler.operations.engine import Engine
from graveler.ports import AccountStore, HookTargets, IdentityService, SecretStore
from graveler.tasks import TaskSettings
from graveler.threads import ContextThreads

# Files that one process stores at the same time. They wait for S3, not for the CPU.
_UPLOADS_AT_ONCE = 8

# Of all requests of a process. What finds no free thread is read by the request's own.
_READS_AHEAD_MAX = 16


@lru_cache(maxsize=1)
def settings() -> DeploymentSettings:
    """The settings of this deployment."""
    return DeploymentSettings.from_environment(os.environ)


def forget() -> None:
    """Forget the stores of this process, so that the next ones have new connections and names.

    A copy of the process calls it first: connections, credentials, drawn numbers and what clients
    remember belong to the process that was copied.
    """
    if tables.cache_info().currsize:
        tables().dynamodb.close()
    for remembered in (
        settings,
        tables,
        accounts,
        cleanup,
        event_bus,
        _s3,
        _regions,
        _s3_requests,
        engine,
    ):
        remembered.cache_clear()
    connect.forget()
    # Pauses before retries are random, so that clients do not return together.
    random.seed()


@lru_cache(maxsize=1)
def tables() -> Tables:
    """The two tables, through one shared client."""
    return Tables(settings().refs_table, settings().staging_table, connect.dynamodb(settings()))


@lru_cache(maxsize=1)
def accounts() -> AccountStore:
    """The store of users and credentials."""
    return DynamoAccountStore(tables(), _cipher(settings()))


def identities() -> IdentityService:
    """The service that knows who signed a request."""
    return Sts()


def _cipher(deployment: DeploymentSettings) -> Cipher:
    """Return KMS's cipher, or the one that the setting's function makes in a stack without KMS."""
    if deployment.cipher == "kms":
        return KmsCipher(connect.kms_client(deployment), deployment.kms_key_id)
    made: Cipher = import_function(deployment.cipher)()
    return made


@lru_cache(maxsize=1)
def cleanup() -> CleanupStore:
    """The register of tokens and repositories to be dropped."""
    return CleanupStore(tables(), DynamoStagingStore(tables()))


@lru_cache(maxsize=1)
def heartbeats() -> HeartbeatStore:
    """The signs of life of the stream and of collections."""
    return HeartbeatStore(tables())


@lru_cache(maxsize=1)
def event_bus() -> EventBridgeBus:
    """The bus on which the deployment's events are published."""
    return EventBridgeBus(connect.events_client(settings()), settings().event_bus)


@lru_cache(maxsize=1)
def engine() -> Engine:
    """The engine of this deployment, over DynamoDB and S3."""
    return engine_over(settings(), tables(), accounts().installation().signing_key)


def s3_requests() -> S3Requests:
    """The signer of requests for the bytes of objects."""
    return _s3_requests(settings())


@lru_cache(maxsize=1)
def _s3_requests(deployment: DeploymentSettings) -> S3Requests:
    public = deployment.s3_public_endpoint
    if deployment.s3_endpoint:
        endpoint = Endpoint(deployment.s3_endpoint, deployment.region)
    else:
        url = _s3(deployment).client.meta.endpoint_url
        endpoint = Endpoint(url, deployment.region, _regions(deployment).region_of)
    return S3Requests(
        endpoint,
        connect.credentials(),
        Endpoint(public, deployment.region) if public else None,
    )


@lru_cache(maxsize=1)
def _s3(deployment: DeploymentSettings) -> S3:
    client = connect.s3_client(deployment, deployment.s3_endpoint)
    region = deployment.region
    if deployment.s3_endpoint:
        endpoint = Endpoint(deployment.s3_endpoint, region)
    else:
        # S3 tells if a bucket is in another region; boto3 sends such requests.
        endpoint = Endpoint(client.meta.endpoint_url, region, lambda _bucket: region)
    return S3(client, directly=connect.direct_s3(deployment, endpoint))


@lru_cache(maxsize=1)
def _regions(deployment: DeploymentSettings) -> BucketRegions:
    return BucketRegions(_s3(deployment))


def engine_over(deployment: DeploymentSettings, stores: Tables, signing_key: bytes) -> Engine:
    """Return an engine over the tables and S3."""
    s3 = _s3(deployment)
    files = CachedFiles(
        S3CommittedFiles(s3),
        Path(deployment.file_cache_folder),
        deployment.file_cache_bytes_max,
        deployment.file_cache_reads,
    )
    committed = Committed(
        files,
        breaking=Breaking(deployment.range_raggedness_records, deployment.range_bytes_max),
        caches=CacheSizes(block_bytes=deployment.block_cache_bytes_max),
        executor=ContextThreads(_UPLOADS_AT_ONCE, thread_name_prefix="store"),
    )
    clock = SystemClock()
    return Engine(
        refs=DynamoRefStore(stores),
        staging=DynamoStagingStore(stores),
        objects=S3ObjectStore(
            s3, credentials=connect.credentials(), signer=_s3_requests(deployment)
        ),
        committed=committed,
        clock=clock,
        names=SystemNames(clock),
        signing_key=signing_key,
        exports=DynamoExportStore(stores),
        export_queue=SqsQueue(partial(connect.sqs_client, deployment), deployment.export_queue_url),
        batch_jobs=GlueBatchJobs(partial(connect.glue_client, deployment), deployment.export_job),
        jobs=DynamoJobStore(stores),
        collection_jobs=GlueCollectionJobs(
            partial(connect.glue_client, deployment), deployment.collection_job
        ),
        collections_delete=deployment.collections_delete,
        export_settings=ExportSettings(
            allowed_prefixes=deployment.export_prefixes,
            batch_objects_min=deployment.export_job_objects_min,
        ),
        task_queue=SqsQueue(partial(connect.sqs_client, deployment), deployment.task_queue_url),
        slice_function=_slice_function(deployment),
        task_settings=TaskSettings(
            request_work_s=deployment.request_work_s if deployment.task_queue_url else None,
            slices_at_once=deployment.slices_at_once,
        ),
        import_prefixes=deployment.import_prefixes,
        dump_place=deployment.dump_place,
        hook_targets=_hook_targets(deployment),
        hook_settings=HookSettings(
            functions=deployment.hook_functions, buses=deployment.hook_buses
        ),
        ignores_actions=deployment.ignore_actions,
        threads=ContextThreads(_READS_AHEAD_MAX, thread_name_prefix="ahead"),
    )


def _hook_targets(deployment: DeploymentSettings) -> HookTargets:
    return HookTargets(
        http=OutgoingHttp(networks(deployment.hook_networks)),
        functions=LambdaHookFunctions(partial(connect.hook_lambda_client, deployment)),
        buses=EventBridgeHookBuses(partial(connect.events_client, deployment)),
        secrets=_secrets(deployment),
    )


def _secrets(deployment: DeploymentSettings) -> SecretStore:
    """Return the store of hooks' secrets.

    Raises:
        ValueError: the setting names none.
    """
    kind, _, prefix = deployment.hook_secrets.partition(":")
    if not kind:
        return NoSecrets()
    if kind == hook_targets.ENVIRONMENT and not prefix:
        return EnvironmentSecrets()
    # Without a prefix, hooks could read every secret that the role may.
    if kind == hook_targets.SECRETS_MANAGER and prefix:
        return SecretsManagerSecrets(
            partial(connect.secrets_client, deployment, "secretsmanager"), prefix
        )
    if kind == hook_targets.PARAMETER_STORE and prefix:
        return ParameterStoreSecrets(partial(connect.secrets_client, deployment, "ssm"), prefix)
    raise ValueError(
        f"GRAVELER_HOOK_SECRETS is {deployment.hook_secrets!r}: set it to "
        "secrets-manager:PREFIX, parameter-store:PREFIX or environment"
    )


def _slice_function(deployment: DeploymentSettings) -> LambdaSliceFunction | None:
    if not deployment.slice_function:
        return None
    return LambdaSliceFunction(
        partial(connect.lambda_client, deployment), deployment.slice_function
    )
