"""Threads that work on one repository at once, on DynamoDB's own conditions and transactions.

Every thread has an engine of its own, with caches that know nothing of the others.
"""

import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import pytest

from graveler.engine import Engine
from graveler.errors import (
    AlreadyExistsError,
    ContentionError,
    GravelerError,
    InvalidInputError,
    NotFoundError,
    PreconditionFailedError,
    UnknownOutcomeError,
)
from graveler.model import Branch, Commit, Requirement
from graveler.operations import branches, commits, diffs, links, merges, objects, writes
from graveler.staging.listing import CommonPrefix, PageQuery
from tests.support.worlds.server_world import ServerWorld, open_world

pytestmark = pytest.mark.server

REQUEST = commits.CommitRequest("commit", "somebody")


@pytest.fixture(scope="session")
def world(dynamodb_endpoint: str) -> Iterator[ServerWorld]:
    with open_world(dynamodb_endpoint) as world:
        yield world


@pytest.fixture
def repo(world: ServerWorld) -> str:
    return world.new_repository()


def stage(
    engine: Engine, repo: str, path: bytes, checksum: str, branch: str = "main", **options: Any
) -> None:
    links.stage(
        engine,
        repo,
        branch,
        path,
        links.StoredData(
            physical_address=f"s3://elsewhere/{checksum}", checksum=checksum, size_bytes=1
        ),
        **options,
    )


def persistently(do: Callable[[], object]) -> None:
    """Do it until nobody is in the way: what is refused for contention was not acknowledged."""
    while True:
        try:
            do()
        except ContentionError:
            continue
        return


def checksums(engine: Engine, repo: str, ref: str = "main") -> dict[bytes, str]:
    found: dict[bytes, str] = {}
    after = b""
    while True:
        page = objects.list_objects(engine, repo, ref, PageQuery(1000, after=after))
        for item in page.results:
            assert not isinstance(item, CommonPrefix)
            found[item.path] = item.entry.checksum
        if not page.next_after:
            return found
        after = page.next_after


def log(engine: Engine, repo: str) -> list[str]:
    page = commits.log(engine, repo, "main", commits.LogQuery(1000))
    return [commit.id for commit in page.results]


def together(*tasks: Callable[[], object]) -> list[object]:
    """What the tasks give, started at the same moment: results, or the engine's errors."""
    barrier = threading.Barrier(len(tasks))

    def run(task: Callable[[], object]) -> object:
        barrier.wait()
        try:
            return task()
        except GravelerError as error:
            return error

    with ThreadPoolExecutor(len(tasks)) as pool:
        return list(pool.map(run, tasks))


class Committer:
    """Commits again and again until it is told to stop, and remembers what it made."""

    def __init__(self, world: ServerWorld, repo: str) -> None:
        self.made: list[str] = []
        self._engine = world.engine()
        self._repo = repo
        self._stopped = threading.Event()

    def stop(self) -> None:
        self._stopped.set()

    def run(self) -> None:
        while not self._stopped.is_set():
            try:
                self.made.append(commits.commit(self._engine, self._repo, "main", REQUEST).id)
            except (InvalidInputError, ContentionError):
                continue


def test_no_acknowledged_write_is_missing_while_commits_run(world: ServerWorld, repo: str) -> None:
    writers, rounds = 4, 20
    committers = [Committer(world, repo) for _ in range(2)]
    expected: list[dict[bytes, str | None]] = [{} for _ in range(writers)]

    def write(number: int) -> None:
        engine, reader = world.engine(), world.engine()
        known = expected[number]
        for turn in range(rounds):
            own = b"own/%d/%03d" % (number, turn)
            for path in (own, b"again/%d" % number):
                persistently(partial(stage, engine, repo, path, f"{number}-{turn}"))
                known[path] = f"{number}-{turn}"
                assert objects.stat(reader, repo, "main", path).entry.checksum == known[path]
            if turn % 3 == 0:
                persistently(partial(writes.delete, engine, repo, "main", own))
                known[own] = None
                with pytest.raises(NotFoundError):
                    objects.stat(reader, repo, "main", own)

    def all_writers() -> None:
        try:
            results = together(*(partial(write, number) for number in range(writers)))
            assert results == [None] * writers
        finally:
            for committer in committers:
                committer.stop()

    assert together(all_writers, *(committer.run for committer in committers)) == [None] * 3
    engine = world.engine()
    live = {path: c for known in expected for path, c in known.items() if c is not None}
    assert checksums(engine, repo) == live
    made = [commit_id for committer in committers for commit_id in committer.made]
    assert len(made) > 3
    assert sorted(log(engine, repo)[:-1]) == sorted(made)
    if [*diffs.uncommitted(engine, repo, "main", PageQuery(1)).results]:
        commits.commit(engine, repo, "main", REQUEST)
    assert checksums(world.engine(), repo, "main@") == live


@pytest.mark.parametrize("allow_empty", [False, True])
def test_of_two_commits_at_once_both_are_in_history_or_one_is_told_why(
    world: ServerWorld, repo: str, allow_empty: bool
) -> None:
    engines = [world.engine(), world.engine()]
    request = commits.CommitRequest("commit", "somebody", allow_empty=allow_empty)
    written: set[bytes] = set()
    made: list[str] = []
    for turn in range(10):
        for number, engine in enumerate(engines):
            path = b"%d/%d" % (turn, number)
            stage(engine, repo, path, "x")
            written.add(path)
        results = together(
            *(partial(commits.commit, engine, repo, "main", request) for engine in engines)
        )
        for result in results:
            if isinstance(result, Commit):
                made.append(result.id)
            else:
                assert isinstance(result, InvalidInputError)
                assert not allow_empty
                assert "no changes" in result.message
        assert len(made) > turn
        assert checksums(engines[0], repo, "main@").keys() == written
    assert sorted(log(engines[0], repo)[:-1]) == sorted(made)
    assert len(made) == 20 or not allow_empty


def test_one_of_many_creates_an_object_also_while_commits_run(
    world: ServerWorld, repo: str
) -> None:
    engines = [world.engine() for _ in range(5)]
    committer = Committer(world, repo)

    def rounds() -> None:
        try:
            for turn in range(12):
                path = b"%03d" % turn
                results = together(
                    *(
                        partial(
                            stage,
                            engine,
                            repo,
                            path,
                            f"by-{number}",
                            requirement=Requirement(is_absent=True),
                        )
                        for number, engine in enumerate(engines)
                    )
                )
                winners = [number for number, result in enumerate(results) if result is None]
                refused = [result for result in results if result is not None]
                assert all(
                    isinstance(each, PreconditionFailedError | ContentionError) for each in refused
                )
                # All may give up when commits keep coming; two must never both have made it.
                assert len(winners) <= 1
                if winners:
                    seen = objects.stat(world.engine(), repo, "main", path).entry.checksum
                    assert seen == f"by-{winners[0]}"
                else:
                    assert any(isinstance(each, ContentionError) for each in refused)
        finally:
            committer.stop()

    assert together(rounds, committer.run) == [None, None]
    assert len(committer.made) > 1


def test_merges_into_a_branch_that_moves_lose_nothing(world: ServerWorld, repo: str) -> None:
    engine = world.engine()
    stage(engine, repo, b"base", "x")
    commits.commit(engine, repo, "main", REQUEST)
    names = [f"source{number}" for number in range(4)]
    for name in names:
        branches.create(engine, repo, name=name, source="main")

    def work(name: str) -> None:
        own = world.engine()
        for turn in range(5):
            stage(own, repo, f"{name}/{turn}".encode(), name, branch=name)
            commits.commit(own, repo, name, REQUEST)
            request = merges.MergeRequest("somebody", squash=turn % 2 == 1)
            persistently(partial(merges.merge, own, repo, name, "main", request))

    assert together(*(partial(work, name) for name in names)) == [None] * 4
    expected = {f"{name}/{turn}".encode(): name for name in names for turn in range(5)}
    assert checksums(world.engine(), repo) == expected | {b"base": "x"}
    main = commits.log(engine, repo, "main", commits.LogQuery(1000, first_parent=True))
    assert len(main.results) == 2 + 20


def test_one_of_many_creates_a_branch(world: ServerWorld, repo: str) -> None:
    engines = [world.engine() for _ in range(6)]
    heads = []
    for number in range(len(engines)):
        stage(engines[0], repo, b"a", str(number))
        heads.append(commits.commit(engines[0], repo, "main", REQUEST).id)
    for turn in range(8):
        name = f"branch{turn}"
        results = together(
            *(
                partial(branches.create, engine, repo, name=name, source=head)
                for engine, head in zip(engines, heads, strict=True)
            )
        )
        winners = [n for n, result in enumerate(results) if isinstance(result, Branch)]
        assert len(winners) == 1
        losers = [each for each in results if not isinstance(each, Branch)]
        assert all(isinstance(each, AlreadyExistsError) for each in losers)
        assert branches.get(world.engine(), repo, name).commit_id == heads[winners[0]]


def test_a_branch_made_again_has_nothing_of_the_one_before(world: ServerWorld, repo: str) -> None:
    engine = world.engine()
    stage(engine, repo, b"base", "x")
    commits.commit(engine, repo, "main", REQUEST)
    stopped = threading.Event()
    ended = set[str]()

    def write(writer: str) -> None:
        own, number = world.engine(), 0
        while not stopped.is_set():
            number += 1
            value = f"{writer}-{number}"
            try:
                stage(own, repo, b"%05d" % number, value, branch="dev")
                ended.add(value)
            except (NotFoundError, ContentionError, UnknownOutcomeError):
                continue

    def make_and_delete() -> None:
        try:
            for _ in range(10):
                ended_before = ended.copy()
                branches.create(engine, repo, name="dev", source="main")
                time.sleep(0.05)
                seen = checksums(world.engine(), repo, "dev")
                assert seen.pop(b"base") == "x"
                # A write that began under the branch before may end in this one.
                assert not ended_before & {*seen.values()}
                branches.delete(engine, repo, "dev")
                with pytest.raises(NotFoundError):
                    branches.get(world.engine(), repo, "dev")
        finally:
            stopped.set()

    assert together(make_and_delete, partial(write, "one"), partial(write, "other")) == [None] * 3
    assert ended


def test_what_is_reset_is_gone_and_what_is_written_afterwards_stays(
    world: ServerWorld, repo: str
) -> None:
    committer = Committer(world, repo)

    def rounds() -> None:
        engine = world.engine()
        try:
            for turn in range(15):
                before, after = b"before/%d" % turn, b"after/%d" % turn
                persistently(partial(stage, engine, repo, before, "x"))
                persistently(partial(branches.reset, engine, repo, "main", kind="reset"))
                persistently(partial(stage, engine, repo, after, "x"))
                live = checksums(world.engine(), repo)
                assert after in live
                committed = checksums(world.engine(), repo, "main@")
                assert before not in live or before in committed
        finally:
            committer.stop()

    assert together(rounds, committer.run) == [None, None]
    assert len(committer.made) > 1
