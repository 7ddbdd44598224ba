"""Whatever a repository's history, its dump brings all of it back, and dumps as the same again."""

from contextlib import suppress

from hypothesis import given
from hypothesis import strategies as st

from graveler.committed.store import Breaking
from graveler.engine import Engine
from graveler.errors import GravelerError
from graveler.model import Commit
from graveler.operations import branches, commits, diffs, dumps, merges, repositories, tags, writes
from graveler.staging.listing import PageQuery
from tests.support.fakes.engines import MemoryWorld, memory_world
from tests.support.worlds.dumps import make_bare, refs_of, small_batches
from tests.support.worlds.scenarios import NAMESPACE, REPO, commit, contents, outside, upload
from tests.support.worlds.strategies import branch_names, tag_names

PATHS = st.sampled_from([b"a", b"a/b", b"b/1", b"c", b"\xc3\xa9"])

STEPS = st.one_of(
    st.tuples(st.just("upload"), branch_names, PATHS, st.sampled_from([b"A", b"B"])),
    st.tuples(st.just("delete"), branch_names, PATHS),
    st.tuples(st.just("commit"), branch_names),
    st.tuples(st.just("branch"), branch_names, branch_names),
    st.tuples(st.just("drop"), branch_names),
    st.tuples(st.just("merge"), branch_names, branch_names),
    st.tuples(st.just("tag"), tag_names, branch_names),
    st.tuples(st.just("reset"), branch_names, branch_names),
)
HISTORIES = st.lists(STEPS, max_size=40)


def do(engine: Engine, kind: str, *words) -> None:
    """One step of a history; what cannot be done is left out."""
    with suppress(GravelerError):
        match kind, *words:
            case "upload", branch, path, content:
                upload(engine, path, content, branch=branch)
            case "delete", branch, path:
                writes.delete(engine, REPO, branch, path)
            case "commit", branch:
                commit(engine, branch)
            case "branch", name, source:
                branches.create(engine, REPO, name=name, source=source)
            case "drop", branch:
                branches.delete(engine, REPO, branch)
            case "merge", source, destination:
                request = merges.MergeRequest("somebody", strategy="source-wins")
                merges.merge(engine, REPO, source, destination, request)
            case "tag", name, ref:
                tags.create(engine, REPO, name=name, ref=ref)
            case "reset", branch, ref:
                branches.hard_reset(engine, REPO, branch, ref=f"{ref}~1")


def with_history(history) -> MemoryWorld:
    world = memory_world(Breaking(2))
    engine = world.engine()
    repositories.create(engine, name=REPO, storage_namespace=NAMESPACE)
    for step in history:
        do(engine, *step)
    return world


def log_of(engine: Engine, name: str, branch: str) -> tuple[Commit, ...]:
    return commits.log(engine, name, branch, commits.LogQuery(100)).results


def difference(engine: Engine, name: str, left: str, right: str) -> list[diffs.DiffEntry]:
    page = diffs.between_refs(engine, name, f"{left}@", f"{right}@", PageQuery(100))
    return [each for each in page.results if isinstance(each, diffs.DiffEntry)]


@given(HISTORIES)
def test_what_is_restored_is_what_was_dumped(history):
    world = with_history(history)
    engine = world.engine()
    dumped = dumps.dump(engine, REPO)
    make_bare(engine)
    with small_batches():
        dumps.restore(world.engine(), "bare", dumped)
    refs = refs_of(engine, "bare")
    assert refs == refs_of(engine, REPO)
    assert dumps.dump(world.engine(), "bare") == dumped
    names = sorted(refs[0])
    for name in names:
        assert log_of(engine, "bare", name) == log_of(engine, REPO, name)
        assert difference(engine, "bare", names[0], name) == difference(
            engine, REPO, names[0], name
        )


@given(HISTORIES)
def test_a_repository_that_was_lost_is_again_what_it_was_but_for_what_was_staged(history):
    world = with_history(history)
    for branch in ("main", "dev", "dev:joe"):
        do(world.engine(), "commit", branch)
    before, dumped = outside(world.engine()), dumps.dump(world.engine(), REPO)
    repositories.delete(world.engine(), REPO)
    make_bare(world.engine(), REPO)
    world.breaking = Breaking(3)  # of another deployment
    dumps.restore(world.engine(), REPO, dumped)
    assert outside(world.engine()) == before
    upload(world.engine(), b"new", b"new")
    commit(world.engine())
    assert b"new" in contents(world.engine(), "main@")
