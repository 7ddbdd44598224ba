"""The URLs of an upload's parts equal those of boto3, byte for byte."""

from collections.abc import Callable
from datetime import UTC, datetime

import boto3
import pytest

from graveler.aws.connect import s3_config
from graveler.aws.s3.client import S3
from graveler.aws.s3.objects import S3ObjectStore
from graveler.aws.s3.presigning import part_urls
from tests.support.worlds.server_world import Keys

URI = "s3://bucket/repo/data/key"
UPLOAD = "2~a.b_c-d"
PARTS = 101
LONG_LIVED = Keys("AKIDEXAMPLE", "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY")
TEMPORARY = Keys("ASIAEXAMPLE", "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY", "a/temporary+token==")


@pytest.fixture(autouse=True)
def _same_moment(monkeypatch: pytest.MonkeyPatch) -> None:
    """botocore reads the clock itself."""
    moment = datetime.fromtimestamp(1_800_000_000, UTC)
    monkeypatch.setattr("botocore.auth.get_current_datetime", lambda **_: moment)


def store(
    keys: Keys = LONG_LIVED,
    endpoint: str | None = None,
    credentials: Callable[[], Keys] | None = None,
) -> S3ObjectStore:
    """A store whose boto3 client signs with the keys."""
    client = boto3.client(
        "s3",
        region_name="eu-west-1",
        endpoint_url=endpoint,
        aws_access_key_id=keys.access_key,
        aws_secret_access_key=keys.secret_key,
        aws_session_token=keys.token,
        config=s3_config(endpoint),
    )
    return S3ObjectStore(S3(client), credentials=credentials)


def of_boto3(made: S3ObjectStore, uri: str = URI, upload: str = UPLOAD) -> list[str]:
    return [made.presign_part(uri, upload, number, 900) for number in range(1, PARTS + 1)]


@pytest.mark.parametrize("keys", [LONG_LIVED, TEMPORARY], ids=["long-lived", "temporary"])
@pytest.mark.parametrize("endpoint", [None, "http://127.0.0.1:9000", "https://minio.example/s3"])
@pytest.mark.parametrize(
    ("uri", "upload"),
    [
        (URI, UPLOAD),
        ("s3://dotted.bucket/key", UPLOAD),
        ("s3://bucket/a b/é+%~?#&='(*)!,//./x/", "a b+c/d=e&partNumber=1&f%20é"),
        ("s3://bucket/partNumber=1&X-Amz-Signature=0", "X-Amz-Signature=partNumber=1&"),
    ],
    ids=["plain", "dotted bucket", "escaped", "looks like a query"],
)
def test_parts_are_signed_as_boto3_would(
    keys: Keys, endpoint: str | None, uri: str, upload: str
) -> None:
    theirs = of_boto3(store(keys, endpoint), uri, upload)
    assert part_urls(theirs[0], PARTS, keys) == theirs
    fast = store(keys, endpoint, credentials=lambda: keys)
    assert fast.presign_parts(uri, upload, PARTS, 900) == theirs


def test_urls_are_right_while_credentials_are_renewed() -> None:
    """The first URL was signed with the old ones, and nothing else may carry their ID."""
    renewed = Keys("ASIARENEWED", "another secret", "another token")
    theirs = of_boto3(store(TEMPORARY))
    assert part_urls(theirs[0], PARTS, renewed) is None
    made = store(TEMPORARY, credentials=lambda: renewed)
    assert made.presign_parts(URI, UPLOAD, PARTS, 900) == theirs


@pytest.mark.parametrize(
    "endpoint", ["https://minio.example:443", "http://MinIO.example"], ids=["port", "case"]
)
def test_an_endpoint_that_boto3_signs_in_another_way_gets_right_urls(endpoint: str) -> None:
    made = store(endpoint=endpoint, credentials=lambda: LONG_LIVED)
    assert made.presign_parts(URI, UPLOAD, PARTS, 900) == of_boto3(store(endpoint=endpoint))


def test_no_parts_have_no_urls() -> None:
    assert list(store(credentials=lambda: LONG_LIVED).presign_parts(URI, UPLOAD, 0, 900)) == []
