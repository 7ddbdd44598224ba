"""What operations cost: round trips to DynamoDB and requests to S3, counted where they are made.

The table (`tests/support/checks/budgets.py`) is for a process that is warm: it has seen the repository,
the branch and the commits before. Authentication and access control come on top, with a row of
their own. A budget is a maximum; here it is also what is measured, so that whoever saves a round
trip lowers it. It also says how many trips wait for one another.
"""

import socket
from base64 import b64encode
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import pytest
from botocore.auth import S3SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials
from msgspec import structs

from graveler.access.needs import Permission
from graveler.aws.dynamodb.accounts import DynamoAccountStore
from graveler.aws.exchanges.connection import Host, HttpConnection
from graveler.aws.exchanges.pool import Pool
from graveler.aws.exchanges.sockets import connected, timed_socket
from graveler.aws.exchanges.time_budget import TimeBudget
from graveler.aws.s3.signed_requests import Endpoint, S3Requests
from graveler.branches.heads import new_commit
from graveler.branches.lookup import current_branch
from graveler.engine import Engine
from graveler.http.auth import MEMORY_S, Authenticator
from graveler.http.rights import RIGHTS_AGE_MAX_S, Authorizer
from graveler.model import Commit
from graveler.model.tasks import TaskSettings
from graveler.operations import (
    branches,
    commits,
    links,
    merges,
    objects,
    recorded_uploads,
)
from graveler.operations.accounts import installation
from graveler.ports import Credential, UploadedPart, User
from graveler.staging.listing import PageQuery
from graveler_gateway.lake.engine.lakes import EngineLakes
from graveler_gateway.server.application import Application
from graveler_gateway.server.settings import GatewaySettings
from graveler_gateway.transfer.store import Transfers
from tests.contract.accounts import ContextCipher
from tests.support.checks.budgets import BUDGETS, Budget, Meter, head, listing, stat
from tests.support.clients.api import ACCESS_KEY_ID, SECRET
from tests.support.clients.signed_heads import sent
from tests.support.fakes.access import EVERYTHING, USER, ScriptedAccounts
from tests.support.fakes.memory_objects import FixedClock
from tests.support.worlds.gateway_stack import CutBody
from tests.support.worlds.server_world import REGION, ServerWorld, open_world

pytestmark = pytest.mark.server

HISTORY = 1000


@pytest.fixture(scope="module")
def world(dynamodb_endpoint: str, s3_endpoint: str) -> Iterator[ServerWorld]:
    with open_world(dynamodb_endpoint, s3_endpoint) as world:
        yield world


@pytest.fixture
def meter(world: ServerWorld) -> Meter:
    """main with a commit of three objects and one staged; the process has seen all of it.

    Action files would lie between the first and the second object: their range must be looked into.
    """
    made = Meter(world)
    for path in (b"A", b"a", b"b"):
        made.upload(path)
    made.commit()
    made.upload(b"staged")
    for path in (b"a", b"b", b"staged"):
        objects.stat(made.engine, made.repo, "main", path)
    objects.list_objects(made.engine, made.repo, "main", PageQuery(100))
    return made


@pytest.mark.parametrize("budget", BUDGETS, ids=lambda budget: budget.operation)
def test_an_operation_keeps_its_budget(meter: Meter, budget: Budget) -> None:
    budget.prepare(meter)
    spent = meter.spent(lambda: budget.run(meter))
    assert spent == (budget.dynamodb, budget.s3, budget.chain), meter.requests


# Recorded uploads


@dataclass
class OpenUpload:
    """An upload with one part, which another process began."""

    meter: Meter
    path: bytes = b"parted"

    def __post_init__(self) -> None:
        other, repo = self.meter.other, self.meter.repo
        begun = recorded_uploads.create(other, repo, "main", self.path, metadata={})
        self.id = begun.id
        uri, store_id = recorded_uploads.location(other, repo, "main", self.path, self.id)
        source = objects.stat(other, repo, "main", b"a").physical_address
        self.parts: Sequence[UploadedPart] = [
            UploadedPart(1, other.objects.copy_part(uri, store_id, 1, source, None).checksum)
        ]

    def location(self) -> tuple[str, str]:
        return recorded_uploads.location(
            self.meter.engine, self.meter.repo, "main", self.path, self.id
        )

    def list_parts(self) -> None:
        self.meter.engine.objects.list_parts(*self.location(), 0, 100)

    def complete(self, engine: Engine | None = None) -> None:
        recorded_uploads.complete(
            engine or self.meter.engine, self.meter.repo, "main", self.path, self.id, self.parts
        )

    def abort(self) -> None:
        recorded_uploads.abort(self.meter.engine, self.meter.repo, "main", self.path, self.id)

    def list_all(self) -> None:
        recorded_uploads.list_uploads(self.meter.engine, self.meter.repo, PageQuery(100))


@pytest.mark.parametrize(
    ("run", "expected"),
    [
        (OpenUpload.location, (2, {})),
        (OpenUpload.list_parts, (2, {"GET": 1})),
        (OpenUpload.complete, (5, {"POST": 1, "HEAD": 1})),
        (OpenUpload.abort, (3, {"DELETE": 1})),
        (OpenUpload.list_all, (2, {})),
    ],
)
def test_an_operation_on_a_recorded_upload_keeps_its_budget(
    meter: Meter, run: Callable[[OpenUpload], object], expected: tuple[int, dict[str, int]]
) -> None:
    upload = OpenUpload(meter)
    assert meter.cost(lambda: run(upload)) == expected, meter.requests


def test_beginning_a_recorded_upload_keeps_its_budget(meter: Meter) -> None:
    cost = meter.cost(
        lambda: recorded_uploads.create(meter.engine, meter.repo, "main", b"new", metadata={})
    )
    assert cost == (2, {"POST": 1}), meter.requests


def test_a_repeated_completion_asks_the_object_store_for_nothing(meter: Meter) -> None:
    upload = OpenUpload(meter)
    upload.complete(meter.other)
    assert meter.cost(upload.complete) == (4, {}), meter.requests


# The S3 gateway


class CountedConnection(HttpConnection):
    """A connection whose requests a meter counts."""

    def __init__(self, host: Host, made: socket.socket, requests: list[str]) -> None:
        super().__init__(host, timed_socket(made))
        self._requests = requests

    def send(
        self, method: str, target: str, headers: Mapping[str, str], content: bytes = b""
    ) -> None:
        self._requests.append(f"S3 {method}")
        super().send(method, target, headers, content)


class CountedPool(Pool):
    """A pool that keeps no connection, and a meter counts the requests over its own."""

    def __init__(self, requests: list[str]) -> None:
        super().__init__(lambda: TimeBudget(30))
        self._requests = requests

    def take(self, host: Host) -> HttpConnection:
        return CountedConnection(host, connected(host.name, host.port), self._requests)

    def give_back(self, connection: HttpConnection) -> None:
        connection.close()


class Gateway:
    """The gateway over a meter's engine, for a user whose rights cost nothing here."""

    def __init__(self, meter: Meter) -> None:
        self._meter = meter
        accounts = ScriptedAccounts()
        accounts.set_up(User(USER, 1), Credential(ACCESS_KEY_ID, SECRET, USER, 1))
        accounts.given = EVERYTHING
        endpoint = Endpoint(meter.world.s3_endpoint or "", REGION)
        requests = S3Requests(endpoint, lambda: meter.world.s3_keys)
        self._pool = CountedPool(meter.requests)
        self._application = Application(
            EngineLakes(meter.engine, accounts, requests),
            Transfers(self._pool),
            GatewaySettings(),
        )

    def ask(self, method: str, target: str, body: bytes = b"") -> bytes:
        """Return the content of the answer, which is a success."""
        url = f"http://gateway.example/{self._meter.repo}/{target}"
        length = {"content-length": str(len(body))} if method in {"PUT", "POST"} else {}
        request = AWSRequest(method, url, headers=length, data=body)
        S3SigV4Auth(Credentials(ACCESS_KEY_ID, SECRET), "s3", REGION).add_auth(request)
        answer = self._application.serve(sent(request), CutBody(body), "127.0.0.1").response
        assert answer.status < 300, answer.content
        if answer.reading is None:
            return answer.content
        with answer.reading:
            return b"".join(answer.reading.pieces())

    def close(self) -> None:
        self._pool.close()


@pytest.fixture
def gateway(meter: Meter) -> Iterator[Gateway]:
    made = Gateway(meter)
    yield made
    made.close()


@pytest.mark.parametrize(
    ("method", "target", "expected"),
    [
        ("GET", "main/a", (1, {"GET": 1})),
        ("GET", "main/staged", (1, {"GET": 1})),
        ("GET", "ID/a", (0, {"GET": 1})),
        ("HEAD", "main/a", (1, {"HEAD": 1})),
        ("HEAD", "ID/a", (0, {"HEAD": 1})),
        ("PUT", "main/new", (3, {"PUT": 1})),
        ("DELETE", "main/a", (3, {})),
        ("GET", "?list-type=2&prefix=main%2F", (1, {})),
        ("GET", "?list-type=2&prefix=ID%2F", (0, {})),
        ("GET", "?list-type=2&delimiter=%2F", (3, {})),
    ],
)
def test_a_request_to_the_gateway_keeps_its_budget(
    meter: Meter, gateway: Gateway, method: str, target: str, expected: tuple[int, dict[str, int]]
) -> None:
    named = target.replace("ID", head(meter))
    cost = meter.cost(lambda: gateway.ask(method, named, b"x" if method == "PUT" else b""))
    assert cost == expected, meter.requests


def test_an_upload_through_the_gateway_keeps_its_budget(meter: Meter, gateway: Gateway) -> None:
    begun: list[bytes] = []
    costs = [meter.cost(lambda: begun.append(gateway.ask("POST", "main/big?uploads=")))]
    upload_id = begun[0].partition(b"<UploadId>")[2].partition(b"<")[0].decode()
    part = f"main/big?partNumber=1&uploadId={upload_id}"
    costs.append(meter.cost(lambda: gateway.ask("PUT", part, b"x")))
    row = "<Part><PartNumber>1</PartNumber><ETag>9dd4e461268c8034f5c8564e155c67a6</ETag></Part>"
    document = f"<CompleteMultipartUpload>{row}</CompleteMultipartUpload>".encode()
    whole = f"main/big?uploadId={upload_id}"
    costs.append(meter.cost(lambda: gateway.ask("POST", whole, document)))
    assert costs == [
        (2, {"POST": 1}),
        (2, {"PUT": 1}),
        (5, {"POST": 1, "HEAD": 1}),
    ]
    assert gateway.ask("GET", "main/big") == b"x"


def test_link_keeps_its_budget(meter: Meter) -> None:
    address = links.get_physical_address(meter.engine, meter.repo, "main", b"new")
    cost = meter.cost(
        lambda: links.link(
            meter.engine,
            meter.repo,
            "main",
            b"new",
            links.StoredData(physical_address=address, checksum="x", size_bytes=1),
        )
    )
    assert cost == (3, {}), meter.requests


@pytest.mark.parametrize(("read", "expected"), [(stat("main", b"a"), 2), (listing("main"), 2)])
def test_another_token_than_the_last_one_seen_costs_one_more(
    meter: Meter, read: Callable[[Meter], object], expected: int
) -> None:
    meter.commit(engine=meter.other)
    commits.get(meter.engine, meter.repo, head(meter))  # as by another request meanwhile
    objects.list_objects(meter.engine, meter.repo, head(meter), PageQuery(100))
    round_trips, to_s3 = meter.cost(lambda: read(meter))
    assert (round_trips, to_s3) == (expected, {}), meter.requests


@pytest.mark.parametrize("path", [b"a", b"staged"])
def test_a_cold_file_costs_two_requests_at_most(
    world: ServerWorld, meter: Meter, path: bytes
) -> None:
    """The metarange is such a file, too."""
    meter.commit()
    cold = Meter(world, repo=meter.repo)
    commits.get(cold.engine, cold.repo, "main")
    _, to_s3 = cold.cost(lambda: objects.stat(cold.engine, cold.repo, "main", path))
    assert to_s3["GET"] <= 4, cold.requests


def test_commit_keeps_its_budget(meter: Meter) -> None:
    """To DynamoDB: read, look for staged action files, close, seal, scan, finish.

    To S3: one read and one write for the touched range, one write for the metarange, one to spare.
    """
    round_trips, to_s3 = meter.cost(meter.commit)
    assert round_trips == 6, meter.requests
    assert to_s3["PUT"] <= 2, meter.requests
    assert to_s3["GET"] <= 2, meter.requests


def test_a_commit_that_may_become_a_task_looks_for_one_that_it_can_join(meter: Meter) -> None:
    """To DynamoDB: one read more, of the last task with the same request."""
    engine = replace(meter.engine, task_settings=TaskSettings(request_work_s=4))
    round_trips, _ = meter.cost(lambda: meter.commit(engine=engine))
    assert round_trips == 7, meter.requests


def test_merge_keeps_its_budget(meter: Meter) -> None:
    meter.commit()
    branches.create(meter.engine, meter.repo, name="dev", source="main")
    for branch, path in (("dev", b"on dev"), ("main", b"on main")):
        meter.upload(path, branch)
        meter.commit(branch)
        objects.list_objects(meter.engine, meter.repo, branch, PageQuery(100))
    request = merges.MergeRequest("somebody")
    round_trips, to_s3 = meter.cost(
        lambda: merges.merge(meter.engine, meter.repo, "dev", "main", request)
    )
    assert round_trips == 4, meter.requests
    assert to_s3["GET"] == 0, meter.requests
    new_ranges = to_s3["PUT"] - 1
    assert 1 <= new_ranges <= 4, meter.requests


def test_who_asks_and_what_they_may_costs_few_reads_every_five_seconds(world: ServerWorld) -> None:
    """The first request of a process, those after it, and the first after five seconds."""
    requests: list[str] = []
    clock = FixedClock()
    cipher = ContextCipher()
    first = DynamoAccountStore(world.tables(), cipher)
    installation.set_up(first, User("ann", 1), Credential("key", "secret", "ann", 1))
    accounts = DynamoAccountStore(world.tables(requests.append), cipher)
    authenticator, authorizer = Authenticator(accounts, clock), Authorizer(accounts, clock)

    def ask() -> int:
        requests.clear()
        user = authenticator.user_of(f"Basic {b64encode(b'key:secret').decode()}", ())
        authorizer.of_request(user, {}).require(Permission("fs:ReadObject", "arn:x"))
        return len(requests)

    costs = [ask(), ask()]
    clock.tick(max(MEMORY_S, RIGHTS_AGE_MAX_S))
    assert [*costs, ask(), ask()] == [6, 0, 2, 0]


def add_history(meter: Meter, amount: int) -> Commit:
    """Make so many commits on main, by their last step only; the last of them."""
    engine = meter.other
    repository, branch = current_branch(engine, meter.repo, "main")
    last = repository.history().commit(branch.commit_id)
    for _ in range(amount):
        made = new_commit(
            engine,
            committer="somebody",
            message="commit",
            metarange_id=last.metarange_id,
            metadata={},
            parents=(last,),
        )
        engine.refs.move_branch(
            repository.record,
            branch,
            commit=made,
            commit_id=made.id,
            applied_tokens=(),
            new_staging_token=None,
            event=None,
            drop_after_ns=0,
        )
        branch = structs.replace(branch, commit_id=made.id, version=branch.version + 1)
        last = made
    return last


def test_the_log_of_a_long_history_keeps_its_budget(world: ServerWorld, meter: Meter) -> None:
    last = add_history(meter, HISTORY)
    cold = Meter(world, repo=meter.repo)
    branches.get(cold.engine, cold.repo, "main")
    found: list[Commit] = []

    def read() -> None:
        found.extend(commits.log(cold.engine, cold.repo, "main", commits.LogQuery(HISTORY)).results)

    round_trips, to_s3 = cold.cost(read)
    assert found[0] == last
    assert len(found) == HISTORY
    assert (round_trips, to_s3) == (3, {}), cold.requests
