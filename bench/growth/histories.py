"""Refs of long histories: expressions, the merge base, the log, dump and restore."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import islice

from msgspec import structs

from bench.figures import Figure, spent
from bench.large_commits.run import engine_of
from graveler.aws.usage import Counted, measured
from graveler.branches.lookup import current_branch
from graveler.engine import Engine
from graveler.identity import make_commit
from graveler.limits import PAGE_AMOUNT_MAX
from graveler.model import EMPTY_METARANGE, Commit
from graveler.model.tasks import TaskSettings
from graveler.open_repository import OpenRepository
from graveler.operations import commits, dumps, repositories
from graveler.operations.commits import LogQuery
from graveler.refs.merge_base import merge_base
from graveler.refs.resolve import resolve_commit_id
from graveler_embedded.stores import BUCKET
from graveler_jobs.session import JobDeployment

REPOSITORY = "history"
RESTORED = "restored"
_NAMESPACE = f"s3://{BUCKET}/{REPOSITORY}"
_BATCH = 1_000


def measure_history(made: JobDeployment, amount: int) -> Iterator[Figure]:
    """Store a history of so many commits, and measure what its users wait for.

    cold: a process that has read nothing; warm: its second request.
    """
    repositories.create(made.engine, name=REPOSITORY, storage_namespace=_NAMESPACE)
    found, main = current_branch(made.engine, REPOSITORY, "main")
    root = found.history().commit(main.commit_id)
    trunk = list(islice(_after(root, "Nightly load"), amount))
    side = next(_after(root, "Never merged"))
    for start in range(0, amount, _BATCH):
        made.engine.refs.restore_commits(found.record, trunk[start : start + _BATCH])
    made.engine.refs.restore_commits(found.record, [side])
    for name, do in _reads(found, trunk, side).items():
        engine = engine_of(made.settings)
        for state in ("cold", "warm"):
            with spent() as times, measured() as usage:
                do(engine)
            yield Figure(f"{name}, {state}", times.wall_s * 1e3, "ms wall")
            yield Figure(f"{name}, {state}, our processor", times.cpu_s * 1e3, "ms cpu")
            requests = usage.get(Counted.DYNAMODB_REQUESTS, 0)
            yield Figure(f"{name}, {state}, requests to DynamoDB", requests, "")
    yield from _dumped(made)


def _after(parent: Commit, message: str) -> Iterator[Commit]:
    """Yield commits without end, each on top of the one before."""
    while True:
        parent = make_commit(
            committer="nightly@example.com",
            message=f"{message} {parent.generation}",
            metarange_id=EMPTY_METARANGE,
            creation_date=parent.creation_date + 60,
            metadata={"job": "nightly", "run": str(parent.generation)},
            parents=(parent.id,),
            generation=parent.generation + 1,
        )
        yield parent


def _reads(
    found: OpenRepository, trunk: Sequence[Commit], side: Commit
) -> dict[str, Callable[[Engine], object]]:
    head_id = trunk[-1].id
    up = len(trunk) * 3 // 4

    def resolve(engine: Engine) -> None:
        history = structs.replace(found, engine=engine).history()
        assert resolve_commit_id(engine.refs, history, f"{head_id}~{up}") == trunk[-1 - up].id

    def find_base(engine: Engine) -> None:
        assert (
            merge_base(structs.replace(found, engine=engine).history(), head_id, side.id).id
            == side.parents[0]
        )

    def log(engine: Engine) -> None:
        page = commits.log(engine, REPOSITORY, head_id, LogQuery(PAGE_AMOUNT_MAX))
        assert len(page.results) == min(PAGE_AMOUNT_MAX, len(trunk) + 1)

    return {
        "ref expression, up three quarters": resolve,
        "merge base at the first commit": find_base,
        "log, newest 1,000": log,
    }


def _dumped(made: JobDeployment) -> Iterator[Figure]:
    # Without tasks, which nobody would run here.
    engine = replace(engine_of(made.settings), task_settings=TaskSettings())
    with spent() as times:
        dumped = dumps.dump(engine, REPOSITORY)
    yield Figure("dump", times.wall_s, "s wall")
    yield Figure("dump, our processor", times.cpu_s, "s cpu")
    repositories.create(engine, name=RESTORED, storage_namespace=_NAMESPACE, bare=True)
    with spent() as times:
        dumps.restore(engine, RESTORED, dumped)
    yield Figure("restore", times.wall_s, "s wall")
    yield Figure("restore, our processor", times.cpu_s, "s cpu")
