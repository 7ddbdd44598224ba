"""The scenarios: each makes the work of a number of clients for a load."""

from collections.abc import Callable, Sequence
from functools import partial
from itertools import count

from bench.scale.load import Load
from graveler.aws.dynamodb.cleanup import CleanupStore
from graveler.aws.dynamodb.staging import DynamoStagingStore
from graveler.engine import Engine
from graveler.entries import entry_value
from graveler.errors import GravelerError, ThrottledError
from graveler.limits import LINKS_MAX, TOKEN_RETENTION_S
from graveler.model import NO_REQUIREMENT, AddressType, Entry, Requirement, StagingToken
from graveler.model.tokens import ALL_PLAIN
from graveler.operations import branches, commits, links, objects, repositories
from graveler.times import NS_PER_S

Client = Callable[[], None]
READERS = 32
_COMMIT = commits.CommitRequest("why", "somebody")
_VALUE = entry_value(Entry("data/one", AddressType.RELATIVE, 1, "0" * 32, 0, "text/plain"))
_SWEEP_S = 1.0
_FOUND_AGAIN = b"found/again"


def _create(load: Load, name: str) -> Engine:
    engine = load.world.engine()
    repositories.create(engine, name=name, storage_namespace=f"s3://bucket/{name}")
    if load.world.spreads != ALL_PLAIN:
        branches.reset(engine, name, "main", kind="reset")  # the first token is plain
    return engine


def _branches(load: Load, amount: int) -> list[str]:
    """Return the names of so many new branches of one repository."""
    engine = _create(load, "lake")
    names = [f"branch-{load.random.getrandbits(32):08x}-{number}" for number in range(amount)]
    for name in names:
        branches.create(engine, "lake", name=name, source="main")
    return names


def _stored(engine: Engine, repository: str, branch: str, path: bytes) -> links.StoredData:
    """Return data at a new address for the path."""
    address = links.get_physical_address(engine, repository, branch, path)
    return links.StoredData(physical_address=address, checksum="0" * 32, size_bytes=1)


def _link(
    load: Load,
    repository: str,
    branch: str,
    path: Callable[[], bytes],
    requirement: Requirement = NO_REQUIREMENT,
) -> None:
    """Link new data, as a client does that has stored them by a presigned URL."""

    def work(engine: Engine) -> None:
        key = path()
        data = _stored(engine, repository, branch, key)
        links.link(engine, repository, branch, key, data, requirement=requirement)

    load.request("writes", work)


def _link_together(load: Load, path: Callable[[], bytes]) -> None:
    """Link as many objects as a request may have; send those again that were not linked."""
    left = {path() for _ in range(LINKS_MAX)}

    def work(engine: Engine) -> None:
        nonlocal left
        begun_s = load.world.time.now_s
        uploaded = [(each, _stored(engine, "lake", "main", each)) for each in left]
        outcomes = links.link_each(engine, "lake", "main", uploaded)
        failed = {each for each, found in outcomes if isinstance(found, GravelerError)}
        load.note("links", begun_s, len(left) - len(failed))
        left = failed
        if failed:
            raise ThrottledError("send them again")

    load.request("requests", work)


def together(load: Load, amount: int) -> Sequence[Client]:
    _create(load, "lake")
    return [partial(_link_together, load, _scattered(load))] * amount


def _scattered(load: Load) -> Callable[[], bytes]:
    return lambda: b"data/%016x" % load.random.getrandbits(64)


def _ascending() -> Callable[[], bytes]:
    numbers = count()
    return lambda: b"data/%016d" % next(numbers)


def one_branch(load: Load, amount: int) -> Sequence[Client]:
    _create(load, "lake")
    return [partial(_link, load, "lake", "main", _scattered(load))] * amount


def ascending(load: Load, amount: int) -> Sequence[Client]:
    _create(load, "lake")
    return [partial(_link, load, "lake", "main", _ascending())] * amount


def conditional(load: Load, amount: int) -> Sequence[Client]:
    _create(load, "lake")
    absent = Requirement(is_absent=True)
    return [partial(_link, load, "lake", "main", _scattered(load), absent)] * amount


def many_branches(load: Load, amount: int) -> Sequence[Client]:
    paths = _scattered(load)
    return [partial(_link, load, "lake", name, paths) for name in _branches(load, amount)]


def reads_beside_writes(load: Load, amount: int) -> Sequence[Client]:
    """A fixed number of readers, and this number of writers."""
    engine = _create(load, "lake")
    engine.staging.stage(
        branches.get(engine, "lake", "main").staging_token, [(_FOUND_AGAIN, _VALUE)]
    )

    def read() -> None:
        load.request("reads", lambda served: objects.stat(served, "lake", "main", _FOUND_AGAIN))

    return [read] * READERS + [partial(_link, load, "lake", "main", _scattered(load))] * amount


def _commit(load: Load, repository: str, branch: str) -> None:
    """Change an object and commit that."""
    _link(load, repository, branch, _scattered(load))
    load.request("commits", lambda engine: commits.commit(engine, repository, branch, _COMMIT))


def commits_of_a_repository(load: Load, amount: int) -> Sequence[Client]:
    return [partial(_commit, load, "lake", name) for name in _branches(load, amount)]


def commits_of_a_deployment(load: Load, amount: int) -> Sequence[Client]:
    names = [f"lake-{number}" for number in range(amount)]
    for name in names:
        _create(load, name)
    return [partial(_commit, load, name, "main") for name in names]


def with_cleanup(load: Load, amount: int) -> Sequence[Client]:
    """Commits of a deployment, beside the one worker that drops what they leave."""
    return [*commits_of_a_deployment(load, amount), partial(_sweep, load)]


def _sweep(load: Load) -> None:
    """Sweep as if all work were due: in the long run, as much is due as is made.

    A sweep ends after a second: more becomes due all the time.
    """
    world = load.world
    tables = world.model.tables()
    store = CleanupStore(tables, DynamoStagingStore(tables))
    while not load.is_over:
        begun_s = world.time.now_s
        later_ns = world.time.now_ns() + 2 * TOKEN_RETENTION_S * NS_PER_S
        swept = store.sweep(later_ns, lambda: world.time.now_s < begun_s + _SWEEP_S)  # noqa: B023
        load.note("cleanups", begun_s, swept.done)
        if not swept.done:
            world.time.sleep(1.0)


def drop(load: Load, amount: int) -> Sequence[Client]:
    """Drop a token with so many staged changes, again and again."""
    world = load.world
    tables = world.model.tables()
    staging, filling = DynamoStagingStore(tables), DynamoStagingStore(world.tables)
    path = _scattered(load)

    def work() -> None:
        token = StagingToken(f"token-{load.random.getrandbits(64):x}")
        filling.fill(token, [(path(), _VALUE) for _ in range(amount)])
        begun_s = world.time.now_s
        staging.drop(token)
        load.note("drops", begun_s, amount)

    return [work]
