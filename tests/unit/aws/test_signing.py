"""Signed headers equal those of botocore, byte for byte."""

from dataclasses import dataclass
from datetime import UTC, datetime

import pytest
from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials

from graveler.aws.signing import Signer

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


@pytest.mark.parametrize("keys", [Keys(), TEMPORARY], ids=["long-lived", "temporary"])
def test_a_request_is_signed_as_botocore_would(keys: Keys) -> None:
    headers = {
        "content-type": "application/x-amz-json-1.0",
        "host": "dynamodb.eu-west-1.amazonaws.com",
        "x-amz-target": "DynamoDB_20120810.GetItem",
    }
    ours = Signer("eu-west-1", lambda: keys, lambda: NOW_S).signed(headers, BODY)
    theirs = AWSRequest("POST", f"https://{headers['host']}/", dict(headers), BODY)
    frozen = Credentials(keys.access_key, keys.secret_key, keys.token)
    SigV4Auth(frozen, "dynamodb", "eu-west-1").add_auth(theirs)
    assert ours == {name.lower(): value for name, value in theirs.headers.items()}


def test_new_credentials_and_a_new_day_make_a_new_key() -> None:
    now_s, keys = [NOW_S], [Keys()]
    signer = Signer("eu-west-1", lambda: keys[0], lambda: now_s[0])

    def signature() -> str:
        fresh = Signer("eu-west-1", lambda: keys[0], lambda: now_s[0])
        ours = signer.signed({}, b"")["authorization"]
        assert ours == fresh.signed({}, b"")["authorization"]
        return ours

    seen = {signature()}
    now_s[0] += 24 * 60 * 60
    seen.add(signature())
    keys[0] = Keys(secret_key="another")
    seen.add(signature())
    assert len(seen) == 3
