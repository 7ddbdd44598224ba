"""Builds the engine of this process, once, from the settings in its environment."""

import os
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from importlib import import_module
from pathlib import Path

from graveler.accounts import AccountStore
from graveler.aws import connect
from graveler.aws.accounts import DynamoAccountStore
from graveler.aws.cipher import Cipher
from graveler.aws.cleanup import CleanupStore
from graveler.aws.clock import SystemClock
from graveler.aws.committed_files import S3CommittedFiles
from graveler.aws.file_cache import CachedFiles
from graveler.aws.kms import KmsCipher
from graveler.aws.names import SystemNames
from graveler.aws.objects import S3ObjectStore
from graveler.aws.refs import DynamoRefStore
from graveler.aws.s3 import S3
from graveler.aws.settings import Settings
from graveler.aws.staging import DynamoStagingStore
from graveler.aws.tables import Tables
from graveler.committed.store import Breaking, CacheSizes, Committed
from graveler.operations.engine import Engine

# Files that one process stores at the same time: S3's latency, not our processor, is what waits.
_UPLOADS_AT_ONCE = 8


@lru_cache(maxsize=1)
def settings() -> Settings:
    """The settings of this deployment."""
    return Settings.from_environment(os.environ)


@lru_cache(maxsize=1)
def tables() -> Tables:
    """The two tables, through one shared client."""
    return Tables(settings().refs_table, settings().staging_table, connect.dynamodb(settings()))


@lru_cache(maxsize=1)
def accounts() -> AccountStore:
    """Users and credentials."""
    return DynamoAccountStore(tables(), _cipher(settings()))


def _cipher(deployment: Settings) -> Cipher:
    """KMS; or what the import path `module:function` makes, in a stack without KMS."""
    if deployment.cipher == "kms":
        return KmsCipher(connect.kms_client(deployment), deployment.kms_key_id)
    module, _, function = deployment.cipher.partition(":")
    made: Cipher = getattr(import_module(module), function)()
    return made


@lru_cache(maxsize=1)
def cleanup() -> CleanupStore:
    """Tokens and repositories that wait to be dropped."""
    return CleanupStore(tables(), DynamoStagingStore(tables()))


@lru_cache(maxsize=1)
def engine() -> Engine:
    """The engine over DynamoDB and S3."""
    deployment = settings()
    s3 = S3(connect.s3_client(deployment, deployment.s3_endpoint))
    public = deployment.s3_public_endpoint
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
        executor=ThreadPoolExecutor(_UPLOADS_AT_ONCE, thread_name_prefix="store"),
    )
    clock = SystemClock()
    return Engine(
        refs=DynamoRefStore(tables()),
        staging=DynamoStagingStore(tables()),
        objects=S3ObjectStore(s3, connect.s3_client(deployment, public) if public else None),
        committed=committed,
        clock=clock,
        names=SystemNames(clock),
        signing_key=accounts().installation().signing_key,
    )
