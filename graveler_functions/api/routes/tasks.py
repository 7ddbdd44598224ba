"""Tasks of any kind: list, show and cancel them. lakeFS has no such operations."""

from graveler.access.actions import Action
from graveler.http.schemas import tasks as schemas
from graveler.http.schemas.listings import Listing, listing
from graveler.operations.tasks import requests as tasks
from graveler_functions.api.authorization import named_resources as named
from graveler_functions.api.authorization.checks import Needs, On
from graveler_functions.api.authorization.deferred_checks import cancellation_need, status_need
from graveler_functions.api.contract import AFTER, AMOUNT, choice, text
from graveler_functions.api.request import Request
from graveler_functions.api.routing import Operations, checked
from graveler_functions.http import answers
from graveler_functions.http.answers import ApiAnswer

operations = Operations()

_TASKS = "/repositories/<repository>/tasks"
_TASK = f"{_TASKS}/<task_id>"
_STATE = choice("state", *tasks.LISTED)


@operations.add(
    "GET",
    _TASKS,
    "listTasks",
    parameters=(AFTER, AMOUNT, text("branch"), _STATE),
    answers={200: Listing[schemas.TaskRow]},
)
@checked(
    Needs(
        On(Action.READ_REPOSITORY, named.REPOSITORY),
        then="for each task what getTask needs; others are left out",
    )
)
def list_tasks(request: Request) -> ApiAnswer:
    query = request.query
    page = tasks.list_page(
        request.engine,
        request.repository,
        query.text("after"),
        query.amount(),
        query.text("branch"),
        query.choice(_STATE.name, _STATE.values, default="all"),
    )
    rows = [
        schemas.task_row(task)
        for task in page.results
        if request.rights.allows(status_need(request, task))
    ]
    return answers.of_json(listing(rows, page.next_after))


@operations.add("GET", _TASK, "getTask", answers={200: schemas.TaskRow})
@checked(Needs(On(Action.READ_REPOSITORY, named.REPOSITORY), then="[what its kind needs](#tasks)"))
def get_task(request: Request) -> ApiAnswer:
    task = tasks.status(request.engine, request.repository, request.name("task_id"))
    request.rights.require(status_need(request, task))
    return answers.of_json(schemas.task_row(task))


@operations.add("DELETE", _TASK, "cancelTask", answers={200: schemas.TaskRow}, errors=(409,))
@checked(Needs(On(Action.READ_REPOSITORY, named.REPOSITORY), then="[what its kind needs](#tasks)"))
def cancel_task(request: Request) -> ApiAnswer:
    task = tasks.status(request.engine, request.repository, request.name("task_id"))
    request.rights.require(cancellation_need(request, task))
    task = tasks.cancel(request.engine, request.repository, task.id)
    return answers.of_json(schemas.task_row(task))
