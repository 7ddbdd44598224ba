"""The functions, buses and secrets that hooks may reach on AWS.

Each connects when it is used for the first time. Each request is made once: the engine repeats a
hook, if anybody does.
"""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cached_property
from typing import TYPE_CHECKING, Any

from botocore.exceptions import BotoCoreError, ClientError

from graveler.aws.lambda_functions import LambdaClient
from graveler.errors import HookFailedError
from graveler.limits import HOOK_ANSWER_BYTES_MAX

if TYPE_CHECKING:
    from mypy_boto3_events import EventBridgeClient

# Where secrets are, before the colon of the setting hook_secrets.
SECRETS_MANAGER = "secrets-manager"
PARAMETER_STORE = "parameter-store"
ENVIRONMENT = "environment"


class LambdaHookFunctions:
    """`graveler.ports.HookFunctions`; connect returns a client with that time-out in seconds."""

    def __init__(self, connect: Callable[[float], LambdaClient]) -> None:
        self._connect = connect

    def invoke(self, function: str, payload: bytes, timeout_s: float) -> bytes:
        with _call(f"function {function}"):
            answer = self._connect(timeout_s).invoke(FunctionName=function, Payload=payload)
            content: bytes = answer["Payload"].read(HOOK_ANSWER_BYTES_MAX)
        if "FunctionError" in answer:
            problem = content[:500].decode(errors="replace")
            raise HookFailedError(f"function {function} failed: {problem}")
        return content


class EventBridgeHookBuses:
    """`graveler.ports.HookBuses`."""

    def __init__(self, connect: Callable[[], "EventBridgeClient"]) -> None:
        self._connect = connect

    @cached_property
    def _client(self) -> "EventBridgeClient":
        return self._connect()

    def put(self, bus: str, source: str, detail_type: str, detail: str) -> None:
        with _call(f"bus {bus}"):
            answer = self._client.put_events(
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
    """`graveler.ports.SecretStore` of a deployment where hooks have none: all are empty."""

    def secret(self, name: str) -> str | None:  # noqa: ARG002 - the port's
        return ""


class EnvironmentSecrets:
    """`graveler.ports.SecretStore` over the process's environment, as in lakeFS."""

    def secret(self, name: str) -> str | None:
        return os.environ.get(name)


class SecretsManagerSecrets:
    """`graveler.ports.SecretStore` over Secrets Manager: the secret `<prefix><name>`."""

    def __init__(self, connect: Callable[[], Any], prefix: str) -> None:
        self._connect = connect
        self._prefix = prefix

    def secret(self, name: str) -> str | None:
        with _call("Secrets Manager"):
            try:
                answer = self._connect().get_secret_value(SecretId=self._prefix + name)
            except ClientError as error:
                if error.response["Error"]["Code"] == "ResourceNotFoundException":
                    return None
                raise
        found: str | None = answer.get("SecretString")
        return found


class ParameterStoreSecrets:
    """`graveler.ports.SecretStore` over Parameter Store: the parameter `<prefix><name>`."""

    def __init__(self, connect: Callable[[], Any], prefix: str) -> None:
        self._connect = connect
        self._prefix = prefix

    def secret(self, name: str) -> str | None:
        with _call("Parameter Store"):
            try:
                answer = self._connect().get_parameter(
                    Name=self._prefix + name, WithDecryption=True
                )
            except ClientError as error:
                if error.response["Error"]["Code"] == "ParameterNotFound":
                    return None
                raise
        found: str = answer["Parameter"]["Value"]
        return found


@contextmanager
def _call(target: str) -> Iterator[None]:
    """Translate the errors of a call of boto3."""
    try:
        yield
    except ClientError as error:
        raise HookFailedError(f"{target}: {error.response['Error']['Code']}") from error
    except BotoCoreError as error:
        raise HookFailedError(f"{target}: {type(error).__name__}") from error
