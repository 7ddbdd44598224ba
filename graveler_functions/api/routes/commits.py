"""Commits: make one, store one, read one, read the log."""

from graveler.access.actions import Action
from graveler.http.schemas import commits as schemas
from graveler.http.schemas.listings import Listing, listing
from graveler.http.schemas.tasks import AsyncStatus, TaskCreated, async_status
from graveler.model import Commit, MetaRangeID
from graveler.model.tasks import TaskKind
from graveler.operations import commit_records, commits
from graveler_functions.api.authorization import named_resources as named
from graveler_functions.api.authorization.checks import Needs, On
from graveler_functions.api.authorization.deferred_checks import OF_ITS_TASK, status_need
from graveler_functions.api.contract import (
    AFTER,
    AMOUNT,
    CHANGE,
    GUARDED,
    WAITING,
    flag,
    repeated,
    text,
    unix_time,
)
from graveler_functions.api.request import Request
from graveler_functions.api.routing import Operations, checked
from graveler_functions.http import answers
from graveler_functions.http.answers import ApiAnswer

operations = Operations()


_COMMITS = "/repositories/<repository>/branches/<branch>/commits"


@operations.add(
    "POST",
    _COMMITS,
    "commit",
    parameters=(text("source_metarange"),),
    body=schemas.CommitCreation,
    answers={201: schemas.CommitRow, **WAITING},
    errors=GUARDED,
)
@checked(Needs.on(Action.CREATE_COMMIT, named.BRANCH))
def commit(request: Request) -> ApiAnswer:
    made = commits.commit(
        request.engine,
        request.repository,
        request.branch,
        _commit_request(request),
        request.client_wait,
    )
    return answers.of_json(schemas.commit_row(made), 201)


@operations.add(
    "POST",
    f"{_COMMITS}/async",
    "commitAsync",
    parameters=(text("source_metarange"),),
    body=schemas.CommitCreation,
    answers={202: TaskCreated},
    errors=GUARDED,
)
@checked(Needs.on(Action.CREATE_COMMIT, named.BRANCH))
def commit_async(request: Request) -> ApiAnswer:
    task = commits.start_commit(
        request.engine, request.repository, request.branch, _commit_request(request)
    )
    return answers.of_json(TaskCreated(task.id), 202)


@operations.add(
    "GET",
    f"{_COMMITS}/async/<task_id>/status",
    "commitAsyncStatus",
    answers={200: AsyncStatus[schemas.CommitRow]},
)
@checked(Needs(On(Action.READ_BRANCH, named.BRANCH), then=OF_ITS_TASK))
def commit_async_status(request: Request) -> ApiAnswer:
    task, made = commits.task_status(
        request.engine, request.repository, request.name("task_id"), TaskKind.COMMIT
    )
    request.rights.require(status_need(request, task))
    row = None if made is None else schemas.commit_row(made)
    return answers.of_json(async_status(task, row, 201))


def _commit_request(request: Request) -> commits.CommitRequest:
    body = request.decode(schemas.CommitCreation)
    return commits.CommitRequest(
        message=body.message,
        committer=request.user,
        metadata=body.metadata,
        date_s=body.date,
        allow_empty=body.allow_empty,
        force=body.force,
        source_metarange=MetaRangeID(request.query.text("source_metarange")) or None,
    )


@operations.add(
    "POST",
    "/repositories/<repository>/commits",
    "CreateCommitRecord",
    body=schemas.CommitRecordCreation,
    answers={204: None},
    errors=CHANGE,
)
@checked(Needs.on(Action.CREATE_COMMIT, named.REPOSITORY))
def create_commit_record(request: Request) -> ApiAnswer:
    body = request.decode(schemas.CommitRecordCreation)
    described = Commit(
        id=body.commit_id,
        committer=body.committer,
        message=body.message,
        metarange_id=body.metarange_id,
        creation_date=body.creation_date,
        parents=tuple(body.parents),
        metadata=body.metadata,
        generation=body.generation,
        version=body.version,
    )
    commit_records.create(request.engine, request.repository, described, force=body.force)
    return answers.empty()


@operations.add(
    "GET",
    "/repositories/<repository>/commits/<commit_id>",
    "getCommit",
    answers={200: schemas.CommitRow},
)
@checked(Needs.on(Action.READ_COMMIT, named.REPOSITORY))
def get_commit(request: Request) -> ApiAnswer:
    found = commits.get(request.engine, request.repository, request.name("commit_id"))
    return answers.of_json(schemas.commit_row(found))


@operations.add(
    "GET",
    "/repositories/<repository>/refs/<ref>/commits",
    "logCommits",
    parameters=(
        AFTER,
        AMOUNT,
        repeated("objects"),
        repeated("prefixes"),
        flag("limit"),
        flag("first_parent"),
        unix_time("since"),
        text("stop_at"),
        text("not_in"),
    ),
    answers={200: Listing[schemas.CommitRow]},
)
@checked(Needs.on(Action.READ_BRANCH, named.REF))
def log_commits(request: Request) -> ApiAnswer:
    query = request.query
    page = commits.log(
        request.engine,
        request.repository,
        request.name("ref"),
        commits.LogQuery(
            amount=query.amount(),
            after=query.text("after"),
            objects=tuple(path.encode() for path in query.all("objects")),
            prefixes=tuple(prefix.encode() for prefix in query.all("prefixes")),
            limit=query.flag("limit"),
            first_parent=query.flag("first_parent"),
            since_s=query.unix_time("since"),
            stop_at=query.text("stop_at"),
            not_in=query.text("not_in"),
        ),
    )
    rows = [schemas.commit_row(record) for record in page.results]
    return answers.of_json(listing(rows, page.next_after))
