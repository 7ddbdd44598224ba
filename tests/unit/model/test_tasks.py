"""A task's record: who holds it, when it ends, and what it keeps of an error."""

from graveler import errors
from graveler.errors import GravelerError, InvalidInputError
from graveler.model import tasks
from graveler.model.tasks import ID_PREFIXES, LEASE_S, Failure, Task, TaskKind, TaskState
from graveler.times import NS_PER_S
from tests.support.checks.cases import for_each

NOW_NS = 1_700_000_000 * NS_PER_S
LEASE_NS = LEASE_S * NS_PER_S
WAITING = Task("CA1", TaskKind.COMMIT, "ann", NOW_NS, NOW_NS)
RUNNING = tasks.taken(WAITING, "first", NOW_NS)
ENDS = [
    tasks.completed(RUNNING, {"commit_id": "c"}, NOW_NS + 1, 7),
    tasks.failed(RUNNING, InvalidInputError("no"), NOW_NS + 1),
    tasks.cancelled(RUNNING, NOW_NS + 1),
]


def kinds_of_errors() -> list[type[GravelerError]]:
    """Return the errors that are made of a message and details alone."""
    found = [GravelerError]
    for kind in found:
        found += kind.__subclasses__()
    special = (
        errors.StillRunningError,
        errors.RangeNotSatisfiableError,
        errors.TooManyAttemptsError,  # of log-ins, which no task does
    )
    return [kind for kind in found if not issubclass(kind, special)]


def test_a_runner_holds_a_task_until_its_lease_ends():
    assert not WAITING.is_held(NOW_NS)
    assert RUNNING.is_held(NOW_NS + LEASE_NS - 1)
    assert not RUNNING.is_held(NOW_NS + LEASE_NS)
    assert (RUNNING.state, RUNNING.runner, RUNNING.takes) == (TaskState.RUNNING, "first", 1)


def test_between_two_runners_a_task_waits():
    paused = tasks.released(RUNNING, NOW_NS, delay_s=900)
    assert (WAITING.shown_state, paused.shown_state) == (TaskState.WAITING, TaskState.WAITING)
    assert tasks.taken(paused, "second", NOW_NS).shown_state is TaskState.RUNNING
    assert tasks.unwanted(paused, NOW_NS).shown_state is TaskState.CANCELLED


def test_a_report_extends_the_lease():
    later_ns = NOW_NS + LEASE_NS - 1
    reported = tasks.reported(RUNNING, later_ns, 0, 0)
    assert reported.is_held(later_ns + LEASE_NS - 1)
    assert not reported.is_held(later_ns + LEASE_NS)


def test_a_released_task_can_be_taken_at_once():
    released = tasks.released(RUNNING, NOW_NS + 1)
    assert not released.is_held(NOW_NS + 1)
    assert not released.has_ended


@for_each("ended", ENDS, ids=lambda task: task.state)
def test_an_ended_task_is_nobodys(ended):
    assert ended.has_ended
    assert not ended.is_held(NOW_NS + 1)
    assert ended.update_time_ns == NOW_NS + 1


def test_a_completed_task_has_done_all_that_it_knows():
    ended = tasks.completed(tasks.reported(RUNNING, NOW_NS, 3, 9), {"commit_id": "c"}, NOW_NS, 5)
    assert (ended.done, ended.known, dict(ended.result)) == (5, 5, {"commit_id": "c"})


def test_runners_that_stop_without_progress_are_counted():
    task = RUNNING
    for number in range(2, 5):
        task = tasks.taken(tasks.reported(task, NOW_NS, 0, 9), "next", NOW_NS)
        assert task.takes == number
    assert tasks.reported(task, NOW_NS, 1, 9).takes == 1


def test_work_that_begins_anew_is_no_progress():
    """A task that always dies at the same place must fail in the end."""
    task = tasks.taken(tasks.reported(RUNNING, NOW_NS, 5, 9), "next", NOW_NS)
    for done in (0, 3, 5):
        assert tasks.reported(task, NOW_NS, done, 9).takes == task.takes == 2
    again = tasks.reported(tasks.reported(task, NOW_NS, 2, 9), NOW_NS, 5, 9)
    assert (again.takes, again.done) == (2, 5)
    assert tasks.reported(again, NOW_NS, 6, 9).takes == 1


def test_no_more_is_done_than_known():
    assert tasks.reported(RUNNING, NOW_NS, 7, 4).known == 7


def test_a_waiting_task_is_cancelled_at_once_and_a_running_one_has_to_stop():
    assert tasks.unwanted(WAITING, NOW_NS).state is TaskState.CANCELLED
    stopping = tasks.unwanted(RUNNING, NOW_NS)
    assert (stopping.state, stopping.is_unwanted) == (TaskState.RUNNING, True)
    assert stopping.is_held(NOW_NS)


def test_a_cancelled_task_was_last_updated_when_it_was_cancelled():
    stopping = tasks.unwanted(RUNNING, NOW_NS + 5)
    assert stopping.update_time_ns == NOW_NS + 5
    for stopped in (
        tasks.unwanted(stopping, NOW_NS + 9),
        tasks.reported(stopping, NOW_NS + 9, 1, 2),
        tasks.released(stopping, NOW_NS + 9),
        tasks.cancelled(stopping, NOW_NS + 9),
    ):
        assert stopped.update_time_ns == NOW_NS + 5


def test_a_task_that_a_runner_has_given_up_is_cancelled_at_once():
    given_up = tasks.released(RUNNING, NOW_NS, 900)
    assert tasks.unwanted(given_up, NOW_NS).state is TaskState.CANCELLED
    again = tasks.taken(given_up, "second", NOW_NS + 900 * NS_PER_S)
    assert tasks.unwanted(again, NOW_NS + 900 * NS_PER_S).state is TaskState.RUNNING


def test_only_what_is_new_to_the_next_runner_is_progress():
    tried = tasks.taken(tasks.released(RUNNING, NOW_NS), "second", NOW_NS)
    kept = tasks.saved(tried, NOW_NS, 0, 0, {"listed": "one"})
    assert (tried.takes, kept.takes) == (2, 1)
    tried = tasks.taken(tasks.released(kept, NOW_NS), "third", NOW_NS)
    assert tasks.saved(tried, NOW_NS, 0, 0, {"listed": "one"}).takes == 2


def test_each_kind_of_task_has_ids_of_its_own():
    assert ID_PREFIXES.keys() == {*TaskKind}
    assert len({*ID_PREFIXES.values()}) == len(TaskKind)


@for_each("kind", kinds_of_errors())
def test_the_error_of_a_task_is_raised_again_as_it_was(kind):
    error = kind("why", "and how")
    again = Failure.of(error).error
    assert type(again) is kind
    assert (again.message, again.details, str(again)) == ("why", "and how", str(error))
