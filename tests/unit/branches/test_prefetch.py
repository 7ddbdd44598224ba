"""Reads that come before that of the branch, while another process writes in between.

Here each read ahead is made at once, by what the process saw last of the branch.
"""

from collections.abc import Callable
from concurrent.futures import Executor, Future
from dataclasses import replace

import pytest

from graveler.errors import InvalidInputError, NotFoundError, PreconditionFailedError
from graveler.model import NO_REQUIREMENT, Requirement
from graveler.model.tasks import TaskSettings
from graveler.operations import branches, diffs, merges, objects, replays, writes
from graveler.staging.listing import PageQuery
from tests.support.faults.counting import engine_around
from tests.support.worlds.lake import REPO, apart, commit, content

ABSENT = Requirement(is_absent=True)


class AtOnce(Executor):
    """An executor that does work when it is submitted."""

    def submit(self, fn, /, *args, **kwargs):
        future = Future()
        try:
            future.set_result(fn(*args, **kwargs))
        except Exception as error:  # noqa: BLE001 - whoever asks for the result raises it
            future.set_exception(error)
        return future


@pytest.fixture
def forked(engine):
    """Two branches, `source` and `main`, each with its own change."""
    apart(engine, source={"s": "S"}, destination={"d": "D"})


def create(engine, path, text=b"x", requirement=NO_REQUIREMENT):
    writes.upload(
        engine,
        REPO,
        "main",
        path,
        read_content=lambda: (text, "text/plain"),
        metadata={},
        requirement=requirement,
    )


def ahead(world, do: Callable[[], object]):
    """An engine that has seen main, and reads ahead; others do something before it reads main."""
    engine = replace(world.engine(), threads=AtOnce(), task_settings=TaskSettings(request_work_s=4))
    branches.get(engine, REPO, "main")
    others = [do]

    def around(name, call):
        if name in {"refs.repository_and_branch", "staging.get_with_repository"} and others:
            others.pop()()
        return call()

    return engine_around(engine, around)


def merge(engine):
    return merges.merge(engine, REPO, "source", "main", merges.MergeRequest("somebody"))


def pick(engine):
    request = replays.CherryPickRequest("source", "somebody")
    return replays.cherry_pick(engine, REPO, "main", request)


@pytest.mark.parametrize("join", [merge, pick])
def test_a_creation_before_the_branch_was_read_makes_a_merge_refuse(world, engine, forked, join):
    """It was decided under the old head, which the merge would replace."""
    reader = ahead(world, lambda: create(engine, b"s", b"mine", ABSENT))
    with pytest.raises(InvalidInputError, match="uncommitted"):
        join(reader)
    assert content(engine, "main", b"s") == b"mine"


@pytest.mark.parametrize("join", [merge, pick])
def test_a_commit_before_the_branch_was_read_stays(world, engine, forked, join):
    def others():
        create(engine, b"more")
        commit(engine)

    made = join(ahead(world, others))
    assert content(engine, made.id, b"more") == b"x"
    assert content(engine, made.id, b"s") == b"S"


def test_a_write_that_depends_on_nothing_comes_after_a_merge_beside_it(world, engine, forked):
    made = merge(ahead(world, lambda: create(engine, b"s", b"mine")))
    assert content(engine, made.id, b"s") == b"S"
    assert content(engine, "main", b"s") == b"mine"


def test_a_source_that_does_not_exist_is_refused(world, engine, forked):
    reader = ahead(world, lambda: None)
    with pytest.raises(NotFoundError, match="absent"):
        merges.merge(reader, REPO, "absent", "main", merges.MergeRequest("somebody"))


def test_a_commit_holds_what_another_sealed_before_the_branch_was_read(world, engine):
    create(engine, b"a")
    made = commit(ahead(world, lambda: (commit(engine), create(engine, b"b"))))
    assert content(engine, made.id, b"a")
    assert content(engine, made.id, b"b")


def test_an_action_file_that_came_before_the_branch_was_read_guards_the_commit(world, engine):
    create(engine, b"a")

    def others():
        commit(engine)
        create(engine, b"_lakefs_actions/bad.yaml", b"no: action")

    with pytest.raises(PreconditionFailedError):
        commit(ahead(world, others))


@pytest.mark.parametrize("is_staged_first", [False, True])
def test_an_object_that_appeared_before_the_branch_was_read_is_deleted(
    world, engine, is_staged_first
):
    world.staging.staged_first = is_staged_first

    def others():
        create(engine, b"a")
        commit(engine)

    writes.delete(ahead(world, others), REPO, "main", b"a")
    with pytest.raises(NotFoundError):
        objects.stat(engine, REPO, "main", b"a")


@pytest.mark.parametrize("is_staged_first", [False, True])
def test_a_creation_keeps_what_appeared_before_the_branch_was_read(world, engine, is_staged_first):
    world.staging.staged_first = is_staged_first

    def others():
        create(engine, b"a", b"theirs")
        commit(engine)

    with pytest.raises(PreconditionFailedError):
        create(ahead(world, others), b"a", b"mine", ABSENT)
    assert content(engine, "main", b"a") == b"theirs"


def test_a_diff_reads_both_refs_as_they_are(world, engine, forked):
    reader = replace(world.engine(), threads=AtOnce())
    page = diffs.between_refs(reader, REPO, "main", "source", PageQuery(10))
    assert [entry.path for entry in page.results] == [b"s"]
    with pytest.raises(NotFoundError):
        diffs.between_refs(reader, REPO, "main", "absent", PageQuery(10))


def test_an_object_that_is_there_all_the_time_is_deleted(world, engine):
    """Staged while the head has it, just before a hard reset to a head without it."""
    before = branches.get(engine, REPO, "main").commit_id
    create(engine, b"a", b"committed")
    commit(engine)
    reader = ahead(world, lambda: None)
    world.staging.staged_first = True

    def others():
        world.staging.between = lambda: None
        create(engine, b"a", b"staged")
        branches.hard_reset(engine, REPO, "main", ref=before)

    world.staging.between = others
    writes.delete(reader, REPO, "main", b"a")
    with pytest.raises(NotFoundError):
        objects.stat(engine, REPO, "main", b"a")
