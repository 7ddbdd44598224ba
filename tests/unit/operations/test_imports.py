"""Imports replace what is at their destinations, in one commit, or change nothing."""

from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from itertools import count, pairwise

import pytest

from graveler.branches.lookup import read_repository
from graveler.committed.store import Breaking, Committed
from graveler.entries import value_entry
from graveler.errors import (
    ConflictError,
    ForbiddenError,
    InvalidInputError,
    NotFoundError,
    PreconditionFailedError,
    ThrottledError,
)
from graveler.imports import listing
from graveler.imports.parallel_listing import list_tree
from graveler.imports.request import ImportRequest, SourceType, source_of
from graveler.imports.runs import Found
from graveler.model import ProtectionRule
from graveler.model.tasks import LEASE_S, TaskMessage, TaskState
from graveler.operations import commits, imports, objects, repositories, writes
from graveler.operations.task_work import WORK
from graveler.operations.tasks.advance import advance
from graveler.times import NS_PER_S
from tests.support.fakes.hooks import answered
from tests.support.fakes.tasks import run_all
from tests.support.faults.counting import Port, engine_around
from tests.support.worlds.imports import Recorder, TaskStoppedError, imported
from tests.support.worlds.lake import (
    NAMESPACE,
    REPO,
    commit,
    content,
    history,
    named,
    paths,
    upload,
)

RAW = "s3://raw"


def put(engine, *keys):
    for key in keys:
        engine.objects.put(f"{RAW}/{key}", f"raw {key}".encode(), "text/plain")


def request(*sources, **fields):
    """Sources as (key, destination) of prefixes, with `=` before the key of a single object."""
    made = [
        source_of(SourceType.OBJECT, f"{RAW}/{key[1:]}", to)
        if key.startswith("=")
        else source_of(SourceType.PREFIX, f"{RAW}/{key}", to)
        for key, to in sources
    ]
    return ImportRequest(tuple(made), "ann", **fields)


def run(engine, *sources, **fields):
    return imported(engine, request(*sources, **fields))


def test_imported_objects_are_read_where_they_are(engine):
    put(engine, "in/a", "in/b/c")
    status = run(engine, ("in/", "to/"))
    assert status.task.done == 2
    assert paths(engine, "main") == [b"to/a", b"to/b/c"]
    stat = objects.stat(engine, REPO, "main", b"to/a")
    assert stat.physical_address == f"{RAW}/in/a"
    assert content(engine, "main", b"to/a") == b"raw in/a"


def test_an_import_replaces_its_destinations_and_nothing_else(engine):
    for path in (b"to/old", b"to/a", b"top", b"file", b"file2", b"x"):
        upload(engine, path, b"old")
    commit(engine)
    put(engine, "in/a", "one")
    run(engine, ("in/", "to"), ("=one", "file"))
    assert paths(engine, "main") == [b"file", b"file2", b"to/a", b"top", b"x"]
    assert content(engine, "main", b"to/a") == b"raw in/a"
    assert content(engine, "main", b"file") == b"raw one"
    assert content(engine, "main", b"file2") == b"old"


def test_a_prefix_without_objects_empties_its_destination(engine):
    upload(engine, b"to/old", b"old")
    upload(engine, b"x", b"old")
    commit(engine)
    assert run(engine, ("nothing/", "to/")).task.done == 0
    assert paths(engine, "main") == [b"x"]
    run(engine, ("nothing/", ""))
    assert paths(engine, "main") == []


def test_a_later_source_is_imported_over_an_earlier_one(engine):
    put(engine, "one/a", "one/b", "two/a")
    run(engine, ("one/", "to"), ("two/", "to"), ("=one/b", "to/a"))
    assert content(engine, "main", b"to/a") == b"raw one/b"
    run(engine, ("one/", "to"), ("two/", "to"))
    assert content(engine, "main", b"to/a") == b"raw two/a"


def test_the_same_content_at_another_address_is_imported(engine):
    engine.objects.put(f"{RAW}/one/a", b"same", "a/b")
    engine.objects.put(f"{RAW}/two/a", b"same", "a/b")
    run(engine, ("one/", ""))
    run(engine, ("two/", ""))
    assert objects.stat(engine, REPO, "main", b"a").physical_address == f"{RAW}/two/a"


def test_the_commit_has_the_requests_fields_and_lakefs_key(engine):
    before = named(engine, "main")
    metadata = {"k": "v", ".lakefs.merge.strategy": "mine"}
    made = run(engine, message="why", metadata=metadata).commit
    assert (made.committer, made.message, made.parents) == ("ann", "why", (before,))
    assert made.metadata == {"k": "v", ".lakefs.merge.strategy": "source-wins"}
    assert run(engine).commit.message == "Import objects"
    assert repositories.metadata(engine, REPO)[imports.LAST_IMPORT] == str(
        commits.get(engine, REPO, "main").creation_date
    )


def test_an_import_that_changes_nothing_is_a_commit_too(engine):
    put(engine, "in/a")
    run(engine, ("in/", "to/"))
    metarange_id = commits.get(engine, REPO, "main").metarange_id
    again = run(engine, ("in/", "to/")).commit
    assert again.metarange_id == metarange_id
    assert history(engine, "main")[0] == again.id


def test_the_event_is_stored_with_the_commit(world, engine):
    made = run(engine).commit
    event = world.refs.events[-1]
    assert (event.kind, event.detail["commit_id"]) == ("import_completed", made.id)


def test_a_branch_with_uncommitted_changes_is_refused_before_the_work_begins(engine):
    upload(engine, b"a", b"staged")
    with pytest.raises(InvalidInputError, match="dirty branch"):
        run(engine)
    assert paths(engine, "main") == [b"a"]


def meanwhile(engine, happens):
    """Return the engine in whose first listing something happens before the first object."""
    left = [happens]

    class Listing(Port):
        def list_objects(self, *args, **options):
            while left:
                left.pop()()
            return engine.objects.list_objects(*args, **options)

    pass_on = lambda _name, method, args, options: method(*args, **options)  # noqa: E731
    return replace(engine, objects=Listing(engine.objects, "objects", pass_on))


def test_changes_staged_while_the_sources_are_listed_fail_the_import(engine):
    put(engine, "in/a")
    writing = meanwhile(engine, lambda: upload(engine, b"b", b"staged"))
    status = run(writing, ("in/", ""))
    assert status.commit is None
    assert status.task.failure.message == "uncommitted changes (dirty branch)"
    assert paths(engine, "main") == [b"b"]


def test_metadata_set_beside_the_commit_of_an_import_stop_it(engine):
    """They are set after the import found nothing staged."""
    upload(engine, b"a", b"kept")
    head = commit(engine)
    put(engine, "in/a")
    left = [lambda: writes.set_user_metadata(engine, REPO, "main", b"a", {"k": "v"})]

    def beside(name, call):
        if name == "refs.move_branch" and left:
            left.pop()()
        return call()

    watched = replace(engine_around(engine, beside), task_queue=engine.task_queue)
    status = run(watched, ("in/", ""))
    assert status.task.failure.message == "uncommitted changes (dirty branch)"
    assert named(engine, "main") == head.id


def test_a_branch_that_is_protected_while_the_sources_are_listed_takes_no_import(engine):
    put(engine, "in/a")
    rules = [ProtectionRule("main")]
    protecting = meanwhile(engine, lambda: repositories.set_protection_rules(engine, REPO, rules))
    status = run(protecting, ("in/", ""))
    assert status.task.failure.message == "cannot commit to protected branch"
    assert paths(engine, "main") == []


def test_a_repository_that_was_created_again_meanwhile_gets_nothing(engine):
    put(engine, "in/a")

    def create_again():
        repositories.delete(engine, REPO)
        repositories.create(engine, name=REPO, storage_namespace="s3://bucket/other")

    before = named(engine, "main")
    imports.start_import(engine, REPO, "main", request(("in/", "")))
    recreating = meanwhile(engine, create_again)
    run_all(engine.task_queue, recreating)
    assert paths(engine, "main") == []
    assert len(history(engine, "main")) == 1
    assert named(engine, "main") != before


def test_a_read_only_repository_is_imported_into_by_force_only(engine):
    repositories.create(engine, name="reader", storage_namespace="s3://other/r", read_only=True)
    with pytest.raises(ForbiddenError, match="read-only"):
        imported(engine, request(), "reader")
    imported(engine, request(force=True), "reader")
    assert commits.get(engine, "reader", "main").message == "Import objects"


def test_a_source_that_the_deployment_does_not_allow_is_refused(engine):
    strict = replace(engine, import_prefixes=("s3://elsewhere",))
    with pytest.raises(ForbiddenError, match="GRAVELER_IMPORT_PREFIXES"):
        run(strict, ("in/", ""))


def test_a_commit_hook_guards_imports(world, engine):
    world.targets.answer = lambda _request: answered(403)
    upload(engine, b"_lakefs_actions/a.yaml", GUARD)
    engine_without = replace(engine, ignores_actions=True)
    commit(engine_without)
    refused = run(engine)
    assert refused.commit is None
    with pytest.raises(PreconditionFailedError):
        raise refused.task.failure.error
    assert run(engine_without).commit is not None


GUARD = b"""
name: check
on: {pre-commit: {}}
hooks: [{id: one, type: webhook, properties: {url: "https://hooks.example.com/"}}]
"""


def test_a_failed_import_shows_its_error_and_changes_nothing(engine):
    before = named(engine, "main")
    status = run(engine, ("=missing", "to"))
    assert (status.task.state, status.commit) == (TaskState.FAILED, None)
    assert status.task.failure.message == f"{RAW}/missing does not exist: it cannot be imported"
    assert named(engine, "main") == before


def test_an_unknown_import_is_not_found(engine):
    for ask in (imports.status, imports.cancel):
        with pytest.raises(NotFoundError):
            ask(engine, REPO, "IMunknown")


def test_an_import_that_has_succeeded_cannot_be_cancelled(engine):
    done = run(engine)
    with pytest.raises(ConflictError, match="conflict found"):
        imports.cancel(engine, REPO, done.task.id)


def test_a_cancelled_import_stops_and_changes_nothing(engine):
    before = named(engine, "main")
    put(engine, *(f"in/{number}" for number in range(10)))
    task = imports.start_import(engine, REPO, "main", request(("in/", "")))
    run_all(engine.task_queue, meanwhile(engine, lambda: imports.cancel(engine, REPO, task.id)))
    status = imports.status(engine, REPO, task.id)
    assert (status.task.state, status.commit) == (TaskState.CANCELLED, None)
    imports.cancel(engine, REPO, task.id)  # again does no harm
    assert named(engine, "main") == before


# Phase 1 in parts


@pytest.fixture
def small(world):
    """An engine with many small ranges, which saves after each batch of objects."""
    return _saving(world, Breaking(20))


def _saving(world, breaking):
    put(world.engine(), *[f"in/{number:05}" for number in range(4000)])
    world.clock.step_ns = 6 * NS_PER_S  # so much passes between two batches
    return world.engine(Committed(world.files, breaking=breaking))


def test_progress_is_reported_for_each_object_and_grows_by_pages(small):
    found = read_repository(small, REPO)
    watch = Recorder()
    imports.list_sources(found, request(("in/", "to")), watch)
    assert len(watch.done) >= 4000
    assert watch.done == sorted(watch.done)
    assert set(watch.done) == {0, 1000, 2000, 3000, 4000}


def test_few_single_objects_are_read_between_two_reports(engine):
    keys = [f"one/{number:03}" for number in range(300)]
    put(engine, *keys)
    heads, between = [0], []

    class Counting(Recorder):
        def report(self, done, known):
            super().report(done, known)
            between.append(heads[0])

    class Heads(Port):
        def head(self, uri):
            heads[0] += 1
            return engine.objects.head(uri)

    pass_on = lambda _name, method, args, options: method(*args, **options)  # noqa: E731
    counted = replace(engine, objects=Heads(engine.objects, "objects", pass_on))
    # All objects of the second half have one path.
    destinations = [f"to/{min(number, 150):03}" for number in range(300)]
    asked = request(*[(f"={key}", to) for key, to in zip(keys, destinations, strict=True)])
    listed = imports.list_sources(read_repository(counted, REPO), asked, Counting())
    found = dict(read_repository(engine, REPO).metarange(listed).records())
    assert list(found) == sorted({to.encode() for to in destinations})
    assert value_entry(found[b"to/150"]).address == f"{RAW}/one/299"
    assert heads[0] == 300
    assert max(later - earlier for earlier, later in pairwise(between)) <= 32


@pytest.mark.parametrize(
    ("pages", "breaking"),
    [
        (0, Breaking(20)),
        (1, Breaking()),  # one range has all objects
        (2, Breaking(20)),
        (3, Breaking(10**9, 20_000)),  # ranges end by their size
        (4, Breaking()),
    ],
)
def test_a_stopped_listing_continues_where_it_was_saved(world, pages, breaking):
    small = _saving(world, breaking)
    found = read_repository(small, REPO)
    asked = request(("in/", "to"))
    step_ns, world.clock.step_ns = world.clock.step_ns, 0
    whole = imports.list_sources(found, asked, Recorder())  # saved once, at its end
    world.clock.step_ns = step_ns
    # One report for each object, one for each page, and one for the source.
    stopped = Recorder(stop_after=1001 * pages + 1)
    with pytest.raises(TaskStoppedError):
        imports.list_sources(found, asked, stopped)
    saved = stopped.saved[-1] if stopped.saved else Found()
    rest = Recorder()
    assert imports.list_sources(found, asked, rest, saved) == whole
    before = sum(header.count for header in found.metarange(saved.listed).headers())
    assert before >= 1000 * (pages - 1)
    assert rest.done[0] == before
    assert rest.done[-1] == 4000


def test_an_import_whose_listing_fails_commits_no_part_of_it(engine):
    """It would delete what the rest of the listing has."""
    put(engine, "in/a", "in/b", "in/c")
    assert run(engine, ("in/", "to/")).commit
    failures = [ThrottledError("slow down")]

    class Failing(Port):
        def list_objects(self, *args):
            for number, each in enumerate(engine.objects.list_objects(*args)):
                if number and failures:
                    raise failures.pop()
                yield each

    pass_on = lambda _name, method, args, options: method(*args, **options)  # noqa: E731
    failing = replace(engine, objects=Failing(engine.objects, "objects", pass_on))
    made = run(failing, ("in/", "to/"), message="again")
    assert not failures
    assert made.commit.message == "again"
    assert paths(engine, "main") == [b"to/a", b"to/b", b"to/c"]


def test_a_finished_listing_lists_nothing_again(small):
    found = read_repository(small, REPO)
    asked = request(("in/", "to"))
    watch = Recorder()
    whole = imports.list_sources(found, asked, watch)
    assert watch.saved[-1] == Found(whole)
    again = Recorder()
    assert imports.list_sources(found, asked, again, Found(whole)) == whole
    assert set(again.done) == {4000}


def test_an_import_from_a_store_that_is_slow_and_fails_often_shows_that_it_goes_on(
    world, engine, monkeypatch
):
    """Each page takes 10 s, and each third one fails for so long that the runner gives up."""
    put(engine, *[f"in/{number:05}" for number in range(950)])
    world.objects.page_amount = 100
    monkeypatch.setattr(listing, "list_tree", partial(list_tree, page_objects=100))
    beats, pages = [], count(1)

    def await_page():
        for _ in range(10):
            world.clock.tick(1)
            beats[-1]()
            status = imports.status(engine, REPO, task.id)
            assert world.clock.now_ns() - status.task.update_time_ns < 25 * NS_PER_S
            assert status.task.lease_until_ns > world.clock.now_ns()
        if next(pages) % 3 == 0:
            raise ThrottledError("the store cannot serve this now")

    @contextmanager
    def at_work(beat, seconds):
        beats.append(beat)
        yield

    task = imports.start_import(engine, REPO, "main", request(("in/", "to")))
    world.objects.between = await_page
    while engine.task_queue.waiting:
        engine.task_queue.waiting.sort(key=lambda each: each[0])
        due_ns, message = engine.task_queue.waiting.pop(0)
        world.clock.tick(max(0, due_ns - world.clock.now_ns()) / NS_PER_S)
        status = imports.status(engine, REPO, task.id)
        waited_ns = world.clock.now_ns() - status.task.update_time_ns
        assert waited_ns < 25 * NS_PER_S or status.task.has_ended
        advance(
            engine, message, WORK,
            runner=f"runner-{len(beats)}", time_left_s=lambda: 900, at_work=at_work,
        )  # fmt: skip
    status = imports.status(engine, REPO, task.id)
    assert (status.task.state, status.task.done) == (TaskState.COMPLETED, 950)
    assert len(beats) > 2
    assert next(pages) <= 2 * 10


def test_a_beat_sees_that_the_task_is_unwanted_or_lost_and_the_work_stops(world, engine):
    put(engine, "in/a")
    for has_other in (False, True):
        task = imports.start_import(engine, REPO, "main", request(("in/", "")))

        @contextmanager
        def at_work(beat, seconds, task=task, has_other=has_other):
            world.clock.tick(LEASE_S + 1 if has_other else 2)
            if has_other:
                message = TaskMessage(REPO, task.id)
                advance(engine, message, WORK, runner="other", time_left_s=lambda: 900)
            else:
                imports.cancel(engine, REPO, task.id)
            beat()
            yield

        before = len(history(engine, "main"))
        message = TaskMessage(REPO, task.id)
        advance(engine, message, WORK, runner="one", time_left_s=lambda: 900, at_work=at_work)
        state = imports.status(engine, REPO, task.id).task.state
        assert state is (TaskState.COMPLETED if has_other else TaskState.CANCELLED)
        assert len(history(engine, "main")) == before + has_other


def test_an_import_leaves_the_sources_and_the_namespace_alone(world, engine):
    put(engine, "in/a")
    before = world.objects.contents()
    run(engine, ("in/", ""))
    assert world.objects.contents() == before
    assert all(uri.startswith((RAW, NAMESPACE)) for uri in before)
