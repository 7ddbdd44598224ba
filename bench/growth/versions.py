"""The versions of objects in a long history, and the total of a large prefix."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from tempfile import TemporaryDirectory

from bench.figures import Figure, spent
from bench.growth.histories import REPOSITORY
from bench.large_commits.run import engine_of
from graveler.aws.usage import Counted, measured
from graveler.branches.lookup import current_branch
from graveler.committed.apply import apply_changes
from graveler.engine import Engine
from graveler.entries import entry_value
from graveler.identity import make_commit
from graveler.model import AddressType, Change, Commit, Entry, MetaRangeID
from graveler.open_repository import OpenRepository
from graveler.operations import last_commits, merge_bases, object_history, repositories
from graveler.operations.prefixes.totals import total
from graveler_embedded.stores import BUCKET
from graveler_jobs.session import JobDeployment

_BATCH = 1_000
# More commits than that take too long to store.
_COMMITS_MAX = 10_000
# Each commit changes one of these objects; the one whose history is read changes this seldom.
_OTHERS = 100
_CHANGED_EVERY = 500
_OBJECT = b"tables/orders.parquet"
# The first commit has these objects, and no other one changes them.
_OLD = 100


def measure_versions(made: JobDeployment, amount: int) -> Iterator[Figure]:
    """Store so many commits with contents of their own and so many objects, and read them.

    cold: a process that has read nothing, until all pages are read; warm: all of them again.
    """
    namespace = f"s3://{BUCKET}/{REPOSITORY}"
    repositories.create(made.engine, name=REPOSITORY, storage_namespace=namespace)
    found, main = current_branch(made.engine, REPOSITORY, "main")
    head = found.history().commit(main.commit_id)
    base_id = head.id
    commits: list[Commit] = []
    for number in range(amount if amount <= _COMMITS_MAX else 0):
        head = _next(found, head, _changes(number))
        commits.append(head)
    large = _next(found, head, _objects(amount))
    for start in range(0, len(commits), _BATCH):
        made.engine.refs.restore_commits(found.record, commits[start : start + _BATCH])
    made.engine.refs.restore_commits(found.record, [large])
    reads: dict[str, Callable[[Engine], object]] = {
        "total of a prefix": partial(_total, head_id=large.id, amount=amount)
    }
    if commits:
        reads |= {
            "history of an object": partial(_history, head_id=head.id, amount=amount),
            "last commits of 100 old objects": partial(_last_commits, head_id=head.id),
            "ahead and behind": partial(_distance, head_id=head.id, base_id=base_id, amount=amount),
        }
    for name, do in reads.items():
        with TemporaryDirectory() as folder:
            engine = engine_of(replace(made.settings, file_cache_folder=folder))
            for state in ("cold", "warm"):
                with spent() as times, measured() as usage:
                    do(engine)
                yield Figure(f"{name}, {state}", times.wall_s * 1e3, "ms wall")
                yield Figure(f"{name}, {state}, our processor", times.cpu_s * 1e3, "ms cpu")
                requests = usage.get(Counted.S3_REQUESTS, 0)
                yield Figure(f"{name}, {state}, requests to S3", requests, "")


def _next(repo: OpenRepository, parent: Commit, changes: Iterator[Change]) -> Commit:
    """Store the content of a commit on top of another one; return the commit."""
    applied = apply_changes(repo.engine.committed, repo.metarange(parent.metarange_id), changes)
    return make_commit(
        committer="nightly@example.com",
        message=f"Nightly load {parent.generation}",
        metarange_id=MetaRangeID(applied.metarange_id),
        creation_date=parent.creation_date + 60,
        metadata={},
        parents=(parent.id,),
        generation=parent.generation + 1,
    )


def _changes(number: int) -> Iterator[Change]:
    yield b"logs/%03d" % (number % _OTHERS), _value(number)
    if number == 0:
        yield from ((b"old/%03d" % each, _value(each)) for each in range(_OLD))
    if number % _CHANGED_EVERY == 0:
        yield _OBJECT, _value(number)


def _objects(amount: int) -> Iterator[Change]:
    return ((b"wide/%08d" % number, _value(number)) for number in range(amount))


def _value(number: int) -> bytes:
    address = f"data/gp0jkbck6tfom0s1t8g0/cqmei9bck6tfom{number:08x}"
    return entry_value(Entry(address, AddressType.RELATIVE, number, f"{number:032x}", 0))


def _history(engine: Engine, head_id: str, amount: int) -> None:
    after, changes = "", 0
    while True:
        page = object_history.list_page(engine, REPOSITORY, head_id, _OBJECT, after, 1_000)
        changes += len(page.results)
        after = page.next_after
        if not after:
            break
    assert changes == -(-amount // _CHANGED_EVERY)


def _last_commits(engine: Engine, head_id: str) -> None:
    after, found = "", 0
    while True:
        page = last_commits.list_last_commits(engine, REPOSITORY, head_id, b"old/", after, _OLD)
        found += len(page.results)
        after = page.next_after
        if not after:
            break
    assert found == _OLD


def _distance(engine: Engine, head_id: str, base_id: str, amount: int) -> None:
    found = merge_bases.find(engine, REPOSITORY, head_id, base_id, with_distance=True)
    assert found.distance == merge_bases.Distance(amount, 0, is_exact=True)


def _total(engine: Engine, head_id: str, amount: int) -> None:
    after, objects = b"", 0
    while True:
        found = total(engine, REPOSITORY, head_id, "wide/", after)
        objects += found.objects
        after = found.next_after
        if not after:
            break
    assert objects == amount
