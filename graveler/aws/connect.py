"""Connections to AWS, made once per process and shared by all threads."""

import math
import os
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import boto3
import msgspec
from botocore.config import Config

from graveler.aws.dynamodb.client import DynamoDB
from graveler.aws.dynamodb.http_client import HttpClient, Pending
from graveler.aws.environment import import_function
from graveler.aws.retries import Retries
from graveler.aws.settings import Settings
from graveler.aws.signing import Credentials, Signer

if TYPE_CHECKING:
    from botocore.hooks import BaseEventHooks
    from botocore.model import OperationModel
    from mypy_boto3_events import EventBridgeClient
    from mypy_boto3_glue import GlueClient
    from mypy_boto3_kms import KMSClient
    from mypy_boto3_s3 import S3Client
    from mypy_boto3_sqs import SQSClient

# The margin of an export's lease is longer than a call (graveler/export/lifecycle.py).
CONNECT_TIMEOUT_S = 2
READ_TIMEOUT_S = 10

# More than there are threads that use a client at the same time.
_CONNECTIONS_MAX = 128

# All clients. Our own parameters need no validation, and to put the usual user agent together
# costs a tenth of a request.
_CONFIG = Config(
    connect_timeout=CONNECT_TIMEOUT_S,
    read_timeout=READ_TIMEOUT_S,
    max_pool_connections=_CONNECTIONS_MAX,
    tcp_keepalive=True,
    parameter_validation=False,
    user_agent="graveler",
)


@lru_cache(maxsize=1)
def _session() -> boto3.Session:
    """The process's session: the usual chain of environment, profile and role."""
    session = boto3.Session()
    observe_requests(session.events)
    return session


# What is told of a request: service, operation, parameters.
Observer = Callable[[str, str, Mapping[str, Any]], None]


def _observer() -> Observer | None:
    """Return the function that GRAVELER_OBSERVER names; only tests set it, to check roles."""
    setting = os.environ.get("GRAVELER_OBSERVER")
    return import_function(setting) if setting else None


def observe_requests(hooks: "BaseEventHooks") -> None:
    """Tell the observer, if there is one, of what goes through clients with these hooks."""
    observe = _observer()
    if observe is None:
        return

    def tell(params: Mapping[str, Any], model: "OperationModel", **_: object) -> None:
        observe(model.service_model.service_name, model.name, params)

    hooks.register("provide-client-params", tell)


class _ObservedDynamoDB(DynamoDB):
    """A DynamoDB of which an observer is told."""

    def _begin(self, operation: str, body: bytes, deadline_s: float = math.inf) -> Pending:
        observe = _observer()
        assert observe is not None
        observe("dynamodb", operation, msgspec.json.decode(body))
        return super()._begin(operation, body, deadline_s)


def credentials() -> Callable[[], Credentials]:
    """What gives the process's credentials as they are at each call; temporary ones are renewed."""
    found = _session().get_credentials()
    if found is None:
        raise RuntimeError("no AWS credentials: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY")
    return found.get_frozen_credentials  # type: ignore[return-value] # the stubs allow no key at all


def dynamodb(
    settings: Settings,
    retries: Retries | None = None,
    observe: Callable[[str], None] | None = None,
) -> DynamoDB:
    """A client of the deployment's DynamoDB."""
    http = HttpClient(settings.dynamodb_endpoint or dynamodb_endpoint(settings.region))
    return dynamodb_over(http, Signer(settings.region, credentials()), retries, observe)


def dynamodb_over(
    http: HttpClient,
    signer: Signer,
    retries: Retries | None = None,
    observe: Callable[[str], None] | None = None,
) -> DynamoDB:
    """A client over a connection; an observer, if there is one, is told of its requests."""
    client = DynamoDB if _observer() is None else _ObservedDynamoDB
    return client(http, signer, retries, observe)


def dynamodb_endpoint(region: str) -> str:
    """Where boto3 would ask DynamoDB: it knows AWS's partitions, and who wants FIPS."""
    endpoint: str = _session().client("dynamodb", region_name=region).meta.endpoint_url
    return endpoint


def s3_client(settings: Settings, endpoint: str | None) -> "S3Client":
    """A client of S3 in the deployment's region, or of what speaks like it at an endpoint."""
    return _session().client(
        "s3",
        region_name=settings.region,
        endpoint_url=endpoint,
        config=s3_config(endpoint),
    )


def s3_config(endpoint: str | None) -> Config:
    """How S3 is spoken to: on AWS a bucket has a host of its own, at an endpoint it has a path."""
    return _CONFIG.merge(
        Config(
            signature_version="s3v4",
            s3={
                "addressing_style": "virtual" if endpoint is None else "path",
                "us_east_1_regional_endpoint": "regional",
            },
            # Signed content is checked on its way in, SSTables when they are read.
            request_checksum_calculation="when_required",
            response_checksum_validation="when_required",
            retries={"total_max_attempts": 1},  # graveler.aws.s3.client tells why
        )
    )


# Requests of these may be repeated as boto3 likes.
_REPEATED = _CONFIG.merge(Config(retries={"mode": "standard"}))


def kms_client(settings: Settings) -> "KMSClient":
    """A client of KMS in the deployment's region."""
    return _session().client("kms", region_name=settings.region, config=_REPEATED)


def events_client(settings: Settings) -> "EventBridgeClient":
    """A client of the deployment's EventBridge."""
    return _session().client(
        "events",
        region_name=settings.region,
        endpoint_url=settings.events_endpoint,
        config=_REPEATED,
    )


def sqs_client(settings: Settings) -> "SQSClient":
    """A client of the deployment's SQS."""
    return _session().client(
        "sqs", region_name=settings.region, endpoint_url=settings.sqs_endpoint, config=_REPEATED
    )


def glue_client(settings: Settings) -> "GlueClient":
    """A client of Glue in the deployment's region."""
    return _session().client("glue", region_name=settings.region, config=_REPEATED)
