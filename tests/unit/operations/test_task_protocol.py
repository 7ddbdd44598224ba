"""Tasks keep their promises when runners stop, and when equal requests meet."""

from dataclasses import replace
from math import inf

import pytest

from graveler.errors import StillRunningError
from graveler.layout import task_folder
from graveler.operations import commits
from graveler.tasks import TaskMessage, TaskSettings, TaskState
from tests.support.lake import NAMESPACE, REPO, commit, content, upload
from tests.support.tasks import run, run_all

_REQUEST = commits.CommitRequest("message", "somebody")


@pytest.fixture
def impatient(engine):
    """An engine whose requests leave their work to tasks at once, and do not wait."""
    return replace(engine, task_settings=TaskSettings(request_work_s=0, request_wait_s=0))


def test_a_new_request_does_not_join_a_task_that_lacks_its_writes(world, engine, impatient):
    """Although the client of that task was asked to repeat an equal request."""
    upload(engine, b"a", b"1")
    with pytest.raises(StillRunningError) as still:
        commit(impatient)
    upload(engine, b"b", b"2")
    task = commits.start_commit(engine, REPO, "main", _REQUEST)
    assert task.id != still.value.task_id
    run_all(world.task_queue, engine)
    assert content(engine, "main@", b"b") == b"2"


def test_a_runner_out_of_time_leaves_the_results_of_slices_to_the_next_one(world, engine):
    upload(engine, b"a", b"1")
    task = commits.start_commit(engine, REPO, "main", _REQUEST)
    folder = task_folder(NAMESPACE, task.id)

    def time_left_s() -> float:
        return 0 if world.objects.uris(folder) else inf

    run(engine, TaskMessage(REPO, task.id), time_left_s=time_left_s)
    assert world.objects.uris(folder)
    run_all(world.task_queue, engine)
    ended, made = commits.task_status(engine, REPO, task.id, task.kind)
    assert ended.state is TaskState.COMPLETED
    assert made is not None
    assert not world.objects.uris(folder)
