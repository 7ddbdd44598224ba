"""Connections to AWS, made once per process and shared by all threads."""

import os
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any
from weakref import WeakSet

import msgspec
from botocore.config import Config
from botocore.session import Session

from graveler.aws.boto3_timeouts import bounded
from graveler.aws.dynamodb.client import DynamoDB
from graveler.aws.dynamodb.http_client import DynamoDBHttpClient
from graveler.aws.environment import import_function
from graveler.aws.exchanges.buffered import Pending
from graveler.aws.lambda_functions import LambdaClient
from graveler.aws.retries import CONNECT_TIMEOUT_S, READ_TIMEOUT_S, RetryPolicy
from graveler.aws.s3.direct_client import DirectClient, Observer
from graveler.aws.s3.signed_requests import Endpoint, S3Requests
from graveler.aws.settings import DeploymentSettings
from graveler.aws.signing import Signer, SigningCredentials
from graveler.times import Moment

if TYPE_CHECKING:
    from botocore.hooks import BaseEventHooks
    from botocore.model import OperationModel
    from mypy_boto3_events import EventBridgeClient
    from mypy_boto3_glue import GlueClient
    from mypy_boto3_kms import KMSClient
    from mypy_boto3_s3 import S3Client
    from mypy_boto3_sqs import SQSClient

# More than the threads that use a client at the same time.
_CONNECTIONS_MAX = 128

# Of all boto3 clients. Our own parameters need no validation, and composing the usual user agent
# takes a tenth of a request's time.
_CONFIG = Config(
    connect_timeout=CONNECT_TIMEOUT_S,
    read_timeout=READ_TIMEOUT_S,
    max_pool_connections=_CONNECTIONS_MAX,
    tcp_keepalive=True,
    parameter_validation=False,
    user_agent="graveler",
)


@lru_cache(maxsize=1)
def _session() -> Session:
    """Return the process's session; credentials come from environment, profile or role.

    boto3's own adds resources and transfers, which nothing here uses and every start would import.
    """
    session = Session()
    observe_requests(session.get_component("event_emitter"))
    return session


# They refer to themselves, so nothing else would close their connections soon.
_clients: WeakSet[Any] = WeakSet()


def _client(
    service: str, settings: DeploymentSettings, config: Config, endpoint: str | None = None
) -> Any:  # noqa: ANN401 - of any service
    """Return a client of the service in the deployment's region, or of an endpoint."""
    client = _session().create_client(
        service, region_name=settings.region, endpoint_url=endpoint, config=config
    )
    _clients.add(client)
    return bounded(client)


def forget() -> None:
    """Close the connections of boto3's clients; forget the session and its credentials."""
    for client in list(_clients):
        client.close()
    for remembered in (_session, hook_lambda_client, secrets_client):
        remembered.cache_clear()


def _observer() -> Observer | None:
    """Return the function that GRAVELER_OBSERVER names; only tests set it, to check roles.

    Raises:
        ValueError, ImportError, AttributeError: it names no function.
    """
    setting = os.environ.get("GRAVELER_OBSERVER")
    return import_function(setting) if setting else None


def observe_requests(hooks: "BaseEventHooks") -> None:
    """Pass the requests of clients with these hooks to the observer, if there is one."""
    observe = _observer()
    if observe is None:
        return

    def pass_on(params: Mapping[str, Any], model: "OperationModel", **_: object) -> None:
        observe(model.service_model.service_name, model.name, params)

    hooks.register("provide-client-params", pass_on)


class _ObservedDynamoDB(DynamoDB):
    """A DynamoDB that passes each request to the observer."""

    def _begin(self, operation: str, body: bytes, since: Moment | None = None) -> Pending:
        observe = _observer()
        assert observe is not None
        observe("dynamodb", operation, msgspec.json.decode(body))
        return super()._begin(operation, body, since)


def credentials() -> Callable[[], SigningCredentials]:
    """Return a function of the process's current credentials; temporary ones are renewed.

    Raises:
        RuntimeError: there are none.
    """
    found = _session().get_credentials()
    if found is None:
        raise RuntimeError("no AWS credentials: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY")
    return found.get_frozen_credentials  # type: ignore[return-value] # the stubs allow no key at all


def dynamodb(
    settings: DeploymentSettings,
    retries: RetryPolicy | None = None,
    observe: Callable[[str], None] | None = None,
) -> DynamoDB:
    """Return a client of the deployment's DynamoDB."""
    http = DynamoDBHttpClient(settings.dynamodb_endpoint or dynamodb_endpoint(settings.region))
    return dynamodb_over(http, Signer(settings.region, credentials()), retries, observe)


def dynamodb_over(
    http: DynamoDBHttpClient,
    signer: Signer,
    retries: RetryPolicy | None = None,
    observe: Callable[[str], None] | None = None,
) -> DynamoDB:
    """Return a client over a connection, which passes its requests to the observer, if any."""
    client = DynamoDB if _observer() is None else _ObservedDynamoDB
    return client(http, signer, retries, observe)


def dynamodb_endpoint(region: str) -> str:
    """Return boto3's endpoint of DynamoDB: boto3 knows AWS's partitions and the FIPS setting."""
    endpoint: str = _session().create_client("dynamodb", region_name=region).meta.endpoint_url
    return endpoint


def s3_client(settings: DeploymentSettings, endpoint: str | None) -> "S3Client":
    """Return a client of S3 in the deployment's region, or of an S3-compatible endpoint."""
    client: S3Client = _client("s3", settings, s3_config(endpoint), endpoint)
    return client


def direct_s3(settings: DeploymentSettings, endpoint: Endpoint) -> DirectClient:
    """Return what sends the most frequent requests to S3 without boto3."""
    # The embedded stack's server would take half of its time to hash signed content.
    signs_content = not settings.s3_endpoint
    requests = S3Requests(endpoint, credentials())
    return DirectClient(requests, signs_content=signs_content, observe=_observer())


def s3_config(endpoint: str | None) -> Config:
    """Return S3's configuration: on AWS a bucket is a host name, at an endpoint it is a path."""
    return _CONFIG.merge(
        Config(
            signature_version="s3v4",
            s3={"addressing_style": "virtual", "us_east_1_regional_endpoint": "regional"}
            if endpoint is None
            # The embedded stack's server would take half of its time to hash signed content.
            else {"addressing_style": "path", "payload_signing_enabled": False},
            # S3 checks signed content when it arrives; readers check SSTables.
            request_checksum_calculation="when_required",
            response_checksum_validation="when_required",
            retries={"total_max_attempts": 1},  # graveler.aws.s3.client retries, and says why
        )
    )


# graveler.aws.errors repeats requests to these services.
_ONCE = _CONFIG.merge(Config(retries={"total_max_attempts": 1}))

# Requests to these services may be repeated, so boto3 retries them.
_RETRIED = _CONFIG.merge(Config(retries={"mode": "standard"}))


def kms_client(settings: DeploymentSettings) -> "KMSClient":
    """Return a client of KMS in the deployment's region."""
    client: KMSClient = _client("kms", settings, _ONCE)
    return client


def events_client(settings: DeploymentSettings) -> "EventBridgeClient":
    """Return a client of the deployment's EventBridge."""
    client: EventBridgeClient = _client("events", settings, _RETRIED, settings.events_endpoint)
    return client


def sqs_client(settings: DeploymentSettings) -> "SQSClient":
    """Return a client of the deployment's SQS."""
    client: SQSClient = _client("sqs", settings, _ONCE, settings.sqs_endpoint)
    return client


def glue_client(settings: DeploymentSettings) -> "GlueClient":
    """Return a client of the deployment's Glue."""
    client: GlueClient = _client("glue", settings, _ONCE, settings.glue_endpoint)
    return client


# A slice takes seconds, and as much as a function may if its part of the repository cannot be cut.
_SLICE_TIMEOUT_S = 15 * 60


def lambda_client(settings: DeploymentSettings) -> LambdaClient:
    """Return a client of Lambda in the deployment's region, which does not retry."""
    config = _CONFIG.merge(
        Config(
            read_timeout=_SLICE_TIMEOUT_S,
            max_pool_connections=settings.slices_at_once,
            retries={"total_max_attempts": 1},
        )
    )
    client: LambdaClient = _client("lambda", settings, config, settings.lambda_endpoint)
    return client


# Of a hook's function: more than the answer's way back.
_HOOK_MARGIN_S = 1


@lru_cache(maxsize=8)
def hook_lambda_client(settings: DeploymentSettings, timeout_s: float) -> LambdaClient:
    """Return a client of Lambda that waits so long for an answer, and asks once."""
    config = _CONFIG.merge(
        Config(read_timeout=timeout_s + _HOOK_MARGIN_S, retries={"total_max_attempts": 1})
    )
    client: LambdaClient = _client("lambda", settings, config, settings.lambda_endpoint)
    return client


@lru_cache(maxsize=2)
def secrets_client(settings: DeploymentSettings, service: str) -> Any:  # noqa: ANN401 - of either service
    """Return a client of Secrets Manager or Systems Manager in the deployment's region."""
    return _client(service, settings, _RETRIED)
