"""Repositories as buckets: listed, found, and neither made nor deleted."""

import pytest

from graveler_gateway.operations.request import OperationSettings
from graveler_gateway.protocol.head import RequestHead
from graveler_gateway.server.settings import GatewaySettings
from tests.support.fakes.access import allowing
from tests.support.worlds.gateway_stack import HOST, CutBody, GatewayStack


@pytest.fixture
def stack():
    made = GatewayStack()
    for name in ("one", "other", "two"):
        made.repository(name)
    return made


def listed(stack, **query):
    reply = stack.ask("GET", "/", query={key.replace("_", "-"): query[key] for key in query})
    assert reply.status == 200, reply
    return reply.texts("Buckets/Bucket/Name"), reply.text("ContinuationToken")


def test_buckets_are_listed(stack):
    assert listed(stack) == (["one", "other", "repo", "two"], "")
    assert stack.ask("GET", "/").text("Owner/ID") == "bob"


@pytest.mark.parametrize("amount", ["1", "2", "3"])
def test_pages_of_buckets_are_complete(stack, amount):
    found, token = listed(stack, max_buckets=amount)
    while token:
        assert len(found) % int(amount) == 0
        page, token = listed(stack, max_buckets=amount, continuation_token=token)
        found += page
    assert found == ["one", "other", "repo", "two"]


def test_a_prefix_chooses_buckets(stack):
    assert listed(stack, prefix="o") == (["one", "other"], "")
    assert listed(stack, prefix="é") == ([], "")
    assert stack.ask("GET", "/", query="prefix=%FF").texts("Buckets/Bucket") == []


@pytest.mark.parametrize(
    "query",
    [{"max-buckets": "0"}, {"max-buckets": "10001"}, {"continuation-token": "!"}],
)
def test_a_malformed_query_is_an_invalid_argument(stack, query):
    reply = stack.ask("GET", "/", query=query)
    assert (reply.status, reply.code) == (400, "InvalidArgument")


def test_a_user_sees_the_buckets_that_it_may_list(stack):
    stack.may(allowing(("fs:ListRepositories", "arn:lakefs:fs:::repository/o*")))
    assert listed(stack) == (["one", "other"], "")


@pytest.mark.parametrize(
    ("region", "constraint"), [("us-east-1", ""), ("eu-central-1", "eu-central-1")]
)
def test_a_bucket_is_in_the_region_of_the_gateway(region, constraint):
    stack = GatewayStack(GatewaySettings(operations=OperationSettings(region=region)))
    reply = stack.ask("GET", "/repo", query={"location": ""})
    assert (reply.document.text or "") == constraint
    assert stack.ask("HEAD", "/repo").headers["x-amz-bucket-region"] == region


@pytest.mark.parametrize("bucket", ["repo", "nothing"])
def test_who_does_not_sign_is_told_the_region_and_nothing_else(bucket):
    stack = GatewayStack(GatewaySettings(operations=OperationSettings(region="eu-central-1")))
    reply = stack.send(RequestHead("HEAD", f"/{bucket}", "", [("host", HOST)]), CutBody(b""))
    assert (reply.status, reply.headers["x-amz-bucket-region"]) == (403, "eu-central-1")


def test_a_bucket_has_no_versions(stack):
    reply = stack.ask("GET", "/repo", query={"versioning": ""})
    assert (reply.status, list(reply.document)) == (200, [])


@pytest.mark.parametrize("name", ["repo", "new-one", "Bad_Name"])
def test_a_bucket_is_made_by_the_api_only(stack, name):
    document = b"<CreateBucketConfiguration/>"
    reply = stack.ask("PUT", f"/{name}", document)
    expected = (409, "BucketAlreadyExists") if name == "repo" else (501, "NotImplemented")
    if name == "Bad_Name":
        expected = (400, "InvalidBucketName")
    assert (reply.status, reply.code) == expected
    assert listed(stack)[0] == ["one", "other", "repo", "two"]


def test_a_bucket_is_deleted_by_the_api_only(stack):
    reply = stack.ask("DELETE", "/repo")
    assert (reply.status, reply.code) == (405, "MethodNotAllowed")
    assert stack.ask("HEAD", "/repo").status == 200


@pytest.mark.parametrize("host", ["repo.s3.example:8000", "repo.s3.example."])
def test_a_bucket_may_be_in_the_host(host):
    stack = GatewayStack(GatewaySettings(domains=("s3.example",)))
    stack.put("main/a", b"content")
    assert stack.ask("GET", "/main/a", host=host).content == b"content"
    assert stack.ask("GET", "/", host=host).texts("CommonPrefixes/Prefix") == ["main/"]
    assert stack.ask("GET", "/repo/main/a", host="s3.example").content == b"content"
    assert stack.ask("GET", "/repo/main/a", host=host).code == "NoSuchKey"
