"""Commits: make one, store one, read one, read the log."""

from functions.api import answers
from functions.api.answers import Answer
from functions.api.request import Request
from functions.api.routing import Operations
from graveler.http import requests, responses
from graveler.model import Commit, MetaRangeID
from graveler.operations import commit_records, commits

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
            source_metarange=MetaRangeID(request.query.text("source_metarange")) or None,
        ),
    )
    return answers.of_json(responses.commit_row(made), 201)


@operations.add("POST", "/repositories/<repository>/commits", "CreateCommitRecord")
def create_commit_record(request: Request) -> Answer:
    body = request.decode(requests.CommitRecordCreation)
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
