"""The history of an object, and the last commits of a listing. lakeFS has neither."""

from graveler.access.actions import Action
from graveler.http.schemas import history as schemas
from graveler.http.schemas.listings import Listing, listing
from graveler.operations import last_commits, object_history
from graveler_functions.api.authorization import named_resources as named
from graveler_functions.api.authorization.checks import Needs, On
from graveler_functions.api.contract import AFTER, AMOUNT, PAGE, PATH
from graveler_functions.api.request import Request
from graveler_functions.api.routing import Operations, checked
from graveler_functions.http import answers
from graveler_functions.http.answers import ApiAnswer

operations = Operations()


@operations.add(
    "GET",
    "/repositories/<repository>/refs/<ref>/objects/history",
    "listObjectHistory",
    parameters=(PATH, AFTER, AMOUNT),
    answers={200: Listing[schemas.ObjectChangeRow]},
)
@checked(Needs(On(Action.READ_OBJECT, named.OBJECT), On(Action.READ_BRANCH, named.REF)))
def list_object_history(request: Request) -> ApiAnswer:
    query = request.query
    page = object_history.list_page(
        request.engine,
        request.repository,
        request.name("ref"),
        query.path(),
        query.text("after"),
        query.amount(),
    )
    rows = [schemas.object_change_row(change) for change in page.results]
    return answers.of_json(listing(rows, page.next_after))


@operations.add(
    "GET",
    "/repositories/<repository>/refs/<ref>/objects/last_commits",
    "listLastCommits",
    parameters=PAGE,
    answers={200: Listing[schemas.LastCommitRow]},
)
# Those of a listing and of a log, which together say as much.
@checked(Needs(On(Action.LIST_OBJECTS, named.REPOSITORY), On(Action.READ_BRANCH, named.REF)))
def list_last_commits(request: Request) -> ApiAnswer:
    query = request.query
    page = last_commits.list_last_commits(
        request.engine,
        request.repository,
        request.name("ref"),
        query.text("prefix").encode(),
        query.text("after"),
        query.amount(),
    )
    rows = [schemas.last_commit_row(found) for found in page.results]
    return answers.of_json(listing(rows, page.next_after))
