"""What the wiring makes of a deployment's settings."""

from collections.abc import Iterator
from urllib.parse import parse_qs, urlsplit

import pytest

from graveler.aws import wiring
from graveler.aws.s3.regions import BucketRegions

ENVIRONMENT = {
    "AWS_REGION": "eu-west-1",
    "AWS_ACCESS_KEY_ID": "AKIAIOSFODNN7EXAMPLE",
    "AWS_SECRET_ACCESS_KEY": "secret",
    "GRAVELER_REFS_TABLE": "refs",
    "GRAVELER_STAGING_TABLE": "staging",
}
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
    objects = wiring.engine_over(wiring.settings(), wiring.tables(), b"key").objects
    uri = f"s3://{bucket}/key"
    for url in (
        objects.presign_get(uri, 60, "key"),
        objects.presign_put(uri, 60),
        *objects.presign_parts(uri, "upload", 2, 60),
        wiring.s3_requests().presign_read(uri, 60, {}, {}),
    ):
        parts = urlsplit(url)
        assert parts.netloc == f"{bucket}.s3.{region}.amazonaws.com"
        assert f"/{region}/s3/" in parse_qs(parts.query)["X-Amz-Credential"][0]
    assert wiring.s3_requests().sign_get(uri, {}).host == f"{bucket}.s3.{region}.amazonaws.com"


def test_a_compatible_server_has_one_region(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GRAVELER_S3_ENDPOINT", "http://127.0.0.1:9000")
    monkeypatch.setenv("GRAVELER_S3_PUBLIC_ENDPOINT", "https://objects.example")
    objects = wiring.engine_over(wiring.settings(), wiring.tables(), b"key").objects
    uri = "s3://unknown/key"
    for url in (
        objects.presign_get(uri, 60, "key"),
        wiring.s3_requests().presign_read(uri, 60, {}, {}),
    ):
        assert url.startswith("https://objects.example/unknown/key?")
    made = wiring.s3_requests().sign_get(uri, {})
    assert (made.scheme, made.host, made.port) == ("http", "127.0.0.1", 9000)
    assert made.target == "/unknown/key"


def test_a_copy_of_the_process_signs_with_new_credentials(monkeypatch: pytest.MonkeyPatch) -> None:
    before = wiring.s3_requests()
    assert wiring.s3_requests() is before
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKIAIOSFODNN7ANOTHER")
    wiring.forget()
    made = wiring.s3_requests().sign_get("s3://near/key", {})
    assert "AKIAIOSFODNN7ANOTHER" in made.headers["authorization"]
