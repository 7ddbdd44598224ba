"""Imports of objects that stay where they are: start one, see its status, cancel it."""

from graveler.access.actions import Action
from graveler.http.schemas import imports as schemas
from graveler.operations import imports
from graveler_functions.api.authorization import named_resources as named
from graveler_functions.api.authorization.checks import Needs, On
from graveler_functions.api.authorization.deferred_checks import (
    OF_ITS_TASK,
    cancellation_need,
    status_need,
)
from graveler_functions.api.contract import required_text
from graveler_functions.api.request import Request
from graveler_functions.api.routing import Operations, checked
from graveler_functions.http import answers
from graveler_functions.http.answers import ApiAnswer

operations = Operations()

_IMPORT = "/repositories/<repository>/branches/<branch>/import"


@operations.add(
    "POST",
    _IMPORT,
    "importStart",
    body=schemas.ImportCreation,
    answers={202: schemas.ImportCreated},
    errors=(403,),
)
@checked(
    Needs(
        On(Action.WRITE_OBJECT, named.BRANCH),
        On(Action.CREATE_COMMIT, named.BRANCH),
        On(Action.IMPORT_FROM_STORAGE, named.IMPORT_SOURCES),
        On(Action.WRITE_OBJECT, named.IMPORT_DESTINATIONS),
    )
)
def import_start(request: Request) -> ApiAnswer:
    asked = schemas.request_of(request.decode(schemas.ImportCreation), request.user)
    task = imports.start_import(request.engine, request.repository, request.branch, asked)
    return answers.of_json(schemas.ImportCreated(task.id), 202)


# As in lakeFS, the branch in the path is not compared with the import's. The user needs the same
# rights on both.


@operations.add(
    "GET",
    _IMPORT,
    "importStatus",
    parameters=(required_text("id"),),
    answers={200: schemas.ImportStatusBody},
)
@checked(Needs(On(Action.READ_BRANCH, named.BRANCH), then=OF_ITS_TASK))
def import_status(request: Request) -> ApiAnswer:
    task_id = request.query.required_text("id")
    status = imports.status(request.engine, request.repository, task_id)
    request.rights.require(status_need(request, status.task))
    return answers.of_json(schemas.status_body(status))


@operations.add(
    "DELETE",
    _IMPORT,
    "importCancel",
    parameters=(required_text("id"),),
    answers={204: None},
    errors=(409,),
)
@checked(Needs(On(Action.IMPORT_CANCEL, named.BRANCH), then=OF_ITS_TASK))
def import_cancel(request: Request) -> ApiAnswer:
    task_id = request.query.required_text("id")
    task = imports.status(request.engine, request.repository, task_id).task
    request.rights.require(cancellation_need(request, task))
    imports.cancel(request.engine, request.repository, task_id)
    return answers.empty()
