"""Advance a task: run it, end it, or leave it to its runner, as its record decides.

Messages arrive at least once, late and in any order, so they only name a task. Before a runner
takes the task, it sends a message that arrives after its lease. So while the task is open, a
message is always on its way. It finds the task ended, held or abandoned. If its sender still holds
the task, the message is sent again; other messages about a held task are dropped.
"""

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext, suppress

from msgspec.structs import replace

from graveler.branches.retries import retry_stale
from graveler.engine import Engine
from graveler.errors import (
    CorruptDataError,
    GravelerError,
    ThrottledError,
)
from graveler.model import tasks
from graveler.model.tasks import LEASE_S, TAKES_MAX, Task, TaskKind, TaskMessage
from graveler.open_repository import OpenRepository
from graveler.operations.leases import (
    TIME_TO_BEGIN_S,
    LeaseLostError,
    OutOfTimeError,
    UnwantedError,
)
from graveler.operations.places import Seat, pause_s
from graveler.operations.tasks.hold import PASSING_ERRORS, Hold, TaskHasHooksError, end_event
from graveler.operations.tasks.slices import delete_results
from graveler.times import NS_PER_S

# Does the work of a held task, and returns the result. None: the work has ended the task itself, in
# one transaction with its effect.
TaskWork = Callable[[Hold], Mapping[str, str] | None]

# Calls a function from time to time while the block works, for this many seconds at most.
AtWork = Callable[[Callable[[], None], float], AbstractContextManager[None]]

# The work's calls to stores leave this much time for storing its progress.
_TIME_TO_RELEASE_S = 10

# The pauses after errors that may pass.
_PAUSES_S = (5, 30, 180, 900)

# A task that was left to hooks so long ago is left to them again, if a client asks for it.
_LATE_S = 900

# The longest delay of a message.
_DELAY_S_MAX = 900


def advance(
    engine: Engine,
    message: TaskMessage,
    work: Mapping[TaskKind, TaskWork],
    *,
    runner: str,
    time_left_s: Callable[[], float],
    at_work: AtWork = lambda _beat, _seconds: nullcontext(),
) -> Task | None:
    """Run or end the task if that is due now; return its record as last seen.

    Args:
        engine: where everything is stored.
        message: the task to look at.
        work: the work of each kind.
        runner: a name that no other runner has at the same time.
        time_left_s: returns how many seconds this call may still take.
        at_work: surrounds the work, and calls a function meanwhile that extends the lease.

    Returns:
        None if the repository or the task does not exist.

    Raises:
        GravelerError: a store failed; repeat the call later.
    """
    repository = engine.refs.repository(message.repository)
    if repository is None:
        return None

    repo = OpenRepository(engine, repository)
    seat = _seat(repo, message.task_id, runner)

    def attempt() -> Task | Hold | None:
        task = engine.refs.task(repository, message.task_id)
        if task is not None and task.has_ended:
            # The runner that ended it may have crashed before it deleted them, and left.
            delete_results(repo, task.id)
            seat.leave(of_any=True)
        if task is None or task.has_ended:
            return task
        return _take(seat, task, message, time_left_s)

    taken = retry_stale(attempt, f"task {message.task_id}")
    if not isinstance(taken, Hold):
        return taken
    seconds = time_left_s() - _TIME_TO_RELEASE_S
    try:
        _carry_out(taken, message, work, lambda: at_work(taken.beat, seconds))
    finally:
        seat.leave()
    return engine.refs.task(repository, message.task_id)


def _seat(repo: OpenRepository, task_id: str, runner: str) -> Seat:
    def wake(other_id: str) -> None:
        repo.engine.task_queue.send(TaskMessage(repo.record.name, other_id))

    return Seat(repo, repo.engine.task_places, task_id, runner, wake)


def _take(
    seat: Seat, task: Task, message: TaskMessage, time_left_s: Callable[[], float]
) -> Task | Hold:
    """Take the open task unless another runner holds it, it has no place, or it has to end.

    Raises:
        StaleVersionError: another writer changed the task.
    """
    repo = seat.repo
    engine = repo.engine
    now_ns = engine.clock.now_ns()
    if task.is_held(now_ns):
        if message.runner == task.runner:
            left_s = (task.lease_until_ns - now_ns) // NS_PER_S + 1
            engine.task_queue.send(message, min(left_s, _DELAY_S_MAX))
        elif message.runner:  # it died, or another took the task over
            replace(seat, runner=message.runner).leave()
        return task
    if task.is_for_hooks and engine.hook_queue is not None and not task.is_unwanted:
        is_late = now_ns - task.update_time_ns > _LATE_S * NS_PER_S
        if is_late:  # the message in the queue of hooks may be lost
            engine.refs.replace_task(repo.record, task, tasks.left_to_hooks(task, now_ns))
        # Its last runner may have died before it sent this.
        if is_late or message.runner == task.runner:
            engine.hook_queue.send(message)
            seat.leave(of_any=True)
        return task
    if task.is_unwanted or task.takes >= TAKES_MAX:
        if task.is_unwanted:
            ended = tasks.cancelled(task, now_ns)
        else:
            ended = tasks.failed(task, _never_ends(task), now_ns)
        event = end_event(repo, ended)
        stored = engine.refs.replace_task(repo.record, task, ended, event)
        delete_results(repo, task.id)
        seat.leave(of_any=True)
        return stored
    if time_left_s() < TIME_TO_BEGIN_S:
        engine.task_queue.send(message)
        return task
    return _take_with_place(seat, task, message, time_left_s, now_ns)


def _take_with_place(
    seat: Seat,
    task: Task,
    message: TaskMessage,
    time_left_s: Callable[[], float],
    now_ns: int,
) -> Task | Hold:
    """Take the task, or put it off if it has no place.

    Raises:
        StaleVersionError: another writer changed the task.
    """
    repo, runner = seat.repo, seat.runner
    place = seat.take(time_left_s(), task.create_time_ns)
    if place is None:
        return _put_off(seat, task, message, now_ns)
    with seat.keeping(place, time_left_s()):
        repo.engine.task_queue.send(replace(message, runner=runner), LEASE_S + 1)
        held = repo.engine.refs.replace_task(repo.record, task, tasks.taken(task, runner, now_ns))
    return Hold(repo, held, time_left_s)


def _put_off(seat: Seat, task: Task, message: TaskMessage, now_ns: int) -> Task:
    """Let a message come again for a task without a place, unless one is on its way.

    Raises:
        StaleVersionError: another writer changed the task.
    """
    if task.is_put_off and now_ns < task.lease_until_ns and message.runner != task.runner:
        return task
    delay_s = pause_s(now_ns - task.create_time_ns)
    seat.repo.engine.task_queue.send(replace(message, runner=seat.runner), delay_s)
    put_off = tasks.put_off(task, seat.runner, now_ns, delay_s)
    return seat.repo.engine.refs.replace_task(seat.repo.record, task, put_off)


def _never_ends(task: Task) -> GravelerError:
    return ThrottledError(
        f"{task.takes} workers stopped at this task without progress, the last one was "
        f"{task.runner}: read its log, then start the task again"
    )


def _carry_out(
    hold: Hold,
    message: TaskMessage,
    work: Mapping[TaskKind, TaskWork],
    surrounding: Callable[[], AbstractContextManager[None]],
) -> None:
    """Do the work of the held task, and end or release it."""
    engine = hold.repo.engine
    try:
        with surrounding():
            result = work[hold.task.kind](hold)
        if result is not None:
            hold.complete(result)
    except UnwantedError:
        with suppress(LeaseLostError):
            hold.end(lambda task: tasks.cancelled(task, engine.clock.now_ns()))
    except OutOfTimeError:
        _leave_to_next(hold, message)
        return  # the next runner uses the results
    except TaskHasHooksError:
        _leave_to_hooks(hold, message)
        return
    except LeaseLostError:
        return  # another runner ends it, or has ended it
    except GravelerError as error:
        if isinstance(error, PASSING_ERRORS) and hold.task.takes < TAKES_MAX:
            _leave_to_next(hold, message, _PAUSES_S[hold.task.takes - 1])
            return
        if isinstance(error, CorruptDataError):
            engine.committed.forget()  # the copy that this process holds may be the damaged one
        failure = error
        with suppress(LeaseLostError):
            hold.end(lambda task: tasks.failed(task, failure, engine.clock.now_ns()))
    except Exception:
        with suppress(LeaseLostError, GravelerError):
            hold.release()
        raise
    delete_results(hold.repo, hold.task.id)


def _leave_to_hooks(hold: Hold, message: TaskMessage) -> None:
    assert hold.repo.engine.hook_queue is not None
    with suppress(LeaseLostError):
        hold.leave_to_hooks()
        hold.repo.engine.hook_queue.send(replace(message, runner=hold.task.runner))


def _leave_to_next(hold: Hold, message: TaskMessage, delay_s: int = 0) -> None:
    with suppress(LeaseLostError, GravelerError):
        hold.release(delay_s)
    hold.repo.engine.task_queue.send(replace(message, runner=hold.task.runner), delay_s)
