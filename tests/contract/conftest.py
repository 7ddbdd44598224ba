"""The stores under test: memory fakes, and the real adapters on a fake of DynamoDB and on a server.

`stores` runs a test on all three; `dynamodb_stores` on the real adapters alone. The fake is as weak
as DynamoDB may be, and new for each test. The server is shared by the session, so each test works
in a repository, on tokens and under a namespace of its own.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from uuid import uuid4

import msgspec
import pytest

from graveler.aws.dynamodb.accounts import DynamoAccountStore
from graveler.aws.dynamodb.cleanup import CleanupStore
from graveler.aws.dynamodb.client import DynamoDB
from graveler.aws.dynamodb.exports import DynamoExportStore
from graveler.aws.dynamodb.http_client import DynamoDBHttpClient
from graveler.aws.dynamodb.models import OUTBOX, partition_of
from graveler.aws.dynamodb.refs import DynamoRefStore
from graveler.aws.dynamodb.staging import DynamoStagingStore
from graveler.aws.dynamodb.tables import Tables
from graveler.aws.exchanges.buffered import BufferedResponse, Pending, ResponseLostError
from graveler.aws.retries import RetryPolicy
from graveler.aws.signing import Signer
from graveler.export.ports import ExportStore
from graveler.model import (
    Branch,
    Commit,
    CommitID,
    Event,
    MetaRangeID,
    Repository,
    RepositoryUID,
    StagingToken,
)
from graveler.model.tokens import PLAIN, Spread, token_named
from graveler.ports import RefStore, StagingStore
from tests.contract.accounts import ContextCipher, World
from tests.support.fakes.dynamodb.choices import Choices, WorstChoices
from tests.support.fakes.dynamodb.service import Service
from tests.support.fakes.dynamodb.transport import ServiceHttp
from tests.support.fakes.memory import MemoryAccountStore, MemoryRefStore, MemoryStagingStore
from tests.support.fakes.memory_exports import MemoryExportStore
from tests.support.worlds.server_world import REGION, Keys

Losing = Callable[[str], None]


class LostAnswer(Pending):
    """A request that had its effect; meanwhile is called before its answer is missed."""

    def __init__(self, pending: Pending, meanwhile: Callable[[], object]) -> None:
        self._pending = pending
        self._meanwhile = meanwhile

    def finish(self, *, needs_end: bool = True) -> BufferedResponse:
        self._pending.finish(needs_end=needs_end)
        self._meanwhile()
        raise ResponseLostError("the answer was lost on its way")

    def abandon(self) -> None:
        self._pending.abandon()


class LossyHttp(DynamoDBHttpClient):
    """Requests arrive and have their effect, but answers to chosen operations get lost."""

    def __init__(self, http: DynamoDBHttpClient) -> None:
        self._http = http
        self.host = http.host
        self.to_lose: Counter[str] = Counter()
        # As if a transaction's token were older than the ten minutes that DynamoDB remembers it.
        self.forget_tokens = False
        # What others do after the effect, before the request is sent again.
        self.meanwhile: Callable[[], object] = lambda: None
        # What others do before an operation is sent the next time.
        self.before: dict[str, Callable[[], object]] = {}

    def begin(self, headers: Mapping[str, str], body: bytes) -> Pending:
        if self.forget_tokens:
            body = re.sub(rb',"ClientRequestToken":"[^"]*"', b"", body)
        operation = headers["x-amz-target"].partition(".")[2]
        self.before.pop(operation, lambda: None)()
        pending = self._http.begin(headers, body)
        if self.to_lose[operation] == 0:
            return pending
        self.to_lose[operation] -= 1
        return LostAnswer(pending, self.meanwhile)

    def close(self) -> None:
        self._http.close()


@dataclass(frozen=True)
class Stores:
    """Stores that belong together, and what no port shows of them."""

    refs: RefStore
    staging: StagingStore
    exports: ExportStore
    event_ids: Callable[[Repository], set[str]]
    tokens_to_drop: Callable[[], dict[str, int]]  # token -> due time in ns


@dataclass(frozen=True)
class DynamoDBStores(Stores):
    tables: Tables
    http: LossyHttp
    round_trips: list[str]
    service: Service | None = None  # if it is the fake


def _memory_stores() -> Stores:
    refs = MemoryRefStore()
    return Stores(
        refs,
        MemoryStagingStore(refs),
        MemoryExportStore(refs),
        lambda _repository: {event.id for event in refs.events},
        lambda: {token: due_ns for due_ns, token in refs.cleanups},
    )


def _dynamodb_stores(http: LossyHttp, retries: RetryPolicy) -> DynamoDBStores:
    round_trips: list[str] = []
    signer = Signer(REGION, Keys)
    tables = Tables("refs", "staging", DynamoDB(http, signer, retries, round_trips.append))
    tables.create()

    def event_ids(repository: Repository) -> set[str]:
        request = tables.query(partition_of(repository), OUTBOX)
        raws = [raw for page in tables.pages(request) for raw in page]
        return {msgspec.json.decode(raw["event"]["S"], type=Event).id for raw in raws}

    def tokens_to_drop() -> dict[str, int]:
        due = CleanupStore(tables, DynamoStagingStore(tables)).due(2**63)
        return {token: int(each.key["sort"]["S"][:20]) for each in due for token in each.tokens}

    return DynamoDBStores(
        DynamoRefStore(tables),
        DynamoStagingStore(tables),
        DynamoExportStore(tables),
        event_ids,
        tokens_to_drop,
        tables,
        http,
        round_trips,
    )


@pytest.fixture(scope="session")
def server_stores(dynamodb_endpoint: str) -> Iterator[DynamoDBStores]:
    """The real adapters on DynamoDB Local."""
    http = LossyHttp(DynamoDBHttpClient(dynamodb_endpoint))
    yield _dynamodb_stores(http, RetryPolicy(total_s_max=60.0, first_pause_s=0.005))
    http.close()


@pytest.fixture
def fake_stores() -> DynamoDBStores:
    """The real adapters on a service that is as weak as it may be."""
    service = Service(WorstChoices())
    http = LossyHttp(ServiceHttp(service))
    stores = _dynamodb_stores(http, RetryPolicy(total_s_max=60.0, first_pause_s=0.0001))
    return replace(stores, service=service)


@contextmanager
def no_request_arrives(stores: DynamoDBStores, operation: str) -> Iterator[None]:
    """Lose each request of the operation on its way; nobody knows whether it had an effect."""
    dynamodb, before = stores.tables.dynamodb, stores.http.before
    patient = dynamodb.retries

    def lose() -> None:
        before[operation] = lose
        raise ResponseLostError("the request was lost on its way")

    before[operation] = lose
    dynamodb.retries = RetryPolicy(total_s_max=0.02, first_pause_s=0.001)
    try:
        yield
    finally:
        dynamodb.retries = patient
        before.clear()


def strong(stores: Stores) -> None:
    """Let the fake of DynamoDB have no weakness, so that pages are full and requests countable."""
    if isinstance(stores, DynamoDBStores) and stores.service is not None:
        stores.service.choices = Choices()


_DYNAMODB = (
    pytest.param("fake_stores", id="fake of DynamoDB"),
    pytest.param("server_stores", id="dynamodb", marks=pytest.mark.server),
)


@pytest.fixture(params=_DYNAMODB)
def dynamodb_stores(request: pytest.FixtureRequest) -> DynamoDBStores:
    return request.getfixturevalue(request.param)


@pytest.fixture(params=["memory", *_DYNAMODB])
def stores(request: pytest.FixtureRequest) -> Stores:
    if request.param == "memory":
        return _memory_stores()
    return request.getfixturevalue(request.param)


@pytest.fixture(params=["one answer lost", "one lost and forgotten", "all answers lost"])
def lose(request: pytest.FixtureRequest, dynamodb_stores: DynamoDBStores) -> Iterator[Losing]:
    """Lose the answers to an operation from now on."""
    dynamodb = dynamodb_stores.tables.dynamodb
    patient = dynamodb.retries
    count = 10**6 if request.param == "all answers lost" else 1
    dynamodb_stores.http.forget_tokens = "forgotten" in request.param
    if count > 1:
        strong(dynamodb_stores)  # so little time allows for two attempts
        dynamodb.retries = RetryPolicy(total_s_max=0.02, first_pause_s=0.001)
    yield lambda operation: dynamodb_stores.http.to_lose.update({operation: count})
    dynamodb_stores.http.to_lose.clear()
    dynamodb_stores.http.forget_tokens = False
    dynamodb.retries = patient


def new_event(kind: str = "tested") -> Event:
    return Event(uuid4().hex, kind, "any", 1_700_000_000 * 10**9, {"reference": "main"})


# Commits that branches and tags name, though no store has them.
COMMIT_ID, OTHER_ID = CommitID("c" * 64), CommitID("d" * 64)


_spread = PLAIN


@pytest.fixture(params=[PLAIN, Spread(shards=3, gates=5)], ids=["plain", "spread"])
def spread(request: pytest.FixtureRequest) -> Iterator[Spread]:
    """The spread of the test's tokens."""
    global _spread  # noqa: PLW0603 - so that helpers need not pass it on
    _spread = request.param
    yield _spread
    _spread = PLAIN


def new_token() -> StagingToken:
    return token_named(f"any-main:{uuid4()}", _spread)


def new_commit(generation: int = 1, parents: tuple[CommitID, ...] = ()) -> Commit:
    return Commit(
        id=CommitID(uuid4().hex * 2),
        committer="tester",
        message="Why: é\n\"'",
        metarange_id=MetaRangeID(uuid4().hex * 2),
        creation_date=1_700_000_000,
        parents=parents,
        metadata={"key": "value", "": ""},
        generation=generation,
    )


def new_repository(name: str | None = None) -> Repository:
    name = name or f"r{uuid4().hex[:12]}"
    uid = RepositoryUID(uuid4().hex[:20])
    return Repository(name, uid, "s3://bucket/path", "main", 1_700_000_000)


@pytest.fixture
def repository(stores: Stores) -> Repository:
    """A repository whose main branch has a first commit, and nothing staged."""
    return create(stores)


def create(stores: Stores, name: str | None = None) -> Repository:
    repository = new_repository(name)
    commit = new_commit()
    branch = Branch("main", commit.id, new_token())
    stores.refs.create_repository(repository, branch, commit, new_event())
    return repository


def main_of(stores: Stores, repository: Repository) -> Branch:
    branch = stores.refs.branch(repository, "main")
    assert branch is not None
    return branch


def drop_registered(stores: DynamoDBStores) -> None:
    """Forget what earlier tests registered, so that a sweep sees only this test's."""
    register = CleanupStore(stores.tables, stores.staging)
    for cleanup in register.due(2**63):
        register.done(cleanup)


# Accounts


@pytest.fixture
def fresh_tables(dynamodb_stores: DynamoDBStores) -> Tables:
    return _fresh_tables(dynamodb_stores)


def _fresh_tables(stores: DynamoDBStores) -> Tables:
    """Accounts belong to a deployment, not to a repository: each test has tables of its own."""
    suffix = uuid4().hex[:8]
    tables = Tables(f"refs-{suffix}", f"staging-{suffix}", stores.tables.dynamodb)
    tables.create()
    return tables


@pytest.fixture(params=["memory", *_DYNAMODB])
def world(request: pytest.FixtureRequest) -> World:
    if request.param == "memory":
        store = MemoryAccountStore()
        return World(store, store)
    tables = _fresh_tables(request.getfixturevalue(request.param))
    return World(
        DynamoAccountStore(tables, ContextCipher()), DynamoAccountStore(tables, ContextCipher())
    )
