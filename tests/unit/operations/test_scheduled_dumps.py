"""Scheduled dumps: each repository's is copied, whole, to where the deployment keeps them."""

import json
from dataclasses import replace

import pytest

from graveler.dump.files import RefsDump
from graveler.errors import GravelerError, ThrottledError
from graveler.model import MetaRangeID
from graveler.model.tasks import LEASE_S, TaskState
from graveler.operations import dumps, repositories, scheduled_dumps
from graveler.operations.tasks.requests import list_page, status
from tests.support.fakes.tasks import run, run_all
from tests.support.faults.counting import engine_around
from tests.support.faults.faults import Crash
from tests.support.worlds.dumps import make_bare, refs_of
from tests.support.worlds.scenarios import NAMESPACE, REPO, commit, prepared_world, upload

PLACE = "s3://elsewhere/dumps/"


@pytest.fixture
def world():
    return prepared_world()


@pytest.fixture
def engine(world):
    return replace(world.engine(), dump_place=PLACE)


def kept(engine, name=REPO):
    """Return where the newest dump of a repository is kept, and its manifest."""
    newest = list_page(engine, name, "", 1).results[0]
    assert newest.state is TaskState.COMPLETED
    folder = newest.result[dumps.KEPT_AT]
    return folder, json.loads(engine.objects.get(f"{folder}/{scheduled_dumps.MANIFEST}"))


def dump_in(manifest):
    return RefsDump(
        *(
            MetaRangeID(manifest[f"{kind}_meta_range_id"])
            for kind in ("commits", "branches", "tags")
        )
    )


def test_every_repository_but_bare_ones_is_dumped_and_copied(world, engine):
    repositories.create(engine, name="other", storage_namespace="s3://bucket/other")
    make_bare(engine)
    assert scheduled_dumps.start_all(engine) == 2
    run_all(world.task_queue, engine)
    for name, namespace in ((REPO, NAMESPACE), ("other", "s3://bucket/other")):
        folder, manifest = kept(engine, name)
        assert folder.startswith(f"{PLACE}{name}/20")
        assert ":" not in folder.removeprefix("s3:")
        assert (manifest["repository"], manifest["storage_namespace"]) == (name, namespace)
        assert manifest["default_branch"] == "main"


def test_a_copy_restores_without_the_bucket_it_came_from(world, engine):
    before = refs_of(engine, REPO)
    scheduled_dumps.start_all(engine)
    run_all(world.task_queue, engine)
    folder, manifest = kept(engine)
    ids = [file_id for namespace, file_id in world.files.files if namespace == NAMESPACE]
    for file_id in ids:
        del world.files.files[NAMESPACE, file_id]
    # In S3, committed files are objects.
    for copy in engine.objects.list_objects(f"{folder}/_lakefs/"):
        world.files.files[folder, copy.uri.rpartition("/")[2]] = engine.objects.get(copy.uri)
    repositories.create(engine, name="again", storage_namespace=folder, bare=True)
    # A process without caches.
    fresh = replace(world.engine(), dump_place=PLACE)
    dumps.restore(fresh, "again", dump_in(manifest))
    assert refs_of(fresh, "again") == before


def test_each_copy_is_a_folder_of_its_own(world, engine):
    folders = []
    for number in range(2):
        upload(engine, f"new/{number}".encode())
        commit(engine)
        scheduled_dumps.start_all(engine)
        run_all(world.task_queue, engine)
        folders.append(kept(engine)[0])
    assert folders[0] < folders[1]  # by time


def test_a_repeated_message_joins_the_open_tasks(world, engine):
    assert scheduled_dumps.start_all(engine) == scheduled_dumps.start_all(engine) == 1
    assert len(list_page(engine, REPO, "", 10).results) == 1


def test_the_dump_of_a_user_is_not_copied(world, engine):
    task = dumps.start_dump(engine, REPO, "ann")
    run_all(world.task_queue, engine)
    found = status(engine, REPO, task.id)
    assert dumps.KEPT_AT not in found.result
    assert dumps.dump_of(found) is not None


def test_the_api_shows_the_ids_of_a_kept_dump(world, engine):
    scheduled_dumps.start_all(engine)
    run_all(world.task_queue, engine)
    _, manifest = kept(engine)
    newest = list_page(engine, REPO, "", 1).results[0]
    assert dumps.dump_of(newest) == dump_in(manifest)


def test_without_a_place_nothing_is_dumped(world):
    engine = world.engine()
    assert scheduled_dumps.start_all(engine) == 0
    assert list_page(engine, REPO, "", 1).results == ()


def test_one_failure_does_not_stop_the_other_repositories(world, engine):
    repositories.create(engine, name="aaa", storage_namespace="s3://bucket/aaa")
    failed = []

    def fail_once(name, call):
        if name == "refs.create_task" and not failed:
            failed.append(name)
            raise ThrottledError("too fast")
        return call()

    faulty = engine_around(engine, fail_once)
    with pytest.raises(GravelerError):
        scheduled_dumps.start_all(faulty)
    started = [name for name in ("aaa", REPO) if list_page(engine, name, "", 1).results]
    assert started == [REPO]
    assert scheduled_dumps.start_all(engine) == 2


@pytest.mark.parametrize("number", range(1, 6))
def test_a_runner_that_dies_while_it_copies_leaves_one_whole_copy_to_the_next(
    world, engine, number
):
    scheduled_dumps.start_all(engine)
    (_, message), *_ = world.task_queue.waiting
    puts = []

    def die(name, call):
        done = call()
        if name == "objects.put":
            puts.append(name)
            if len(puts) == number:
                raise Crash(name)
        return done

    with pytest.raises(Crash):
        run(engine_around(engine, die), message)
    world.clock.tick(LEASE_S + 1)
    run(engine, message, runner="the next one")
    folder, manifest = kept(engine)
    keys = [each.uri for each in engine.objects.list_objects(PLACE)]
    assert {uri.partition(REPO + "/")[2].partition("/")[0] for uri in keys} == {
        folder.rpartition("/")[2]
    }
    for name in ("commits", "branches", "tags"):
        assert f"{folder}/_lakefs/{manifest[f'{name}_meta_range_id']}" in keys
