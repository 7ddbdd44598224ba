import pytest
from hypothesis import given
from hypothesis import strategies as st

from graveler_gateway.protocol.errors import Code, S3ResponseError
from graveler_gateway.protocol.listings import (
    BucketsQuery,
    ObjectsQuery,
    PartsQuery,
    UploadsQuery,
    buckets_query,
    key_of_token,
    objects_query,
    parts_query,
    token_of,
    uploads_query,
)
from tests.support.checks.cases import for_each


def refusal(call, *arguments) -> S3ResponseError:
    with pytest.raises(S3ResponseError) as caught:
        call(*arguments)
    assert caught.value.code is Code.INVALID_ARGUMENT
    return caught.value


def test_a_listing_without_parameters_is_the_first_page_of_version_1():
    assert objects_query({}) == ObjectsQuery(
        version=1, prefix="", delimiter="", after="", amount=1000, url_encoded=False
    )


def test_a_listing_of_version_1_continues_after_its_marker():
    asked = {
        "prefix": "main/",
        "delimiter": "::",
        "marker": "main/a",
        "max-keys": "7",
        "encoding-type": "url",
        # Those of the other version mean nothing here.
        "start-after": "main/z",
        "continuation-token": "?",
        "fetch-owner": "true",
    }
    assert objects_query(asked) == ObjectsQuery(
        version=1,
        prefix="main/",
        delimiter="::",
        after="main/a",
        amount=7,
        url_encoded=True,
        marker="main/a",
    )


def test_a_listing_of_version_2_continues_after_its_start():
    asked = {"list-type": "2", "start-after": "main/a", "fetch-owner": "true", "marker": "main/z"}
    assert objects_query(asked) == ObjectsQuery(
        version=2,
        prefix="",
        delimiter="",
        after="main/a",
        amount=1000,
        url_encoded=False,
        start_after="main/a",
        fetch_owner=True,
    )


def test_a_token_counts_more_than_the_start():
    token = token_of(b"main/m")
    asked = {"list-type": "2", "start-after": "main/a", "continuation-token": token}
    query = objects_query(asked)
    assert (query.after, query.continuation_token, query.start_after) == ("main/m", token, "main/a")


@for_each(
    ("text", "amount"),
    [("0", 0), ("1", 1), ("1000", 1000), ("1001", 1000), ("2147483647", 1000), ("007", 7)],
)
def test_a_page_has_at_most_1000_rows(text, amount):
    assert objects_query({"max-keys": text}).amount == amount
    assert uploads_query({"max-uploads": text}).amount == amount
    assert parts_query({"max-parts": text}).amount == amount


@for_each("text", ["", "-1", "+1", "1.0", "one", " 1", "٣", "2147483648", "9" * 5000, "1_0"])
@for_each(
    ("call", "name"),
    [
        (objects_query, "max-keys"),
        (uploads_query, "max-uploads"),
        (parts_query, "max-parts"),
        (parts_query, "part-number-marker"),
        (buckets_query, "max-buckets"),
    ],
)
def test_an_amount_that_is_no_integer_is_refused(call, name, text):
    error = refusal(call, {name: text})
    assert error.details == {"ArgumentName": name, "ArgumentValue": text}


@for_each("call", [objects_query, uploads_query])
@for_each("encoding", ["", "URL", "base64"])
def test_an_unknown_encoding_is_refused(call, encoding):
    error = refusal(call, {"encoding-type": encoding})
    assert error.message == "Invalid Encoding Method specified in Request"
    assert error.details == {"ArgumentName": "encoding-type", "ArgumentValue": encoding}


@for_each("version", ["", "1", "3", "two"])
def test_an_unknown_version_is_refused(version):
    assert refusal(objects_query, {"list-type": version}).details["ArgumentName"] == "list-type"


@given(st.binary(min_size=1))
def test_a_token_holds_any_key(key):
    assert key_of_token(token_of(key)) == key
    asked = {"list-type": "2", "continuation-token": token_of(key)}
    assert objects_query(asked).after.encode("utf-8", "surrogateescape") == key


@for_each("token", ["a", "main/a", "bWFpbg==", "bWFpbh", "bWFp bg", "ü", "\udcff"])
def test_a_wrong_token_is_refused(token):
    for call in (objects_query, buckets_query):
        error = refusal(call, {"list-type": "2", "continuation-token": token})
        assert error.message == "The continuation token provided is incorrect"


def test_uploads_continue_after_key_and_upload():
    asked = {"prefix": "main/", "delimiter": "/", "key-marker": "k", "upload-id-marker": "u"}
    assert uploads_query(asked) == UploadsQuery("main/", "/", "k", "u", 1000, url_encoded=False)
    assert uploads_query({"upload-id-marker": "u"}).upload_id_marker == ""


def test_parts_continue_after_a_number():
    asked = {"uploadId": "u", "part-number-marker": "3"}
    assert parts_query(asked) == PartsQuery("u", 3, 1000)


def test_buckets_continue_after_a_name():
    asked = {"prefix": "la", "continuation-token": token_of(b"lake"), "max-buckets": "5"}
    assert buckets_query(asked) == BucketsQuery("la", "lake", 5)
    assert buckets_query({}) == BucketsQuery("", "", 10_000)


@for_each("text", ["0", "10001"])
def test_a_page_of_buckets_has_1_to_10000_rows(text):
    assert refusal(buckets_query, {"max-buckets": text}).details["ArgumentValue"] == text
