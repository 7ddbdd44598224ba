"""The clients of one deployment's services, over AWS or the embedded stack's servers."""

import os
from collections.abc import Callable, Mapping
from datetime import datetime
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any
from weakref import WeakSet

import msgspec
from botocore.config import Config
from botocore.session import Session
from botocore.utils import parse_timestamp

from graveler.aws.boto3_timeouts import bounded
from graveler.aws.dynamodb.client import DynamoDB
from graveler.aws.dynamodb.http_client import DynamoDBHttpClient
from graveler.aws.environment import import_function
from graveler.aws.errors import repeated
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

# Above the number of threads that use a client at the same time.
_CONNECTIONS_MAX = 128

# The base of all boto3 clients. Our own parameters need no validation. Composing the usual user
# agent takes a tenth of a request's time.
_CONFIG = Config(
    connect_timeout=CONNECT_TIMEOUT_S,
    read_timeout=READ_TIMEOUT_S,
    max_pool_connections=_CONNECTIONS_MAX,
    tcp_keepalive=True,
    parameter_validation=False,
    user_agent="graveler",
)


# For services whose requests graveler.aws.errors repeats.
_ONCE = _CONFIG.merge(Config(retries={"total_max_attempts": 1}))

# For services whose requests may be repeated by boto3.
_RETRIED = _CONFIG.merge(Config(retries={"mode": "standard"}))

# A slice takes seconds. One whose part of the repository cannot be cut needs a function's maximum.
_SLICE_TIMEOUT_S = 15 * 60

# Added to the time-out of a hook's function: the answer has to travel back.
_HOOK_MARGIN_S = 1
_HOOK_CLIENTS_MAX = 8


# Of `2026-11-30T10:00:00Z`, and of the same with milliseconds.
_ISO_LENGTHS = (20, 24)


class Clients:
    """The clients of one deployment, each made at its first use; shared by all threads."""

    def __init__(self, settings: DeploymentSettings) -> None:
        self._settings = settings
        self._open: WeakSet[Any] = WeakSet()
        # Client by time-out in seconds, which boto3 fixes when it makes a client.
        self.hook_functions = lru_cache(_HOOK_CLIENTS_MAX)(self._hook_functions)

    def close(self) -> None:
        """Close the idle connections of all clients.

        boto3's clients refer to themselves, so nothing else would close theirs soon.
        """
        for client in list(self._open):
            client.close()

    @cached_property
    def _session(self) -> Session:
        """The session, whose credentials come from environment, profile or role.

        boto3's own adds resources and transfers, which nothing here uses and every start would
        import.
        """
        session = Session()
        observe_requests(session.get_component("event_emitter"))
        parsers = session.get_component("response_parser_factory")
        parsers.set_parser_defaults(timestamp_parser=parsed_time)
        return session

    def _client(self, service: str, config: Config, endpoint: str | None = None) -> Any:  # noqa: ANN401 - of any service
        """Return a new client of the service in the deployment's region, or of an endpoint."""
        client = self._session.create_client(
            service, region_name=self._settings.region, endpoint_url=endpoint, config=config
        )
        self._open.add(client)
        return bounded(client)

    @cached_property
    def credentials(self) -> Callable[[], SigningCredentials]:
        """A function of the current credentials; temporary ones are renewed.

        Raises:
            RuntimeError: there are no credentials.
        """
        found = self._session.get_credentials()
        if found is None:
            raise RuntimeError(
                "no AWS credentials: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY"
            )
        return found.get_frozen_credentials  # type: ignore[return-value] # the stubs allow no key at all

    def dynamodb(
        self, retries: RetryPolicy | None = None, observe: Callable[[str], None] | None = None
    ) -> DynamoDB:
        """Return a new client of DynamoDB."""
        http = DynamoDBHttpClient(self._settings.dynamodb_endpoint or self.dynamodb_endpoint)
        client = dynamodb_over(
            http, Signer(self._settings.region, self.credentials), retries, observe
        )
        self._open.add(client)
        return client

    @property
    def dynamodb_endpoint(self) -> str:
        """boto3's endpoint of DynamoDB: boto3 knows AWS's partitions and the FIPS setting."""
        client = self._session.create_client("dynamodb", region_name=self._settings.region)
        endpoint: str = client.meta.endpoint_url
        return endpoint

    @cached_property
    def s3(self) -> "S3Client":
        """S3 in the deployment's region, or an S3-compatible endpoint."""
        endpoint = self._settings.s3_endpoint
        client: S3Client = self._client("s3", s3_config(endpoint), endpoint)
        return client

    def direct_s3(self, endpoint: Endpoint) -> DirectClient:
        """Return a new client that sends the most frequent requests to S3 without boto3."""
        # The embedded stack's server would spend half of its time on hashing signed content.
        signs_content = not self._settings.s3_endpoint
        requests = S3Requests(endpoint, self.credentials)
        client = DirectClient(requests, signs_content=signs_content, observe=_observer())
        self._open.add(client)
        return client

    @cached_property
    def kms(self) -> "KMSClient":
        client: KMSClient = self._client("kms", _ONCE)
        return client

    @cached_property
    def events(self) -> "EventBridgeClient":
        client: EventBridgeClient = self._client("events", _RETRIED, self._settings.events_endpoint)
        return client

    @cached_property
    def sqs(self) -> "SQSClient":
        client: SQSClient = self._client("sqs", _ONCE, self._settings.sqs_endpoint)
        return client

    @cached_property
    def glue(self) -> "GlueClient":
        client: GlueClient = self._client("glue", _ONCE, self._settings.glue_endpoint)
        return client

    @cached_property
    def slice_function(self) -> LambdaClient:
        """Lambda for the slice function, without retries."""
        config = _ONCE.merge(
            Config(
                read_timeout=_SLICE_TIMEOUT_S, max_pool_connections=self._settings.slices_at_once
            )
        )
        client: LambdaClient = self._client("lambda", config, self._settings.lambda_endpoint)
        return client

    def _hook_functions(self, timeout_s: float) -> LambdaClient:
        """Return a client of Lambda that waits timeout_s for an answer, and does not retry."""
        config = _ONCE.merge(Config(read_timeout=timeout_s + _HOOK_MARGIN_S))
        client: LambdaClient = self._client("lambda", config, self._settings.lambda_endpoint)
        return client

    @cached_property
    def secrets_manager(self) -> Any:  # noqa: ANN401 - no stubs
        return self._client("secretsmanager", _RETRIED)

    @cached_property
    def sts(self) -> Any:  # noqa: ANN401 - no stubs
        return self._client("sts", _ONCE)

    def secret(self, arn: str) -> str:
        """Return the text of a secret in Secrets Manager.

        Raises:
            ThrottledError: Secrets Manager throttles, fails or does not answer.
        """
        text: str = repeated(
            "Secrets Manager",
            lambda: self.secrets_manager.get_secret_value(SecretId=arn)["SecretString"],
        )
        return text

    @cached_property
    def parameter_store(self) -> Any:  # noqa: ANN401 - no stubs
        return self._client("ssm", _RETRIED)


def parsed_time(value: str | float) -> datetime:
    """Return a time of an answer.

    botocore's parser takes half of the time of a listing: S3 dates each object in ISO 8601.
    """
    if isinstance(value, str) and len(value) in _ISO_LENGTHS and value.endswith("Z"):
        try:
            return datetime.fromisoformat(value)
        except ValueError:
            pass  # botocore knows more forms
    return parse_timestamp(value)  # type: ignore[arg-type] # the stubs know texts alone


def _observer() -> Observer | None:
    """Return the function that GRAVELER_OBSERVER names; only tests set it, to check roles.

    Raises:
        ValueError, ImportError, AttributeError: the setting does not name a function.
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


def dynamodb_over(
    http: DynamoDBHttpClient,
    signer: Signer,
    retries: RetryPolicy | None = None,
    observe: Callable[[str], None] | None = None,
) -> DynamoDB:
    """Return a client over a connection, which passes its requests to the observer, if any."""
    client = DynamoDB if _observer() is None else _ObservedDynamoDB
    return client(http, signer, retries, observe)


def s3_config(endpoint: str | None) -> Config:
    """Return S3's configuration: buckets are host names on AWS, and paths at an endpoint."""
    return _CONFIG.merge(
        Config(
            signature_version="s3v4",
            s3={"addressing_style": "virtual", "us_east_1_regional_endpoint": "regional"}
            if endpoint is None
            # The embedded stack's server would spend half of its time on hashing signed content.
            else {"addressing_style": "path", "payload_signing_enabled": False},
            # S3 checks signed content when it arrives; readers check SSTables.
            request_checksum_calculation="when_required",
            response_checksum_validation="when_required",
            retries={"total_max_attempts": 1},  # graveler.aws.s3.client retries instead
        )
    )
