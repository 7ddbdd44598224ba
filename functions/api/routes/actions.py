"""Runs of hooks: list and show them, and read their output."""

from functions.api import answers
from functions.api.answers import Answer
from functions.api.contract import AFTER, AMOUNT, Content, text
from functions.api.request import Request
from functions.api.routing import Operations
from graveler.http import responses, untrusted
from graveler.http.hooks import ActionRunRow, HookRunRow, hook_row, run_row
from graveler.operations.hooks import requests as hooks

operations = Operations()

_RUNS = "/repositories/<repository>/actions/runs"
_RUN = f"{_RUNS}/<run_id>"

_OUTPUT = "application/octet-stream"


@operations.add(
    "GET",
    _RUNS,
    "listRepositoryRuns",
    parameters=(AFTER, AMOUNT, text("branch"), text("commit")),
    answers={200: responses.Listing[ActionRunRow]},
)
def list_repository_runs(request: Request) -> Answer:
    query = request.query
    page = hooks.list_page(
        request.engine,
        request.repository,
        query.text("after"),
        query.amount(),
        branch=query.text("branch"),
        commit_id=query.text("commit"),
    )
    rows = [run_row(run) for run in page.results]
    return answers.of_json(responses.listing(rows, page.next_after))


@operations.add("GET", _RUN, "getRun", answers={200: ActionRunRow})
def get_run(request: Request) -> Answer:
    run = hooks.get(request.engine, request.repository, request.name("run_id"))
    return answers.of_json(run_row(run))


@operations.add(
    "GET",
    f"{_RUN}/hooks",
    "listRunHooks",
    parameters=(AFTER, AMOUNT),
    answers={200: responses.Listing[HookRunRow]},
)
def list_run_hooks(request: Request) -> Answer:
    query = request.query
    page = hooks.hooks(
        request.engine,
        request.repository,
        request.name("run_id"),
        query.text("after"),
        query.amount(),
    )
    rows = [hook_row(hook) for hook in page.results]
    return answers.of_json(responses.listing(rows, page.next_after))


@operations.add(
    "GET",
    f"{_RUN}/hooks/<hook_run_id>/output",
    "getRunHookOutput",
    answers={200: Content((_OUTPUT,), is_binary=True)},
)
def get_run_hook_output(request: Request) -> Answer:
    hook_run_id = request.name("hook_run_id")
    found = hooks.output(request.engine, request.repository, request.name("run_id"), hook_run_id)
    headers = {
        "Content-Type": _OUTPUT,
        "Content-Disposition": f"attachment; filename={hook_run_id}.log",
        **untrusted.HEADERS,
    }
    # A skipped hook has written nothing.
    return answers.of_bytes(found or b"", 200, headers)
