"""Dumps of a repository's refs: make one, restore one into a bare repository."""

from graveler.http.schemas import dumps as schemas
from graveler.http.schemas.tasks import TaskCreated, error_of
from graveler.model.tasks import Task, TaskKind
from graveler.operations import dumps
from graveler.operations.tasks import requests as tasks
from graveler.times import rfc3339
from graveler_functions.api.authorization import named_resources as named
from graveler_functions.api.authorization.checks import Needs, On
from graveler_functions.api.authorization.deferred_checks import DUMP_ACTIONS, RESTORE_ACTIONS
from graveler_functions.api.contract import WAITING, required_text
from graveler_functions.api.request import Request
from graveler_functions.api.routing import Operations, checked
from graveler_functions.http import answers
from graveler_functions.http.answers import ApiAnswer

operations = Operations()

_DUMP = Needs(*(On(each, named.REPOSITORY) for each in DUMP_ACTIONS))
_RESTORE = Needs(*(On(each, named.REPOSITORY) for each in RESTORE_ACTIONS))

_REPOSITORY = "/repositories/<repository>"


@operations.add(
    "PUT", f"{_REPOSITORY}/refs/dump", "dumpRefs", answers={201: schemas.RefsDumpBody, **WAITING}
)
@checked(_DUMP)
def dump_refs(request: Request) -> ApiAnswer:
    dumped = dumps.dump(request.engine, request.repository, request.user, request.client_wait)
    return answers.of_json(schemas.dump_body(dumped), 201)


@operations.add(
    "PUT",
    f"{_REPOSITORY}/refs/restore",
    "restoreRefs",
    body=schemas.RefsRestore,
    answers={200: None, **WAITING},
    errors=(403, 409, 410),
)
@checked(_RESTORE)
def restore_refs(request: Request) -> ApiAnswer:
    body = request.decode(schemas.RefsRestore)
    dumps.restore(
        request.engine,
        request.repository,
        schemas.dump_of(body),
        force=body.force,
        user=request.user,
        wait=request.client_wait,
    )
    return answers.empty(200)


@operations.add("POST", f"{_REPOSITORY}/dump", "dumpSubmit", answers={202: TaskCreated})
@checked(_DUMP)
def dump_submit(request: Request) -> ApiAnswer:
    task = dumps.start_dump(request.engine, request.repository, request.user)
    return answers.of_json(TaskCreated(task.id), 202)


@operations.add(
    "GET",
    f"{_REPOSITORY}/dump",
    "dumpStatus",
    parameters=(required_text("task_id"),),
    answers={200: schemas.TaskStatus},
)
@checked(_DUMP)
def dump_status(request: Request) -> ApiAnswer:
    task_id = request.query.required_text("task_id")
    task = tasks.status(request.engine, request.repository, task_id, TaskKind.DUMP)
    dumped = dumps.dump_of(task)
    return _status(task, None if dumped is None else schemas.dump_body(dumped))


@operations.add(
    "POST",
    f"{_REPOSITORY}/restore",
    "restoreSubmit",
    body=schemas.RefsRestore,
    answers={202: TaskCreated},
    errors=(403, 409),
)
@checked(_RESTORE)
def restore_submit(request: Request) -> ApiAnswer:
    body = request.decode(schemas.RefsRestore)
    task = dumps.start_restore(
        request.engine,
        request.repository,
        schemas.dump_of(body),
        request.user,
        force=body.force,
    )
    return answers.of_json(TaskCreated(task.id), 202)


@operations.add(
    "GET",
    f"{_REPOSITORY}/restore",
    "restoreStatus",
    parameters=(required_text("task_id"),),
    answers={200: schemas.TaskStatus},
)
@checked(_RESTORE)
def restore_status(request: Request) -> ApiAnswer:
    task_id = request.query.required_text("task_id")
    task = tasks.status(request.engine, request.repository, task_id, TaskKind.RESTORE)
    return _status(task)


def _status(task: Task, refs: schemas.RefsDumpBody | None = None) -> ApiAnswer:
    error = error_of(task)
    return answers.of_json(
        schemas.TaskStatus(
            id=task.id,
            done=task.has_ended,
            update_time=rfc3339(task.update_time_ns),
            error=": ".join(filter(None, (error.message, error.details))) if error else "",
            refs=refs,
        )
    )
