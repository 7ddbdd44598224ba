"""Branches: create, read, list, delete, reset, revert, cherry-pick."""

from functions.api import answers
from functions.api.answers import Answer
from functions.api.contract import CHANGE, FORCE, GUARDED, HTML, PAGE, WAITING, flag, required_text
from functions.api.request import Request
from functions.api.routing import Operations
from graveler.http import requests, responses
from graveler.operations import branches, replays

operations = Operations()

_BRANCHES = "/repositories/<repository>/branches"
_BRANCH = f"{_BRANCHES}/<branch>"


@operations.add("GET", _BRANCH, "getBranch", answers={200: responses.Ref})
def get_branch(request: Request) -> Answer:
    branch = branches.get(request.engine, request.repository, request.branch)
    return answers.of_json(responses.ref_row(branch))


@operations.add(
    "GET",
    _BRANCHES,
    "listBranches",
    parameters=(*PAGE, flag("show_hidden")),
    answers={200: responses.Listing[responses.Ref]},
)
def list_branches(request: Request) -> Answer:
    query = request.query
    page = branches.list_page(
        request.engine,
        request.repository,
        prefix=query.text("prefix"),
        after=query.text("after"),
        amount=query.amount(),
        show_hidden=query.flag("show_hidden"),
    )
    rows = [responses.ref_row(record) for record in page.results]
    return answers.of_json(responses.listing(rows, page.next_after))


@operations.add(
    "POST",
    _BRANCHES,
    "createBranch",
    body=requests.BranchCreation,
    answers={201: HTML},
    errors=GUARDED,
)
def create_branch(request: Request) -> Answer:
    body = request.decode(requests.BranchCreation)
    branch = branches.create(
        request.engine,
        request.repository,
        name=body.name,
        source=body.source,
        hidden=body.hidden,
        force=body.force,
        user=request.user,
    )
    # Clients expect the bare commit ID, with this content type.
    return answers.of_text(branch.commit_id, "text/html", 201)


@operations.add(
    "DELETE", _BRANCH, "deleteBranch", parameters=(FORCE,), answers={204: None}, errors=GUARDED
)
def delete_branch(request: Request) -> Answer:
    branches.delete(
        request.engine,
        request.repository,
        request.branch,
        force=request.query.flag("force"),
        user=request.user,
    )
    return answers.empty()


@operations.add(
    "PUT", _BRANCH, "resetBranch", body=requests.ResetCreation, answers={204: None}, errors=CHANGE
)
def reset_branch(request: Request) -> Answer:
    body = request.decode(requests.ResetCreation)
    branches.reset(
        request.engine,
        request.repository,
        request.branch,
        kind=body.type,
        path=body.path.encode(),
        force=body.force,
    )
    return answers.empty()


@operations.add(
    "PUT",
    f"{_BRANCH}/hard_reset",
    "hardResetBranch",
    parameters=(required_text("ref"), FORCE),
    answers={204: None},
    errors=CHANGE,
)
def hard_reset_branch(request: Request) -> Answer:
    branches.hard_reset(
        request.engine,
        request.repository,
        request.branch,
        ref=request.query.required_text("ref"),
        force=request.query.flag("force"),
    )
    return answers.empty()


@operations.add(
    "POST",
    f"{_BRANCH}/revert",
    "revertBranch",
    body=requests.RevertCreation,
    answers={204: None, **WAITING},
    errors=GUARDED,
)
def revert_branch(request: Request) -> Answer:
    body = request.decode(requests.RevertCreation)
    replays.revert(
        request.engine,
        request.repository,
        request.branch,
        replays.RevertRequest(
            ref=body.ref,
            committer=request.user,
            parent_number=body.parent_number,
            message=body.commit_overrides.message,
            metadata=body.commit_overrides.metadata,
            force=body.force,
            allow_empty=body.allow_empty,
        ),
        request.client_wait,
    )
    return answers.empty()


@operations.add(
    "POST",
    f"{_BRANCH}/cherry-pick",
    "cherryPick",
    body=requests.CherryPickCreation,
    answers={201: responses.CommitRow, **WAITING},
    errors=GUARDED,
)
def cherry_pick(request: Request) -> Answer:
    body = request.decode(requests.CherryPickCreation)
    made = replays.cherry_pick(
        request.engine,
        request.repository,
        request.branch,
        replays.CherryPickRequest(
            ref=body.ref,
            committer=request.user,
            parent_number=body.parent_number,
            message=body.commit_overrides.message,
            metadata=body.commit_overrides.metadata,
            force=body.force,
        ),
        request.client_wait,
    )
    return answers.of_json(responses.commit_row(made), 201)
