"""Runs of garbage collection, and a check of rules before they are saved."""

from graveler.access.actions import Action
from graveler.http.schemas import collection_runs as schemas
from graveler.http.schemas.listings import Listing, listing
from graveler.http.schemas.retention import CheckedRules, Rules, rules_of
from graveler.operations import collection_runs, retention
from graveler.retention.rules import is_stored_as_none
from graveler_functions.api.authorization import deferred_checks
from graveler_functions.api.authorization import named_resources as named
from graveler_functions.api.authorization.checks import Needs, On
from graveler_functions.api.contract import AFTER, AMOUNT
from graveler_functions.api.request import Request
from graveler_functions.api.routing import Operations, checked
from graveler_functions.http import answers
from graveler_functions.http.answers import ApiAnswer

operations = Operations()

_RUNS = "/repositories/<repository>/gc/runs"


@operations.add(
    "GET",
    _RUNS,
    "listCollectionRuns",
    parameters=(AFTER, AMOUNT),
    answers={200: Listing[schemas.RunRow]},
)
@checked(Needs.on(Action.GET_COLLECTION_RULES, named.REPOSITORY))
def list_runs(request: Request) -> ApiAnswer:
    page = collection_runs.list_runs(
        request.engine,
        request.repository,
        after=request.query.text("after"),
        amount=request.query.amount(),
    )
    rows = [schemas.run_row(run) for run in page.results]
    return answers.of_json(listing(rows, page.next_after))


@operations.add(
    "POST",
    _RUNS,
    "startCollectionRun",
    body=schemas.RunCreation,
    answers={202: schemas.RunCreated},
    errors=(403, 409, 501),
)
@checked(
    Needs(
        On(Action.PREPARE_COMMITS, named.REPOSITORY),
        On(Action.PREPARE_UNCOMMITTED, named.REPOSITORY),
        then=f"{On(Action.SET_COLLECTION_RULES, named.REPOSITORY)}, unless it is a dry run",
    )
)
def start_run(request: Request) -> ApiAnswer:
    body = request.decode(schemas.RunCreation)
    if not body.dry_run:
        request.rights.require(deferred_checks.sweeping_need(request))
    run_id = collection_runs.start_run(
        request.engine,
        request.repository,
        request.user,
        is_dry=body.dry_run,
        deletions_max=body.maximum_deletions,
    )
    return answers.of_json(schemas.RunCreated(run_id), 202)


@operations.add("GET", f"{_RUNS}/<run_id>", "getCollectionRun", answers={200: schemas.RunRow})
@checked(Needs.on(Action.GET_COLLECTION_RULES, named.REPOSITORY))
def get_run(request: Request) -> ApiAnswer:
    run, text = collection_runs.get_run(request.engine, request.repository, request.name("run_id"))
    return answers.of_json(schemas.run_row(run, text))


@operations.add(
    "POST",
    "/repositories/<repository>/settings/gc_rules/check",
    "checkGCRules",
    body=Rules,
    answers={200: CheckedRules},
)
@checked(Needs.on(Action.SET_COLLECTION_RULES, named.REPOSITORY))
def check_rules(request: Request) -> ApiAnswer:
    rules = rules_of(request.decode(Rules))
    absent = retention.absent_branches(request.engine, request.repository, rules)
    # A user without the right to see a branch must not learn here whether it exists.
    warnings = [
        f"branch {branch!r} does not exist: its rule applies as soon as it does"
        for branch in absent
        if request.rights.allows(deferred_checks.branch_need(request, branch))
    ]
    if is_stored_as_none(rules):
        warnings.append(
            "0 days without a rule for a branch are stored as no rules: nothing that was committed "
            "is collected"
        )
    return answers.of_json(CheckedRules(warnings))
