"""Runs of hooks: list and show them, and read their output."""

from graveler.access.actions import Action
from graveler.http import untrusted
from graveler.http.schemas import actions as schemas
from graveler.http.schemas.listings import Listing, listing
from graveler.operations.hooks import requests as hooks
from graveler_functions.api.authorization import named_resources as named
from graveler_functions.api.authorization.checks import Needs
from graveler_functions.api.contract import AFTER, AMOUNT, RawContent, text
from graveler_functions.api.request import Request
from graveler_functions.api.routing import Operations, checked
from graveler_functions.http import answers
from graveler_functions.http.answers import ApiAnswer

operations = Operations()

_RUNS = "/repositories/<repository>/actions/runs"
_RUN = f"{_RUNS}/<run_id>"

_OUTPUT = "application/octet-stream"


@operations.add(
    "GET",
    _RUNS,
    "listRepositoryRuns",
    parameters=(AFTER, AMOUNT, text("branch"), text("commit")),
    answers={200: Listing[schemas.ActionRunRow]},
)
@checked(Needs.on(Action.READ_ACTION, named.REPOSITORY))
def list_repository_runs(request: Request) -> ApiAnswer:
    query = request.query
    page = hooks.list_page(
        request.engine,
        request.repository,
        query.text("after"),
        query.amount(),
        branch=query.text("branch"),
        commit_id=query.text("commit"),
    )
    rows = [schemas.run_row(run) for run in page.results]
    return answers.of_json(listing(rows, page.next_after))


@operations.add("GET", _RUN, "getRun", answers={200: schemas.ActionRunRow})
@checked(Needs.on(Action.READ_ACTION, named.REPOSITORY))
def get_run(request: Request) -> ApiAnswer:
    run = hooks.get(request.engine, request.repository, request.name("run_id"))
    return answers.of_json(schemas.run_row(run))


@operations.add(
    "GET",
    f"{_RUN}/hooks",
    "listRunHooks",
    parameters=(AFTER, AMOUNT),
    answers={200: Listing[schemas.HookRunRow]},
)
@checked(Needs.on(Action.READ_ACTION, named.REPOSITORY))
def list_run_hooks(request: Request) -> ApiAnswer:
    query = request.query
    page = hooks.hooks(
        request.engine,
        request.repository,
        request.name("run_id"),
        query.text("after"),
        query.amount(),
    )
    rows = [schemas.hook_row(hook) for hook in page.results]
    return answers.of_json(listing(rows, page.next_after))


@operations.add(
    "GET",
    f"{_RUN}/hooks/<hook_run_id>/output",
    "getRunHookOutput",
    answers={200: RawContent((_OUTPUT,), is_binary=True)},
)
@checked(Needs.on(Action.READ_ACTION, named.REPOSITORY))
def get_run_hook_output(request: Request) -> ApiAnswer:
    hook_run_id = request.name("hook_run_id")
    found = hooks.output(request.engine, request.repository, request.name("run_id"), hook_run_id)
    headers = {
        "Content-Type": _OUTPUT,
        "Content-Disposition": f"attachment; filename={hook_run_id}.log",
        **untrusted.HEADERS,
    }
    # A skipped hook has written nothing.
    return answers.of_bytes(found or b"", 200, headers)
