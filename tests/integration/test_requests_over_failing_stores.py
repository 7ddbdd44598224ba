"""Whole requests over stores that hang, trickle or answer late: each ends, and says what happened.

DynamoDB Local and S3Proxy are behind servers that pass on what they have no fault for. A request
that never ended would end the test by its time-out.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from graveler.aws import boto3_timeouts, retries
from graveler.aws.dynamodb import http_client
from graveler.aws.exchanges.time_budget import TimeBudget
from graveler.aws.s3 import client as s3_module
from graveler.limits import REQUEST_S_MAX
from graveler_functions.api.app import build_app
from graveler_functions.http import serving
from tests.support.clients.api import ApiClient, Reply
from tests.support.faults.faulty_server import Fault, FaultyServer, passing_on
from tests.support.servers.stack import BUCKET
from tests.support.worlds.server_world import open_world

pytestmark = pytest.mark.server

ADVICE = "it may have taken effect: read before you repeat it"
FOREVER = 10**6
# Attempts are much shorter than requests. Only where nothing is to succeed, a request is short.
REQUEST_S = 4.0
HOPELESS_S = 1.0
ATTEMPT_S = 0.5

ENDLESS = [fault for fault in Fault if fault is not Fault.CUT]
# To whoever waits for an answer, the others are as these.
RARE = {Fault.TRICKLING_HEAD, Fault.LATE}


@dataclass
class Lake:
    """A repository whose stores may fail."""

    api: ApiClient
    name: str
    tables: FaultyServer
    objects: FaultyServer

    def upload(self, path: str) -> Reply:
        return self.api.ask(
            "POST", f"/repositories/{self.name}/branches/main/objects", b"content", path=path
        )

    def create_branch(self, name: str) -> Reply:
        body = {"name": name, "source": "main"}
        return self.api.ask("POST", f"/repositories/{self.name}/branches", body)

    def branch(self, name: str) -> Reply:
        return self.api.ask("GET", f"/repositories/{self.name}/branches/{name}")

    def content(self, path: str) -> Reply:
        return self.api.ask("GET", f"/repositories/{self.name}/refs/main/objects", path=path)

    def recover(self) -> None:
        self.tables.recover()
        self.objects.recover()


@pytest.fixture(scope="module")
def servers(dynamodb_endpoint: str, s3_endpoint: str) -> Iterator[tuple[FaultyServer, ...]]:
    made = tuple(FaultyServer(passing_on(each)) for each in (dynamodb_endpoint, s3_endpoint))
    yield made
    for each in made:
        each.close()


@pytest.fixture
def lake(servers: tuple[FaultyServer, ...], monkeypatch: pytest.MonkeyPatch) -> Iterator[Lake]:
    tables, objects = servers
    with open_world(tables.endpoint, objects.endpoint) as world:
        api = ApiClient()
        api.engine = world.engine()
        api.app = build_app(api.engine, api.accounts, api.settings)
        made = Lake(api, world.new_repository(BUCKET), tables, objects)
        assert made.branch("main").status == 200  # the access key is known from now on
        monkeypatch.setattr(http_client, "DYNAMODB_ATTEMPT_S", ATTEMPT_S)
        monkeypatch.setattr(boto3_timeouts, "READ_TIMEOUT_S", ATTEMPT_S)
        monkeypatch.setattr(s3_module, "LONG_READ_TIMEOUT_S", ATTEMPT_S)
        monkeypatch.setattr(boto3_timeouts, "response_budget", lambda _: TimeBudget(ATTEMPT_S))
        yield made
        made.recover()


@pytest.fixture
def _short_requests(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(serving, "REQUEST_S_MAX", REQUEST_S)


def fail(lake: Lake, monkeypatch: pytest.MonkeyPatch, fault: Fault, method: str = "") -> None:
    """Let requests to the object store fail, and all to the tables unless only a method does."""
    monkeypatch.setattr(serving, "REQUEST_S_MAX", HOPELESS_S)
    lake.objects.fail(method, fault, FOREVER)
    if not method:
        lake.tables.fail("", fault, FOREVER)


def recover(lake: Lake, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(serving, "REQUEST_S_MAX", REQUEST_S_MAX)
    lake.recover()


@pytest.mark.parametrize("fault", Fault)
def test_a_connection_that_fails_costs_no_request(lake: Lake, fault: Fault) -> None:
    lake.tables.fail("", fault)
    lake.objects.fail("", fault)
    assert lake.upload("a").status == 201
    lake.tables.fail("TransactWriteItems", fault)
    assert lake.create_branch("dev").status == 201
    lake.tables.fail("", fault)
    lake.objects.fail("", fault)
    reply = lake.content("a")
    assert (reply.status, reply.content) == (200, b"content")


@pytest.mark.parametrize("fault", ENDLESS)
def test_a_request_over_stores_that_fail_ends_and_may_be_repeated(
    lake: Lake, monkeypatch: pytest.MonkeyPatch, fault: Fault
) -> None:
    fail(lake, monkeypatch, fault)
    for reply in (lake.branch("main"), lake.content("a"), lake.create_branch("dev")):
        assert (reply.status, reply.headers.get("Retry-After")) == (503, "1"), reply
    recover(lake, monkeypatch)
    assert lake.branch("dev").status == 404


@pytest.mark.usefixtures("_short_requests")
@pytest.mark.parametrize(
    "fault",
    [pytest.param(each, marks=pytest.mark.long) if each in RARE else each for each in ENDLESS],
)
def test_a_write_without_an_answer_tells_the_client_to_read_first(lake: Lake, fault: Fault) -> None:
    lake.tables.fail("TransactWriteItems", fault, FOREVER)
    reply = lake.upload("a")
    assert (reply.status, "Retry-After" in reply.headers) == (503, False), reply
    assert reply.json["details"] == ADVICE
    lake.recover()
    assert lake.content("a").status == (404 if fault is Fault.IGNORED else 200)


def test_a_write_whose_effect_can_be_read_back_succeeds(lake: Lake) -> None:
    lake.tables.fail("TransactWriteItems", Fault.SILENT, FOREVER)
    assert lake.create_branch("dev").status == 201


@pytest.mark.usefixtures("_short_requests")
def test_a_write_that_cannot_be_read_back_tells_the_client_to_read_first(lake: Lake) -> None:
    lake.tables.fail("TransactWriteItems", Fault.IGNORED, FOREVER)
    reply = lake.create_branch("dev")
    assert (reply.status, "Retry-After" in reply.headers) == (503, False), reply
    assert reply.json["details"] == ADVICE


@pytest.mark.parametrize("fault", ENDLESS)
def test_content_that_no_entry_names_does_not_make_a_write_unknown(
    lake: Lake, monkeypatch: pytest.MonkeyPatch, fault: Fault
) -> None:
    assert lake.upload("a").status == 201
    fail(lake, monkeypatch, fault, "PUT")
    copy = f"/repositories/{lake.name}/branches/main/objects/copy"
    for reply in (lake.upload("a"), lake.api.ask("POST", copy, {"src_path": "a"}, dest_path="b")):
        assert (reply.status, reply.headers.get("Retry-After")) == (503, "1"), reply
    recover(lake, monkeypatch)
    assert lake.content("b").status == 404


@pytest.mark.usefixtures("_short_requests")
def test_a_seal_that_nobody_sees_does_not_make_a_commit_unknown(lake: Lake) -> None:
    assert lake.upload("a").status == 201
    lake.objects.fail("PUT", Fault.IGNORED, FOREVER)
    commits = f"/repositories/{lake.name}/branches/main/commits"
    reply = lake.api.ask("POST", commits, {"message": "m"})
    assert (reply.status, reply.headers.get("Retry-After")) == (503, "1"), reply
    assert "UpdateItem" in lake.tables.operations()
    lake.recover()
    assert lake.api.ask("POST", commits, {"message": "m"}).status == 201


def test_the_longest_call_fits_into_a_request() -> None:
    assert retries.RETRY_S_MAX + retries.LONG_READ_TIMEOUT_S < REQUEST_S_MAX
