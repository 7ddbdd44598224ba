import base64
import json
import time

import pytest

from graveler.access.identity_tokens import ServerID, principals_of, signed_request
from graveler.errors import InvalidInputError
from tests.support.checks.cases import for_each
from tests.support.fakes.identities import ARN, ROLE, SERVER, CheckingSts, changed, token_of

MINE = ServerID(SERVER)


def now_s():
    return int(time.time())


@pytest.fixture(scope="module")
def token():
    return token_of()


@for_each("region", ["eu-west-1", "us-east-1", "us-gov-west-1"])
def test_aws_accepts_the_request_that_the_official_client_signed(region):
    request = signed_request(token_of(region=region), MINE, now_s())
    assert CheckingSts().caller_arn(request) == ARN
    assert request.host.startswith("sts.")
    assert request.host.endswith(("amazonaws.com", "amazonaws.com.cn"))


@pytest.mark.parametrize(
    ("host", "region"),
    [
        ("sts.amazonaws.com", "us-east-1"),
        ("sts-fips.us-west-2.amazonaws.com", "us-west-2"),
        ("sts.cn-north-1.amazonaws.com.cn", "cn-north-1"),
        ("sts.us-iso-east-1.amazonaws.com", "us-iso-east-1"),
    ],
)
def test_every_endpoint_of_sts_is_one(token, host, region):
    request = signed_request(changed(token, host=host, region=region), MINE, now_s())
    assert request.host == request.headers["Host"] == host
    assert f"/{region}/sts/aws4_request" in request.query["X-Amz-Credential"]


def test_aws_refuses_a_request_that_was_signed_for_another_server():
    request = signed_request(token_of("other.example.com"), MINE, now_s())
    assert CheckingSts().caller_arn(request) is None


def test_a_wrong_secret_is_refused_by_aws():
    request = signed_request(token_of(secret="guess"), MINE, now_s())
    assert CheckingSts().caller_arn(request) is None


@pytest.mark.parametrize(
    "host",
    [
        "evil.example.com",
        "sts.amazonaws.com.evil.example",
        "sts.eu-west-1.amazonaws.com.evil.example",
        "evil.example/sts.amazonaws.com",
        "evil@sts.amazonaws.com",
        "sts.amazonaws.com:8443",
        "sts.amazonaws.com/path",
        "sts.amazonaws.com?x",
        "sts.amazonaws.com#x",
        "sts.amazonaws.com\n",
        "sts.amazonaws.com\r\nX: y",
        "STS.amazonaws.com",
        "xsts.amazonaws.com",
        "sts.eu.west.1.amazonaws.com",
        "sts..amazonaws.com",
        "sts.ec2-1-2-3-4.compute-1.amazonaws.com",
        "sts.eu-west-1.s3.amazonaws.com",
        "s3.amazonaws.com",
        "169.254.169.254",
        "[::1]",
        "",
        "sts.eu-west-1.amazonaws.com.cn",
    ],
)
def test_nothing_is_sent_to_a_host_that_is_not_sts(token, host):
    with pytest.raises(InvalidInputError, match=r"host|region"):
        signed_request(changed(token, host=host), MINE, now_s())


@pytest.mark.parametrize(
    "parts",
    [
        {"method": "GET"},
        {"method": ...},
        {"action": "AssumeRole"},
        {"action": "GetCallerIdentity&Action=AssumeRole"},
        {"version": "2010-01-01"},
        {"algorithm": "AWS4-HMAC-SHA1"},
        {"region": "us-east-1"},
        {"signed_headers": ["host"]},
        {"signed_headers": ["x-lakefs-server-id"]},
        {"signed_headers": ["host", "x-lakefs-server-id", "x-evil"]},
        {"signed_headers": ["host", "host", "x-lakefs-server-id"]},
        {"signed_headers": "host;x-lakefs-server-id"},
        {"access_key_id": "ASIA/../x"},
        {"access_key_id": "ASIA&X=1"},
        {"signature": "0" * 63},
        {"signature": "0" * 63 + "&"},
        {"signature": "A" * 64},
        {"security_token": "a b"},
        {"security_token": "a\r\nHost: x"},
        {"security_token": "a" * 8193},
        {"security_token": 7},
        {"expiration_duration": "0"},
        {"expiration_duration": "901"},
        {"expiration_duration": "-60"},
        {"expiration_duration": "60.0"},
        {"expiration_duration": "\u0669"},
        {"expiration_duration": 60},
        {"date": "20260101"},
        {"date": "20261301T000000Z"},
        {"date": "20000101T000000Z"},
        {"date": "29990101T000000Z"},
        {"date": "20260101T000000Z\n"},
    ],
)
def test_a_part_that_is_not_exact_is_refused(token, parts):
    with pytest.raises(InvalidInputError, match=r"^the identity token"):
        signed_request(changed(token, **parts), MINE, now_s())


@for_each(
    "token",
    ["", "é", "{}", "a" * 20_000, "W10=", base64.b64encode(b"[" * 3000).decode(), "bnVsbA=="],
)
def test_what_is_no_token_is_refused(token):
    with pytest.raises(InvalidInputError, match=r"^the identity token"):
        signed_request(token, MINE, now_s())


@for_each(("later_s", "is_good"), [(-301, False), (-299, True), (59, True), (62, False)])
def test_a_request_is_good_for_as_long_as_it_says(later_s, is_good):
    token = token_of(life_s=60)
    at_s = now_s() + later_s
    if is_good:
        assert signed_request(token, MINE, at_s).host
    else:
        with pytest.raises(InvalidInputError, match="date"):
            signed_request(token, MINE, at_s)


def test_a_refusal_quotes_no_part(token):
    signature = json.loads(base64.b64decode(token))["signature"]
    for parts in ({"signature": signature + "x"}, {"host": signature}, {"signature": 7}):
        with pytest.raises(InvalidInputError) as refused:
            signed_request(changed(token, **parts), MINE, now_s())
        assert signature not in str(refused.value)
        assert refused.value.__cause__ is None


def test_a_role_may_be_attached_with_and_without_its_session():
    assert principals_of(ARN) == (ARN, ROLE)
    user = "arn:aws:iam::123456789012:user/team/ann"
    assert principals_of(user) == (user,)
