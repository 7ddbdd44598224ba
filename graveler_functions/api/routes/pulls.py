"""Pull requests."""

from graveler.access.actions import Action
from graveler.http.schemas import pulls as schemas
from graveler.http.schemas.listings import Listing, listing
from graveler.http.schemas.refs import Merge, MergeResult
from graveler.model.pulls import PullRequestUpdate
from graveler.operations import pulls, reviews
from graveler_functions.api.authorization import named_resources as named
from graveler_functions.api.authorization.checks import Needs, On
from graveler_functions.api.authorization.deferred_checks import commit_need
from graveler_functions.api.contract import GUARDED, PAGE, WAITING, choice, header, text
from graveler_functions.api.request import Request
from graveler_functions.api.routes.refs import merge_request
from graveler_functions.api.routing import Operations, checked
from graveler_functions.http import answers
from graveler_functions.http.answers import ApiAnswer

operations = Operations()

_PULLS = "/repositories/<repository>/pulls"
_PULL = f"{_PULLS}/<pull_request>"
_STATUS = choice("status", *pulls.LISTED)


@operations.add(
    "GET",
    _PULLS,
    "listPullRequests",
    parameters=(*PAGE, _STATUS, text("reviewer")),
    answers={200: Listing[schemas.PullRequestRow]},
)
@checked(Needs.on(Action.LIST_PULL_REQUESTS, named.REPOSITORY))
def list_pull_requests(request: Request) -> ApiAnswer:
    query = request.query
    page = pulls.list_page(
        request.engine,
        request.repository,
        query.text("prefix"),
        query.text("after"),
        query.amount(),
        query.choice(_STATUS.name, _STATUS.values, default="all"),
        query.text("reviewer"),
    )
    # As in lakeFS, only getPullRequest shows the description: it may need another permission.
    rows = [schemas.pull_request_row(pull, with_description=False) for pull in page.results]
    return answers.of_json(listing(rows, page.next_after))


@operations.add(
    "POST",
    _PULLS,
    "createPullRequest",
    body=schemas.PullRequestCreation,
    answers={201: schemas.PullRequestCreated},
)
@checked(Needs.on(Action.WRITE_PULL_REQUEST, named.REPOSITORY))
def create_pull_request(request: Request) -> ApiAnswer:
    body = request.decode(schemas.PullRequestCreation)
    pull = pulls.create(
        request.engine,
        request.repository,
        pulls.NewPullRequest(
            author=request.user,
            source=body.source_branch,
            destination=body.destination_branch,
            title=body.title,
            description=body.description,
            reviewers=body.reviewers,
        ),
    )
    return answers.of_json(schemas.PullRequestCreated(pull.id), 201)


@operations.add("GET", _PULL, "getPullRequest", answers={200: schemas.PullRequestRow})
@checked(Needs.on(Action.READ_PULL_REQUEST, named.REPOSITORY))
def get_pull_request(request: Request) -> ApiAnswer:
    view = reviews.view(request.engine, request.repository, request.name("pull_request"))
    return answers.of_json(schemas.pull_request_view_row(view))


@operations.add(
    "PATCH", _PULL, "updatePullRequest", body=schemas.PullRequestUpdate, answers={204: None}
)
@checked(Needs.on(Action.WRITE_PULL_REQUEST, named.REPOSITORY))
def update_pull_request(request: Request) -> ApiAnswer:
    body = request.decode(schemas.PullRequestUpdate)
    pulls.update(
        request.engine,
        request.repository,
        request.name("pull_request"),
        PullRequestUpdate(body.title, body.description, body.status, body.reviewers),
        request.user,
    )
    # lakeFS's specification says 200, but its server sends 204, and its web UI accepts nothing
    # else.
    return answers.empty(204)


# As in lakeFS, a conflict is an error here, and not the result that mergeIntoBranch answers.
@operations.add(
    "PUT",
    f"{_PULL}/merge",
    "mergePullRequest",
    parameters=(header("If-Match"),),
    body=Merge,
    is_body_optional=True,
    answers={200: MergeResult, **WAITING},
    errors=GUARDED,
)
@checked(
    Needs(
        On(Action.WRITE_PULL_REQUEST, named.REPOSITORY),
        then=f"{On(Action.CREATE_COMMIT, named.DESTINATION_BRANCH)}",
    )
)
def merge_pull_request(request: Request) -> ApiAnswer:
    pull = pulls.get(request.engine, request.repository, request.name("pull_request"))
    request.rights.require(commit_need(request, pull.destination))
    commit = pulls.merge(
        request.engine,
        request.repository,
        request.name("pull_request"),
        merge_request(request),
        request.client_wait,
    )
    return answers.of_json(MergeResult(commit.id))
