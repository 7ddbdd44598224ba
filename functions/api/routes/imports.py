"""Imports of objects that stay where they are: start one, see its status, cancel it."""

from functions.api import answers
from functions.api.access.late import cancellation_need, status_need
from functions.api.answers import Answer
from functions.api.contract import required_text
from functions.api.request import Request
from functions.api.routing import Operations
from graveler.http import imports as bodies
from graveler.operations import imports

operations = Operations()

_IMPORT = "/repositories/<repository>/branches/<branch>/import"


@operations.add(
    "POST",
    _IMPORT,
    "importStart",
    body=bodies.ImportCreation,
    answers={202: bodies.ImportCreated},
    errors=(403,),
)
def import_start(request: Request) -> Answer:
    asked = bodies.request_of(request.decode(bodies.ImportCreation), request.user)
    task = imports.start_import(request.engine, request.repository, request.branch, asked)
    return answers.of_json(bodies.ImportCreated(task.id), 202)


# As in lakeFS, the branch in the path is not compared with the import's. The user needs the same
# rights on both.


@operations.add(
    "GET",
    _IMPORT,
    "importStatus",
    parameters=(required_text("id"),),
    answers={200: bodies.ImportStatusBody},
)
def import_status(request: Request) -> Answer:
    task_id = request.query.required_text("id")
    status = imports.status(request.engine, request.repository, task_id)
    request.access.require(status_need(request, status.task))
    return answers.of_json(bodies.status_body(status))


@operations.add(
    "DELETE",
    _IMPORT,
    "importCancel",
    parameters=(required_text("id"),),
    answers={204: None},
    errors=(409,),
)
def import_cancel(request: Request) -> Answer:
    task_id = request.query.required_text("id")
    task = imports.status(request.engine, request.repository, task_id).task
    request.access.require(cancellation_need(request, task))
    imports.cancel(request.engine, request.repository, task_id)
    return answers.empty()
