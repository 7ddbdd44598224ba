"""Tasks: work that a client starts, and asks about until it is done.

The work is done where the task is made, so it has the time that the request has. Another worker
would take `start` and `run` apart, with a queue between them.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace

from graveler.errors import GravelerError
from graveler.messages import Refusal
from graveler.model import Repository, Task
from graveler.operations.engine import Engine
from graveler.times import NS_PER_S

# A worker that has said nothing for so long is gone: no function lives longer.
_SILENCE_S_MAX = 15 * 60


def start(engine: Engine, repository: Repository, kind: str) -> Task:
    """A new task, not begun; kind is what its ID begins with, in capital letters."""
    task = Task(kind + engine.names.new_uid(), engine.clock.now_ns())
    engine.refs.put_task(repository, task)
    return task


def run(
    engine: Engine, repository: Repository, task: Task, work: Callable[[], Mapping[str, str]]
) -> Task:
    """Do the work, and store how it ended: with its result, or with an error's message."""
    try:
        ended = replace(task, result=work())
    except GravelerError as error:
        ended = replace(task, error=str(error))
    ended = replace(ended, is_done=True, update_time_ns=engine.clock.now_ns())
    engine.refs.put_task(repository, ended)
    return ended


def status(engine: Engine, repository: Repository, kind: str, task_id: str) -> Task:
    """The task as it stands; one whose worker is gone has ended with an error.

    Raises:
        NotFoundError: there is no such task of that kind.
    """
    task = engine.refs.task(repository, task_id) if task_id.startswith(kind) else None
    if task is None:
        raise Refusal.NOT_FOUND.error(f"no task {task_id!r} in repository {repository.name!r}")
    silence_s = (engine.clock.now_ns() - task.update_time_ns) // NS_PER_S
    if not task.is_done and silence_s > _SILENCE_S_MAX:
        return replace(task, is_done=True, error="the worker stopped: start it again")
    return task
