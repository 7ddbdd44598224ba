"""Tasks: work that a client starts, and polls until it is done.

The request that starts a task also does its work, so the work has the time of one request. A
separate worker would call `run`, behind a queue.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace

from graveler.errors import GravelerError
from graveler.messages import Refusal
from graveler.model import Repository, Task
from graveler.operations.engine import Engine
from graveler.times import NS_PER_S

# A worker that has stored nothing for so long has died: no function lives longer.
_SILENCE_S_MAX = 15 * 60


def start(engine: Engine, repository: Repository, kind: str) -> Task:
    """Store and return a new task, not begun; kind is the prefix of its ID, in capital letters."""
    task = Task(kind + engine.names.new_uid(), engine.clock.now_ns())
    engine.refs.put_task(repository, task)
    return task


def run(
    engine: Engine, repository: Repository, task: Task, work: Callable[[], Mapping[str, str]]
) -> Task:
    """Do the work; store and return the task with the work's result, or its error's message."""
    try:
        ended = replace(task, result=work())
    except GravelerError as error:
        ended = replace(task, error=str(error))
    ended = replace(ended, is_done=True, update_time_ns=engine.clock.now_ns())
    engine.refs.put_task(repository, ended)
    return ended


def status(engine: Engine, repository: Repository, kind: str, task_id: str) -> Task:
    """Return the current state of the task; one whose worker died has ended with an error.

    Raises:
        NotFoundError: no task of that kind has the ID.
    """
    task = engine.refs.task(repository, task_id) if task_id.startswith(kind) else None
    if task is None:
        raise Refusal.NOT_FOUND.error(f"no task {task_id!r} in repository {repository.name!r}")
    silence_s = (engine.clock.now_ns() - task.update_time_ns) // NS_PER_S
    if not task.is_done and silence_s > _SILENCE_S_MAX:
        return replace(task, is_done=True, error="the worker stopped: start it again")
    return task
