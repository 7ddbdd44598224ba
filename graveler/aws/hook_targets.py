"""The functions, buses and secrets that hooks may reach on AWS.

Each gets its client by a function at the first use. Each request is sent once: only the engine may
repeat a hook.
"""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from botocore.exceptions import BotoCoreError, ClientError

from graveler.aws.lambda_functions import LambdaClient
from graveler.errors import HookFailedError
from graveler.limits import HOOK_ANSWER_BYTES_MAX
from graveler.ports import SecretStore

if TYPE_CHECKING:
    from mypy_boto3_events import EventBridgeClient

# Stores of secrets: the part of the setting hook_secrets before the colon.
SECRETS_MANAGER = "secrets-manager"
PARAMETER_STORE = "parameter-store"
ENVIRONMENT = "environment"


class LambdaHookFunctions:
    """`graveler.ports.HookFunctions`; `client` returns a client with a time-out in seconds."""

    def __init__(self, client: Callable[[float], LambdaClient]) -> None:
        self._client = client

    def invoke(self, function: str, payload: bytes, timeout_s: float) -> bytes:
        with _call(f"function {function}"):
            answer = self._client(timeout_s).invoke(FunctionName=function, Payload=payload)
            content: bytes = answer["Payload"].read(HOOK_ANSWER_BYTES_MAX)
        if "FunctionError" in answer:
            problem = content[:500].decode(errors="replace")
            raise HookFailedError(f"function {function} failed: {problem}")
        return content


class EventBridgeHookBuses:
    """`graveler.ports.HookBuses`."""

    def __init__(self, client: Callable[[], "EventBridgeClient"]) -> None:
        self._client = client

    def put(self, bus: str, source: str, detail_type: str, detail: str) -> None:
        with _call(f"bus {bus}"):
            answer = self._client().put_events(
                Entries=[
                    {
                        "EventBusName": bus,
                        "Source": source,
                        "DetailType": detail_type,
                        "Detail": detail,
                    }
                ]
            )
        for entry in answer["Entries"]:
            if "ErrorCode" in entry:
                problem = f"{entry['ErrorCode']}: {entry.get('ErrorMessage', '')}"
                raise HookFailedError(f"bus {bus} refuses the event: {problem}")


class NoSecrets:
    """`graveler.ports.SecretStore` of a deployment without secrets for hooks: all are empty."""

    def secret(self, name: str) -> str | None:  # noqa: ARG002 - the port's
        return ""


class EnvironmentSecrets:
    """`graveler.ports.SecretStore` over the process's environment, as in lakeFS."""

    def secret(self, name: str) -> str | None:
        return os.environ.get(name)


class SecretsManagerSecrets:
    """`graveler.ports.SecretStore` over Secrets Manager: the secret `<prefix><name>`."""

    def __init__(self, client: Callable[[], Any], prefix: str) -> None:
        self._client = client
        self._prefix = prefix

    def secret(self, name: str) -> str | None:
        with _call("Secrets Manager"):
            try:
                answer = self._client().get_secret_value(SecretId=self._prefix + name)
            except ClientError as error:
                if error.response["Error"]["Code"] == "ResourceNotFoundException":
                    return None
                raise
        found: str | None = answer.get("SecretString")
        return found


class ParameterStoreSecrets:
    """`graveler.ports.SecretStore` over Parameter Store: the parameter `<prefix><name>`."""

    def __init__(self, client: Callable[[], Any], prefix: str) -> None:
        self._client = client
        self._prefix = prefix

    def secret(self, name: str) -> str | None:
        with _call("Parameter Store"):
            try:
                answer = self._client().get_parameter(Name=self._prefix + name, WithDecryption=True)
            except ClientError as error:
                if error.response["Error"]["Code"] == "ParameterNotFound":
                    return None
                raise
        found: str = answer["Parameter"]["Value"]
        return found


def secrets_of(
    setting: str, secrets_manager: Callable[[], Any], parameter_store: Callable[[], Any]
) -> SecretStore:
    """Return the store that the setting hook_secrets names.

    Raises:
        ValueError: the setting does not name a store.
    """
    kind, _, prefix = setting.partition(":")
    if not kind:
        return NoSecrets()
    if kind == ENVIRONMENT and not prefix:
        return EnvironmentSecrets()
    # Without a prefix, hooks could read every secret that the role may read.
    if kind == SECRETS_MANAGER and prefix:
        return SecretsManagerSecrets(secrets_manager, prefix)
    if kind == PARAMETER_STORE and prefix:
        return ParameterStoreSecrets(parameter_store, prefix)
    raise ValueError(
        f"GRAVELER_HOOK_SECRETS is {setting!r}: set it to "
        "secrets-manager:PREFIX, parameter-store:PREFIX or environment"
    )


@contextmanager
def _call(target: str) -> Iterator[None]:
    """Translate the errors of a call of boto3."""
    try:
        yield
    except ClientError as error:
        raise HookFailedError(f"{target}: {error.response['Error']['Code']}") from error
    except BotoCoreError as error:
        raise HookFailedError(f"{target}: {type(error).__name__}") from error
