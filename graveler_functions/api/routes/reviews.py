"""Reviews of pull requests, and comments on them."""

from graveler.access.actions import Action
from graveler.http.schemas import reviews as schemas
from graveler.http.schemas.listings import Listing, listing
from graveler.model import CommitID
from graveler.model.pulls import PullRequestComment
from graveler.operations import reviews
from graveler_functions.api.authorization import named_resources as named
from graveler_functions.api.authorization.checks import Needs, On
from graveler_functions.api.authorization.deferred_checks import moderating_need
from graveler_functions.api.contract import AFTER, AMOUNT
from graveler_functions.api.request import Request
from graveler_functions.api.routing import Operations, checked
from graveler_functions.http import answers
from graveler_functions.http.answers import ApiAnswer

operations = Operations()

_PULL = "/repositories/<repository>/pulls/<pull_request>"
_COMMENTS = f"{_PULL}/comments"


@operations.add(
    "PUT",
    f"{_PULL}/review",
    "reviewPullRequest",
    body=schemas.ReviewBody,
    answers={204: None},
    errors=(403, 409, 412),
)
@checked(Needs.on(Action.WRITE_PULL_REQUEST, named.REPOSITORY))
def review_pull_request(request: Request) -> ApiAnswer:
    body = request.decode(schemas.ReviewBody)
    reviews.review(
        request.engine,
        request.repository,
        request.name("pull_request"),
        body.verdict,
        CommitID(body.commit_id),
        request.user,
    )
    return answers.empty()


@operations.add(
    "GET",
    _COMMENTS,
    "listPullRequestComments",
    parameters=(AFTER, AMOUNT),
    answers={200: Listing[schemas.CommentRow]},
)
@checked(Needs.on(Action.READ_PULL_REQUEST, named.REPOSITORY))
def list_comments(request: Request) -> ApiAnswer:
    page = reviews.comments(
        request.engine,
        request.repository,
        request.name("pull_request"),
        request.query.text("after"),
        request.query.amount(),
    )
    return answers.of_json(listing(list(map(schemas.comment_row, page.results)), page.next_after))


@operations.add(
    "POST",
    _COMMENTS,
    "createPullRequestComment",
    body=schemas.CommentCreation,
    answers={201: schemas.CommentRow},
)
@checked(Needs.on(Action.WRITE_PULL_REQUEST, named.REPOSITORY))
def create_comment(request: Request) -> ApiAnswer:
    body = request.decode(schemas.CommentCreation)
    comment = reviews.comment(
        request.engine,
        request.repository,
        request.name("pull_request"),
        request.user,
        body.text,
        None if body.path is None else body.path.encode(),
    )
    return answers.of_json(schemas.comment_row(comment), 201)


@operations.add("DELETE", f"{_COMMENTS}/<comment>", "deletePullRequestComment", answers={204: None})
@checked(
    Needs(
        On(Action.WRITE_PULL_REQUEST, named.REPOSITORY),
        then=f"{On(Action.UPDATE_REPOSITORY, named.REPOSITORY)} for another user's comment",
    )
)
def delete_comment(request: Request) -> ApiAnswer:
    def check(comment: PullRequestComment) -> None:
        if comment.author != request.user:
            request.rights.require(moderating_need(request))

    names = request.repository, request.name("pull_request"), request.name("comment")
    reviews.delete_comment(request.engine, *names, check)
    return answers.empty()
