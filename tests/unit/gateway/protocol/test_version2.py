"""Signatures of Version 2: AWS's published examples, and what botocore signs.

https://docs.aws.amazon.com/AmazonS3/latest/userguide/RESTAuthentication.html
"""

from dataclasses import replace
from datetime import UTC, datetime
from urllib.parse import quote

import pytest
from botocore.auth import HmacV1Auth, HmacV1QueryAuth
from botocore.awsrequest import AWSRequest
from hypothesis import given
from hypothesis import strategies as st

from graveler_gateway.protocol.bodies.payload import UNSIGNED, PayloadKind
from graveler_gateway.protocol.errors import Code, S3ResponseError
from graveler_gateway.protocol.signatures.presented import parse
from graveler_gateway.protocol.signatures.verified import SignatureKind
from graveler_gateway.protocol.signatures.version2 import sign
from tests.support.clients.signed_heads import ACCESS_KEY_ID, CREDENTIALS, SECRET, head, sent

HOST = "awsexamplebucket1.us-west-1.s3.amazonaws.com"
BUCKET = "awsexamplebucket1"
EXPIRES_S = 1_175_139_620


def example(
    method, target, signature, host=HOST, date="Tue, 27 Mar 2007 19:36:42 +0000", **headers
):
    return head(
        method,
        target,
        host,
        date=date,
        authorization=f"AWS {ACCESS_KEY_ID}:{signature}",
        **headers,
    )


EXAMPLES = [
    pytest.param(
        example("GET", "/photos/puppy.jpg", "qgk2+6Sv9/oM7G3qLEjTH1a1l1g="), BUCKET, id="get"
    ),
    pytest.param(
        example(
            "PUT",
            "/photos/puppy.jpg",
            "iqRzw+ileNPu1fhspnRs8nOjjIA=",
            date="Tue, 27 Mar 2007 21:15:45 +0000",
            content_type="image/jpeg",
            content_length="94328",
        ),
        BUCKET,
        id="put",
    ),
    pytest.param(
        example(
            "GET",
            "/?prefix=photos&max-keys=50&marker=puppy",
            "m0WP8eCtspQl5Ahe6L1SozdX9YA=",
            date="Tue, 27 Mar 2007 19:42:41 +0000",
        ),
        BUCKET,
        id="list",
    ),
    pytest.param(
        example(
            "GET",
            "/?acl",
            "82ZHiFIjc+WbcwFKGUVEQspPn+0=",
            date="Tue, 27 Mar 2007 19:44:46 +0000",
        ),
        BUCKET,
        id="acl",
    ),
]


def verify(request_head, now_s=None, bucket=""):
    if now_s is None:
        date = request_head.header("x-amz-date") or request_head.header("date")
        now_s = int(
            datetime.strptime(date[:25], "%a, %d %b %Y %H:%M:%S").replace(tzinfo=UTC).timestamp()
        )
    return parse(request_head).verify(request_head, SECRET, now_s, bucket_of_host=bucket)


def refusal(request_head, *args):
    with pytest.raises(S3ResponseError) as caught:
        verify(request_head, *args)
    return caught.value.code


@pytest.mark.parametrize(("request_head", "bucket"), EXAMPLES)
def test_a_published_signature_verifies(request_head, bucket):
    assert parse(request_head).kind is SignatureKind.VERSION_2_HEADER
    assert verify(request_head, bucket=bucket).access_key_id == ACCESS_KEY_ID
    assert refusal(request_head, None, "other") is Code.SIGNATURE_DOES_NOT_MATCH


def signed(kind, key="key", query="", headers=None):
    url = "http://lake.example:8000/repo/main/" + quote(key, safe="/~") + query
    request = AWSRequest("PUT", url, headers=headers or {})
    if kind is SignatureKind.VERSION_2_HEADER:
        HmacV1Auth(CREDENTIALS).add_auth(request)
        return sent(request)
    HmacV1QueryAuth(CREDENTIALS, expires=60).add_auth(request)
    presigned = sent(request)
    return replace(presigned, headers=[pair for pair in presigned.headers if pair[0] != "date"])


def now_of(request_head):
    expires = request_head.parameters.get("Expires")
    return int(expires) if expires else None


KINDS = pytest.mark.parametrize(
    "kind", [SignatureKind.VERSION_2_HEADER, SignatureKind.VERSION_2_QUERY]
)
VALUES = st.text(st.characters(min_codepoint=0x20, max_codepoint=0x7E), max_size=20)


@KINDS
@given(
    st.text(st.characters(exclude_categories=["Cs"]), max_size=20),
    st.dictionaries(st.sampled_from(["acl", "uploadId", "partNumber", "prefix"]), VALUES),
    st.dictionaries(st.sampled_from(["x-amz-meta-b", "x-amz-acl", "content-type"]), VALUES),
)
def test_any_key_query_and_metadata_verify(kind, key, query, headers):
    text = "&".join(
        f"{name}={quote(value, safe='')}" if value else name for name, value in query.items()
    )
    request_head = signed(kind, key, f"?{text}" if text else "", headers)
    assert parse(request_head).kind is kind
    assert verify(request_head, now_of(request_head)).payload == UNSIGNED


@KINDS
@pytest.mark.parametrize(
    "change",
    [
        {"method": "DELETE"},
        {"raw_path": "/repo/main/other"},
        {"raw_path": "/repo/main/a%2fb"},
        {"raw_query": "partNumber=2"},
        {"raw_query": "partNumber=1&uploadId=x"},
        {"raw_query": ""},
        {"raw_query": "partNumber=1&%61cl"},
    ],
)
def test_a_changed_method_path_or_sub_resource_is_refused(kind, change):
    request_head = signed(kind, "a/b", "?partNumber=1")
    signature = request_head.raw_query.partition("&")[2]
    if "raw_query" in change and signature:
        change = {"raw_query": f"{change['raw_query']}&{signature}"}
    assert refusal(replace(request_head, **change), now_of(request_head)) is (
        Code.SIGNATURE_DOES_NOT_MATCH
    )


@KINDS
@pytest.mark.parametrize("name", ["x-amz-meta-a", "content-type", "content-md5", "x-amz-date"])
def test_an_added_header_is_refused(kind, name):
    request_head = signed(kind)
    changed = replace(
        request_head, headers=[*request_head.headers, (name, request_head.header("date") or "v")]
    )
    assert refusal(changed, now_of(request_head)) is Code.SIGNATURE_DOES_NOT_MATCH


def test_x_amz_date_replaces_the_date():
    amz_date = "Tue, 27 Mar 2007 21:20:26 +0000"
    text = f"DELETE\n\n\n\nx-amz-date:{amz_date}\n/{BUCKET}/photos/puppy.jpg"
    request_head = example(
        "DELETE", f"/{BUCKET}/photos/puppy.jpg", sign(SECRET, text.encode()), x_amz_date=amz_date
    )
    assert verify(request_head)


@pytest.mark.parametrize(
    ("seconds", "accepted"), [(900, True), (-900, True), (901, False), (-901, False)]
)
def test_a_header_is_good_for_fifteen_minutes(seconds, accepted):
    request_head, bucket = EXAMPLES[0].values
    now_s = 1_175_024_202 + seconds
    if accepted:
        assert verify(request_head, now_s, bucket)
    else:
        assert refusal(request_head, now_s, bucket) is Code.REQUEST_TIME_TOO_SKEWED


def test_a_presigned_url_is_refused_after_its_time():
    request_head = signed(SignatureKind.VERSION_2_QUERY)
    expires_s = now_of(request_head)
    assert verify(request_head, expires_s)
    assert refusal(request_head, expires_s + 1) is Code.EXPIRED_PRESIGNED_REQUEST


def test_a_published_presigned_url_verifies():
    request_head = head(
        "GET",
        f"/photos/puppy.jpg?AWSAccessKeyId={ACCESS_KEY_ID}"
        f"&Signature=NpgCjnDzrM%2BWFzoENXmpNDUsSn8%3D&Expires={EXPIRES_S}",
        HOST.replace(BUCKET, "johnsmith"),
    )
    assert verify(request_head, EXPIRES_S, "johnsmith").access_key_id == ACCESS_KEY_ID


def test_metadata_may_be_utf8():
    value = "é".encode().decode("latin-1")
    assert verify(signed(SignatureKind.VERSION_2_HEADER)) is not None
    text = f"PUT\n\n\nTue, 27 Mar 2007 19:36:42 +0000\nx-amz-meta-a:{value}\n/r/k"
    signature = sign(SECRET, text.encode("latin-1"))
    assert verify(example("PUT", "/r/k", signature, x_amz_meta_a=value))


def test_what_is_hashed_is_said_of_the_body():
    request_head = signed(
        SignatureKind.VERSION_2_HEADER, headers={"x-amz-content-sha256": "0" * 64}
    )
    assert verify(request_head).payload.kind is PayloadKind.HASHED


@pytest.mark.parametrize(
    ("authorization", "code"),
    [
        ("AWS", Code.INVALID_ARGUMENT),
        ("AWS key", Code.INVALID_ARGUMENT),
        ("AWS :signature", Code.INVALID_ARGUMENT),
        ("AWS key:", Code.INVALID_ARGUMENT),
        (f"AWS {'k' * 129}:signature", Code.INVALID_ARGUMENT),
        ("AWS key:signature", Code.ACCESS_DENIED),
    ],
)
def test_a_malformed_header_is_refused(authorization, code):
    assert refusal(head("GET", "/", authorization=authorization), 0) is code


@pytest.mark.parametrize(
    ("query", "code"),
    [
        ("AWSAccessKeyId=k&Signature=s", Code.ACCESS_DENIED),
        ("AWSAccessKeyId=k&Expires=9", Code.ACCESS_DENIED),
        ("Signature=s&Expires=9", Code.ACCESS_DENIED),
        ("AWSAccessKeyId=k&Signature=s&Expires=soon", Code.ACCESS_DENIED),
        ("AWSAccessKeyId=k&Signature=s&Expires=9&Expires=99", Code.ACCESS_DENIED),
        (f"AWSAccessKeyId={'k' * 129}&Signature=s&Expires=9", Code.INVALID_ACCESS_KEY_ID),
        ("AWSAccessKeyId=k&X-Amz-Signature=s", Code.INVALID_ARGUMENT),
    ],
)
def test_a_malformed_query_is_refused(query, code):
    assert refusal(head("GET", f"/?{query}"), 0) is code


def test_a_bucket_may_be_signed_with_a_slash_and_sent_without():
    request = AWSRequest("GET", "http://gateway/bucket?list-type=2", auth_path="/bucket/")
    HmacV1Auth(CREDENTIALS).add_auth(request)
    listing = sent(request)
    assert verify(listing, None).access_key_id == ACCESS_KEY_ID
    assert refusal(replace(listing, raw_path="/other"), None) is Code.SIGNATURE_DOES_NOT_MATCH
