"""Signed requests for bytes equal those of botocore, byte for byte."""

from collections.abc import Mapping
from datetime import UTC, datetime
from hashlib import sha256
from urllib.parse import urlsplit

import boto3
import pytest
from botocore.auth import S3SigV4Auth, S3SigV4QueryAuth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials
from hypothesis import given
from hypothesis import strategies as st

from graveler.aws.connect import s3_config
from graveler.aws.s3.signed_requests import UNSIGNED_PAYLOAD, Endpoint, S3Requests
from graveler.ports import SignedS3Request
from tests.support.worlds.server_world import Keys

NOW_S = 1_800_000_000
LONG_LIVED = Keys("AKIDEXAMPLE", "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY")
TEMPORARY = Keys("ASIAEXAMPLE", "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY", "a/temporary+token==")
REGION = "eu-west-1"
AWS_URL = f"https://s3.{REGION}.amazonaws.com"
ODD_KEYS = [
    "repo/data/key",
    "a b/é+%~?#&='(*)!,//./../x/",
    "/leading//double/",
    "%2F%C3%A9",
    "tab\tand\nline",
    "日本語 🎉",
    "data/abc,Zm9v-_",
]


@pytest.fixture(autouse=True)
def _same_moment(monkeypatch: pytest.MonkeyPatch) -> None:
    """botocore reads the clock itself."""
    moment = datetime.fromtimestamp(NOW_S, UTC)
    monkeypatch.setattr("botocore.auth.get_current_datetime", lambda **_: moment)


def aws(bucket_region: str = REGION) -> Endpoint:
    return Endpoint(AWS_URL, REGION, lambda _bucket: bucket_region)


def requests_of(endpoint: Endpoint, keys: Keys = LONG_LIVED) -> S3Requests:
    return S3Requests(endpoint, lambda: keys, now_s=lambda: NOW_S)


def url_of(made: SignedS3Request) -> str:
    return f"{made.scheme}://{made.headers['host']}{made.target}"


def of_botocore(
    made: SignedS3Request, headers: Mapping[str, str], keys: Keys, region: str = REGION
) -> dict[str, str]:
    """Return the headers that botocore makes for the same request."""

    class Signer(S3SigV4Auth):
        def payload(self, request: AWSRequest) -> str:  # noqa: ARG002 - theirs
            return made.headers["x-amz-content-sha256"]

    theirs = AWSRequest(made.method, url_of(made), dict(headers))
    Signer(Credentials(keys.access_key, keys.secret_key, keys.token), "s3", region).add_auth(theirs)
    return {"host": made.headers["host"]} | {
        name.lower(): value for name, value in theirs.headers.items()
    }


HEADERS = {
    "range": "bytes=0-9",
    "content-type": "text/plain;  charset=utf-8",
    "user-agent": "graveler",
    "x-amz-checksum-crc32": "AAAAAA==",
}


@pytest.mark.parametrize("keys", [LONG_LIVED, TEMPORARY], ids=["long-lived", "temporary"])
@pytest.mark.parametrize(
    "endpoint",
    [aws(), aws("ap-south-1"), Endpoint("http://127.0.0.1:9000", REGION)],
    ids=["aws", "aws, another region", "server"],
)
@pytest.mark.parametrize("key", ODD_KEYS)
def test_a_request_is_signed_as_botocore_would(keys: Keys, endpoint: Endpoint, key: str) -> None:
    made = requests_of(endpoint, keys)
    uri, digest = f"s3://bucket/{key}", sha256(b"content").hexdigest()
    region = REGION if endpoint.region_of is None else endpoint.region_of("bucket")
    for request in (
        made.sign_get(uri, HEADERS),
        made.sign_put(uri, HEADERS, UNSIGNED_PAYLOAD),
        made.sign_put(uri, HEADERS, digest),
        made.sign_part(uri, "a b+c/d=e&partNumber=1&f%20é~", 7, HEADERS, digest),
    ):
        assert request.headers == of_botocore(request, HEADERS, keys, region)


@given(key=st.text(st.characters(exclude_categories=["Cs"]), min_size=1))
@pytest.mark.parametrize("endpoint", [None, "http://127.0.0.1:9000"])
def test_a_target_is_the_one_that_boto3_sends(endpoint: str | None, key: str) -> None:
    where = aws() if endpoint is None else Endpoint(endpoint, REGION)
    made = requests_of(where).sign_get(f"s3://bucket/{key}", {})
    theirs = urlsplit(_boto3(endpoint).generate_presigned_url("get_object", _of(key)))
    assert (made.target, made.headers["host"]) == (theirs.path, theirs.netloc)


_clients = {}


def _boto3(endpoint: str | None):
    if endpoint not in _clients:
        _clients[endpoint] = boto3.client(
            "s3",
            region_name=REGION,
            endpoint_url=endpoint,
            aws_access_key_id=LONG_LIVED.access_key,
            aws_secret_access_key=LONG_LIVED.secret_key,
            config=s3_config(endpoint),
        )
    return _clients[endpoint]


def _of(key: str) -> dict[str, str]:
    return {"Bucket": "bucket", "Key": key}


@pytest.mark.parametrize(
    ("endpoint", "bucket", "expected"),
    [
        (aws(), "bucket", ("https", f"bucket.s3.{REGION}.amazonaws.com", 443, "/k")),
        (aws("us-west-2"), "bucket", ("https", "bucket.s3.us-west-2.amazonaws.com", 443, "/k")),
        (aws(), "dotted.bucket", ("https", f"s3.{REGION}.amazonaws.com", 443, "/dotted.bucket/k")),
        (aws(), "Upper", ("https", f"s3.{REGION}.amazonaws.com", 443, "/Upper/k")),
        (Endpoint("http://127.0.0.1:9000", REGION), "b-1", ("http", "127.0.0.1", 9000, "/b-1/k")),
        (Endpoint("http://[::1]:9000", REGION), "b-1", ("http", "::1", 9000, "/b-1/k")),
        (
            Endpoint("https://minio.example/s3/", REGION),
            "b",
            ("https", "minio.example", 443, "/s3/b/k"),
        ),
    ],
)
def test_a_request_goes_to_the_host_of_the_bucket(
    endpoint: Endpoint, bucket: str, expected: tuple[str, str, int, str]
) -> None:
    made = requests_of(endpoint).sign_get(f"s3://{bucket}/k", {})
    assert (made.scheme, made.host, made.port, made.target) == expected


@pytest.mark.parametrize("bucket", ["lake", "a_b", "Upper", "a" * 63])
@pytest.mark.parametrize(
    "url",
    [
        AWS_URL,
        "http://127.0.0.1:4566",
        "https://192.0.2.5",
        "http://[::1]:4566",
        "http://localhost:4566",
        "http://minio.example:9000/base/",
        "https://bucket.vpce-1a2b.s3.eu-west-1.vpce.amazonaws.com",
    ],
)
def test_with_an_endpoint_of_the_environment_a_bucket_is_where_botocore_finds_it(
    url: str, bucket: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL", url)
    client = boto3.client(
        "s3",
        region_name=REGION,
        aws_access_key_id=LONG_LIVED.access_key,
        aws_secret_access_key=LONG_LIVED.secret_key,
        config=s3_config(None),
    )
    place = Endpoint(client.meta.endpoint_url, REGION, lambda _bucket: REGION)
    ours = url_of(requests_of(place).sign_get(f"s3://{bucket}/a/b", {}))
    theirs = client.generate_presigned_url("get_object", {"Bucket": bucket, "Key": "a/b"})
    assert ours == theirs.partition("?")[0]


def test_a_host_header_names_a_port_only_if_it_is_not_the_usual_one() -> None:
    for url, host in (
        ("http://127.0.0.1:9000", "127.0.0.1:9000"),
        ("http://server:80", "server"),
        ("https://server:443", "server"),
        ("https://server:80", "server:80"),
    ):
        made = requests_of(Endpoint(url, REGION)).sign_get("s3://bucket/k", {})
        assert made.headers["host"] == host


@pytest.mark.parametrize("keys", [LONG_LIVED, TEMPORARY], ids=["long-lived", "temporary"])
@pytest.mark.parametrize("key", ODD_KEYS)
@pytest.mark.parametrize(
    "signed",
    [{}, {"x-amz-checksum-mode": "ENABLED", "x-amz-content-sha256": sha256(b"").hexdigest()}],
    ids=["no header", "some headers"],
)
def test_a_presigned_read_is_signed_as_botocore_would(
    keys: Keys, key: str, signed: Mapping[str, str]
) -> None:
    response = {"response-content-type": 'text/plain; a="b"', "response-cache-control": "x y"}
    url = requests_of(aws(), keys).presign_read(f"s3://bucket/{key}", 900, signed, response)
    bare = f"https://{urlsplit(url).netloc}{urlsplit(url).path}"
    theirs = AWSRequest("GET", bare, dict(signed), params=response)
    frozen = Credentials(keys.access_key, keys.secret_key, keys.token)
    S3SigV4QueryAuth(frozen, "s3", REGION, expires=900).add_auth(theirs)

    def parameters(url: str) -> set[str]:
        return set(urlsplit(url).query.split("&"))

    assert parameters(url) == parameters(str(theirs.url))


def test_presigned_reads_lead_to_the_public_endpoint() -> None:
    public = Endpoint("https://objects.example:8443", REGION)
    private = Endpoint("http://127.0.0.1:9000", REGION)
    made = S3Requests(private, lambda: LONG_LIVED, public)
    assert made.presign_read("s3://b/k", 60, {}, {}).startswith("https://objects.example:8443/b/k?")
    assert made.sign_get("s3://b/k", {}).host == "127.0.0.1"


def test_new_credentials_sign_the_next_request() -> None:
    keys = [LONG_LIVED]
    made = S3Requests(aws(), lambda: keys[0], now_s=lambda: NOW_S)
    before = made.sign_get("s3://bucket/k", {}).headers
    keys[0] = TEMPORARY
    after = made.sign_get("s3://bucket/k", {}).headers
    assert after == requests_of(aws(), TEMPORARY).sign_get("s3://bucket/k", {}).headers
    assert after["authorization"] != before["authorization"]
