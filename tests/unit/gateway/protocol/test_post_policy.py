"""Policies of POST object, AWS's published example among them.

https://docs.aws.amazon.com/AmazonS3/latest/API/sigv4-post-example.html
"""

import json
from base64 import b64encode
from datetime import UTC, datetime

import pytest
from botocore.auth import HmacV1PostAuth, S3SigV4PostAuth
from botocore.awsrequest import AWSRequest
from hypothesis import given
from hypothesis import strategies as st

from graveler_gateway.protocol.errors import Code, S3ResponseError
from graveler_gateway.protocol.post_policy import LengthRange, check_policy, form_access_key_id
from graveler_gateway.protocol.signatures.version2 import sign
from tests.support.checks.cases import for_each
from tests.support.clients.signed_heads import ACCESS_KEY_ID, CREDENTIALS, SECRET

EXPIRATION_S = int(datetime(2030, 1, 1, tzinfo=UTC).timestamp())
NOW_S = EXPIRATION_S - 1
AUTHS = pytest.mark.parametrize("auth", [S3SigV4PostAuth, HmacV1PostAuth])


def signed(auth, fields, conditions, expiration="2030-01-01T00:00:00.000Z"):
    signer = auth(CREDENTIALS, "s3", "eu-west-1")
    request = AWSRequest("POST", "http://lake.example/repo")
    request.context["s3-presign-post-fields"] = dict(fields)
    request.context["s3-presign-post-policy"] = {
        "expiration": expiration,
        "conditions": list(conditions),
    }
    signer.add_auth(request)
    form = request.context["s3-presign-post-fields"]
    return {name.lower(): value for name, value in form.items()}


def check(fields, now_s=NOW_S, secret=SECRET):
    return check_policy(fields, secret, now_s, "repo")


def refusal(*args, **kwargs):
    with pytest.raises(S3ResponseError) as caught:
        check(*args, **kwargs)
    return caught.value.code


EXAMPLE_POLICY = """{ "expiration": "2015-12-30T12:00:00.000Z",
  "conditions": [
    {"bucket": "sigv4examplebucket"},
    ["starts-with", "$key", "user/user1/"],
    {"acl": "public-read"},
    {"success_action_redirect": "http://sigv4examplebucket.s3.amazonaws.com/successful_upload.html"},
    ["starts-with", "$Content-Type", "image/"],
    {"x-amz-meta-uuid": "14365123651274"},
    {"x-amz-server-side-encryption": "AES256"},
    ["starts-with", "$x-amz-meta-tag", ""],

    {"x-amz-credential": "AKIAIOSFODNN7EXAMPLE/20151229/us-east-1/s3/aws4_request"},
    {"x-amz-algorithm": "AWS4-HMAC-SHA256"},
    {"x-amz-date": "20151229T000000Z" }
  ]
}"""
EXAMPLE = {
    "key": "user/user1/photo.jpg",
    "acl": "public-read",
    "success_action_redirect": "http://sigv4examplebucket.s3.amazonaws.com/successful_upload.html",
    "content-type": "image/jpeg",
    "x-amz-meta-uuid": "14365123651274",
    "x-amz-server-side-encryption": "AES256",
    "x-amz-credential": "AKIAIOSFODNN7EXAMPLE/20151229/us-east-1/s3/aws4_request",
    "x-amz-algorithm": "AWS4-HMAC-SHA256",
    "x-amz-date": "20151229T000000Z",
    "x-amz-meta-tag": "",
    "policy": b64encode(EXAMPLE_POLICY.replace("\n", "\r\n").encode()).decode(),
    "x-amz-signature": "8afdbf4008c03f22c2cd3cdb72e4afbb1f6a588f3255ac628749a66d7f09699e",
}


def test_the_published_form_verifies():
    now_s = int(datetime(2015, 12, 29, tzinfo=UTC).timestamp())
    assert form_access_key_id(EXAMPLE) == ACCESS_KEY_ID
    assert check_policy(EXAMPLE, SECRET, now_s, "sigv4examplebucket") == LengthRange()
    with pytest.raises(S3ResponseError) as caught:
        check_policy(EXAMPLE, SECRET, now_s, "other")
    assert caught.value.code is Code.POST_POLICY_FAILED


@AUTHS
def test_a_form_that_botocore_signs_verifies_until_it_expires(auth):
    fields = signed(auth, {"key": "a/b"}, [{"bucket": "repo"}, ["starts-with", "$key", "a/"]])
    assert form_access_key_id(fields) == ACCESS_KEY_ID
    assert check(fields) == LengthRange()
    assert refusal(fields, EXPIRATION_S) is Code.POST_POLICY_FAILED
    assert refusal(fields, secret="other") is Code.SIGNATURE_DOES_NOT_MATCH


@AUTHS
@pytest.mark.parametrize(
    ("conditions", "fields", "holds"),
    [
        ([{"key": "a/b"}], {}, True),
        ([{"KEY": "a/b"}], {}, True),
        ([{"key": "a"}], {}, False),
        ([["eq", "$key", "a/b"]], {}, True),
        ([["EQ", "$Key", "a/b"]], {}, True),
        ([["eq", "$key", "a/"]], {}, False),
        ([["starts-with", "$key", "a/"]], {}, True),
        ([["starts-with", "$key", "b"]], {}, False),
        ([["starts-with", "$key", ""]], {}, True),
        ([["starts-with", "$key", "a"], ["eq", "$key", "a/c"]], {}, False),
        ([{"key": "a/b", "bucket": "repo"}], {}, True),
        ([{"key": "a/b"}, {"bucket": "other"}], {"bucket": "other"}, False),
        ([{"key": "a/b"}, {"acl": "private"}], {}, False),
        ([{"key": "a/b"}], {"acl": "private"}, False),
        ([{"key": "a/b"}], {"x-ignore-a": "b"}, True),
        (
            [{"key": "a/b"}, ["starts-with", "$Content-Type", "image/"]],
            {"content-type": "image/a,image/b"},
            True,
        ),
        (
            [{"key": "a/b"}, ["starts-with", "$Content-Type", "image/"]],
            {"content-type": "image/a,text/b"},
            False,
        ),
        ([], {}, False),
    ],
)
def test_every_field_must_be_as_the_policy_says(auth, conditions, fields, holds):
    form = signed(auth, {"key": "a/b", **fields}, [{"bucket": "repo"}, *conditions])
    if holds:
        assert check(form) == LengthRange()
    else:
        assert refusal(form) is Code.POST_POLICY_FAILED


def test_a_policy_that_names_no_bucket_allows_none():
    form = signed(S3SigV4PostAuth, {"key": "a/b"}, [{"key": "a/b"}])
    assert refusal(form) is Code.POST_POLICY_FAILED


def test_all_ranges_of_the_policy_limit_the_file():
    ranges = [["content-length-range", 3, 9], ["Content-Length-Range", "2", "5"]]
    lengths = check(signed(S3SigV4PostAuth, {}, [{"bucket": "repo"}, *ranges]))
    assert lengths == LengthRange(3, 5)
    lengths.check(3)
    lengths.check(5)
    for size_bytes, code in ((2, Code.ENTITY_TOO_SMALL), (6, Code.ENTITY_TOO_LARGE)):
        with pytest.raises(S3ResponseError) as caught:
            lengths.check(size_bytes)
        assert caught.value.code is code


@AUTHS
@given(st.integers(0), st.integers(1, 0x5D))
def test_an_altered_policy_is_refused(auth, at, change):
    form = signed(auth, {"key": "a/b"}, [{"key": "a/b"}])
    policy = form["policy"]
    at %= len(policy)
    changed = chr((ord(policy[at]) - 0x21 + change) % 0x5E + 0x21)
    altered = policy[:at] + changed + policy[at + 1 :]
    assert refusal({**form, "policy": altered}) in {
        Code.SIGNATURE_DOES_NOT_MATCH,
        Code.INVALID_ARGUMENT,
    }


def test_a_field_of_the_signature_cannot_be_absent():
    form = signed(S3SigV4PostAuth, {"key": "a"}, [{"key": "a"}])
    needed = ["x-amz-signature", "x-amz-credential", "x-amz-algorithm", "x-amz-date", "policy"]
    for name in needed:
        without = {key: value for key, value in form.items() if key != name}
        assert refusal(without) is Code.INVALID_ARGUMENT
    with pytest.raises(S3ResponseError) as caught:
        form_access_key_id({"policy": form["policy"]})
    assert caught.value.code is Code.INVALID_ARGUMENT


def test_a_form_without_policy_and_signature_is_anonymous():
    assert form_access_key_id({"key": "a"}) is None


@for_each(
    ("name", "value"),
    [
        ("x-amz-algorithm", "AWS4-ECDSA-P256-SHA256"),
        ("x-amz-date", "now"),
        ("x-amz-date", "20000101T000000Z"),
        ("x-amz-credential", "AKIA"),
        ("policy", "é"),
        ("policy", "a"),
    ],
)
def test_a_malformed_field_of_the_signature_is_refused(name, value):
    form = signed(S3SigV4PostAuth, {"key": "a"}, [{"key": "a"}])
    assert refusal({**form, name: value}) is Code.INVALID_ARGUMENT


DOCUMENTS = st.one_of(
    st.binary(max_size=40),
    st.recursive(
        st.none()
        | st.integers()
        | st.text(max_size=5)
        | st.sampled_from(["eq", "$key", "2030-01-01T00:00:00Z"]),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(st.sampled_from(["expiration", "conditions", "key"]), inner)
        ),
    ).map(lambda value: json.dumps(value).encode()),
    st.just(b"[" * 10_000),
)


@given(DOCUMENTS)
def test_any_document_is_allowed_or_refused_with_an_error_of_s3(document):
    policy = b64encode(document).decode()
    form = {
        "key": "a",
        "awsaccesskeyid": "k",
        "policy": policy,
        "signature": sign(SECRET, policy.encode()),
    }
    assert refusal(form) in {Code.INVALID_ARGUMENT, Code.POST_POLICY_FAILED}


@for_each(
    "conditions",
    [
        [["between", "$key", "a"]],
        [["eq", "key", "a"]],
        [["eq", "$key", 1]],
        [["eq", "$key"]],
        ["key"],
        [{}],
        [["content-length-range", "a", 1]],
    ],
)
def test_an_unknown_condition_is_refused(conditions):
    form = signed(HmacV1PostAuth, {"key": "a"}, [{"key": "a"}, *conditions])
    assert refusal(form) is Code.INVALID_ARGUMENT


@for_each("expiration", ["", "tomorrow", "2030-13-01T00:00:00Z", None, 1])
def test_a_policy_needs_an_expiration(expiration):
    form = signed(HmacV1PostAuth, {"key": "a"}, [{"key": "a"}], expiration)
    assert refusal(form) is Code.INVALID_ARGUMENT
