"""Connections to AWS, made once per process and shared by all threads."""

from collections.abc import Callable
from functools import lru_cache

import botocore.session

from graveler.aws.dynamodb import DynamoDB
from graveler.aws.http_client import HttpClient
from graveler.aws.kms import Kms, KmsCipher
from graveler.aws.retries import Retries
from graveler.aws.s3 import S3
from graveler.aws.settings import Settings
from graveler.aws.signing import Credentials, Signer


@lru_cache(maxsize=1)
def session() -> botocore.session.Session:
    """The process's session: the usual chain of environment, profile and role."""
    return botocore.session.get_session()


def credentials() -> Callable[[], Credentials]:
    """What gives the process's credentials as they are at each call; temporary ones are renewed."""
    found = session().get_credentials()
    if found is None:
        raise RuntimeError("no AWS credentials: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY")
    return found.get_frozen_credentials  # type: ignore[return-value] # the stubs allow no key at all


def dynamodb(
    settings: Settings,
    retries: Retries | None = None,
    observe: Callable[[str], None] | None = None,
) -> DynamoDB:
    """A client of the deployment's DynamoDB."""
    endpoint = settings.dynamodb_endpoint or f"https://dynamodb.{settings.region}.amazonaws.com"
    signer = Signer("dynamodb", settings.region, credentials())
    return DynamoDB(HttpClient(endpoint), signer, retries, observe)


def s3(
    settings: Settings,
    retries: Retries | None = None,
    observe: Callable[[str], None] | None = None,
) -> S3:
    """A client of the deployment's S3."""
    return S3(settings.region, credentials(), settings.s3_endpoint, retries, observe)


def public_s3(settings: Settings) -> S3:
    """What presigned URLs are made with: S3 as clients outside reach it."""
    endpoint = settings.s3_public_endpoint or settings.s3_endpoint
    return S3(settings.region, credentials(), endpoint)


def kms_cipher(settings: Settings) -> KmsCipher:
    """A cipher by the deployment's KMS key."""
    http = HttpClient(f"https://kms.{settings.region}.amazonaws.com")
    return KmsCipher(Kms(http, Signer("kms", settings.region, credentials())), settings.kms_key_id)
