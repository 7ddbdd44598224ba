"""Secrets under a KMS key, on moto's KMS in this process."""

from collections.abc import Callable, Iterator
from io import BytesIO
from typing import Any

import boto3
import pytest
from botocore.awsrequest import AWSPreparedRequest, AWSResponse
from botocore.compat import HTTPHeaders
from botocore.exceptions import ClientError, EndpointConnectionError, ReadTimeoutError
from moto import mock_aws
from urllib3 import HTTPResponse

from graveler.aws import deadlines
from graveler.aws.connect import Clients
from graveler.aws.kms import KmsCipher
from graveler.aws.settings import DeploymentSettings
from graveler.errors import CorruptDataError, ThrottledError

REGION = "eu-west-1"
SETTINGS = DeploymentSettings(region=REGION, refs_table="refs", staging_table="staging")
CONTEXT = {"purpose": "testing"}


@pytest.fixture(autouse=True)
def _kms() -> Iterator[None]:
    with mock_aws():
        yield


@pytest.fixture
def cipher() -> KmsCipher:
    key = boto3.client("kms", region_name=REGION).create_key()["KeyMetadata"]["KeyId"]
    return KmsCipher(Clients(SETTINGS).kms, key)


def test_an_encrypted_secret_is_decrypted(cipher: KmsCipher) -> None:
    ciphertext = cipher.encrypt(b"the secret", CONTEXT)
    assert b"the secret" not in ciphertext
    assert cipher.decrypt(ciphertext, CONTEXT) == b"the secret"


def test_a_secret_belongs_to_its_context(cipher: KmsCipher) -> None:
    ciphertext = cipher.encrypt(b"the secret", CONTEXT)
    with pytest.raises(CorruptDataError):
        cipher.decrypt(ciphertext, {"purpose": "another"})


def test_foreign_ciphertext_is_corrupt(cipher: KmsCipher) -> None:
    ciphertext = cipher.encrypt(b"the secret", CONTEXT)
    with pytest.raises(CorruptDataError):
        cipher.decrypt(ciphertext[:-1] + bytes([ciphertext[-1] ^ 1]), CONTEXT)


def test_a_missing_key_is_not_bad_input() -> None:
    cipher = KmsCipher(Clients(SETTINGS).kms, "alias/absent")
    with pytest.raises(ClientError, match="NotFoundException"):
        cipher.encrypt(b"the secret", CONTEXT)


def throttled(request: AWSPreparedRequest) -> AWSResponse:
    raw = HTTPResponse(BytesIO(b'{"__type":"ThrottlingException"}'), preload_content=False)
    return AWSResponse(request.url, 400, HTTPHeaders(), raw)


def server_error(request: AWSPreparedRequest) -> AWSResponse:
    return AWSResponse(
        request.url, 500, HTTPHeaders(), HTTPResponse(BytesIO(), preload_content=False)
    )


def unreachable(request: AWSPreparedRequest) -> AWSResponse:
    raise EndpointConnectionError(endpoint_url=request.url)


def silent(request: AWSPreparedRequest) -> AWSResponse:
    raise ReadTimeoutError(endpoint_url=request.url)


@pytest.mark.parametrize("problem", [throttled, server_error, unreachable, silent])
def test_a_passing_problem_is_retried_and_then_reported(
    problem: Callable[[AWSPreparedRequest], AWSResponse], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("time.sleep", lambda _: None)
    client = Clients(SETTINGS).kms
    key = client.create_key()["KeyMetadata"]["KeyId"]
    problems_left = 1

    def before_send(request: AWSPreparedRequest, **_: object) -> Any:
        nonlocal problems_left
        problems_left -= 1
        return problem(request) if problems_left >= 0 else None

    client.meta.events.register_first("before-send.kms", before_send)
    assert KmsCipher(client, key).encrypt(b"the secret", CONTEXT)
    problems_left = 1_000
    with deadlines.within(0.2), pytest.raises(ThrottledError):
        KmsCipher(client, key).encrypt(b"the secret", CONTEXT)
