"""Signatures equal those of botocore, byte for byte."""

from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import sha256
from urllib.parse import parse_qs, urlsplit

import pytest
from botocore.auth import S3SigV4Auth, S3SigV4QueryAuth, SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials

from graveler.aws.signing import Signer, query_of

NOW_S = 1_800_000_000  # 2027-01-15T08:00:00Z
BODY = b'{"TableName":"refs"}'


@dataclass(frozen=True)
class Keys:
    access_key: str = "AKIDEXAMPLE"
    secret_key: str = "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"
    token: str | None = None


TEMPORARY = Keys(token="a/temporary+token==")


@pytest.fixture(autouse=True)
def _same_moment(monkeypatch: pytest.MonkeyPatch) -> None:
    """botocore reads the clock itself."""
    moment = datetime.fromtimestamp(NOW_S, UTC)
    monkeypatch.setattr("botocore.auth.get_current_datetime", lambda **_: moment)


def botocore_keys(keys: Keys) -> Credentials:
    return Credentials(keys.access_key, keys.secret_key, keys.token)


@pytest.mark.parametrize("keys", [Keys(), TEMPORARY], ids=["long-lived", "temporary"])
def test_a_dynamodb_request_is_signed_as_botocore_would(keys: Keys) -> None:
    headers = {
        "content-type": "application/x-amz-json-1.0",
        "x-amz-target": "DynamoDB_20120810.GetItem",
    }
    signer = Signer("dynamodb", "eu-west-1", lambda: keys, lambda: NOW_S)
    host = "dynamodb.eu-west-1.amazonaws.com"
    ours = signer.signed("POST", host, "/", "", headers, sha256(BODY).hexdigest())
    theirs = AWSRequest("POST", f"https://{host}/", dict(headers), BODY)
    SigV4Auth(botocore_keys(keys), "dynamodb", "eu-west-1").add_auth(theirs)
    assert ours["authorization"] == theirs.headers["Authorization"]
    assert ours["x-amz-date"] == theirs.headers["X-Amz-Date"]
    assert ours.get("x-amz-security-token") == theirs.headers.get("X-Amz-Security-Token")


@pytest.mark.parametrize("keys", [Keys(), TEMPORARY], ids=["long-lived", "temporary"])
def test_an_s3_request_is_signed_as_botocore_would(keys: Keys) -> None:
    host, path = "bucket.s3.eu-west-1.amazonaws.com", "/data/a%20b/%C3%A9%2B~"
    query = query_of({"uploadId": "a/b+c", "partNumber": "7", "empty": ""})
    digest = sha256(BODY).hexdigest()
    headers = {"range": "bytes=0-9", "x-amz-content-sha256": digest}
    signer = Signer("s3", "eu-west-1", lambda: keys, lambda: NOW_S)
    ours = signer.signed("PUT", host, path, query, headers, digest)
    theirs = AWSRequest("PUT", f"https://{host}{path}?{query}", dict(headers), BODY)
    theirs.context["payload_signing_enabled"] = True
    S3SigV4Auth(botocore_keys(keys), "s3", "eu-west-1").add_auth(theirs)
    assert ours["authorization"] == theirs.headers["Authorization"]


@pytest.mark.parametrize("keys", [Keys(), TEMPORARY], ids=["long-lived", "temporary"])
def test_a_url_is_signed_as_botocore_would(keys: Keys) -> None:
    host, path = "bucket.s3.eu-west-1.amazonaws.com", "/data/a%20b"
    parameters = {"response-content-disposition": "attachment; filename=\"é\"; x=''y"}
    signer = Signer("s3", "eu-west-1", lambda: keys, lambda: NOW_S)
    ours = parse_qs(signer.presigned_query("GET", host, path, parameters, 900))
    url = f"https://{host}{path}?{query_of(parameters)}"
    theirs = AWSRequest("GET", url)
    S3SigV4QueryAuth(botocore_keys(keys), "s3", "eu-west-1", expires=900).add_auth(theirs)
    assert ours == parse_qs(urlsplit(theirs.url).query)


def test_new_credentials_and_a_new_day_make_a_new_key() -> None:
    now_s, keys = [NOW_S], [Keys()]
    signer = Signer("s3", "eu-west-1", lambda: keys[0], lambda: now_s[0])

    def signature() -> str:
        fresh = Signer("s3", "eu-west-1", lambda: keys[0], lambda: now_s[0])
        ours = signer.signed("GET", "host", "/", "", {}, "")["authorization"]
        assert ours == fresh.signed("GET", "host", "/", "", {}, "")["authorization"]
        return ours

    seen = {signature()}
    now_s[0] += 24 * 60 * 60
    seen.add(signature())
    keys[0] = Keys(secret_key="another")
    seen.add(signature())
    assert len(seen) == 3
