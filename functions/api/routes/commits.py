"""Commits: make one, look one up, walk the log."""

from functions.api import answers
from functions.api.answers import Answer
from functions.api.request import Request
from functions.api.routing import Operations
from graveler.http import requests, responses
from graveler.operations import commits

operations = Operations()


@operations.add("POST", "/repositories/<repository>/branches/<branch>/commits", "commit")
def commit(request: Request) -> Answer:
    body = request.decode(requests.CommitCreation)
    made = commits.commit(
        request.engine,
        request.repository,
        request.branch,
        commits.CommitRequest(
            message=body.message,
            committer=request.user,
            metadata=body.metadata,
            date_s=body.date,
            allow_empty=body.allow_empty,
            force=body.force,
            source_metarange=request.query.text("source_metarange") or None,
        ),
    )
    return answers.of_json(responses.commit_row(made), 201)


@operations.add("GET", "/repositories/<repository>/commits/<commit_id>", "getCommit")
def get_commit(request: Request) -> Answer:
    found = commits.get(request.engine, request.repository, request.name("commit_id"))
    return answers.of_json(responses.commit_row(found))


@operations.add("GET", "/repositories/<repository>/refs/<ref>/commits", "logCommits")
def log_commits(request: Request) -> Answer:
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
        ),
    )
    rows = [responses.commit_row(record) for record in page.results]
    return answers.of_json(responses.listing(rows, page.next_after))
