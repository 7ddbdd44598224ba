"""What botocore signs verifies, however odd the path, the query and the headers."""

from dataclasses import replace
from datetime import UTC, datetime
from urllib.parse import quote, urlencode

import pytest
from botocore.auth import S3SigV4Auth, S3SigV4QueryAuth
from botocore.awsrequest import AWSRequest
from hypothesis import assume, given
from hypothesis import strategies as st

from graveler_gateway.protocol.errors import Code, S3ResponseError
from graveler_gateway.protocol.head import RequestHead
from graveler_gateway.protocol.signatures import keys
from graveler_gateway.protocol.signatures.presented import parse
from graveler_gateway.protocol.signatures.verified import SignatureKind
from tests.support.checks.cases import for_each
from tests.support.clients.signed_heads import CREDENTIALS, EXAMPLE_TIME_S, SECRET, head, sent

KEYS = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
VALUES = st.text(st.characters(min_codepoint=0x20, max_codepoint=0x7E), min_size=1, max_size=20)
META = st.dictionaries(
    st.text("abcxyz-09", min_size=1, max_size=8).map("x-amz-meta-{}".format), VALUES, max_size=3
)
QUERY = st.dictionaries(KEYS.filter(lambda name: "X-Amz" not in name), KEYS, max_size=3)
KINDS = st.sampled_from([SignatureKind.VERSION_4_HEADER, SignatureKind.VERSION_4_QUERY])


def signed(kind, key="key", query=None, headers=None, region="eu-west-1", method="PUT"):
    """A head that botocore signs now, and the Unix time of its signature."""
    url = "http://lake.example:8000/repo/main/" + quote(key, safe="/~")
    if query:
        url += "?" + urlencode(query, quote_via=quote, safe="~")
    request = AWSRequest(method, url, headers=headers or {})
    if kind is SignatureKind.VERSION_4_HEADER:
        request.data = b"body"
        S3SigV4Auth(CREDENTIALS, "s3", region).add_auth(request)
        timestamp = request.headers["X-Amz-Date"]
    else:
        S3SigV4QueryAuth(CREDENTIALS, "s3", region, expires=60).add_auth(request)
        timestamp = sent(request).parameters["X-Amz-Date"]
    signed_at = datetime.strptime(timestamp, "%Y%m%dT%H%M%SZ").replace(tzinfo=UTC)
    return sent(request), int(signed_at.timestamp())


def refusal(request_head, now_s, secret=SECRET):
    with pytest.raises(S3ResponseError) as caught:
        parse(request_head).verify(request_head, secret, now_s)
    return caught.value.code


@given(KINDS, KEYS, QUERY, META, st.sampled_from(["us-east-1", "eu-west-1", "aws-global", "auto"]))
def test_any_key_query_metadata_and_region_verify(kind, key, query, meta, region):
    request_head, now_s = signed(kind, key, query, meta, region)
    presented = parse(request_head)
    assert presented.kind is kind
    assert presented.verify(request_head, SECRET, now_s).access_key_id == CREDENTIALS.access_key


def altered(text, at, change):
    at %= len(text)
    return text[:at] + chr((ord(text[at]) + change - 0x21) % 0x5E + 0x21) + text[at + 1 :]


@given(st.data())
def test_any_altered_byte_of_what_is_signed_is_refused(data):
    kind = data.draw(KINDS)
    request_head, now_s = signed(kind, "a/k", {"prefix": "p"}, {"x-amz-meta-a": "v 1"})
    at, change = data.draw(st.integers(0, 999)), data.draw(st.integers(1, 0x5D))
    field = data.draw(st.sampled_from(["method", "raw_path", "raw_query", "headers"]))
    if field == "headers":
        unsigned = {"user-agent", "content-length"}
        index = data.draw(
            st.sampled_from(
                [i for i, (name, _) in enumerate(request_head.headers) if name not in unsigned]
            )
        )
        name, value = request_head.headers[index]
        headers = list(request_head.headers)
        headers[index] = (name, altered(value, at, change))
        changed = replace(request_head, headers=headers)
    else:
        changed = replace(
            request_head, **{field: altered(getattr(request_head, field), at, change)}
        )
    assume(field != "raw_query" or changed.parameters != request_head.parameters)
    with pytest.raises((S3ResponseError, UnknownError)):
        verify(changed, now_s)


class UnknownError(Exception):
    """The request is unsigned, or signed with an unknown key."""


def verify(request_head, now_s):
    presented = parse(request_head)
    if presented is None or presented.access_key_id != CREDENTIALS.access_key:
        raise UnknownError
    return presented.verify(request_head, SECRET, now_s)


@for_each(
    ("sent_path", "signed_key"),
    [
        ("/repo/main/a%2fb", "a/b"),
        ("/repo/main/a%2Fb", "a/b"),
        ("/repo/main/a+b", "a+b"),
        ("/repo/main/a%2bb", "a+b"),
        ("/repo/main/%7Ea", "~a"),
        ("/repo/main/a!b'(c)*", "a!b'(c)*"),
        ("/repo/main/a:b@c=d&e,f;g$h", "a:b@c=d&e,f;g$h"),
        ("/repo/main/%c3%a9", "é"),
        ("/repo/main/a//b/../c/.", "a//b/../c/."),
    ],
)
def test_a_key_verifies_however_the_client_encodes_it(sent_path, signed_key):
    request_head, now_s = signed(SignatureKind.VERSION_4_HEADER, signed_key)
    assert verify(replace(request_head, raw_path=sent_path), now_s)


def test_a_plus_in_the_query_is_a_space_as_in_the_answer():
    request_head, now_s = signed(SignatureKind.VERSION_4_HEADER, query={"prefix": "a b"})
    assert verify(replace(request_head, raw_query="prefix=a+b"), now_s)


def test_a_key_cannot_be_split_or_normalised_after_it_was_signed():
    request_head, now_s = signed(SignatureKind.VERSION_4_HEADER, "a//b")
    changed = replace(request_head, raw_path="/repo/main/a/b")
    assert refusal(changed, now_s) is Code.SIGNATURE_DOES_NOT_MATCH


def test_blanks_in_values_and_repeated_headers_verify():
    request_head, now_s = signed(
        SignatureKind.VERSION_4_HEADER, headers={"x-amz-meta-a": "one two,three"}
    )
    others = [pair for pair in request_head.headers if pair[0] != "x-amz-meta-a"]
    repeated = [("x-amz-meta-a", " one \t  two "), ("x-amz-meta-a", "three")]
    assert verify(replace(request_head, headers=[*repeated, *others]), now_s)


@for_each("kind", [SignatureKind.VERSION_4_HEADER, SignatureKind.VERSION_4_QUERY])
def test_an_amz_header_that_is_not_signed_is_refused(kind):
    request_head, now_s = signed(kind)
    added = replace(request_head, headers=[*request_head.headers, ("x-amz-acl", "public-read")])
    with pytest.raises(S3ResponseError) as caught:
        verify(added, now_s)
    assert caught.value.code is Code.ACCESS_DENIED
    assert caught.value.details == {"HeadersNotSigned": "x-amz-acl"}


@for_each(("seconds", "accepted"), [(900, True), (901, False)])
@for_each("direction", [1, -1])
def test_a_header_is_good_for_fifteen_minutes(seconds, accepted, direction):
    request_head, now_s = signed(SignatureKind.VERSION_4_HEADER)
    if accepted:
        assert verify(request_head, now_s + direction * seconds)
    else:
        assert refusal(request_head, now_s + direction * seconds) is Code.REQUEST_TIME_TOO_SKEWED


@for_each("seconds", [-901, 61])
def test_a_presigned_url_is_refused_before_its_time_and_after(seconds):
    request_head, now_s = signed(SignatureKind.VERSION_4_QUERY)
    assert refusal(request_head, now_s + seconds) is Code.EXPIRED_PRESIGNED_REQUEST
    assert verify(request_head, now_s - 900)
    assert verify(request_head, now_s + 60)


def test_an_expiry_cannot_be_prolonged():
    request_head, now_s = signed(SignatureKind.VERSION_4_QUERY)
    longer = request_head.raw_query.replace("X-Amz-Expires=60", "X-Amz-Expires=600")
    changed = replace(request_head, raw_query=longer)
    assert refusal(changed, now_s) is Code.SIGNATURE_DOES_NOT_MATCH


@for_each("expires", ["0", "604801", "-1", "1e3", "\u0661", ""])
def test_an_expiry_of_no_time_or_more_than_a_week_is_refused(expires):
    request_head, _ = signed(SignatureKind.VERSION_4_QUERY)
    query = request_head.raw_query.replace("Expires=60", f"Expires={quote(expires)}")
    with pytest.raises(S3ResponseError) as caught:
        parse(replace(request_head, raw_query=query))
    assert caught.value.code is Code.AUTHORIZATION_QUERY_PARAMETERS_ERROR


@for_each("added", ["X-Amz-Expires=9", "X-Amz-Exp%69res=9", "X-Amz-Signature=0"])
@for_each("is_first", [True, False])
def test_a_parameter_of_the_signature_cannot_be_there_twice(added, is_first):
    request_head, _ = signed(SignatureKind.VERSION_4_QUERY)
    parts = [added, request_head.raw_query] if is_first else [request_head.raw_query, added]
    with pytest.raises(S3ResponseError) as caught:
        parse(replace(request_head, raw_query="&".join(parts)))
    assert caught.value.code is Code.AUTHORIZATION_QUERY_PARAMETERS_ERROR


def test_a_cached_signing_key_is_used():
    request_head, now_s = signed(SignatureKind.VERSION_4_HEADER)
    asked = []

    def cached(secret, date, region, service):
        asked.append((region, service))
        return keys.signing_key(secret, date, region, service)

    parse(request_head).verify(request_head, SECRET, now_s, signing_key=cached)
    assert asked == [("eu-west-1", "s3")]


def test_a_request_without_signature_is_anonymous():
    assert parse(head("GET", "/?X-Amz-Meta=1&x-amz-algorithm=AWS4-HMAC-SHA256")) is None


def malformed(replaced, replacement):
    request_head, _ = signed(SignatureKind.VERSION_4_HEADER)
    headers = [
        (name, value.replace(replaced, replacement)) if name == "authorization" else (name, value)
        for name, value in request_head.headers
    ]
    with pytest.raises(S3ResponseError) as caught:
        parse(replace(request_head, headers=headers))
    return caught.value.code


@for_each(
    ("replaced", "replacement"),
    [
        ("Credential=", "Credentials="),
        ("Signature=", "Sign="),
        ("SignedHeaders=", "Headers="),
        ("/s3/", "/ec2/"),
        ("aws4_request", "aws5_request"),
        ("AKIA", "A" * 125),
        ("AKIA", "\u00e9"),
        ("/20", "/19"),
        (";", ",Signature=0;"),
        (";", "; "),
    ],
)
def test_a_malformed_authorization_is_said_to_be_so(replaced, replacement):
    assert malformed(replaced, replacement) is Code.AUTHORIZATION_HEADER_MALFORMED


@for_each(
    ("replacement", "code"),
    [
        ("AWS4-ECDSA-P256-SHA256", Code.NOT_IMPLEMENTED),
        ("Bearer", Code.INVALID_ARGUMENT),
    ],
)
def test_another_authorization_is_refused(replacement, code):
    assert malformed("AWS4-HMAC-SHA256", replacement) is code


@for_each(
    ("name", "code"),
    [("x-amz-content-sha256", Code.INVALID_REQUEST), ("x-amz-date", Code.ACCESS_DENIED)],
)
def test_a_header_that_the_signature_needs_cannot_be_absent(name, code):
    request_head, _ = signed(SignatureKind.VERSION_4_HEADER)
    headers = [pair for pair in request_head.headers if pair[0] != name]
    with pytest.raises(S3ResponseError) as caught:
        parse(replace(request_head, headers=headers))
    assert caught.value.code is code


def test_the_date_header_serves_without_x_amz_date():
    date = "Mon, 23 Nov 2026 09:00:00 GMT"
    request_head, _ = signed(SignatureKind.VERSION_4_HEADER)
    headers = [
        ("date", date) if name == "x-amz-date" else (name, value)
        for name, value in request_head.headers
        if name != "authorization"
    ]
    authorization = (
        "AWS4-HMAC-SHA256 Credential=A/20261123/r/s3/aws4_request, SignedHeaders=host, Signature=0"
    )
    presented = parse(replace(request_head, headers=[*headers, ("authorization", authorization)]))
    assert presented.time == datetime(2026, 11, 23, 9, tzinfo=UTC)


def test_two_signatures_are_refused():
    in_header, _ = signed(SignatureKind.VERSION_4_HEADER)
    in_query, _ = signed(SignatureKind.VERSION_4_QUERY)
    with pytest.raises(S3ResponseError) as caught:
        parse(replace(in_header, raw_query=in_query.raw_query))
    assert caught.value.code is Code.INVALID_ARGUMENT
    assert "Only one auth mechanism allowed" in caught.value.message


TEXT = st.text(st.characters(max_codepoint=0xFF), max_size=60)
NAMES = st.sampled_from(
    ["host", "date", "x-amz-date", "x-amz-content-sha256", "content-length", "x-amz-trailer"]
)
AUTHORIZATIONS = st.one_of(
    TEXT,
    TEXT.map("AWS4-HMAC-SHA256 ".__add__),
    TEXT.map(
        "AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/r/s3/aws4_request,SignedHeaders=".__add__
    ),
    TEXT.map("AWS ".__add__),
    TEXT.map(f"AWS {CREDENTIALS.access_key}:".__add__),
)


@given(
    AUTHORIZATIONS | st.none(),
    st.text(st.characters(exclude_categories=["Cs"]), max_size=20),
    st.lists(
        st.sampled_from(
            ["X-Amz-Algorithm=AWS4-HMAC-SHA256", "X-Amz-Date=20130524T000000Z", "Expires=9", "acl"]
        )
        | st.text("%&=+AF0é", max_size=9)
        | TEXT.map("AWSAccessKeyId={}".format)
        | TEXT.map("X-Amz-SignedHeaders={}".format)
    ),
    st.lists(st.tuples(NAMES, TEXT | st.just("20130524T000000Z") | st.just("UNSIGNED-PAYLOAD"))),
)
def test_no_head_raises_anything_but_an_error_of_s3(authorization, path, query, headers):
    if authorization is not None:
        headers = [("authorization", authorization), *headers]
    request_head = RequestHead("GET", path, "&".join(query), headers)
    with pytest.raises((S3ResponseError, UnknownError)):
        verify(request_head, EXAMPLE_TIME_S)
