"""Functions, buses and secrets of hooks, over clients that answer from a script."""

import io
from collections.abc import Callable
from typing import Any

import pytest
from botocore.exceptions import ClientError, ReadTimeoutError

from graveler.aws.hook_targets import (
    EnvironmentSecrets,
    EventBridgeHookBuses,
    LambdaHookFunctions,
    NoSecrets,
    ParameterStoreSecrets,
    SecretsManagerSecrets,
    secrets_of,
)
from graveler.errors import HookFailedError


def refusal(code: str) -> ClientError:
    answer: Any = {"Error": {"Code": code}, "ResponseMetadata": {"HTTPStatusCode": 400}}
    return ClientError(answer, "Operation")


class _Client:
    """A client of boto3 whose every method gives the answer, or raises it."""

    def __init__(self, answer: Any) -> None:
        self.asked: list[dict[str, Any]] = []
        self._answer = answer

    def __getattr__(self, _method: str) -> Callable[..., Any]:
        def call(**parameters: Any) -> Any:
            self.asked.append(parameters)
            if isinstance(self._answer, Exception):
                raise self._answer
            return self._answer

        return call


def client_of(answer: Any) -> Any:
    return _Client(answer)


def invoked(answer: Any) -> bytes:
    return LambdaHookFunctions(lambda _timeout_s: client_of(answer)).invoke("check", b"{}", 5)


def test_a_function_answers():
    client = client_of({"Payload": io.BytesIO(b"true")})
    timeouts: list[float] = []

    def connect(timeout_s: float) -> Any:
        timeouts.append(timeout_s)
        return client

    assert LambdaHookFunctions(connect).invoke("check", b"{}", 5) == b"true"
    assert client.asked == [{"FunctionName": "check", "Payload": b"{}"}]
    assert timeouts == [5]


def test_a_function_that_fails_or_does_not_answer_fails_the_hook():
    failed = {"Payload": io.BytesIO(b"{}"), "FunctionError": "Unhandled"}
    with pytest.raises(HookFailedError, match="function check failed"):
        invoked(failed)
    with pytest.raises(HookFailedError, match="function check: AccessDenied"):
        invoked(refusal("AccessDenied"))
    with pytest.raises(HookFailedError, match="function check: ReadTimeoutError"):
        invoked(ReadTimeoutError(endpoint_url="https://lambda"))


def test_an_event_is_put_on_its_bus():
    client = client_of({"Entries": [{"EventId": "1"}]})
    EventBridgeHookBuses(lambda: client).put("lake", "lakefs", "pre-commit", "{}")
    ((entry,),) = [each["Entries"] for each in client.asked]
    assert (entry["EventBusName"], entry["Source"], entry["Detail"]) == ("lake", "lakefs", "{}")


def test_a_bus_that_refuses_fails_the_hook():
    refused = client_of({"Entries": [{"ErrorCode": "Internal", "ErrorMessage": "why"}]})
    with pytest.raises(HookFailedError, match="refuses the event: Internal: why"):
        EventBridgeHookBuses(lambda: refused).put("lake", "lakefs", "x", "{}")
    unknown = client_of(refusal("ResourceNotFoundException"))
    with pytest.raises(HookFailedError, match="bus lake: ResourceNotFoundException"):
        EventBridgeHookBuses(lambda: unknown).put("lake", "lakefs", "x", "{}")


def test_secrets_are_found_below_their_prefix():
    client = client_of({"SecretString": "s"})
    assert SecretsManagerSecrets(lambda: client, "lake/").secret("NAME") == "s"
    assert client.asked == [{"SecretId": "lake/NAME"}]
    client = client_of({"Parameter": {"Value": "p"}})
    assert ParameterStoreSecrets(lambda: client, "/lake/").secret("NAME") == "p"
    assert client.asked == [{"Name": "/lake/NAME", "WithDecryption": True}]


def test_a_secret_that_does_not_exist_is_none():
    missing = client_of(refusal("ResourceNotFoundException"))
    assert SecretsManagerSecrets(lambda: missing, "lake/").secret("NAME") is None
    missing = client_of(refusal("ParameterNotFound"))
    assert ParameterStoreSecrets(lambda: missing, "/lake/").secret("NAME") is None


def test_a_store_of_secrets_that_fails_fails_the_hook():
    with pytest.raises(HookFailedError, match="Secrets Manager: AccessDenied"):
        SecretsManagerSecrets(lambda: client_of(refusal("AccessDenied")), "lake/").secret("NAME")


def test_the_environment_has_secrets_where_the_setting_says_so(monkeypatch):
    monkeypatch.setenv("LAKEFSACTION_TEST", "e")
    assert EnvironmentSecrets().secret("LAKEFSACTION_TEST") == "e"
    assert NoSecrets().secret("LAKEFSACTION_TEST") == ""


@pytest.mark.parametrize(
    ("setting", "kind"),
    [
        ("", NoSecrets),
        ("environment", EnvironmentSecrets),
        ("secrets-manager:lake/", SecretsManagerSecrets),
        ("parameter-store:/lake/", ParameterStoreSecrets),
    ],
)
def test_the_setting_names_the_store(setting, kind):
    assert isinstance(secrets_of(setting, object, object), kind)


@pytest.mark.parametrize(
    "setting", ["vault:x", "secrets-manager:", "parameter-store", "environment:x"]
)
def test_another_setting_is_refused(setting):
    with pytest.raises(ValueError, match="GRAVELER_HOOK_SECRETS is"):
        secrets_of(setting, object, object)
