"""The list of active commits while branches are created and deleted."""

from collections.abc import Callable, Iterator
from functools import partial
from itertools import pairwise

from graveler.engine import Engine
from graveler.model import Branch, Commit, Page, Repository
from graveler.open_repository import OpenRepository
from graveler.operations import branches, retention
from graveler.retention.rules import make_rules
from tests.support.fakes.engines import MemoryWorld
from tests.support.worlds.lake import REPO, commit, new_lake, upload

DAY_S = 24 * 60 * 60


def between_pages(world: MemoryWorld, listing: int, act: Callable[[], object]) -> None:
    """List branches one to a page, and act after the first page of that listing."""
    read, seen = world.refs.branches, [0]

    def one(
        repository: Repository, prefix: str, after: str, amount: int, *, show_hidden: bool
    ) -> Page[Branch]:
        page = read(repository, prefix, after, 1, show_hidden=show_hidden)
        if not after:
            seen[0] += 1
            if seen[0] == listing:
                act()
        return page

    world.refs.branches = one  # type: ignore[method-assign] # one test's


def old_branch(world: MemoryWorld, engine: Engine, name: str) -> str:
    """A branch whose head the rules do not retain, and a main with newer commits."""
    upload(engine, name.encode(), b"1")
    old = commit(engine)
    branches.create(engine, REPO, name=name, source="main")
    upload(engine, b"a", b"2")
    commit(engine)
    world.clock.tick(10 * DAY_S)
    upload(engine, b"a", b"3")
    commit(engine)
    world.clock.tick(10 * DAY_S)
    return old.id


def active(engine: Engine) -> set[str]:
    repository = engine.refs.repository(REPO)
    assert repository is not None
    heads = retention.heads_now(OpenRepository(engine, repository))
    return set(
        retention.active_commit_ids(OpenRepository(engine, repository), make_rules(5, []), heads)
    )


def rename(engine: Engine, *names: str) -> None:
    for source, name in pairwise(names):
        branches.create(engine, REPO, name=name, source=source)
        branches.delete(engine, REPO, source)


def test_a_branch_that_is_renamed_while_branches_are_listed_keeps_its_head() -> None:
    for renames in (1, 2, 3):
        world = new_lake()
        engine = world.engine()
        old = old_branch(world, engine, "zz")

        # The listing has passed the new names and not reached the old one.
        names = ["zz", "c", "b", "a"][: renames + 1]
        between_pages(world, 1, partial(rename, engine, *names))
        assert old in active(engine)


def test_a_commit_made_while_commits_are_listed_loses_nothing() -> None:
    world = new_lake()
    engine = world.engine()
    upload(engine, b"a", b"1")
    first = commit(engine)
    world.clock.tick(10 * DAY_S)
    made: list[str] = []

    def commit_now() -> None:
        upload(engine, b"a", b"2")
        made.append(commit(engine).id)

    between_pages(world, 1, commit_now)
    assert active(engine) == {first.id, *made}


def test_the_heads_of_many_branches_are_read_page_by_page() -> None:
    world = new_lake()
    engine = world.engine()
    heads = set()
    for number in range(5):
        upload(engine, b"a", str(number).encode())
        heads.add(commit(engine).id)
        branches.create(engine, REPO, name=f"b{number}", source="main")
    world.clock.tick(10 * DAY_S)
    between_pages(world, 0, lambda: None)
    assert active(engine) == heads


def test_a_head_that_is_listed_before_its_commit_is_active() -> None:
    """A query sees a transaction part by part."""
    world = new_lake()
    engine = world.engine()
    upload(engine, b"a", b"1")
    first = commit(engine)
    world.clock.tick(10 * DAY_S)
    upload(engine, b"a", b"2")
    head = commit(engine)
    every_commit = world.refs.every_commit

    def listed(repository: Repository) -> Iterator[Commit]:
        return (each for each in every_commit(repository) if each.id != head.id)

    world.refs.every_commit = listed  # type: ignore[method-assign] # one test's
    assert active(engine) == {first.id, head.id}
