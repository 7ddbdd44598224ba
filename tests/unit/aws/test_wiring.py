"""The adapters of a deployment, and of copies of a process by Lambda's SnapStart.

tests/infra/test_runtime.py makes real copies.
"""

import random
import sys
from collections.abc import Iterator
from functools import cached_property
from types import ModuleType
from typing import Any
from urllib.parse import parse_qs, urlsplit

import boto3
import pytest
from moto import mock_aws

from graveler.aws import wiring
from graveler.aws.s3.regions import BucketRegions
from tests.unit.aws.test_ciphers import CONTEXT, OLDER, SECRET

ENVIRONMENT = {
    "AWS_REGION": "eu-west-1",
    "AWS_ACCESS_KEY_ID": "AKIAIOSFODNN7EXAMPLE",
    "AWS_SECRET_ACCESS_KEY": "secret",
    "GRAVELER_REFS_TABLE": "refs",
    "GRAVELER_STAGING_TABLE": "staging",
}
LIBRARY = "snapshot_restore_py"
REGIONS = {"near": "eu-west-1", "far": "ap-south-1"}


@pytest.fixture(autouse=True)
def _deployed(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    for name, value in ENVIRONMENT.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(BucketRegions, "region_of", lambda _, bucket: REGIONS[bucket])
    wiring.forget()
    yield
    wiring.forget()


@pytest.mark.parametrize("bucket", REGIONS)
def test_urls_are_signed_for_the_region_of_the_bucket(bucket: str) -> None:
    region = REGIONS[bucket]
    objects = wiring.adapters().engine_signing(b"key").objects
    uri = f"s3://{bucket}/key"
    for url in (
        objects.presign_get(uri, 60, "key"),
        objects.presign_put(uri, 60),
        *objects.presign_parts(uri, "upload", 2, 60),
        wiring.adapters().s3_requests.presign_read(uri, 60, {}, {}),
    ):
        parts = urlsplit(url)
        assert parts.netloc == f"{bucket}.s3.{region}.amazonaws.com"
        assert f"/{region}/s3/" in parse_qs(parts.query)["X-Amz-Credential"][0]
    assert (
        wiring.adapters().s3_requests.sign_get(uri, {}).host
        == f"{bucket}.s3.{region}.amazonaws.com"
    )


def test_a_compatible_server_has_one_region(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GRAVELER_S3_ENDPOINT", "http://127.0.0.1:9000")
    monkeypatch.setenv("GRAVELER_S3_PUBLIC_ENDPOINT", "https://objects.example")
    objects = wiring.adapters().engine_signing(b"key").objects
    uri = "s3://unknown/key"
    for url in (
        objects.presign_get(uri, 60, "key"),
        wiring.adapters().s3_requests.presign_read(uri, 60, {}, {}),
    ):
        assert url.startswith("https://objects.example/unknown/key?")
    made = wiring.adapters().s3_requests.sign_get(uri, {})
    assert (made.scheme, made.host, made.port) == ("http", "127.0.0.1", 9000)
    assert made.target == "/unknown/key"


def test_a_copy_of_the_process_signs_with_new_credentials(monkeypatch: pytest.MonkeyPatch) -> None:
    before = wiring.adapters().s3_requests
    assert wiring.adapters().s3_requests is before
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKIAIOSFODNN7ANOTHER")
    wiring.forget()
    made = wiring.adapters().s3_requests.sign_get("s3://near/key", {})
    assert "AKIAIOSFODNN7ANOTHER" in made.headers["authorization"]


def test_a_copy_reads_its_settings_and_credentials_again(monkeypatch: pytest.MonkeyPatch) -> None:
    before = wiring.adapters()
    assert wiring.adapters() is before
    assert before.clients.credentials().access_key == ENVIRONMENT["AWS_ACCESS_KEY_ID"]
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKIAIOSFODNN7ANOTHER")
    monkeypatch.setenv("GRAVELER_REFS_TABLE", "restored")
    wiring.forget()
    assert wiring.adapters().tables.refs == "restored"
    assert wiring.adapters().clients.credentials().access_key == "AKIAIOSFODNN7ANOTHER"


def test_users_secrets_are_encrypted_under_the_secret_in_secrets_manager(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with mock_aws():
        client = boto3.client("secretsmanager", region_name="eu-west-1")
        made = client.create_secret(Name="cipher", SecretString=SECRET)
        monkeypatch.setenv("GRAVELER_CIPHER_SECRET_ARN", made["ARN"])
        cipher = wiring.adapters()._cipher()
    assert cipher.decrypt(OLDER[0], CONTEXT) == b"the secret"


def _members(container: object) -> dict[str, Any]:
    """Return all members of the container but the engine, which needs a server."""
    kinds = vars(type(container)).items()
    names = [name for name, each in kinds if isinstance(each, cached_property)]
    return {name: getattr(container, name) for name in names if name != "engine"}


def test_a_copy_uses_nothing_that_the_copied_process_made() -> None:
    before = wiring.adapters()
    old = _members(before) | _members(before.clients)
    assert {"heartbeats", "tables", "kms"} <= old.keys()
    wiring.forget()
    after = wiring.adapters()
    new = _members(after) | _members(after.clients)
    assert [name for name in old if new[name] is old[name]] == []
    assert after.heartbeats.tables is after.tables


def test_copies_pause_differently_before_they_try_again() -> None:
    pauses = []
    for _ in range(2):
        random.seed(7)  # the state in the snapshot
        wiring.forget()
        pauses.append(random.random())
    assert pauses[0] != pauses[1]


def test_lambda_calls_what_is_to_happen_in_each_copy(monkeypatch: pytest.MonkeyPatch) -> None:
    registered = []
    library = ModuleType(LIBRARY)
    library.register_after_restore = registered.append  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, LIBRARY, library)
    monkeypatch.setattr(wiring, "find_spec", lambda _: object())
    act = print
    wiring.after_restore(act)
    assert registered == [act]


def test_outside_of_lambda_there_are_no_copies(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wiring, "find_spec", lambda _: None)
    monkeypatch.delitem(sys.modules, LIBRARY, raising=False)
    wiring.after_restore(lambda: pytest.fail("nobody calls it"))
    assert LIBRARY not in sys.modules
